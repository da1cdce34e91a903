//! A value with several instances, so that threads do not write to the same memory.
//!
//! To write to memory that another processor wrote last, a processor first fetches it from that
//! one's cache: 40 ns if both share a cache, and 200 ns if they do not. Instances are 128 bytes
//! apart, because some processors load that many bytes together.
//!
//! Threads: any. There are as many instances as processors, up to 8; more threads share them.

#[cfg(not(feature = "simulation"))]
use std::cell::Cell;
#[cfg(any(test, not(feature = "simulation")))]
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

/// The most instances.
const COUNT_MAX: usize = 8;

/// Instances of `T`, of which each thread uses one.
#[derive(Debug)]
pub struct Striped<T> {
    /// A power of two.
    instances: Box<[CachePadded<T>]>,
}

impl<T: Default> Default for Striped<T> {
    fn default() -> Self {
        let instance = |_| CachePadded::new(T::default());
        Self { instances: (0..count()).map(instance).collect() }
    }
}

impl<T> Striped<T> {
    /// The instance of this thread.
    #[inline]
    pub fn mine(&self) -> &T {
        &self.instances[thread_number() & (self.instances.len() - 1)]
    }

    /// All instances, always in the same order.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.instances.iter().map(|instance| &**instance)
    }
}

/// How many instances there are: always the same in a simulation, so that it can be repeated
/// anywhere.
fn count() -> usize {
    if cfg!(feature = "simulation") {
        return 2;
    }
    static COUNT: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *COUNT.get_or_init(|| {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        processors.next_power_of_two().min(COUNT_MAX)
    })
}

/// The number of this thread: threads are counted when they first ask.
#[cfg(not(feature = "simulation"))]
#[inline]
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    match NUMBER.get() {
        usize::MAX => {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            NUMBER.set(number);
            number
        }
        number => number,
    }
}

/// Threads of a simulation share the thread-local variables of the one that runs them.
#[cfg(feature = "simulation")]
fn thread_number() -> usize {
    crate::simulation::thread_number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_instance_and_all_of_them_are_visited() {
        let counts: Striped<AtomicUsize> = Striped::default();
        assert!(counts.instances.len().is_power_of_two());
        std::thread::scope(|scope| {
            for _ in 0..3 * COUNT_MAX {
                scope.spawn(|| {
                    let mine = counts.mine();
                    assert!(std::ptr::eq(mine, counts.mine()));
                    mine.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        let each: Vec<usize> = counts.all().map(|count| count.load(Ordering::Relaxed)).collect();
        assert_eq!(each.iter().sum::<usize>(), 3 * COUNT_MAX);
        // Only the threads of a simulation have numbers there.
        let are_used = each.iter().all(|count| *count > 0);
        assert!(are_used || cfg!(feature = "simulation"), "{each:?}");
    }
}
