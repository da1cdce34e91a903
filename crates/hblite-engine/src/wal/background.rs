//! The background thread: ASYNC_WAL writes and early syncs of a log file.
//!
//! It is started by the first request, so a store that never needs it has none. Between a request
//! and the write it pauses for [`PAUSE`], so that one write serves many appends. A failed write is
//! retried until it succeeds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hblite_env::sync::{Condvar, Mutex};
use hblite_env::thread::{self, JoinHandle};

use super::syncer::Syncer;

/// How long an ASYNC_WAL record waits for others.
const PAUSE: Duration = Duration::from_millis(1);

/// How long the thread waits after a failed write before it tries again.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// The thread and its bell.
#[derive(Debug, Default)]
pub(super) struct Background {
    bell: Arc<Bell>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Wakes the thread.
#[derive(Debug, Default)]
struct Bell {
    is_rung: AtomicBool,
    is_stopped: Mutex<bool>,
    changed: Condvar,
}

impl Background {
    /// Requests a write soon.
    pub(super) fn ring(&self, syncer: &Arc<Syncer>) {
        if self.bell.is_rung.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut thread = self.thread.lock();
        let is_stopped = *self.bell.is_stopped.lock();
        if thread.is_none() && !is_stopped {
            let (bell, shared) = (self.bell.clone(), syncer.clone());
            let work = move || bell.work(&shared);
            match thread::Builder::new().name("hblite-wal".to_owned()).spawn(work) {
                Ok(started) => *thread = Some(started),
                // No thread can be started: the caller does the work.
                Err(_) => {
                    self.bell.is_rung.store(false, Ordering::Release);
                    let _ = syncer.catch_up();
                }
            }
        }
        self.bell.changed.notify_one();
    }

    /// Ends the thread; returns when it has ended.
    pub(super) fn stop(&self) {
        let mut thread = self.thread.lock();
        *self.bell.is_stopped.lock() = true;
        self.bell.changed.notify_one();
        if let Some(thread) = thread.take() {
            // A panic in the thread was reported when it happened; there is nothing to add.
            let _ = thread.join();
        }
    }
}

impl Bell {
    fn work(&self, syncer: &Syncer) {
        let mut is_done = true;
        loop {
            let mut is_stopped = self.is_stopped.lock();
            while is_done && !*is_stopped && !self.is_rung.load(Ordering::Acquire) {
                self.changed.wait(&mut is_stopped);
            }
            if !is_done && !*is_stopped {
                self.changed.wait_for(&mut is_stopped, RETRY_PAUSE);
            }
            if !*is_stopped {
                self.changed.wait_for(&mut is_stopped, PAUSE);
            }
            if *is_stopped {
                return;
            }
            drop(is_stopped);
            self.is_rung.store(false, Ordering::Release);
            is_done = syncer.catch_up();
        }
    }
}
