//! A store: one family of one region.
//!
//! Cells are in the memstore (active and, during a flush, snapshot) and in store files. A reader
//! takes the segments and the list of files in one step, and keeps them: flush and compaction
//! replace the list and never touch what a reader holds.
//!
//! Threads: any. A flush, a compaction and a bulk load replace `files` when they commit.

pub(crate) mod column_get;
mod compaction;
pub(crate) mod file_list;
mod flusher;
pub(crate) mod foreign_file;
pub(crate) mod hfile_link;
pub(crate) mod key_value_heap;
pub(crate) mod key_value_scanner;
pub(crate) mod manifest;
pub(crate) mod matcher;
mod mob;
mod new_file;
pub(crate) mod open_files;
pub(crate) mod reference;
pub(crate) mod region_files;
mod replaced_files;
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

use hblite_env::sync::{Mutex, RwLock};
use hblite_model::{
    CellComparator, ColumnFamilyDescriptor, RegionInfo, Result, TableDescriptor, bytes,
};

use crate::context::EngineContext;
use crate::memstore::{MemStore, SegmentScanner};

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
    files: RwLock<Arc<FileList>>,
    /// How many files there are too many because compactions have fallen behind. Every write reads
    /// it.
    excess_files: AtomicUsize,
    /// The memory charged for the cells of the active segment, and of the snapshot.
    charged_active: AtomicUsize,
    charged_snapshot: AtomicUsize,
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
    ) -> Result<Self> {
        let region_dir = context.layout.region_dir(region);
        let dir = context.layout.family_dir(region, family.name());
        let FoundFiles { live: files, leftovers } =
            open_files::open_all(context, region, family, &dir, region_files)?;
        let sequence_id_max = files.iter().map(|file| file.sequence_id_max()).max().unwrap_or(0);
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
            memstore: MemStore::new(comparator, shared_prefix(region), Arc::clone(&context.chunks)),
            files: RwLock::new(Arc::new(FileList::new(files, comparator))),
            excess_files: AtomicUsize::new(0),
            charged_active: AtomicUsize::new(0),
            charged_snapshot: AtomicUsize::new(0),
            turns: Turns::default(),
            is_compaction_stopped: AtomicBool::new(false),
            dead_files: Mutex::default(),
            leftovers,
            sequence_id_max,
            has_medium_objects: mob::is_enabled(family),
        })
    }

    /// The store of another region that has the same files, which are shared.
    pub(crate) fn copy_of(
        original: &Self,
        context: &Arc<EngineContext>,
        region_files: &Arc<RegionFiles>,
    ) -> Self {
        let region = original.region.clone();
        let chunks = Arc::clone(&context.chunks);
        Self {
            context: Arc::clone(context),
            memstore: MemStore::new(original.comparator, shared_prefix(&region), chunks),
            region,
            region_dir: original.region_dir.clone(),
            region_files: Arc::clone(region_files),
            dir: original.dir.clone(),
            scan_info: Arc::clone(&original.scan_info),
            compaction_settings: original.compaction_settings.clone(),
            family: Arc::clone(&original.family),
            comparator: original.comparator,
            files: RwLock::new(original.files()),
            excess_files: AtomicUsize::new(0),
            charged_active: AtomicUsize::new(0),
            charged_snapshot: AtomicUsize::new(0),
            turns: Turns::default(),
            is_compaction_stopped: AtomicBool::new(false),
            dead_files: Mutex::default(),
            leftovers: Leftovers::new(),
            sequence_id_max: original.sequence_id_max,
            has_medium_objects: original.has_medium_objects,
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
        Arc::clone(&self.files.read())
    }

    /// Replaces the list of files, the oldest first.
    fn set_files(&self, files: &mut Arc<FileList>, list: Vec<Arc<StoreFile>>) {
        *files = Arc::new(FileList::new(list, self.comparator));
        self.excess_files.store(self.count_excess(files), Ordering::Relaxed);
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
        self.context.memory.add(added.heap_size);
        self.charged_active.fetch_add(added.heap_size, Ordering::Relaxed);
        added.data_size
    }

    /// The memory charged for the cells of the active segment.
    #[inline]
    pub(crate) fn charged_active_bytes(&self) -> usize {
        self.charged_active.load(Ordering::Relaxed)
    }

    /// The memory charged for all cells.
    #[inline]
    pub(crate) fn charged_bytes(&self) -> usize {
        self.charged_active_bytes() + self.charged_snapshot.load(Ordering::Relaxed)
    }

    /// Releases the memory charged for the cells of the snapshot that is now in a file.
    fn discharge_snapshot(&self) {
        self.context.memory.subtract(self.charged_snapshot.swap(0, Ordering::Relaxed));
    }

    /// Releases all memory charged, because the store's table was dropped.
    pub(crate) fn discharge(&self) {
        self.context.memory.subtract(self.charged_active.swap(0, Ordering::Relaxed));
        self.discharge_snapshot();
    }

    /// What a reader reads: the segments and files at one moment.
    pub(crate) fn view(&self, read_point: u64) -> (Vec<SegmentScanner>, Arc<FileList>) {
        let files = self.files.read();
        (self.memstore.scanners(read_point), Arc::clone(&files))
    }

    /// Like [`Store::view`], for one row: segments that cannot have it are left out.
    pub(crate) fn view_of_row(
        &self,
        read_point: u64,
        row: &[u8],
    ) -> (Vec<SegmentScanner>, Arc<FileList>) {
        let files = self.files.read();
        (self.memstore.scanners_of_row(read_point, row), Arc::clone(&files))
    }
}

/// The prefix of all rows of a region: the common prefix of its first and last possible row.
fn shared_prefix(region: &RegionInfo) -> &[u8] {
    let (start, end) = (region.start_key(), region.end_key());
    &start[..bytes::common_prefix_length(start, end)]
}
