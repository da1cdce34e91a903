//! Reads the counters of all regions every few seconds and keeps them as a history.
//!
//! Threads: one, which ends when the recorder is dropped; readers lock the history. Another one
//! exists while keys of a cluster are sampled, so that a server that does not answer delays only
//! the sample.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::history::History;
use crate::source::{Source, Target};
use crate::written_keys::{self, Pace, Pick};

/// How often counters are read.
pub(crate) const PERIOD: Duration = Duration::from_secs(5);

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
        let (history, pace) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(Shared { source, history, pace, is_over, end });
        shared.note();
        let recording = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("hblite-recorder".to_owned())
            .spawn(move || recording.run(period))
            .map_err(hblite::Error::no_thread)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// The history until now. Its first window ends when it is first asked for, so that there is
    /// something to show.
    pub(crate) fn history(&self) -> MutexGuard<'_, History> {
        let history = self.shared.history.lock();
        if history.windows().len() > 0 {
            return history;
        }
        drop(history);
        self.shared.note();
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
        let rows = self.source.row_counts();
        self.history.lock().note(now_ms, &status.regions, calls, rows);
    }

    /// Samples the keys of the last window in another thread, if the source does not count
    /// rows.
    fn sample_written_keys(self: &Arc<Self>) {
        if self.source.counts_rows() {
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
            if let Ok(read) = written_keys::read(&self.source.connection, pick, times_ms) {
                let mut history = self.history.lock();
                history.add_keys(times_ms.0, read.keys, &read.rows);
                history.leave_out(pick.region(), read.reads);
            }
            if *self.is_over.lock() {
                return;
            }
        }
    }
}
