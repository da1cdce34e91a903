//! Work in the background: flushes, compactions, splits, old logs.
//!
//! One thread flushes, and others compact and split (`pool`), so that a long compaction delays
//! neither the freeing of memory nor a short one. Lower layers send a region's name through a
//! channel and continue; what the region needs is decided when a thread gets to it. Another thread
//! verifies store files again (`scrubber`).
//!
//! A chore that fails is retried after a pause: nothing is lost by waiting, and writers that need
//! memory get an error if it takes too long.

mod pool;
mod scrubber;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_env::sync::Mutex;
use hblite_model::{Result, ScrubStatus, Switch};

use self::pool::{Job, Pool};
use self::scrubber::{Scrubber, ScrubberThread};
use crate::catalog::Catalog;
use crate::chore_queue::ChoreReceiver;
use crate::context::EngineContext;
use crate::region::Region;
use crate::store::CompactionTrigger;

/// The running workers.
pub(crate) struct Chores {
    pools: Vec<Arc<Pool>>,
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
        let sender = &context.chores;
        let flusher = Job { name: "hblite-flusher", threads_max: 1, work: flush, need: None };
        let compactor = Job {
            name: "hblite-compactor",
            threads_max: context.options.compaction_threads_max,
            work: compact,
            need: Some(Region::has_dead_cells),
        };
        let start = |job, requests, receiver| {
            Pool::start(job, context, catalog, &errors, requests, receiver)
        };
        let mut pools = vec![start(flusher, &sender.flushes, receiver.flushes)?];
        let end = |pools: &[Arc<Pool>]| pools.iter().for_each(|pool| pool.stop());
        let compactor = start(compactor, &sender.compactions, receiver.compactions);
        pools.push(compactor.inspect_err(|_| end(&pools))?);
        let scrubber = Arc::new(Scrubber::new(context, catalog));
        let scrubber_thread = ScrubberThread::start(&scrubber).inspect_err(|_| end(&pools))?;
        let scrubber = ScrubHandle(scrubber, Arc::clone(context));
        Ok(Self { pools, errors, scrubber, scrubber_thread })
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
        self.scrubber_thread.stop();
        for pool in &self.pools {
            pool.stop();
        }
    }
}

/// What went wrong, by worker and region, until it succeeds.
type Errors = BTreeMap<(&'static str, String), String>;

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
    if !region.info().table().is_system() {
        context.reserve.check()?;
    }
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

/// Releases old log files. The catalog's own regions hold little, but would keep every log file
/// that has an entry of theirs, so they are flushed whenever the log is rolled; other regions only
/// when there are too many log files.
pub(crate) fn release_log(context: &EngineContext, catalog: &Catalog) -> Result<()> {
    if context.wal.log_file_count() > 1 {
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
    region.remove_replaced_files()?;
    let is_on = |switch| context.switches.is_on(switch);
    let space = context.reserve.check();
    if space.is_ok()
        && context.options.is_compaction_enabled
        && is_on(Switch::Compaction)
        && region.descriptor().is_compaction_enabled()
    {
        region.compact(CompactionTrigger::Background)?;
    }
    if space.is_ok() {
        catalog.procedures().split_if_due(region)?;
    }
    if is_on(Switch::CatalogJanitor) {
        catalog.procedures().clean_parents()?;
    }
    catalog.procedures().remove_expired_snapshots()?;
    space
}
