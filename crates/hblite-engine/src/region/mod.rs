//! A region: a row range of a table, with a store per family.
//!
//! Life:    opened from its directory, filled from the log if the store was not closed cleanly,
//!          then open; `close` flushes it and refuses everything from then on.
//! Writes:  `mutate` (the write path) and `read_modify_write`; whole files by `bulk_load`.
//! Reads:   `region_scanner`; a get is a scan of one row. All pass the `file_gate`.
//! Threads: any. The updates lock is shared by writers and taken by `flush` and `close`: a writer
//!          takes that of its lane, the others take those of all lanes.

mod bulk_load;
mod compact;
pub(crate) mod dead_rows;
mod file_gate;
mod flush;
mod load;
mod memory;
mod mutate;
mod mvcc;
mod read_modify_write;
mod recent_writes;
pub(crate) mod region_scanner;
mod replay;
mod row_lock;
mod service;
mod settings;
pub(crate) mod split;
pub(crate) mod split_policy;
mod timestamps;
mod write_pace;

pub(crate) use file_gate::FileGate;
pub(crate) use mutate::RowsWrite;
pub(crate) use replay::Replay;
pub(crate) use timestamps::Patience;

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hblite_env::Striped;
use hblite_env::sync::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};
use hblite_model::{
    CellBuffer, CellComparator, Error, Exception, Get, RegionInfo, RegionLoad, Result, Scan,
    TableDescriptor,
};

use crate::context::EngineContext;
use crate::given_times::GivenUntil;
use crate::store::Store;
use crate::store::manifest::Recorded;
use crate::store::region_files::RegionFiles;
use crate::store::short_get::{ShortGet, ShortRead};
use crate::wal::WalRegion;

use self::dead_rows::{DeadRows, Watch};
use self::flush::FlushState;
use self::load::{RegionLoadCounters, RegionRowCounts};
use self::mvcc::Mvcc;
use self::region_scanner::{RegionScanner, RegionStep, ScanSources};
use self::row_lock::RowLocks;
use self::settings::RegionSettings;
use self::write_pace::WritePace;

/// A row range of a table.
pub(crate) struct Region {
    context: Arc<EngineContext>,
    info: RegionInfo,
    descriptor: Arc<TableDescriptor>,
    settings: RegionSettings,
    /// In the order of family names.
    stores: Vec<Arc<Store>>,
    files: Arc<RegionFiles>,
    comparator: CellComparator,
    wal_region: WalRegion,
    mvcc: Mvcc,
    row_locks: RowLocks,
    /// The latest timestamp that the store gave to a cell.
    given: GivenUntil,
    /// The same, of the cells that were there when the region was opened.
    given_at_open: GivenUntil,
    /// `None` if a family shows more than what is visible to a plain scan.
    dead_rows: Option<Arc<DeadRows>>,
    /// The jumps of the clock that the two and the row locks know of.
    clock_jumps: AtomicU64,
    lanes: Striped<Lane>,
    /// Set under the updates lock; a failed close resets it without that lock.
    is_closing: AtomicBool,
    /// Whether it is out of service until it is assigned.
    is_unassigned: AtomicBool,
    flush: Mutex<FlushState>,
    is_flush_requested: AtomicBool,
    /// Held by the bulk load in progress; a close waits for it.
    bulk_load: Mutex<()>,
    /// Passed by readers, so that they see the files of a bulk load in all families or in none.
    file_gate: FileGate,
    /// Log entries up to this sequence id are obsolete.
    log_skipped_to: AtomicU64,
    write_pace: WritePace,
    row_counts: RegionRowCounts,
}

/// What each operation writes to; a lane serves some of the threads.
#[derive(Default)]
struct Lane {
    /// Shared from the log to the memstore, exclusive while memory is frozen.
    updates: RwLock<()>,
    load: RegionLoadCounters,
}

/// What a region is opened with, or copied from.
struct RegionParts {
    info: RegionInfo,
    descriptor: Arc<TableDescriptor>,
    settings: RegionSettings,
    stores: Vec<Arc<Store>>,
    files: Arc<RegionFiles>,
    given: GivenUntil,
}

fn comparator_of(region: &RegionInfo) -> CellComparator {
    if region.table().is_meta() { CellComparator::Meta } else { CellComparator::Default }
}

impl Region {
    /// Opens the region from its directory; missing family directories are created when they are
    /// first needed. `manifest` is what hbase:meta says about its manifest.
    pub(crate) fn open(
        context: &Arc<EngineContext>,
        info: RegionInfo,
        manifest: Option<Recorded>,
        descriptor: Arc<TableDescriptor>,
    ) -> Result<Arc<Self>> {
        let comparator = comparator_of(&info);
        context.layout.remove_unfinished_files(context.env.fs.as_ref(), &info)?;
        let loads = bulk_load::finish_all(context, &info, &descriptor)?;
        let files = RegionFiles::open(context, &info, manifest, loads.files)?;
        let mut stores = Vec::with_capacity(descriptor.families().len());
        let given = GivenUntil::default();
        for family in descriptor.families() {
            let table = &descriptor;
            let store = Store::open(context, &info, table, family, comparator, &files, &given)?;
            stores.push(Arc::new(store));
        }
        files.keep_families(&descriptor);
        files.restore_manifest()?;
        if !loads.dirs.is_empty() || stores.iter().any(|store| store.has_leftovers()) {
            // Until the manifest is written, the files removed here explain which others are
            // present or missing.
            files.save_durably()?;
            stores.iter().try_for_each(|store| store.remove_leftovers())?;
            bulk_load::remove_finished(context, &loads.dirs)?;
        }
        let last_id = stores.iter().map(|store| store.sequence_id_max()).max().unwrap_or(0);
        let settings = RegionSettings::new(&descriptor, &context.options);
        let parts = RegionParts { info, descriptor, settings, stores, files, given };
        Self::new(context, parts, last_id)
    }

    /// The region of another store that has the same files, which are shared. Nothing of the
    /// original is only in memory.
    ///
    /// # Errors
    /// None are known: the name of the original is valid.
    pub(crate) fn copy_of(original: &Self, context: &Arc<EngineContext>) -> Result<Arc<Self>> {
        let files = original.files.copy_in(context);
        let given = original.given.detached();
        let copy = |store: &Arc<Store>| Arc::new(Store::copy_of(store, context, &files, &given));
        let parts = RegionParts {
            info: original.info.clone(),
            descriptor: Arc::clone(&original.descriptor),
            settings: original.settings.clone(),
            stores: original.stores.iter().map(copy).collect(),
            files,
            given,
        };
        let region = Self::new(context, parts, original.last_sequence_id())?;
        let skipped_to = original.log_skipped_to.load(Ordering::Relaxed);
        region.log_skipped_to.store(skipped_to, Ordering::Relaxed);
        Ok(region)
    }

    fn new(context: &Arc<EngineContext>, parts: RegionParts, last_id: u64) -> Result<Arc<Self>> {
        let RegionParts { info, descriptor, settings, stores, files, given } = parts;
        let comparator = comparator_of(&info);
        let dead_rows = DeadRows::of(&descriptor, &stores, context.env.clock.now_millis());
        Ok(Arc::new(Self {
            wal_region: context.wal.region(info.encoded_name())?,
            context: Arc::clone(context),
            info,
            settings,
            descriptor,
            stores,
            files,
            comparator,
            mvcc: Mvcc::new(last_id),
            row_locks: RowLocks::default(),
            given_at_open: given.detached(),
            dead_rows,
            given,
            clock_jumps: AtomicU64::new(context.write_clock.jumps()),
            lanes: Striped::default(),
            is_closing: AtomicBool::new(false),
            is_unassigned: AtomicBool::new(false),
            flush: Mutex::new(FlushState::default()),
            is_flush_requested: AtomicBool::new(false),
            bulk_load: Mutex::new(()),
            file_gate: FileGate::default(),
            log_skipped_to: AtomicU64::new(0),
            write_pace: WritePace::default(),
            row_counts: RegionRowCounts::default(),
        }))
    }

    /// Declares log entries up to this sequence id obsolete, and begins with higher ids. Called
    /// right after opening.
    pub(crate) fn skip_to(&self, sequence_id: u64) {
        self.log_skipped_to.store(sequence_id, Ordering::Relaxed);
        self.mvcc.advance_to(sequence_id);
    }

    /// Makes the names of all store files durable, whatever created them.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn make_names_durable(&self) -> Result<()> {
        self.stores.iter().try_for_each(|store| store.make_names_durable())
    }

    /// The sequence id of the latest write.
    pub(crate) fn last_sequence_id(&self) -> u64 {
        self.mvcc.read_point()
    }

    pub(crate) fn info(&self) -> &RegionInfo {
        &self.info
    }

    pub(crate) fn descriptor(&self) -> &Arc<TableDescriptor> {
        &self.descriptor
    }

    pub(crate) fn stores(&self) -> &[Arc<Store>] {
        &self.stores
    }

    /// The manifest of the region's files.
    pub(crate) fn files(&self) -> &RegionFiles {
        &self.files
    }

    pub(crate) fn load(&self) -> RegionLoad {
        let mut load = RegionLoad::default();
        self.lanes.all().for_each(|lane| lane.load.add_to(&mut load));
        load
    }

    /// The counters of this thread.
    #[inline]
    fn counters(&self) -> &RegionLoadCounters {
        &self.lanes.mine().load
    }

    /// Waits for the writes in progress; none enters the region while the guards live.
    fn stop_updates(&self) -> Vec<RwLockWriteGuard<'_, ()>> {
        self.lanes.all().map(|lane| lane.updates.write()).collect()
    }

    fn store_of(&self, family: &[u8]) -> Option<&Arc<Store>> {
        self.stores.iter().find(|store| store.family().name() == family)
    }

    /// Refuses a family that the table does not have, with HBase's message.
    pub(crate) fn check_family(&self, family: &[u8]) -> Result<()> {
        if self.store_of(family).is_some() {
            return Ok(());
        }
        let family = String::from_utf8_lossy(family);
        let message = format!(
            "Column family {family} does not exist in region {} in table {}",
            self.info.region_name_as_string(),
            self.descriptor
        );
        let summary = format!("table {} has no column family {family}", self.info.table());
        Err(Error::new(Exception::NoSuchColumnFamily, message).with_summary(summary))
    }

    /// The largest cell that a client may write, in bytes; `None` for no limit.
    pub(crate) fn cell_size_max(&self) -> Option<usize> {
        self.settings.cell_size_max_bytes
    }

    /// Begins a scan of those rows of the region that the scan selects.
    pub(crate) fn scanner(&self, scan: &Scan) -> Result<RegionScanner> {
        self.scanner_at(scan, || self.mvcc.read_point(), self.watch_rows(scan))
    }

    /// Like [`Region::scanner`], at the first point of `read_point` whose cells all still exist.
    fn scanner_at(
        &self,
        scan: &Scan,
        read_point: impl Fn() -> u64,
        watch: Option<Watch>,
    ) -> Result<RegionScanner> {
        for (family, _) in scan.columns().families() {
            self.check_family(family)?;
        }
        if self.is_closing() {
            return Err(self.not_serving());
        }
        self.context.row_counting.note(&self.row_counts, [self.first_row(scan)], false);
        let env = &self.context.env;
        let now = env.clock.now_millis();
        let seed = scan.filter().map_or(0, |_| env.random.next_u64());
        let dead_rows = self.dead_rows.as_deref().map(|rows| (rows, self.first_row(scan)));
        let (stores, gate) = (&self.stores, &self.file_gate);
        let sources = ScanSources { stores, gate, dead_rows, own_columns: false };
        RegionScanner::open(sources, scan, self.comparator, (read_point, now), seed, watch)
    }

    /// The row at which a scan of this region begins, or the region does.
    fn first_row<'r>(&'r self, scan: &'r Scan) -> &'r [u8] {
        match scan.start_row() {
            row if !row.is_empty() && self.info.contains_row(row) => row,
            _ => self.info.start_key(),
        }
    }

    /// Begins a scan as a server does: at `read_point` if everything visible there still exists,
    /// otherwise at the current one. Returns the read point.
    pub(crate) fn scanner_for_client(
        &self,
        scan: &Scan,
        read_point: Option<u64>,
    ) -> Result<(RegionScanner, u64)> {
        let (first, used) = (Cell::new(read_point), Cell::new(0));
        let at = || {
            used.set(first.take().unwrap_or_else(|| self.mvcc.read_point()));
            used.get()
        };
        let watch = if read_point.is_none() { self.watch_rows(scan) } else { None };
        let scanner = self.scanner_at(scan, at, watch)?;
        Ok((scanner, used.get()))
    }

    /// Reads one row, for a get or for a write that depends on it.
    pub(crate) fn read_row(&self, get: &Get) -> Result<CellBuffer> {
        match self.read_short(get.as_scan(), usize::MAX)? {
            Some(cells) => Ok(cells),
            None => self.read_row_from(self.scanner(get.as_scan())?),
        }
    }

    /// Reads one column or the family of a row on the fast path; `None` if that is not possible, or
    /// the cells have more than `size_max_bytes`. A single store always has a consistent view, so
    /// the gate for files of several stores is not needed.
    pub(crate) fn read_short(
        &self,
        scan: &Scan,
        size_max_bytes: usize,
    ) -> Result<Option<CellBuffer>> {
        let mut families = scan.columns().families();
        let store = match (families.next(), families.next(), self.stores.as_slice()) {
            (Some((family, _)), None, _) => self.store_of(family),
            (None, None, [single]) => Some(single),
            _ => None,
        };
        let Some(get) = store.and_then(|store| ShortGet::of(store, scan, size_max_bytes)) else {
            return Ok(None);
        };
        if self.is_closing() {
            return Err(self.not_serving());
        }
        let mut cells = CellBuffer::new();
        loop {
            let clock = self.context.env.clock.as_ref();
            match get.read(self.mvcc.read_point(), clock, &mut cells)? {
                ShortRead::Outdated => {}
                ShortRead::Unclear => return Ok(None),
                ShortRead::Done { cells_examined } => {
                    self.context.row_counting.note(&self.row_counts, [scan.start_row()], false);
                    self.count_cells_read(1, cells_examined, cells.len(), cells.size_bytes());
                    return Ok(Some(cells));
                }
            }
        }
    }

    /// Like [`Region::read_row`], for the row right after the write with this sequence id, if
    /// everything visible then still exists.
    fn read_row_at(&self, get: &Get, sequence_id: u64) -> Result<CellBuffer> {
        let first = Cell::new(Some(sequence_id));
        let read_point = || first.take().unwrap_or_else(|| self.mvcc.read_point());
        self.read_row_from(self.scanner_at(get.as_scan(), read_point, None)?)
    }

    fn read_row_from(&self, mut scanner: RegionScanner) -> Result<CellBuffer> {
        let mut cells = CellBuffer::new();
        let _: RegionStep = scanner.next_row(&mut cells)?;
        self.count_read(&scanner, cells.len(), cells.size_bytes());
        Ok(cells)
    }

    /// Adds what a scanner did to the region's counters.
    pub(crate) fn count_read(&self, scanner: &RegionScanner, cells: usize, size_bytes: usize) {
        let counts = scanner.row_counts();
        // HBase counts the calls for a next row, including the one that finds none.
        let rows = counts.scanned.saturating_sub(counts.filtered).max(1);
        self.dead_rows.iter().for_each(|rows| rows.note_hidden(counts.filtered));
        self.count_cells_read(rows, scanner.stats().cells_examined, cells, size_bytes);
    }

    fn count_cells_read(&self, rows: u64, cells_examined: u64, cells: usize, size_bytes: usize) {
        let load = self.counters();
        load.read_requests(rows);
        load.cells_read(cells as u64);
        load.bytes_read(size_bytes as u64);
        load.cells_examined(cells_examined);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    /// Prevents bulk loads from adding files while the guard lives.
    pub(crate) fn without_bulk_loads(&self) -> MutexGuard<'_, ()> {
        self.bulk_load.lock()
    }
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Region({})", self.info.region_name_as_string())
    }
}
