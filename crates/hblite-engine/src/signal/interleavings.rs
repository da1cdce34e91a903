//! All interleavings of a thread that waits and those that notify it, with every value that the
//! memory model lets a load find (loom). `docs/testing-hblite.md` has the command.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use loom::sync as checked;
pub(super) use loom::sync::atomic::{AtomicUsize, Ordering, fence};
use loom::thread;

use hblite_env::time::Instant;

use super::Signal;

/// Loom's lock with the methods of the engine's.
#[derive(Default)]
pub(super) struct Mutex<T>(checked::Mutex<T>);

/// Holds a [`Mutex`]; empty while its thread sleeps.
pub(super) struct MutexGuard<'a, T>(Option<checked::MutexGuard<'a, T>>);

/// Loom's condition variable with the methods of the engine's.
pub(super) struct Condvar(checked::Condvar);

/// Loom has no time, so a wait ends only when it is notified.
pub(super) struct Notified;

impl<T> Mutex<T> {
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

impl Default for Condvar {
    fn default() -> Self {
        Self(checked::Condvar::new())
    }
}

impl Notified {
    pub(super) fn timed_out(&self) -> bool {
        false
    }
}

impl Condvar {
    pub(super) fn notify_all(&self) {
        self.0.notify_all();
    }

    pub(super) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.0.take().expect("held");
        guard.0 = Some(self.0.wait(held).expect("no holder panics"));
    }

    pub(super) fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, _: Instant) -> Notified {
        self.wait(guard);
        Notified
    }
}

/// Loom reports a deadlock if a thread sleeps forever.
fn wait_for(threads: usize) {
    loom::model(move || {
        let shared = Arc::new((Signal::default(), AtomicUsize::new(0)));
        let threads = (0..threads).map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (signal, reached) = &*shared;
                reached.fetch_add(1, Ordering::Release);
                signal.notify();
            })
        });
        let threads: Vec<_> = threads.collect();
        let (signal, reached) = &*shared;
        signal.wait(|| reached.load(Ordering::Acquire) == threads.len());
        threads.into_iter().for_each(|other| other.join().expect("it ends"));
    });
}

#[test]
fn no_wake_up_is_lost() {
    wait_for(1);
}

#[test]
fn no_second_wake_up_is_lost() {
    wait_for(2);
}
