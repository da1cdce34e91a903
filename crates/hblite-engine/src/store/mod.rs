//! A store: one family of one region.
//!
//! Cells are in the memstore (active and, during a flush, frozen) and in store files. A reader
//! takes a [`StoreView`], the segments and the list of files at one moment: flush and compaction
//! replace it and never touch what a reader holds.
//!
//! Threads: any. A flush, a compaction and a bulk load replace the view when they commit. Whenever
//!          a write can be in flight, the view has the memstore's active segment.

mod compaction;
pub(crate) mod file_list;
mod flusher;
pub(crate) mod foreign_file;
pub(crate) mod hfile_link;
pub(crate) mod key_value_heap;
pub(crate) mod key_value_scanner;
pub(crate) mod latest_cell;
pub(crate) mod manifest;
pub(crate) mod matcher;
mod mob;
mod new_file;
pub(crate) mod open_files;
pub(crate) mod reference;
pub(crate) mod region_files;
mod replaced_files;
pub(crate) mod short_get;
pub(crate) mod standing;
pub(crate) mod store_file;
pub(crate) mod store_scanner;
#[cfg(test)]
pub(crate) mod test_files;

pub(crate) use compaction::{CompactionSettings, CompactionTrigger};
use compaction::{Exclusive, Turns};
pub(crate) use flusher::StoreFlush;
pub(crate) use replaced_files::replaced_files;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;
use hblite_env::sync::Mutex;
use hblite_env::{Current, Published};
use hblite_model::{
    CellComparator, ColumnFamilyDescriptor, RegionInfo, Result, TableDescriptor, bytes,
};

use crate::context::EngineContext;
use crate::given_times::GivenUntil;
use crate::memstore::{MemStore, Segments};

use self::file_list::FileList;
use self::matcher::ScanInfo;
use self::open_files::{FoundFiles, Leftovers};
use self::region_files::RegionFiles;
use self::store_file::StoreFile;

/// One family of one region.
pub(crate) struct Store {
    context: Arc<EngineContext>,
    region: RegionInfo,
    region_dir: PathBuf,
    region_files: Arc<RegionFiles>,
    dir: PathBuf,
    family: Arc<ColumnFamilyDescriptor>,
    comparator: CellComparator,
    scan_info: Arc<ScanInfo>,
    compaction_settings: CompactionSettings,
    memstore: MemStore,
    view: Published<StoreView>,
    /// Held while the view is replaced.
    replacing: Mutex<()>,
    /// How many files there are too many because compactions have fallen behind. Every write reads
    /// it.
    excess_files: AtomicUsize,
    charged: CachePadded<Charged>,
    /// Which compactions run, and who waits for them.
    turns: Turns,
    is_compaction_stopped: AtomicBool,
    /// Files in the directory that are no longer in any list: see `new_file.rs`.
    dead_files: Mutex<Vec<PathBuf>>,
    /// Files that the open found and must remove.
    leftovers: Leftovers,
    /// The highest sequence id in the files that existed when the store was opened.
    sequence_id_max: u64,
    /// Whether HBase may keep values of the family in other files (`IS_MOB`).
    has_medium_objects: bool,
    /// The region's.
    given: GivenUntil,
}

/// A store charges memory in steps of this many bytes: otherwise every write to any region would
/// change the same number.
const CHARGE_STEP: usize = 4 << 10;

/// The memory for the cells of the segments.
#[derive(Default)]
struct Charged {
    /// Bytes of the active segment, of which whole steps are charged.
    active: AtomicUsize,
    /// Bytes charged for the frozen segment.
    frozen: AtomicUsize,
}

/// How many of these bytes are charged: whole steps.
fn whole_steps(bytes: usize) -> usize {
    bytes - bytes % CHARGE_STEP
}

/// What a reader of a store reads: segments and files at one moment.
pub(crate) struct StoreView {
    pub(crate) segments: Arc<Segments>,
    pub(crate) files: Arc<FileList>,
}

impl StoreView {
    fn of(memstore: &MemStore, files: Arc<FileList>) -> Self {
        Self { segments: memstore.segments(), files }
    }
}

impl Store {
    /// Opens the store of a family of `region` from its directory.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` naming a file that is damaged, missing, or not the store's.
    pub(crate) fn open(
        context: &Arc<EngineContext>,
        region: &RegionInfo,
        table: &TableDescriptor,
        family: &ColumnFamilyDescriptor,
        comparator: CellComparator,
        region_files: &Arc<RegionFiles>,
        given: &GivenUntil,
    ) -> Result<Self> {
        let region_dir = context.layout.region_dir(region);
        let dir = context.layout.family_dir(region, family.name());
        let FoundFiles { live: files, leftovers } =
            open_files::open_all(context, region, family, &dir, region_files)?;
        let sequence_id_max = files.iter().map(|file| file.sequence_id_max()).max().unwrap_or(0);
        files.iter().filter_map(|file| file.given_until()).for_each(|until| given.include(until));
        let chunks = Arc::clone(&context.chunks);
        let memstore = MemStore::new(comparator, shared_prefix(region), chunks);
        let files = Arc::new(FileList::new(files, comparator));
        Ok(Self {
            context: Arc::clone(context),
            region: region.clone(),
            region_dir,
            region_files: Arc::clone(region_files),
            dir,
            scan_info: Arc::new(ScanInfo::new(family, comparator)),
            compaction_settings: CompactionSettings::of(table, family, &context.options),
            family: Arc::new(family.clone()),
            comparator,
            view: Published::new(Arc::new(StoreView::of(&memstore, files))),
            memstore,
            replacing: Mutex::default(),
            excess_files: AtomicUsize::new(0),
            charged: CachePadded::default(),
            turns: Turns::default(),
            is_compaction_stopped: AtomicBool::new(false),
            dead_files: Mutex::default(),
            leftovers,
            sequence_id_max,
            has_medium_objects: mob::is_enabled(family),
            given: given.clone(),
        })
    }

    /// The store of another region that has the same files, which are shared.
    pub(crate) fn copy_of(
        original: &Self,
        context: &Arc<EngineContext>,
        region_files: &Arc<RegionFiles>,
        given: &GivenUntil,
    ) -> Self {
        let region = original.region.clone();
        let chunks = Arc::clone(&context.chunks);
        let memstore = MemStore::new(original.comparator, shared_prefix(&region), chunks);
        Self {
            context: Arc::clone(context),
            view: Published::new(Arc::new(StoreView::of(&memstore, original.files()))),
            memstore,
            replacing: Mutex::default(),
            region,
            region_dir: original.region_dir.clone(),
            region_files: Arc::clone(region_files),
            dir: original.dir.clone(),
            scan_info: Arc::clone(&original.scan_info),
            compaction_settings: original.compaction_settings.clone(),
            family: Arc::clone(&original.family),
            comparator: original.comparator,
            excess_files: AtomicUsize::new(0),
            charged: CachePadded::default(),
            turns: Turns::default(),
            is_compaction_stopped: AtomicBool::new(false),
            dead_files: Mutex::default(),
            leftovers: Leftovers::new(),
            sequence_id_max: original.sequence_id_max,
            has_medium_objects: original.has_medium_objects,
            given: given.clone(),
        }
    }

    /// Whether the open found files that no longer belong to the store.
    pub(crate) fn has_leftovers(&self) -> bool {
        !self.leftovers.is_empty()
    }

    /// Removes those files. Called once, after the region's manifest is durable.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn remove_leftovers(&self) -> Result<()> {
        open_files::remove_leftovers(self.context.env.fs.as_ref(), &self.dir, &self.leftovers)
    }

    pub(crate) fn family(&self) -> &ColumnFamilyDescriptor {
        &self.family
    }

    pub(crate) fn memstore(&self) -> &MemStore {
        &self.memstore
    }

    pub(crate) fn scan_info(&self) -> &Arc<ScanInfo> {
        &self.scan_info
    }

    /// The highest sequence id in the files that existed when the store was opened.
    pub(crate) fn sequence_id_max(&self) -> u64 {
        self.sequence_id_max
    }

    /// The current files, oldest first.
    pub(crate) fn files(&self) -> Arc<FileList> {
        Arc::clone(&self.view.read().files)
    }

    /// Replaces the list of files by what `change` makes of it, the oldest first.
    fn change_files(&self, change: impl FnOnce(&FileList) -> Vec<Arc<StoreFile>>) {
        let _replacing = self.replacing.lock();
        self.set_files(change(&self.view.read().files));
    }

    /// Replaces the list of files, the oldest first. Under the lock `replacing`.
    fn set_files(&self, list: Vec<Arc<StoreFile>>) {
        let files = Arc::new(FileList::new(list, self.comparator));
        self.excess_files.store(self.count_excess(&files), Ordering::Relaxed);
        self.set_view(files);
    }

    /// Replaces the view: with these files, and the segments of the memstore. Under the lock
    /// `replacing`.
    fn set_view(&self, files: Arc<FileList>) {
        self.view.set(Arc::new(StoreView::of(&self.memstore, files)));
    }

    /// How many files there are too many because compactions have fallen behind.
    #[inline]
    pub(crate) fn excess_files(&self) -> usize {
        self.excess_files.load(Ordering::Relaxed)
    }

    /// Adds cells that are in the log. Returns their bytes.
    pub(crate) fn add_to_memstore<'a>(
        &self,
        cells: impl IntoIterator<Item = hblite_model::CellRef<'a>, IntoIter: Clone>,
    ) -> usize {
        let added = self.memstore.add(cells);
        let before = self.charged.active.fetch_add(added.heap_size, Ordering::Relaxed);
        let charge = whole_steps(before + added.heap_size) - whole_steps(before);
        if charge > 0 {
            self.context.memory.add(charge);
        }
        added.data_size
    }

    /// The memory charged for the cells of the active segment.
    #[inline]
    pub(crate) fn charged_active_bytes(&self) -> usize {
        self.charged.active.load(Ordering::Relaxed)
    }

    /// The memory charged for all cells.
    #[inline]
    pub(crate) fn charged_bytes(&self) -> usize {
        self.charged_active_bytes() + self.charged.frozen.load(Ordering::Relaxed)
    }

    /// Releases the memory charged for the cells of the frozen segment that is now in a file.
    fn discharge_frozen(&self) {
        self.context.memory.subtract(self.charged.frozen.swap(0, Ordering::Relaxed));
    }

    /// Releases all memory charged, because the store's table was dropped.
    pub(crate) fn discharge(&self) {
        let active = self.charged.active.swap(0, Ordering::Relaxed);
        self.context.memory.subtract(whole_steps(active));
        self.discharge_frozen();
    }

    /// What a reader reads.
    #[inline]
    pub(crate) fn view(&self) -> Current<StoreView> {
        self.view.read()
    }
}

/// The prefix of all rows of a region: the common prefix of its first and last possible row.
fn shared_prefix(region: &RegionInfo) -> &[u8] {
    let (start, end) = (region.start_key(), region.end_key());
    &start[..bytes::common_prefix_length(start, end)]
}
