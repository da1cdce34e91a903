//! How threads of the engine wait for changes made by other threads.
//!
//! Order:   a thread that changes something calls [`Signal::notify`] afterwards. A waiter looks at
//!          the state under the signal's lock, so no change between its look and its sleep is
//!          missed.
//! Locks:   `is_over` runs under the signal's lock. It may take locks that are never held during a
//!          `notify`.
//! Threads: any.

use hblite_env::sync::{Condvar, Mutex};
use hblite_env::time::Instant;

/// Wakes the threads that wait for a change.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    lock: Mutex<()>,
    changed: Condvar,
}

impl Signal {
    /// Wakes every waiter, which then checks its condition again.
    pub(crate) fn notify(&self) {
        drop(self.lock.lock());
        self.changed.notify_all();
    }

    /// Waits until `is_over`, which is called immediately and after each [`Signal::notify`],
    /// returns true. Returns false if the deadline passes first.
    pub(crate) fn wait_until(&self, deadline: Instant, mut is_over: impl FnMut() -> bool) -> bool {
        let mut lock = self.lock.lock();
        loop {
            if is_over() {
                return true;
            }
            if self.changed.wait_until(&mut lock, deadline).timed_out() {
                return is_over();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
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
}
