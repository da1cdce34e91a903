//! An open directory: opening, recovery, closing, and access to everything else.
//!
//! Opening:  lock the directory, check the log, open hbase:meta and replay its log entries, open
//!           the regions that it names and replay theirs, start the workers.
//! Closing:  stop the workers, flush every region, hbase:meta last, then close the log, which
//!           removes its files if no region needs them.
//! Threads:  any.

mod adopt;
mod closing;
mod look;
mod read_only;
mod rows;
mod scrub;
mod server;
mod tables;
mod template;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crossbeam_utils::CachePadded;
use hblite_env::sync::Mutex;
use hblite_env::{Env, FileLock};
use hblite_hfile::BlockCache;
use hblite_model::{
    CompactRequest, FlushRequest, META_ENCODED_NAME, RequestTarget, Result, StoreStatus, Switch,
};

use self::look::Found;
pub(crate) use self::read_only::{image_of, on_image};
pub(crate) use self::template::{Prepared, Template};
use crate::catalog::{Catalog, Procedures};
use crate::chore::{Chores, release_log};
use crate::chore_queue::{ChoreReceiver, chore_channel};
use crate::context::{EngineContext, FileNote, MemoryUse};
use crate::files::sync_dir;
use crate::layout::{Layout, Reserve, StoreId};
use crate::memstore::ChunkPool;
use crate::nonces::Nonces;
use crate::options::EngineOptions;
use crate::region::{Region, Replay};
use crate::row_counts::RowCounting;
use crate::signal::Signal;
use crate::store::CompactionTrigger;
use crate::switches::Switches;
use crate::table::RegionHandle;
use crate::wal::{self, ReplayReport, Wal, WalEntry, WalOptions};

/// An open store.
pub struct Engine {
    context: Arc<EngineContext>,
    catalog: Arc<Catalog>,
    recovery: ReplayReport,
    opened_at_ms: i64,
    running: Mutex<Option<Running>>,
}

/// The parts that end when the store is closed.
struct Running {
    chores: Chores,
    lock: Arc<dyn FileLock>,
}

/// A store that was opened and recovered; no thread works on it yet.
struct Recovered {
    context: Arc<EngineContext>,
    catalog: Arc<Catalog>,
    recovery: ReplayReport,
    receiver: ChoreReceiver,
    lock: Arc<dyn FileLock>,
}

/// Opening.
impl Engine {
    /// Opens the directory, or creates a store in it.
    ///
    /// # Errors
    /// `Locked` if another process has it open (the message names it), `Io` if the file system
    /// fails, `Corrupt` with file and offset if something in it is damaged, `IllegalArgument` for
    /// settings out of range.
    pub fn open(env: Env, dir: &Path, options: EngineOptions) -> Result<Arc<Self>> {
        let is_read_only = options.is_read_only;
        let engine = Self::begin_work(Self::open_and_recover(env, dir, options)?)?;
        engine.context.is_read_only.store(is_read_only, Ordering::Release);
        Ok(Arc::new(engine))
    }

    fn open_and_recover(env: Env, dir: &Path, options: EngineOptions) -> Result<Recovered> {
        options.check()?;
        if options.is_read_only {
            return on_image(&env, dir, &options, |image| {
                Self::recover_from(image, dir, read_only::settings(&options))
            });
        }
        adopt::rehearse(&env, dir, &options)?;
        Self::recover_from(env, dir, options)
    }

    fn recover_from(env: Env, dir: &Path, options: EngineOptions) -> Result<Recovered> {
        let (layout, place, lock) = Self::enter(&env, dir, &options)?;
        let found = Self::look(&env, &layout, place, &options)?;
        // Everything before this only reads.
        layout.prepare(env.fs.as_ref(), place)?;
        let cache_size = options.block_cache_size_bytes;
        let cache = (cache_size > 0).then(|| Arc::new(BlockCache::new(cache_size)));
        let (context, receiver) =
            Self::context(env, layout, options, &found.recovery, &lock, cache)?;
        context.has_hbase_logs.store(!found.hbase_logs.is_empty(), Ordering::Release);
        Self::recover(context, found, receiver, lock)
    }

    /// Continues the log that was found, and prepares what the parts of the store share.
    fn context(
        env: Env,
        layout: Layout,
        options: EngineOptions,
        recovery: &ReplayReport,
        lock: &Arc<dyn FileLock>,
        block_cache: Option<Arc<BlockCache>>,
    ) -> Result<(Arc<EngineContext>, ChoreReceiver)> {
        let reserve = Reserve::new(&env.fs, &layout);
        let keeping = layout.keeping(&env);
        let env = match &keeping {
            Some(keeping) => env.with_fs(Arc::new(keeping.clone())),
            None => env,
        };
        let are_files_mapped = options.are_files_mapped;
        let wal_options = WalOptions { are_files_mapped, ..options.wal.clone() };
        layout.set_first_log_head(wal::first_head(recovery));
        // Its log files name the store, so the id must survive a power cut.
        let root = Some(layout.root_files());
        let wal = Wal::open_in_store(&env, &layout.wal_dir(), wal_options, recovery, root)?;
        wal.watch(Arc::downgrade(lock), layout.lock_file());
        let (sender, receiver) = chore_channel();
        let context = Arc::new(EngineContext {
            write_clock: CachePadded::default(),
            env,
            keeping,
            layout,
            wal,
            reserve,
            block_cache,
            chores: sender,
            nonces: Nonces::default(),
            switches: Switches::default(),
            row_counting: RowCounting::default(),
            memory: MemoryUse::default().into(),
            region_changes: Signal::default(),
            chunks: Arc::new(ChunkPool::new(options.memstore_flush_size_bytes)),
            is_closed: AtomicBool::new(false),
            is_read_only: AtomicBool::new(false),
            is_standby: AtomicBool::new(false),
            has_hbase_logs: AtomicBool::new(false),
            naming: OnceLock::new(),
            notes: Mutex::default(),
            options: Arc::new(options),
        });
        Ok((context, receiver))
    }

    fn recover(
        context: Arc<EngineContext>,
        found: Found,
        receiver: ChoreReceiver,
        lock: Arc<dyn FileLock>,
    ) -> Result<Recovered> {
        let Found { recovery, rebuild, hbase_logs } = found;
        make_log_durable(&context, &recovery)?;
        // A replay may flush, and the log then has files that only the replay still needs.
        let hold = context.wal.hold_log_files();
        for (path, what) in rebuild.iter().flat_map(|plan| &plan.damaged) {
            context.put_aside(path, what)?;
        }
        let meta = Catalog::open_meta(&context)?;
        adopt::replay_meta(&context, &hbase_logs, &meta)?;
        replay_into(&context, &recovery, |name| {
            (name == META_ENCODED_NAME).then(|| Arc::clone(&meta))
        })?;
        let catalog = Arc::new(Catalog::load(&context, meta, rebuild, &recovery.regions())?);
        adopt::replay_regions(&context, &hbase_logs, &catalog)?;
        replay_into(&context, &recovery, |name| {
            if name == META_ENCODED_NAME { None } else { catalog.region_or_parked(name) }
        })?;
        drop(hold);
        catalog.load_namespaces()?;
        forget_flushed(&context, &recovery, &catalog)?;
        adopt::finish(&context, &hbase_logs, &catalog)?;
        catalog.begin_reserve();
        // If removing log files fails, the log may have failed as well.
        context.wal.check()?;
        Ok(Recovered { context, catalog, recovery, receiver, lock })
    }

    fn begin_work(recovered: Recovered) -> Result<Self> {
        let Recovered { context, catalog, recovery, receiver, lock } = recovered;
        let chores = Chores::start(&context, &catalog, receiver)?;
        let opened_at_ms = context.env.clock.now_millis();
        let running = Mutex::new(Some(Running { chores, lock }));
        Ok(Self { context, catalog, recovery, opened_at_ms, running })
    }
}

/// What the store is made of.
impl Engine {
    /// What was replayed from the log when the store was opened.
    pub fn recovery(&self) -> &ReplayReport {
        &self.recovery
    }

    /// The namespaces, tables and regions.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The ways to change namespaces, tables and regions.
    pub fn procedures(&self) -> Procedures<'_> {
        self.catalog.procedures()
    }

    /// Files that an open with salvage dropped or accepted, and directories that were moved to the
    /// archive because they contained foreign files.
    pub fn file_notes(&self) -> Vec<FileNote> {
        self.context.notes.lock().clone()
    }

    /// The settings.
    pub fn options(&self) -> &EngineOptions {
        &self.context.options
    }

    /// Files, clock and randomness of the store.
    pub fn env(&self) -> &Env {
        &self.context.env
    }

    /// The time used as the timestamp of cells.
    pub fn now_millis(&self) -> i64 {
        self.context.env.clock.now_millis()
    }

    /// Refuses work if the store is closed.
    ///
    /// # Errors
    /// `RegionServerStopped`.
    pub(crate) fn check_open(&self) -> Result<()> {
        self.context.check_open()
    }

    /// Refuses a new file while the disk is full, and where another directory has taken the place
    /// of the store's.
    ///
    /// # Errors
    /// `RegionTooBusy`, `RegionServerStopped`.
    pub(crate) fn check_place_and_space(&self) -> Result<()> {
        self.context.wal.check()?;
        self.context.reserve.check()
    }

    /// The lock of the directory, unless the store is closed.
    pub(crate) fn lock(&self) -> Option<Arc<dyn FileLock>> {
        self.running.lock().as_ref().map(|running| Arc::clone(&running.lock))
    }

    /// Adds to [`Engine::file_notes`].
    pub(crate) fn note(&self, path: &Path, what: impl Into<String>) {
        self.context.note(path, what);
    }

    /// The paths of the store.
    pub(crate) fn layout(&self) -> &Layout {
        &self.context.layout
    }

    /// Whether background work waits, because the store's clock is not set yet.
    pub(crate) fn set_standby(&self, is_standby: bool) {
        self.context.is_standby.store(is_standby, Ordering::Release);
    }

    /// Whether background work waits.
    #[cfg(test)]
    pub(crate) fn is_standby(&self) -> bool {
        self.context.is_standby.load(Ordering::Acquire)
    }

    /// Wakes the background workers to look for what has become due: major compactions, expired
    /// snapshots, parents of splits.
    pub(crate) fn look_for_due_work(&self) {
        for region in self.catalog.all_regions() {
            self.context.chores.compact(region.info().encoded_name());
        }
    }
}

/// Replays the entries of the log into their regions.
fn replay_into(
    context: &EngineContext,
    recovery: &ReplayReport,
    find: impl Fn(&str) -> Option<Arc<Region>>,
) -> Result<()> {
    if recovery.entries == 0 {
        return Ok(());
    }
    let mut replay = Replay::default();
    let options = context.replay_options();
    let mut add = |entry: WalEntry<'_>| replay.add(&entry, &find);
    wal::replay(&context.env, &context.layout.wal_dir(), options, &mut add)?;
    replay.finish()
}

/// Makes the existing log durable, since a killed process may have left it to the operating system.
/// From here on the open relies on it, and removes files that the log makes obsolete.
fn make_log_durable(context: &EngineContext, recovery: &ReplayReport) -> Result<()> {
    if !recovery.salvaged.is_empty() {
        // The head must not name what is lost, even if nothing is written.
        context.layout.begin_use(context.env.fs.as_ref())?;
    }
    if recovery.log_files == 0 {
        return Ok(());
    }
    let (fs, dir) = (context.env.fs.as_ref(), context.layout.wal_dir());
    context.wal.sync_all()?;
    sync_dir(fs, &dir)?;
    context.layout.make_durable(fs, &dir)
}

/// Marks the log entries that are no longer needed. The files that hold their cells may have been
/// named by a process that was killed before it made the names durable.
fn forget_flushed(
    context: &EngineContext,
    recovery: &ReplayReport,
    catalog: &Catalog,
) -> Result<()> {
    for (name, highest_id) in recovery.regions() {
        let region = catalog.region_or_parked(name);
        if let Some(region) = &region {
            let last_id = region.last_sequence_id();
            assert!(last_id >= highest_id, "{name} would use the ids above {last_id} again");
            region.make_names_durable()?;
        }
        match region {
            None => context.wal.region_removed(name)?,
            Some(region) if region.is_memory_empty() && region.files().can_be_named() => {
                context.wal.region_flushed(name, highest_id)?;
            }
            // The damage that was skipped disappears with its file.
            Some(region) if !recovery.salvaged.is_empty() => {
                region.flush()?;
                region.request_compaction();
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Finding regions.
impl Engine {
    /// The region in service with this full name, for servers, whose clients name regions.
    pub fn region(&self, name: &[u8]) -> Option<RegionHandle> {
        self.catalog.region_by_name(name).map(RegionHandle::new)
    }

    /// Every region in service.
    pub fn online_regions(&self) -> Vec<RegionHandle> {
        self.catalog.all_regions().into_iter().map(RegionHandle::new).collect()
    }

    /// The id of the store, which HBase calls the cluster id: a UUID that never changes.
    pub fn store_id(&self) -> StoreId {
        self.context.layout.store_id()
    }

    /// Regions, requests, memory and files.
    ///
    /// # Errors
    /// None at present.
    pub fn status(&self) -> Result<StoreStatus> {
        let regions = self.catalog.all_regions();
        let running = self.running.lock();
        let chores = running.as_ref().map(|running| &running.chores);
        let mut status = StoreStatus::default();
        status.opened_at_ms = self.opened_at_ms;
        status.regions = regions.iter().map(|region| region.status()).collect();
        status.memstore_size_bytes = self.context.memory.bytes() as u64;
        status.memory_max_bytes = self.options().memory_max_bytes() as u64;
        status.last_error = chores.and_then(Chores::last_error);
        status.scrub = chores.map(|chores| chores.scrubber().status()).unwrap_or_default();
        Ok(status)
    }
}

/// Regions and files.
impl Engine {
    /// Writes memory to files. After the flush of a region, the region is compacted if it has too
    /// many files. After the flush of a table, which in HBase is a procedure, regions are compacted
    /// only if they have so many files, or delete markers, that reading them would become
    /// expensive.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `UnknownRegion`, `NoSuchColumnFamily`; `Io` if a file
    /// cannot be written: memory and the log still have its cells.
    pub fn flush(&self, request: impl Into<FlushRequest>) -> Result<()> {
        self.context.check_not_read_only()?;
        self.context.reserve.check_now()?;
        let request = request.into();
        let regions = match request.target() {
            RequestTarget::Table(table) => self.catalog.enabled_regions(table)?,
            RequestTarget::Region(region) => vec![self.catalog.known_region(region)?],
        };
        let is_of_table = matches!(request.target(), RequestTarget::Table(_));
        for region in regions {
            match request.family() {
                Some(family) => region.flush_family(family)?,
                None => region.flush()?,
            };
            if !is_of_table || region.is_compaction_urgent() {
                region.request_compaction();
            }
        }
        if is_of_table && request.family().is_none() {
            release_log(&self.context, &self.catalog)?;
        }
        Ok(())
    }

    /// Compacts files, and returns when that is done. A disabled table has nothing to compact.
    ///
    /// # Errors
    /// `TableNotFound`, `UnknownRegion`, `NoSuchColumnFamily`; `NotServingRegion` for a table's
    /// medium objects; `Io` and `CorruptHFile` leave the store's files as they were.
    pub fn compact(&self, request: impl Into<CompactRequest>) -> Result<()> {
        self.context.check_not_read_only()?;
        let request = request.into();
        if let Some(region) = request.mob_region() {
            return Err(self.catalog.not_online(&region));
        }
        let regions = match request.target() {
            RequestTarget::Table(table) => {
                self.catalog.descriptor(table)?;
                self.catalog.regions(table)
            }
            RequestTarget::Region(region) => vec![self.catalog.known_region(region)?],
        };
        if !self.context.switches.is_on(Switch::Compaction) {
            return Ok(());
        }
        let trigger = CompactionTrigger::Requested(request.kind());
        for region in regions {
            match request.family() {
                Some(family) => region.compact_family(trigger, family)?,
                None => region.compact(trigger)?,
            };
        }
        Ok(())
    }
}

#[cfg(test)]
impl Engine {
    /// Ends all work in the background.
    pub(crate) fn stop_chores(&self) {
        if let Some(running) = self.running.lock().as_mut() {
            running.chores.stop();
        }
    }

    /// Ends the store as a kill would: memory is lost.
    pub(crate) fn abandon(&self) {
        if let Some(mut running) = self.running.lock().take() {
            self.context.is_closed.store(true, Ordering::Release);
            running.chores.stop();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // There is no caller to return the error to; after a failed flush, the cells are still in
        // the log.
        let _ = self.close();
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Engine({})", self.context.layout.root().display())
    }
}

#[cfg(test)]
mod tests {
    use hblite_env::{ManualClock, MemFileSystem, SeededRandom};
    use hblite_model::{ColumnFamilyDescriptor, Compression, Get, Put, TableDescriptor, TableName};

    use super::*;

    /// What the block cache holds after a flush, after the row was read, and after the store was
    /// opened again, with these attributes of the family.
    fn cached_bytes(attributes: &[(&str, &str)]) -> [usize; 3] {
        let env = Env {
            fs: Arc::new(MemFileSystem::new()),
            clock: Arc::new(ManualClock::new(1_700_000_000_000)),
            random: Arc::new(SeededRandom::new(7)),
        };
        // Whether blocks of files that are mapped are cached is another matter.
        let options = EngineOptions::default().with_files_mapped(true);
        let open = || Engine::open(env.clone(), Path::new("/store"), options.clone()).unwrap();
        let cached = |engine: &Engine| {
            engine.context.block_cache.as_ref().map_or(0, |cache| cache.size_bytes())
        };
        let engine = open();
        let name: TableName = "t".parse().unwrap();
        let mut family = ColumnFamilyDescriptor::new("f").with_compression(Compression::Gz);
        for (attribute, value) in attributes {
            family.set_attribute(attribute, value).unwrap();
        }
        let descriptor = TableDescriptor::new(name.clone()).with_family(family);
        engine.procedures().create_table(&descriptor, &[]).unwrap();
        let table = engine.table(name.clone());
        table.mutate(Put::new("r").add("f", "q", "v").as_mutation()).unwrap();
        engine.flush(&name).unwrap();
        let flushed = cached(&engine);
        assert!(table.exists(&Get::new("r")).unwrap());
        let read = cached(&engine);
        engine.close().unwrap();
        drop((table, engine));
        let engine = open();
        [flushed, read, cached(&engine)]
    }

    #[test]
    fn a_familys_settings_say_what_is_cached_and_when() {
        let is_cached = |attributes: &[(&str, &str)]| cached_bytes(attributes).map(|b| b > 0);
        assert_eq!(is_cached(&[]), [false, true, false]);
        assert_eq!(is_cached(&[("BLOCKCACHE", "false")]), [false; 3]);
        assert_eq!(is_cached(&[("CACHE_DATA_ON_WRITE", "true")]), [true, true, false]);
        let (prefetch, never) = (("PREFETCH_BLOCKS_ON_OPEN", "true"), ("BLOCKCACHE", "false"));
        assert_eq!(is_cached(&[prefetch]), [true; 3]);
        assert_eq!(is_cached(&[prefetch, never]), [false; 3]);
    }
}
