//! Reads the counters of all regions every few seconds and keeps them as a history.
//!
//! The history of a store in a directory is kept in a file there, at intervals and at the end.
//!
//! Threads: one, which ends when the recorder is dropped; readers lock the history. It begins with
//! the history of an earlier run, for which readers wait. Another one exists while keys of a
//! cluster are sampled, so that a server that does not answer delays only the sample.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::history::History;
use crate::kept;
use crate::source::{Source, Target};
use crate::written_keys::{self, Pace, Pick};

/// How often counters are read.
pub(crate) const PERIOD: Duration = Duration::from_secs(5);

/// Records the history of a source until it is dropped.
#[derive(Debug)]
pub(crate) struct Recorder {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    source: Arc<Source>,
    history: Mutex<History>,
    /// Of the sample of a cluster's keys.
    pace: Mutex<Pace>,
    /// How often the history is kept, if it is.
    keeping: Option<Duration>,
    /// Why it could not be read or kept the last time.
    problem: Mutex<Option<String>>,
    /// Whether the history of an earlier run is there, if it can be.
    is_restored: Mutex<bool>,
    restored: Condvar,
    /// Whether the thread should end.
    is_over: Mutex<bool>,
    end: Condvar,
}

/// Lets readers in at its end, however that comes.
struct Restoring<'s>(&'s Shared);

impl Drop for Restoring<'_> {
    fn drop(&mut self) {
        *self.0.is_restored.lock() = true;
        self.0.restored.notify_all();
    }
}

impl Recorder {
    /// Begins with the counters as they are now.
    pub(crate) fn start(
        source: Arc<Source>,
        period: Duration,
        keeping: Option<Duration>,
    ) -> hblite::Result<Self> {
        let shared = Arc::new(Shared {
            source,
            history: Mutex::default(),
            pace: Mutex::default(),
            keeping,
            problem: Mutex::default(),
            is_restored: Mutex::new(false),
            restored: Condvar::new(),
            is_over: Mutex::new(false),
            end: Condvar::new(),
        });
        shared.note();
        let recording = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("hblite-recorder".to_owned())
            .spawn(move || {
                recording.restore();
                recording.run(period);
            })
            .map_err(hblite::Error::no_thread)?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// The history until now. Its first window ends when it is first asked for, so that there is
    /// something to show.
    pub(crate) fn history(&self) -> MutexGuard<'_, History> {
        self.shared.wait_until_restored();
        let history = self.shared.history.lock();
        if !history.is_new() {
            return history;
        }
        drop(history);
        self.shared.note();
        self.shared.history.lock()
    }

    /// Why the history could not be read or kept the last time.
    pub(crate) fn problem(&self) -> Option<String> {
        self.shared.wait_until_restored();
        self.shared.problem.lock().clone()
    }

    /// Reads the counters now.
    pub(crate) fn note(&self) {
        self.shared.note();
        self.shared.sample_written_keys();
    }

    /// Ends the last window, and keeps the history.
    pub(crate) fn stop(&self) {
        *self.shared.is_over.lock() = true;
        self.shared.end.notify_all();
        if let Some(thread) = self.thread.lock().take() {
            // A panic in it was reported on standard error.
            let _ = thread.join();
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn run(self: &Arc<Self>, period: Duration) {
        let mut kept_at = Instant::now();
        let mut is_over = self.is_over.lock();
        while !*is_over {
            let timeout = self.end.wait_for(&mut is_over, period);
            if timeout.timed_out() && !*is_over {
                MutexGuard::unlocked(&mut is_over, || {
                    self.note();
                    self.sample_written_keys();
                    if self.keeping.is_some_and(|every| kept_at.elapsed() >= every) {
                        kept_at = Instant::now();
                        self.keep();
                    }
                });
            }
        }
        self.note();
        self.keep();
    }

    fn wait_until_restored(&self) {
        let mut is_restored = self.is_restored.lock();
        while !*is_restored {
            self.restored.wait(&mut is_restored);
        }
    }

    /// Begins with the history of an earlier run.
    fn restore(&self) {
        let _restoring = Restoring(self);
        if self.keeping.is_none() {
            return;
        }
        let connection = &self.source.connection;
        let read = match connection.kept_history() {
            Ok(None) => return,
            Ok(Some(bytes)) => kept::decode(&bytes),
            Err(error) => Err(error.message().to_owned()),
        };
        match read {
            Ok(windows) => self.history.lock().restore(windows, connection.now_millis()),
            Err(reason) => {
                let problem = "the history of requests in hblite.history is ignored, and will be \
                               replaced";
                *self.problem.lock() = Some(format!("{problem}: {reason}"));
            }
        }
    }

    /// Keeps the history, if there were requests since the last time.
    fn keep(&self) {
        if self.keeping.is_none() {
            return;
        }
        let encoded = {
            let mut history = self.history.lock();
            if !history.is_unkept() {
                return;
            }
            kept::encode(&history)
        };
        let text = |error: hblite::Error| error.message().to_owned();
        let connection = &self.source.connection;
        let kept = encoded.and_then(|bytes| connection.keep_history(&bytes).map_err(text));
        let reason = kept.err();
        *self.problem.lock() =
            reason.map(|reason| format!("the history of requests was not kept: {reason}"));
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
