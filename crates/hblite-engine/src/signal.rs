//! How threads of the engine wait for changes made by other threads.
//!
//! A condition variable alone needs the lock under which the condition changes, and hands it to one
//! waiter after the other: threads that make changes would queue behind threads that only look.
//! Here waiters have a lock of their own, which is not taken while none sleeps.
//!
//! Order:   a thread that changes something calls [`Signal::notify`] afterwards. A waiter counts
//!          itself, then looks at the state; the other thread changes the state, then looks at the
//!          count. Each has a fence in between, so at least one of them sees what the other did. A
//!          waiter that is counted and not yet asleep holds the lock. So no wake-up is lost.
//! Locks:   `is_over` runs under the signal's lock. It may take locks that are never held during a
//!          `notify`.
//! Threads: any.

#[cfg(all(test, loom))]
mod interleavings;

use std::fmt::{self, Debug, Formatter};
#[cfg(not(all(test, loom)))]
use std::sync::atomic::{AtomicUsize, Ordering, fence};

#[cfg(not(all(test, loom)))]
use hblite_env::sync::{Condvar, Mutex};
use hblite_env::time::Instant;
#[cfg(all(test, loom))]
use interleavings::{AtomicUsize, Condvar, Mutex, Ordering, fence};

/// Wakes the threads that wait for a change.
#[derive(Default)]
pub(crate) struct Signal {
    /// Threads in one of the waits.
    waiters: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Signal {
    /// Wakes every waiter, which then checks its condition again.
    #[inline]
    pub(crate) fn notify(&self) {
        fence(Ordering::SeqCst);
        if self.waiters.load(Ordering::Relaxed) > 0 {
            drop(self.lock.lock());
            self.changed.notify_all();
        }
    }

    /// Waits until `is_over`, which is called immediately and after each [`Signal::notify`],
    /// returns true.
    #[cold]
    pub(crate) fn wait(&self, is_over: impl FnMut() -> bool) {
        self.sleep(None, is_over);
    }

    /// Like [`Signal::wait`]. Returns false if the deadline passes first.
    #[cold]
    pub(crate) fn wait_until(&self, deadline: Instant, is_over: impl FnMut() -> bool) -> bool {
        self.sleep(Some(deadline), is_over)
    }

    fn sleep(&self, deadline: Option<Instant>, mut is_over: impl FnMut() -> bool) -> bool {
        let mut lock = self.lock.lock();
        self.waiters.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let mut is_late = false;
        let is_over = loop {
            if is_over() {
                break true;
            }
            match deadline {
                _ if is_late => break false,
                None => self.changed.wait(&mut lock),
                Some(deadline) => {
                    is_late = self.changed.wait_until(&mut lock, deadline).timed_out();
                }
            }
        };
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        is_over
    }
}

impl Debug for Signal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_waiter_sees_the_change_that_it_is_notified_of() {
        let (signal, is_there) = (Signal::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                is_there.store(true, Ordering::Relaxed);
                signal.notify();
            });
            let deadline = Instant::now() + Duration::from_secs(60);
            assert!(signal.wait_until(deadline, || is_there.load(Ordering::Relaxed)));
        });
    }

    #[test]
    fn a_wait_ends_at_its_deadline() {
        let deadline = Instant::now() + Duration::from_millis(5);
        assert!(!Signal::default().wait_until(deadline, || false));
        assert!(Instant::now() >= deadline);
    }

    #[test]
    fn threads_that_wait_for_each_other_all_end() {
        const ROUNDS: u64 = if cfg!(miri) { 20 } else { 5_000 };
        let (signal, turn) = (Signal::default(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for me in 0..3 {
                let (signal, turn) = (&signal, &turn);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let mine = 3 * round + me;
                        signal.wait(|| turn.load(Ordering::Acquire) == mine);
                        turn.store(mine + 1, Ordering::Release);
                        signal.notify();
                    }
                });
            }
        });
        assert_eq!(turn.load(Ordering::Relaxed), 3 * ROUNDS);
    }
}
