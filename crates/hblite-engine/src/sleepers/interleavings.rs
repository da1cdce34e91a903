//! All interleavings of a thread that sleeps and one that wakes it, with every value that the
//! memory model lets a load find (loom). `docs/testing-hblite.md` has the command.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use loom::sync as checked;
pub(super) use loom::sync::atomic::{AtomicUsize, Ordering, fence};
use loom::thread;

use super::Sleepers;

/// Loom's lock with the methods of the engine's.
pub(super) struct Mutex<T>(checked::Mutex<T>);

/// Holds a [`Mutex`]; empty while its thread sleeps.
pub(super) struct MutexGuard<'a, T>(Option<checked::MutexGuard<'a, T>>);

/// Loom's condition variable with the methods of the engine's.
pub(super) struct Condvar(checked::Condvar);

impl<T> Mutex<T> {
    pub(super) fn new(value: T) -> Self {
        Self(checked::Mutex::new(value))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().expect("no holder panics")))
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("held")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("held")
    }
}

impl Condvar {
    pub(super) fn new() -> Self {
        Self(checked::Condvar::new())
    }

    pub(super) fn notify_all(&self) {
        self.0.notify_all();
    }

    pub(super) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.0.take().expect("held");
        guard.0 = Some(self.0.wait(held).expect("no holder panics"));
    }
}

/// Loom reports a deadlock if a thread sleeps forever.
fn sleep_beside(wakers: usize) {
    loom::model(move || {
        let shared = Arc::new((Sleepers::new(), AtomicUsize::new(0)));
        let wakers = (0..wakers).map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (sleepers, reached) = &*shared;
                reached.fetch_add(1, Ordering::Release);
                sleepers.wake();
            })
        });
        let wakers: Vec<_> = wakers.collect();
        let (sleepers, reached) = &*shared;
        sleepers.sleep_until(|| reached.load(Ordering::Acquire) == wakers.len());
        wakers.into_iter().for_each(|waker| waker.join().expect("it ends"));
    });
}

#[test]
fn no_wake_up_is_lost() {
    sleep_beside(1);
}

#[test]
fn no_second_wake_up_is_lost() {
    sleep_beside(2);
}
