//! Reads the counters of all regions every few seconds and keeps them as a history.
//!
//! Threads: one, which ends when the recorder is dropped; readers lock the history. Another one
//! exists while keys of a cluster are sampled, so that a server that does not answer delays only
//! the sample.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::history::{History, KEYS_MAX, KeyInWindow};
use crate::source::{Source, Target};
use crate::written_keys::{self, Pace, Pick};

/// How often counters are read.
pub(crate) const PERIOD: Duration = Duration::from_secs(5);

/// Requests per sampled key: the initial number, and the maximum.
const EVERY_FIRST: u32 = 32;
const EVERY_MAX: u32 = 1 << 16;

/// Records the history of a source until it is dropped.
#[derive(Debug)]
pub(crate) struct Recorder {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    source: Arc<Source>,
    history: Mutex<History>,
    /// Requests per sampled key; adapts to the load.
    every: AtomicU32,
    /// Of the sample of a cluster's keys.
    pace: Mutex<Pace>,
    /// Whether the thread should end.
    is_over: Mutex<bool>,
    end: Condvar,
}

impl Recorder {
    /// Begins with the counters as they are now.
    pub(crate) fn start(source: Arc<Source>, period: Duration) -> hblite::Result<Self> {
        let (is_over, end) = (Mutex::new(false), Condvar::new());
        let every = AtomicU32::new(EVERY_FIRST);
        let (history, pace) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(Shared { source, history, every, pace, is_over, end });
        if let Some(samples) = shared.source.connection.key_samples() {
            samples.set_every(EVERY_FIRST);
        }
        shared.note();
        let recording = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("hblite-recorder".to_owned())
            .spawn(move || recording.run(period))
            .map_err(hblite::Error::no_thread)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// The history until now.
    pub(crate) fn history(&self) -> MutexGuard<'_, History> {
        self.shared.history.lock()
    }

    /// Reads the counters now.
    pub(crate) fn note(&self) {
        self.shared.note();
        self.shared.sample_written_keys();
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        *self.shared.is_over.lock() = true;
        self.shared.end.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic in it was reported on standard error.
            let _ = thread.join();
        }
        if let Some(samples) = self.shared.source.connection.key_samples() {
            samples.set_every(0);
        }
    }
}

impl Shared {
    fn run(self: &Arc<Self>, period: Duration) {
        let mut is_over = self.is_over.lock();
        while !*is_over {
            let timeout = self.end.wait_for(&mut is_over, period);
            if timeout.timed_out() && !*is_over {
                MutexGuard::unlocked(&mut is_over, || {
                    self.note();
                    self.sample_written_keys();
                });
            }
        }
    }

    fn note(&self) {
        // If reading fails, no window ends here, and the next one is longer.
        let Ok(status) = self.source.status() else { return };
        let now_ms = self.source.connection.now_millis();
        let calls = match &self.source.target {
            Target::Server(view) => {
                Some(view.figures().methods.iter().map(|method| method.calls).sum())
            }
            _ => None,
        };
        self.source.locate(&status.regions);
        let mut history = self.history.lock();
        let keys = self.sampled_keys(&history);
        history.note(now_ms, &status.regions, calls, keys);
    }

    /// Samples the keys of the last window in another thread, if the source is a cluster.
    fn sample_written_keys(self: &Arc<Self>) {
        if !matches!(self.source.target, Target::Cluster(_)) {
            return;
        }
        let Some(round) = self.pace.lock().begin() else { return };
        let last = self.history.lock().windows().next_back().map(|window| {
            ((window.start_ms, window.end_ms), written_keys::picks(&window.loads, round))
        });
        let (times_ms, picks) = last.unwrap_or_default();
        if picks.is_empty() {
            self.pace.lock().end(Duration::ZERO);
            return;
        }
        let shared = Arc::clone(self);
        let sample = move || {
            let begun = Instant::now();
            shared.read_written_keys(times_ms, &picks);
            shared.pace.lock().end(begun.elapsed());
        };
        let thread = std::thread::Builder::new().name("hblite-sampler".to_owned());
        if thread.spawn(sample).is_err() {
            self.pace.lock().end(Duration::ZERO);
        }
    }

    fn read_written_keys(&self, times_ms: (i64, i64), picks: &[Pick]) {
        for pick in picks {
            // A region in transition is left out.
            if let Ok((keys, reads)) = written_keys::read(&self.source.connection, pick, times_ms) {
                let mut history = self.history.lock();
                history.add_keys(times_ms.0, keys);
                history.leave_out(pick.region(), reads);
            }
            if *self.is_over.lock() {
                return;
            }
        }
    }

    /// Takes the sample, and changes its rate if it has too many keys or too few.
    fn sampled_keys(&self, history: &History) -> Vec<KeyInWindow> {
        let Some(samples) = self.source.connection.key_samples() else { return Vec::new() };
        let taken = samples.take();
        let every = self.every.load(Ordering::Relaxed);
        let next = match taken.len() {
            count if count > 8 * KEYS_MAX => (every * 2).min(EVERY_MAX),
            count if count < 2 * KEYS_MAX => (every / 2).max(1),
            _ => every,
        };
        self.every.store(next, Ordering::Relaxed);
        samples.set_every(next);
        // Requests for a region that was opened in this window are known in the next one.
        let keys = taken.into_iter().filter_map(|sample| {
            let region = history.region(&sample.region)?;
            Some(KeyInWindow { region, row: sample.row, is_write: sample.is_write })
        });
        keys.collect()
    }
}
