//! Threads that take the names of regions from a channel and work on them.
//!
//! One thread at a time waits for the next request. The one that gets it hands over to another,
//! which is started if none is idle: a store that is never compacted has one thread for
//! compactions, and one that is loaded has as many as it may use.
//!
//! An error of a chore is kept for the store's status, and the chore is retried after a pause. A
//! panic, which is a bug, counts as an error: without the thread that flushes, the store would soon
//! accept no writes and not say why.
//!
//! Threads: the pool's own, and the one that starts and stops it. A thread holds `intake` while it
//! waits for a request, and no other lock meanwhile.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hblite_env::sync::Mutex;
use hblite_env::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use hblite_env::thread::{JoinHandle, catch_panic};
use hblite_env::time::{Duration, Instant};
use hblite_model::{Error, Exception, Result};

use super::Errors;
use crate::catalog::Catalog;
use crate::chore_queue::Request;
use crate::context::EngineContext;
use crate::region::Region;

/// How long a chore that failed waits before it is retried.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// How often every region is checked even without a request: memory of that age is flushed
/// (`hbase.regionserver.optionalcacheflushinterval`), and compactions that have become due are run.
const ROUND_PERIOD: Duration = Duration::from_secs(60 * 60);
/// How often a pool looks for regions whose state alone calls for work.
const LOOK_PERIOD: Duration = Duration::from_secs(30);

/// What a pool does with a region.
pub(super) type Work = fn(&EngineContext, &Catalog, &Region) -> Result<()>;

/// Whether a region needs the pool's work, whether or not it was requested.
pub(super) type Need = fn(&Region) -> bool;

/// What a pool is for.
pub(super) struct Job {
    /// The name of its threads.
    pub(super) name: &'static str,
    pub(super) threads_max: usize,
    pub(super) work: Work,
    /// `None` if it works on request only.
    pub(super) need: Option<Need>,
}

/// Threads for one kind of work.
pub(super) struct Pool {
    job: Job,
    context: Arc<EngineContext>,
    catalog: Arc<Catalog>,
    errors: Arc<Mutex<Errors>>,
    requests: Sender<Request>,
    intake: Mutex<Intake>,
    /// How many threads wait for a request, or for their turn to do so.
    idle: AtomicUsize,
    failed: Mutex<Failed>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What the thread has that waits for the next request.
struct Intake {
    requests: Receiver<Request>,
    next_round: Instant,
    next_look: Option<Instant>,
}

impl Pool {
    /// Starts the first thread. `requests` is the other end of `receiver`.
    ///
    /// # Errors
    /// `Io` if it cannot be started.
    pub(super) fn start(
        job: Job,
        context: &Arc<EngineContext>,
        catalog: &Arc<Catalog>,
        errors: &Arc<Mutex<Errors>>,
        requests: &Sender<Request>,
        receiver: Receiver<Request>,
    ) -> Result<Arc<Self>> {
        let now = Instant::now();
        let pool = Arc::new(Self {
            context: Arc::clone(context),
            catalog: Arc::clone(catalog),
            errors: Arc::clone(errors),
            requests: requests.clone(),
            intake: Mutex::new(Intake {
                requests: receiver,
                next_round: now + ROUND_PERIOD,
                next_look: job.need.map(|_| now + LOOK_PERIOD),
            }),
            job,
            idle: AtomicUsize::new(0),
            failed: Mutex::default(),
            threads: Mutex::default(),
        });
        pool.start_thread()?;
        Ok(pool)
    }

    fn start_thread(self: &Arc<Self>) -> Result<()> {
        let pool = Arc::clone(self);
        self.idle.fetch_add(1, Ordering::Relaxed);
        let started = hblite_env::thread::Builder::new()
            .name(self.job.name.to_owned())
            .spawn(move || pool.run())
            .map_err(Error::no_thread);
        if started.is_err() {
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
        self.threads.lock().push(started?);
        Ok(())
    }

    /// Ends the threads after the requests that were made before.
    pub(super) fn stop(&self) {
        let _ = self.requests.send(Request::Stop);
        loop {
            // One that still works may start another.
            let thread = self.threads.lock().pop();
            let Some(thread) = thread else { return };
            let _ = thread.join();
        }
    }

    fn run(self: Arc<Self>) {
        while let Some(names) = self.next() {
            let is_last = self.idle.fetch_sub(1, Ordering::Relaxed) == 1;
            if is_last && self.threads.lock().len() < self.job.threads_max {
                // Without another thread, what comes next waits for this one.
                let _ = self.start_thread();
            }
            for name in names {
                self.handle(name);
            }
            self.idle.fetch_add(1, Ordering::Relaxed);
        }
        // For the next thread.
        let _ = self.requests.send(Request::Stop);
    }

    /// The regions to work on next; `None` to end.
    fn next(&self) -> Option<Vec<String>> {
        let mut intake = self.intake.lock();
        loop {
            let now = Instant::now();
            let retry_at = self.failed.lock().retry_at;
            if retry_at.is_some_and(|at| at <= now) {
                return Some(self.failed.lock().take());
            }
            if intake.next_round <= now {
                intake.next_round = now + ROUND_PERIOD;
                return Some(self.regions(|_| true));
            }
            if let Some(need) = self.job.need.filter(|_| intake.next_look <= Some(now)) {
                intake.next_look = Some(now + LOOK_PERIOD);
                let due = self.regions(need);
                if due.is_empty() {
                    continue;
                }
                return Some(due);
            }
            let times = [Some(intake.next_round), intake.next_look, retry_at];
            let wake = times.into_iter().flatten().min().unwrap_or(now);
            match intake.requests.recv_timeout(wake - now) {
                Ok(Request::Region(name)) => return Some(vec![name]),
                Ok(Request::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
                Ok(Request::Look) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn regions(&self, is_meant: impl Fn(&Region) -> bool) -> Vec<String> {
        let regions = self.catalog.all_regions();
        let meant = regions.iter().filter(|region| is_meant(region));
        meant.map(|region| region.info().encoded_name().to_owned()).collect()
    }

    fn handle(&self, name: String) {
        if self.failed.lock().names.contains(&name) {
            return;
        }
        match self.work_on(&name) {
            Ok(()) => {
                self.errors.lock().remove(&(self.job.name, name));
            }
            Err(error) => {
                self.failed.lock().add(name.clone());
                self.errors.lock().insert((self.job.name, name), error.to_string());
                // The thread that waits does not know the new time.
                let _ = self.requests.send(Request::Look);
            }
        }
    }

    fn work_on(&self, name: &str) -> Result<()> {
        if self.context.is_read_only() || self.context.is_standby.load(Ordering::Acquire) {
            return Ok(());
        }
        // A region that was split or dropped meanwhile needs no more work.
        let Some(region) = self.catalog.region(name) else {
            return Ok(());
        };
        // What the work shares with others is behind locks, which a panic releases, and a file
        // counts once it is whole.
        let work = || (self.job.work)(&self.context, &self.catalog, &region);
        catch_panic(work).unwrap_or_else(|cause| {
            let message = format!("{} panicked in region {name}: {cause}", self.job.name);
            Err(Error::new(Exception::Io, message))
        })
    }
}

/// The regions whose work failed, until they are retried.
#[derive(Default)]
struct Failed {
    names: BTreeSet<String>,
    retry_at: Option<Instant>,
}

impl Failed {
    fn add(&mut self, name: String) {
        self.names.insert(name);
        self.retry_at.get_or_insert_with(|| Instant::now() + RETRY_PAUSE);
    }

    fn take(&mut self) -> Vec<String> {
        self.retry_at = None;
        std::mem::take(&mut self.names).into_iter().collect()
    }
}
