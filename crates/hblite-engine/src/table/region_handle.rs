//! A region as its server's clients see it: addressed by name, one call at a time.
//!
//! A table finds its regions and tries again when one has closed. A client of a server does that
//! itself, with what it read from hbase:meta. Here a closed region returns `NotServingRegion`, and
//! a row outside the region `WrongRow`.
//!
//! Threads: any; a [`RegionScan`] belongs to one at a time.

use std::path::PathBuf;
use std::sync::Arc;

use hblite_hfile::file_info::{MAJOR_COMPACTION, is_true};
use hblite_model::bytes::to_string_binary;
use hblite_model::{
    CellBuffer, CellRef, CheckAndMutate, CheckAndMutateResult, Error, Exception, Get, Mutation,
    Nonce, RegionInfo, RegionLoad, Result, RowMutations, RowResult, Scan, TableDescriptor,
};

use crate::region::region_scanner::{RegionScanner, RegionStep};
use crate::region::{Region, split};

/// A region that was in service when it was looked up. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RegionHandle {
    region: Arc<Region>,
}

/// The files of one family of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFiles {
    /// The family.
    pub family: Vec<u8>,
    /// Where they are.
    pub paths: Vec<PathBuf>,
    /// Their total size in bytes.
    pub size_bytes: u64,
}

impl RegionHandle {
    pub(crate) fn new(region: Arc<Region>) -> Self {
        Self { region }
    }

    /// The identity.
    pub fn info(&self) -> &RegionInfo {
        self.region.info()
    }

    /// The settings of the table.
    pub fn descriptor(&self) -> &Arc<TableDescriptor> {
        self.region.descriptor()
    }

    /// Requests since it was opened.
    pub fn load(&self) -> RegionLoad {
        self.region.load()
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        self.region.is_closing()
    }

    /// Whether a write might have to wait, for memory or for the disk.
    pub fn may_have_to_wait(&self) -> bool {
        self.region.may_have_to_wait()
    }

    /// Whether this and `other` are the same opening of the same region.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.region, &other.region)
    }

    /// The sequence id of the latest write.
    pub fn last_sequence_id(&self) -> u64 {
        self.region.last_sequence_id()
    }

    /// Bytes in memory.
    pub fn memstore_size_bytes(&self) -> usize {
        self.region.memstore_size_bytes()
    }

    /// How full the memory for writes is, in percent: that of this region compared with the size at
    /// which it is flushed, and that of all regions compared with its limit.
    pub fn memstore_load_percent(&self) -> (usize, usize) {
        self.region.memstore_load_percent()
    }

    /// The files of each family.
    pub fn store_files(&self) -> Vec<StoreFiles> {
        let stores = self.region.stores().iter().map(|store| {
            let files = store.files();
            StoreFiles {
                family: store.family().name().to_vec(),
                size_bytes: files.iter().map(|file| file.size_bytes()).sum(),
                paths: files.iter().map(|file| file.path().to_path_buf()).collect(),
            }
        });
        stores.collect()
    }

    /// Removes the blocks of this region's files from the block cache. Returns how many there were.
    pub fn evict_blocks(&self) -> u64 {
        let stores = self.region.stores().iter().map(|store| store.files());
        stores.map(|files| files.iter().map(|file| file.evict_blocks()).sum::<u64>()).sum()
    }

    /// When the oldest file of a major compaction was written, in milliseconds; `None` if there is
    /// none.
    pub fn major_compacted_at_ms(&self) -> Option<i64> {
        let files = self.region.stores().iter().flat_map(|store| store.files().to_vec());
        let made = files.filter(|file| is_true(file.reader().file_info(MAJOR_COMPACTION)));
        made.filter_map(|file| file.reader().create_time()).min()
    }

    /// Refuses a family that the table does not have.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`.
    pub fn check_family(&self, family: &[u8]) -> Result<()> {
        self.region.check_family(family)
    }

    /// Refuses to flush a family that the table does not have.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`.
    pub fn check_flushed_family(&self, family: &[u8]) -> Result<()> {
        self.region.check_flushed_family(family)
    }

    /// Refuses to compact a family that the table does not have.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`.
    pub fn check_compacted_family(&self, family: &[u8]) -> Result<()> {
        self.region.compacted_store(family).map(drop)
    }

    /// The key at which it would be split automatically; `None` if it cannot be split.
    pub fn split_point(&self) -> Option<Vec<u8>> {
        split::split_point(&self.region)
    }

    /// Whether it still reads files of its parent regions, and so can be neither split nor merged.
    pub fn has_references(&self) -> bool {
        split::has_references(&self.region)
    }

    fn check_row(&self, row: &[u8], doing: &str) -> Result<()> {
        if self.info().contains_row(row) {
            return Ok(());
        }
        let info = self.info();
        Err(Error::new(
            Exception::WrongRow,
            format!(
                "Requested row out of range for {doing} on HRegion {}, startKey='{}', \
                 getEndKey()='{}', row='{}'",
                info.region_name_as_string(),
                to_string_binary(info.start_key()),
                to_string_binary(info.end_key()),
                to_string_binary(row)
            ),
        ))
    }

    /// Reads one row.
    ///
    /// # Errors
    /// `NotServingRegion`, `WrongRow`, `NoSuchColumnFamily`, those of files and filters.
    pub fn get(&self, get: &Get) -> Result<RowResult> {
        self.check_row(get.row(), "Get")?;
        self.region.read_row(get).map(RowResult::new)
    }

    /// Reads one column or the family of a row on a short way, which is for most gets with up to
    /// `size_max_bytes`. `None` if it cannot: use [`RegionHandle::begin_get`].
    ///
    /// # Errors
    /// As [`RegionHandle::get`].
    pub fn get_short(&self, get: &Get, size_max_bytes: usize) -> Result<Option<CellBuffer>> {
        self.check_row(get.row(), "Get")?;
        self.region.read_short(get.as_scan(), size_max_bytes)
    }

    /// Begins to read one row. Like [`RegionHandle::get`], but the cells are not collected, and
    /// reading can pause.
    ///
    /// # Errors
    /// `NotServingRegion`, `WrongRow`, `NoSuchColumnFamily`.
    pub fn begin_get(&self, get: &Get) -> Result<RegionScan> {
        self.check_row(get.row(), "Get")?;
        self.scan(get.as_scan(), None)
    }

    /// Begins a scan of this region's rows, at the read point `at` if everything visible there
    /// still exists.
    ///
    /// # Errors
    /// `NotServingRegion`, `NoSuchColumnFamily`, `DoNotRetryIo`.
    pub fn scan(&self, scan: &Scan, at: Option<u64>) -> Result<RegionScan> {
        let (scanner, read_point) = self.region.scanner_for_client(scan, at)?;
        let region = Arc::clone(&self.region);
        Ok(RegionScan { region, scanner, read_point, cells: 0, size_bytes: 0 })
    }

    /// Refuses a mutation of a row or family that is not here.
    ///
    /// # Errors
    /// `WrongRow`, `NoSuchColumnFamily`.
    pub fn check_mutation(&self, mutation: &Mutation) -> Result<()> {
        self.check_row(mutation.row(), "mutation")?;
        self.region.check_mutation(mutation)
    }

    /// Writes puts and deletes in one log entry: all or none.
    ///
    /// # Errors
    /// `NotServingRegion`, `WrongRow`, `NoSuchColumnFamily`, `DoNotRetryIo` (read-only),
    /// `RegionTooBusy`: nothing was written. `RegionServerStopped`: the log failed.
    pub fn mutate<M: AsRef<Mutation>>(&self, mutations: &[M]) -> Result<()> {
        mutations.iter().try_for_each(|one| self.check_row(one.as_ref().row(), "mutation"))?;
        self.region.mutate_rows(mutations, None)
    }

    /// Writes to several rows of the region in one step, if every condition holds. Returns whether
    /// they were done.
    ///
    /// # Errors
    /// As [`RegionHandle::mutate`]; `DoNotRetryIo` if a counter is not 8 bytes wide.
    pub fn mutate_rows_if(
        &self,
        checks: &[CheckAndMutate],
        mutations: &[Mutation],
    ) -> Result<bool> {
        checks.iter().try_for_each(|check| self.check_row(check.row(), "condition"))?;
        mutations.iter().try_for_each(|one| self.check_row(one.row(), "mutation"))?;
        self.region.mutate_rows_if(checks, mutations)
    }

    /// The largest cell that a client may write, in bytes; `None` for no limit.
    pub fn cell_size_max(&self) -> Option<usize> {
        self.region.cell_size_max()
    }

    /// Applies several writes to one row in one step. Returns the results of increments and
    /// appends; a retry with the same nonce writes nothing and returns the same.
    ///
    /// # Errors
    /// As [`RegionHandle::mutate`].
    pub fn mutate_row(&self, mutations: &RowMutations, nonce: Option<Nonce>) -> Result<RowResult> {
        self.check_row(mutations.row(), "mutation")?;
        self.region.mutate_row(mutations.row(), mutations.mutations(), nonce)
    }

    /// Writes if a condition holds. For the nonce see [`RegionHandle::mutate_row`].
    ///
    /// # Errors
    /// As [`RegionHandle::mutate`].
    pub fn check_and_mutate(
        &self,
        check: &CheckAndMutate,
        nonce: Option<Nonce>,
    ) -> Result<CheckAndMutateResult> {
        self.check_row(check.row(), "checkAndMutate")?;
        self.region.check_and_mutate(check, nonce)
    }
}

/// A scan of one region: HBase's `RegionScanner` as a server drives it.
pub struct RegionScan {
    region: Arc<Region>,
    scanner: RegionScanner,
    read_point: u64,
    cells: usize,
    size_bytes: usize,
}

impl RegionScan {
    /// The read point.
    pub fn read_point(&self) -> u64 {
        self.read_point
    }

    /// The identity of the region.
    pub fn info(&self) -> &RegionInfo {
        self.region.info()
    }

    /// Lends the cells of the next row to `visit`. A row is cut by the scan's batch limit, and at
    /// `size_limit_bytes` if that is given; the search for a row pauses when `is_time_over`.
    ///
    /// # Errors
    /// Those of files and filters; they end the scan.
    pub fn next(
        &mut self,
        size_limit_bytes: Option<u64>,
        is_time_over: impl FnMut() -> bool,
        mut visit: impl FnMut(&CellRef<'_>),
    ) -> Result<RegionStep> {
        let (mut cells, mut size_bytes) = (0, 0);
        let mut sink = |cell: &CellRef<'_>| {
            cells += 1;
            size_bytes += cell.serialized_size();
            visit(cell);
        };
        let step = self.scanner.next_piece(&mut sink, size_limit_bytes, is_time_over)?;
        self.cells += cells;
        self.size_bytes += size_bytes;
        Ok(step)
    }

    /// Sets how much work [`RegionScan::next`] may do before it pauses, if necessary in the middle
    /// of a row; initially there is no limit. A cell counts as one; a cell that a filter evaluates
    /// as four, plus one per KiB of its value.
    pub fn allow_work(&mut self, work: u64) {
        self.scanner.allow_work(work);
    }

    /// The remaining work before it pauses.
    pub fn work_left(&self) -> u64 {
        self.scanner.work_left()
    }

    /// Whether it has paused in a row of which it may have returned cells.
    pub fn is_within_row(&self) -> bool {
        self.scanner.is_within_row()
    }

    /// Whether cells are held back until a filter has evaluated their row.
    pub fn collects_rows(&self) -> bool {
        self.scanner.collects_rows()
    }

    /// Bytes of cells that are held back until a filter has evaluated their row.
    pub fn collected_bytes(&self) -> usize {
        self.scanner.collected_bytes()
    }

    /// Frees what is not needed until the next call.
    pub fn release_buffers(&mut self) {
        self.scanner.release_collected();
    }

    /// How many rows were read completely, and of how many of them nothing was returned.
    pub fn row_counts(&self) -> (u64, u64) {
        let counts = self.scanner.row_counts();
        (counts.scanned, counts.filtered)
    }

    /// Whether the region may have more for this scan.
    pub fn may_have_more(&mut self) -> bool {
        self.scanner.may_have_more()
    }

    /// The next row, whether it will be returned or not.
    pub fn position(&mut self) -> Option<&[u8]> {
        self.scanner.position()
    }

    /// Whether the filter needs nothing more, from this region or any other.
    pub fn is_filter_done(&self) -> bool {
        self.scanner.is_filter_done()
    }

    /// Whether the region closed since the scan began; what it saw can still be read.
    pub fn is_region_closed(&self) -> bool {
        self.region.is_closing()
    }
}

impl Drop for RegionScan {
    fn drop(&mut self) {
        self.region.count_read(&self.scanner, self.cells, self.size_bytes);
    }
}

impl std::fmt::Debug for RegionScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RegionScan({})", self.region.info().region_name_as_string())
    }
}
