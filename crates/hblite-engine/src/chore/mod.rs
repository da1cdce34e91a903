//! Work in the background: flushes, compactions, splits, old logs.
//!
//! Two threads, one for flushes and one for compactions and splits, so that a long compaction never
//! delays freeing memory. Lower layers send a region's name through a channel and continue; what
//! the region needs is decided when a worker gets to it.
//!
//! A third thread verifies store files again (`scrubber`).
//!
//! An error of a chore is kept for the store's status, and the chore is retried after a pause:
//! nothing is lost by waiting, and writers that need memory get an error if it takes too long.

mod scrubber;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_env::sync::Mutex;
use hblite_env::sync::mpsc::{Receiver, RecvTimeoutError};
use hblite_env::thread::JoinHandle;
use hblite_env::time::{Duration, Instant};
use hblite_model::{Error, Result, ScrubStatus};

use self::scrubber::{Scrubber, ScrubberThread};
use crate::catalog::Catalog;
use crate::chore_queue::{ChoreReceiver, ChoreSender, Request};
use crate::context::EngineContext;
use crate::region::Region;
use crate::store::CompactionTrigger;

/// How long a chore that failed waits before it is retried.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// How often every region is checked even without a request: memory of that age is flushed
/// (`hbase.regionserver.optionalcacheflushinterval`), and compactions that have become due are run.
const ROUND_PERIOD: Duration = Duration::from_secs(60 * 60);

/// The running workers.
pub(crate) struct Chores {
    sender: ChoreSender,
    threads: Vec<JoinHandle<()>>,
    errors: Arc<Mutex<Errors>>,
    scrubber: ScrubHandle,
    scrubber_thread: ScrubberThread,
}

/// Verifies store files again, and reports damage. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ScrubHandle(Arc<Scrubber>, Arc<EngineContext>);

impl ScrubHandle {
    /// What was verified and what is damaged.
    pub(crate) fn status(&self) -> ScrubStatus {
        self.0.status()
    }

    /// Verifies every file of every region in service now, without a limit on the rate.
    ///
    /// # Errors
    /// `RegionServerStopped` if the store is closed before the end.
    pub(crate) fn scrub(&self) -> Result<ScrubStatus> {
        let is_open = &mut |_| !self.1.is_closed.load(Ordering::Relaxed);
        if !self.0.round(is_open) {
            self.1.check_open()?;
        }
        Ok(self.0.status())
    }
}

impl Chores {
    /// Starts the workers.
    ///
    /// # Errors
    /// `Io` if a thread cannot be started.
    pub(crate) fn start(
        context: &Arc<EngineContext>,
        catalog: &Arc<Catalog>,
        receiver: ChoreReceiver,
    ) -> Result<Self> {
        let errors = Arc::<Mutex<Errors>>::default();
        let mut threads = Vec::new();
        let works: [(&str, Receiver<Request>, Work); 2] = [
            ("hblite-flusher", receiver.flushes, flush),
            ("hblite-compactor", receiver.compactions, compact),
        ];
        for (name, requests, work) in works {
            let worker = Worker {
                context: Arc::clone(context),
                catalog: Arc::clone(catalog),
                errors: Arc::clone(&errors),
                name,
                work,
            };
            let thread = hblite_env::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || worker.run(&requests))
                .map_err(|error| Error::io_of("start thread", error))?;
            threads.push(thread);
        }
        let scrubber = Arc::new(Scrubber::new(context, catalog));
        let scrubber_thread = ScrubberThread::start(&scrubber)?;
        let scrubber = ScrubHandle(scrubber, Arc::clone(context));
        Ok(Self { sender: context.chores.clone(), threads, errors, scrubber, scrubber_thread })
    }

    /// Something that went wrong and has not succeeded since.
    pub(crate) fn last_error(&self) -> Option<String> {
        let error = self.errors.lock().values().next().cloned();
        error.or_else(|| self.scrubber.0.last_error())
    }

    pub(crate) fn scrubber(&self) -> &ScrubHandle {
        &self.scrubber
    }

    /// Ends the workers: flushes are finished, compactions are abandoned.
    pub(crate) fn stop(&mut self) {
        let _ = self.sender.flushes.send(Request::Stop);
        let _ = self.sender.compactions.send(Request::Stop);
        self.scrubber_thread.stop();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// What went wrong, by worker and region, until it succeeds.
type Errors = BTreeMap<(&'static str, String), String>;

type Work = fn(&EngineContext, &Catalog, &Region) -> Result<()>;

struct Worker {
    context: Arc<EngineContext>,
    catalog: Arc<Catalog>,
    errors: Arc<Mutex<Errors>>,
    name: &'static str,
    work: Work,
}

impl Worker {
    fn run(&self, requests: &Receiver<Request>) {
        let mut failed = Failed::default();
        let mut next_round = Instant::now() + ROUND_PERIOD;
        loop {
            let now = Instant::now();
            let names = if failed.retry_at.is_some_and(|at| at <= now) {
                failed.take()
            } else if next_round <= now {
                next_round = now + ROUND_PERIOD;
                self.all_regions()
            } else {
                let wake = failed.retry_at.map_or(next_round, |at| at.min(next_round));
                match requests.recv_timeout(wake - now) {
                    Ok(Request::Region(name)) => vec![name],
                    Ok(Request::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => continue,
                }
            };
            for name in names {
                if failed.names.contains(&name) {
                    continue;
                }
                match self.work_on(&name) {
                    Ok(()) => self.errors.lock().remove(&(self.name, name)),
                    Err(error) => {
                        failed.add(name.clone());
                        self.errors.lock().insert((self.name, name), error.to_string())
                    }
                };
            }
        }
    }

    fn all_regions(&self) -> Vec<String> {
        let regions = self.catalog.all_regions();
        regions.iter().map(|region| region.info().encoded_name().to_owned()).collect()
    }

    fn work_on(&self, name: &str) -> Result<()> {
        if self.context.is_read_only() {
            return Ok(());
        }
        // A region that was split or dropped meanwhile needs no more work.
        let Some(region) = self.catalog.region(name) else {
            return Ok(());
        };
        (self.work)(&self.context, &self.catalog, &region)
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

/// Flushes a region, which may then have enough files for a compaction. Returns whether there was
/// anything to flush.
fn flush_region(region: &Region) -> Result<bool> {
    let has_flushed = region.flush()?;
    if has_flushed {
        region.request_compaction();
    }
    Ok(has_flushed)
}

fn flush(context: &EngineContext, catalog: &Catalog, region: &Region) -> Result<()> {
    flush_region(region)?;
    if catalog.procedures().is_split_due(region) {
        context.chores.compact(region.info().encoded_name());
    }
    free_memory(context, catalog)?;
    release_log(context, catalog)
}

/// Flushes the largest regions while their total memory is too high.
fn free_memory(context: &EngineContext, catalog: &Catalog) -> Result<()> {
    while context.is_memory_short() {
        let regions = catalog.all_regions();
        let largest = regions.iter().max_by_key(|region| region.memstore_size_bytes());
        if !largest.map_or(Ok(false), |region| flush_region(region))? {
            break;
        }
    }
    Ok(())
}

/// Releases old log segments. The catalog's own regions hold little, but would keep every segment
/// that has an entry of theirs, so they are flushed whenever the log is rolled; other regions only
/// when there are too many segments.
pub(crate) fn release_log(context: &EngineContext, catalog: &Catalog) -> Result<()> {
    if context.wal.segment_count() > 1 {
        for region in catalog.all_regions() {
            if region.info().table().is_system() {
                flush_region(&region)?;
            }
        }
    }
    for name in context.wal.regions_to_flush() {
        if let Some(region) = catalog.region(&name) {
            flush_region(&region)?;
        }
    }
    Ok(())
}

fn compact(context: &EngineContext, catalog: &Catalog, region: &Region) -> Result<()> {
    if context.options.is_compaction_enabled && region.descriptor().is_compaction_enabled() {
        region.compact(CompactionTrigger::Background)?;
    }
    catalog.procedures().split_if_due(region)?;
    catalog.procedures().clean_parents()?;
    catalog.procedures().remove_expired_snapshots()
}
