//! Threads that sleep until a condition over atomics is met.
//!
//! A condition variable needs the lock under which the condition changes, and hands it to one
//! sleeper after the other: those that write would wait behind those that only want to know. Here
//! sleepers have a lock of their own, which is not taken while none sleeps.
//!
//! Why no wake-up is lost: a sleeper counts itself, then looks at the condition; who makes the
//! condition true does so, then looks at the count. Each has a fence in between, so at least one
//! of them sees what the other did. A sleeper that is counted and not yet asleep holds the lock.
//!
//! Threads: any.

#[cfg(all(test, loom))]
mod interleavings;

use std::fmt::{self, Debug, Formatter};
#[cfg(not(all(test, loom)))]
use std::sync::atomic::{AtomicUsize, Ordering, fence};

#[cfg(not(all(test, loom)))]
use hblite_env::sync::{Condvar, Mutex};
#[cfg(all(test, loom))]
use interleavings::{AtomicUsize, Condvar, Mutex, Ordering, fence};

/// The sleeping threads of one kind.
pub(crate) struct Sleepers {
    count: AtomicUsize,
    lock: Mutex<()>,
    woken: Condvar,
}

impl Sleepers {
    pub(crate) fn new() -> Self {
        Self { count: AtomicUsize::new(0), lock: Mutex::new(()), woken: Condvar::new() }
    }

    /// Wakes all that sleep. To be called each time that a condition may have become true.
    #[inline]
    pub(crate) fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::Relaxed) > 0 {
            let _lock = self.lock.lock();
            self.woken.notify_all();
        }
    }

    /// Sleeps until `is_met`, which is called under a lock and must take none.
    #[cold]
    pub(crate) fn sleep_until(&self, is_met: impl Fn() -> bool) {
        let mut lock = self.lock.lock();
        self.count.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while !is_met() {
            self.woken.wait(&mut lock);
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Debug for Sleepers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleepers").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn threads_that_wait_for_each_other_all_end() {
        const ROUNDS: u64 = if cfg!(miri) { 20 } else { 5_000 };
        let (sleepers, turn) = (Sleepers::new(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for me in 0..3 {
                let (sleepers, turn) = (&sleepers, &turn);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let mine = 3 * round + me;
                        sleepers.sleep_until(|| turn.load(Ordering::Acquire) == mine);
                        turn.store(mine + 1, Ordering::Release);
                        sleepers.wake();
                    }
                });
            }
        });
        assert_eq!(turn.load(Ordering::Relaxed), 3 * ROUNDS);
    }
}
