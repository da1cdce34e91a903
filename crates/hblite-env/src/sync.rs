//! Locks, condition variables and channels of the engine.
//!
//! These are `parking_lot`'s locks and the standard library's channels under one name. With the
//! feature `simulation` they are instrumented, and `simulation` schedules them.

#[cfg(not(feature = "simulation"))]
pub use parking_lot::{
    Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
};

#[cfg(not(feature = "simulation"))]
use std::sync::atomic::{AtomicUsize, Ordering};
#[cfg(not(feature = "simulation"))]
pub use std::sync::mpsc;

#[cfg(feature = "simulation")]
pub use crate::simulation::lock::{
    Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
};

/// Channels without bounds; see `std::sync::mpsc`.
#[cfg(feature = "simulation")]
pub mod mpsc {
    pub use crate::simulation::mpsc::{
        Receiver, RecvError, RecvTimeoutError, SendError, Sender, TryRecvError, channel,
    };
}

/// How many times [`spin_until`] polls. A poll with its pause takes 10 to 40 ns, and a thread that
/// sleeps instead takes at least 5 µs to be woken.
#[cfg(not(feature = "simulation"))]
const LOOKS_MAX: u32 = 400;

/// Polls `is_met` for a few microseconds without yielding the processor. Returns whether it became
/// true. Use it to wait for a thread that is nearly done: sleeping would cost both threads more.
///
/// It polls once where more cannot help: when all processors but one are polling already, since the
/// thread that is waited for needs one; on a single processor; and in a simulation, where no other
/// thread runs meanwhile.
#[cfg(not(feature = "simulation"))]
#[inline]
pub fn spin_until(is_met: impl Fn() -> bool) -> bool {
    static PROCESSORS: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    static POLLING: AtomicUsize = AtomicUsize::new(0);
    if is_met() {
        return true;
    }
    let count = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let processors = *PROCESSORS.get_or_init(count);
    let is_one_free = POLLING.fetch_add(1, Ordering::Relaxed) + 1 < processors;
    let is_met = is_one_free
        && (0..LOOKS_MAX).any(|_| {
            std::hint::spin_loop();
            is_met()
        });
    POLLING.fetch_sub(1, Ordering::Relaxed);
    is_met
}

/// Polls once: in a simulation no other thread runs meanwhile.
#[cfg(feature = "simulation")]
pub fn spin_until(is_met: impl Fn() -> bool) -> bool {
    is_met()
}

#[cfg(all(test, not(feature = "simulation")))]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// How many times a call polls that begins while this many others poll.
    fn polls_beside(others: usize) -> u32 {
        let polls = Cell::new(0);
        if others == 0 {
            spin_until(|| {
                polls.set(polls.get() + 1);
                false
            });
            return polls.get();
        }
        // The first poll comes before the call counts as polling.
        let is_counted = Cell::new(false);
        spin_until(|| {
            let is_counted = is_counted.replace(true);
            if is_counted {
                polls.set(polls_beside(others - 1));
            }
            is_counted
        });
        polls.get()
    }

    #[test]
    fn one_processor_is_left_to_the_thread_that_is_waited_for() {
        let processors = std::thread::available_parallelism().unwrap().get();
        assert_eq!(polls_beside(processors - 1), 1);
        if processors > 1 {
            assert_eq!(polls_beside(processors - 2), 1 + LOOKS_MAX);
            assert_eq!(polls_beside(0), 1 + LOOKS_MAX, "no call counts as polling after its end");
        }
    }
}
