//! Copies the cells of a table into a table of another connection, or of the same one.
//!
//! Every cell keeps its timestamp, type and time to live, so a copy can be repeated: it writes the
//! same cells again. A raw scan reads delete markers and what they hide, too.
//!
//! Threads: each copies a range at a time. A row is counted as copied when the other table has
//! acknowledged all of its cells; [`CopyProgress`] holds the last such row of each range.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite::bytes::to_string_binary;
use hblite::{
    Admin, CellRef, CellType, Durability, Get, Mutation, NamespaceDescriptor, RowResult, ScanStep,
    Table, TableName,
};
use parking_lot::Mutex;

use crate::copy_progress::{CopyProgress, RangeProgress};
use crate::digest::CellView;
use crate::error::{BadRow, TransferError};
use crate::export::{PATIENCE, continue_or_end, time_to_live};
use crate::pace::Pace;
use crate::rekey::Rekey;
use crate::row_builder::RowBuilder;
use crate::row_range::{RowRange, in_parallel};

/// Number of mutations at which a batch is written.
const BATCH_MUTATIONS: usize = 1_000;
/// Number of bytes at which a batch is written.
const BATCH_SIZE: u64 = 1 << 20;

/// How to copy.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CopyOptions {
    /// Which cells are copied.
    pub view: CellView,
    /// Ranges copied at a time, at least one.
    pub threads: usize,
    /// Bytes of cells per second, at most; `None` for no limit.
    pub bytes_per_second_max: Option<u64>,
    /// When a write is acknowledged.
    pub durability: Durability,
    /// Which keys rows get, if not their own.
    pub rekey: Option<Arc<Rekey>>,
    /// Whether rows that get no key are counted and left out, instead of ending the copy.
    pub skips_bad_rows: bool,
}

impl Default for CopyOptions {
    /// All that is stored, in one thread, at full speed.
    fn default() -> Self {
        Self {
            view: CellView::RAW,
            threads: 1,
            bytes_per_second_max: None,
            durability: Durability::UseDefault,
            rekey: None,
            skips_bad_rows: false,
        }
    }
}

impl CopyOptions {
    /// Sets which cells are copied.
    pub fn with_view(self, view: CellView) -> Self {
        Self { view, ..self }
    }

    /// Sets the number of threads.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Sets the speed limit in bytes per second; `None` for none.
    pub fn with_bytes_per_second_max(self, limit: Option<u64>) -> Self {
        Self { bytes_per_second_max: limit, ..self }
    }

    /// Sets which keys rows get.
    pub fn with_rekey(self, rekey: impl Into<Option<Arc<Rekey>>>) -> Self {
        Self { rekey: rekey.into(), ..self }
    }

    /// Sets whether rows that get no key are left out.
    pub fn with_bad_rows_skipped(self, skips_bad_rows: bool) -> Self {
        Self { skips_bad_rows, ..self }
    }

    /// Sets the durability of the writes.
    pub fn with_durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }
}

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopyCount {
    /// Rows.
    pub rows: u64,
    /// Cells.
    pub cells: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// Cells with tags other than a time to live; the copy lacks these tags.
    pub tags_left_out: u64,
    /// Rows that got no key and were left out. They are not among the others.
    pub bad_rows: u64,
}

/// Whether a table that is created like another one has its coprocessors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coprocessors {
    /// The same. Their classes must be known where the table is created.
    Keep,
    /// None.
    LeaveOut,
}

/// Creates a table with the settings of `from`, and its namespace if that is missing. Its region
/// boundaries are those of `from`, or `splits`. If the table exists, its families must include
/// those of `from`. Returns whether the table was created.
///
/// # Errors
/// `Invalid` if a family is missing; `Store` if a store fails, for example because it does not have
/// the class of a coprocessor.
pub fn create_like(
    from: &Table,
    admin: &Admin,
    to: &TableName,
    coprocessors: Coprocessors,
    splits: Option<&[Vec<u8>]>,
) -> Result<bool, TransferError> {
    let mut descriptor = from.descriptor()?;
    if coprocessors == Coprocessors::LeaveOut {
        descriptor.remove_coprocessors();
    }
    if admin.table_exists(to)? {
        let existing = admin.describe_table(to)?;
        let missing: Vec<_> = descriptor
            .families()
            .filter(|family| !existing.has_family(family.name()))
            .map(|family| String::from_utf8_lossy(family.name()).into_owned())
            .collect();
        if missing.is_empty() {
            return Ok(false);
        }
        let missing = missing.join(", ");
        let message = format!("Table '{to}' exists without the column families [{missing}].");
        return Err(TransferError::Invalid(message));
    }
    let namespaces = admin.list_namespaces()?;
    if !namespaces.iter().any(|namespace| namespace.name == to.namespace()) {
        admin.create_namespace(&NamespaceDescriptor::new(to.namespace()))?;
    }
    let splits = match splits {
        Some(splits) => splits.to_vec(),
        None => {
            let starts = RowRange::of_regions(from)?.into_iter().map(|range| range.start);
            starts.filter(|start| !start.is_empty()).collect()
        }
    };
    let descriptor = descriptor.with_name(to.clone());
    admin.create_table_with_splits(&descriptor, &splits)?;
    Ok(true)
}

/// Copies the rest of a table, according to `progress`, and keeps `progress` up to date. Calls
/// `report` after every batch with the total of this call; `Break` ends the copy.
///
/// Writes to `from` during the call may or may not be copied. Memory does not grow with the table.
/// If a row is read in several pieces, some of its cells may be visible in `to` before the others.
///
/// # Errors
/// `Store` if a store fails; `BadRow` if a row gets no key, or that of another one; `Interrupted`
/// if `report` ends the copy. Run it again with the same progress to continue.
pub fn copy(
    from: &Table,
    to: &Table,
    progress: &Mutex<CopyProgress>,
    options: &CopyOptions,
    report: &(dyn Fn(CopyCount) -> ControlFlow<()> + Sync),
) -> Result<CopyCount, TransferError> {
    let ranges = progress.lock().ranges.clone();
    let job = Job {
        from,
        to,
        progress,
        options,
        report,
        pace: Pace::new(options.bytes_per_second_max),
        total: Total::default(),
    };
    in_parallel(ranges.len(), options.threads, |index| job.copy_range(index, &ranges[index]))?;
    Ok(job.total.get())
}

#[derive(Debug, Default)]
struct Total {
    rows: AtomicU64,
    cells: AtomicU64,
    bytes: AtomicU64,
    tags_left_out: AtomicU64,
    bad_rows: AtomicU64,
}

impl Total {
    fn add(&self, count: CopyCount) {
        self.rows.fetch_add(count.rows, Ordering::Relaxed);
        self.cells.fetch_add(count.cells, Ordering::Relaxed);
        self.bytes.fetch_add(count.bytes, Ordering::Relaxed);
        self.tags_left_out.fetch_add(count.tags_left_out, Ordering::Relaxed);
        self.bad_rows.fetch_add(count.bad_rows, Ordering::Relaxed);
    }

    fn get(&self) -> CopyCount {
        CopyCount {
            rows: self.rows.load(Ordering::Relaxed),
            cells: self.cells.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            tags_left_out: self.tags_left_out.load(Ordering::Relaxed),
            bad_rows: self.bad_rows.load(Ordering::Relaxed),
        }
    }
}

/// What the threads of a copy share.
struct Job<'a> {
    from: &'a Table,
    to: &'a Table,
    progress: &'a Mutex<CopyProgress>,
    options: &'a CopyOptions,
    report: &'a (dyn Fn(CopyCount) -> ControlFlow<()> + Sync),
    pace: Pace,
    total: Total,
}

/// Mutations that are not written yet.
#[derive(Debug, Default)]
struct Batch {
    mutations: Vec<Mutation>,
    count: CopyCount,
    /// The row of the last cell read.
    row: Vec<u8>,
    /// Its key in the other table; `None` if it is left out.
    key: Option<Vec<u8>>,
    /// The last row of which all cells were read.
    whole_row: Vec<u8>,
    has_row: bool,
}

impl Job<'_> {
    fn copy_range(&self, index: usize, range: &RangeProgress) -> Result<(), TransferError> {
        if range.is_done {
            return Ok(());
        }
        let mut scan = self.options.view.scan().with_stop_row(&range.stop);
        scan = match range.copied_to.as_slice() {
            [] => scan.with_start_row(&range.start),
            row => scan.with_start_row_exclusive(row),
        };
        let mut scanner = self.from.scan(&scan)?;
        let mut batch = Batch::default();
        loop {
            match scanner.next_row_within(PATIENCE)? {
                ScanStep::Row(piece) => self.add(piece, &mut batch)?,
                ScanStep::Cursor(_) => continue_or_end((self.report)(self.total.get()))?,
                ScanStep::End => break,
            }
            if batch.mutations.len() >= BATCH_MUTATIONS || batch.count.bytes >= BATCH_SIZE {
                self.write(index, &mut batch)?;
            }
        }
        self.write(index, &mut batch)?;
        self.progress.lock().ranges[index].is_done = true;
        continue_or_end((self.report)(self.total.get()))
    }

    /// Adds a row, or a piece of one, under its key in the other table.
    fn add(&self, piece: &RowResult, batch: &mut Batch) -> Result<(), TransferError> {
        if piece.row() != batch.row || batch.is_empty() {
            batch.key = match self.key(piece.row()) {
                Err(TransferError::BadRow(_)) if self.options.skips_bad_rows => None,
                key => Some(key?),
            };
            batch.begin_row(piece.row());
        }
        batch.add(piece, self.options.durability);
        Ok(())
    }

    /// The key of a row in the other table.
    fn key(&self, row: &[u8]) -> Result<Vec<u8>, TransferError> {
        let Some(rekey) = &self.options.rekey else { return Ok(row.to_vec()) };
        let key = rekey.key(row)?;
        for sibling in rekey.siblings(row)? {
            if self.from.exists(&Get::new(&sibling))? {
                let sibling = to_string_binary(&sibling);
                let reason = format!(
                    "it has the fields of row {sibling}, and only another random salt: both would \
                     become {}",
                    to_string_binary(&key)
                );
                return Err(BadRow { row: row.to_vec(), reason }.into());
            }
        }
        Ok(key)
    }

    /// Writes the batch, and then counts it.
    fn write(&self, index: usize, batch: &mut Batch) -> Result<(), TransferError> {
        if !batch.mutations.is_empty() {
            self.to.mutate_all(&batch.mutations)?;
        }
        batch.mutations.clear();
        let count = std::mem::take(&mut batch.count);
        self.total.add(count);
        if !batch.whole_row.is_empty() {
            self.progress.lock().ranges[index].copied_to.clone_from(&batch.whole_row);
        }
        let go_on = || (self.report)(self.total.get());
        continue_or_end(go_on())?;
        continue_or_end(self.pace.take(count.bytes, go_on))
    }
}

impl Batch {
    /// Whether no row has begun.
    fn is_empty(&self) -> bool {
        !self.has_row
    }

    /// The cells that follow are of this row.
    fn begin_row(&mut self, row: &[u8]) {
        match self.key {
            Some(_) => self.count.rows += 1,
            None => self.count.bad_rows += 1,
        }
        self.has_row = true;
        std::mem::swap(&mut self.whole_row, &mut self.row);
        self.row.clear();
        self.row.extend_from_slice(row);
    }

    /// Adds a piece of the row.
    fn add(&mut self, piece: &RowResult, durability: Durability) {
        if let Some(key) = &self.key {
            let mut row = RowBuilder::new(key.as_slice(), durability);
            for cell in piece.cells() {
                self.add_cell(&mut row, &cell);
            }
            self.mutations.extend(row.finish());
        }
        if !piece.may_have_more_cells() {
            self.whole_row.clone_from(&self.row);
        }
    }

    fn add_cell(&mut self, row: &mut RowBuilder, cell: &CellRef<'_>) {
        let (ttl, has_other_tags) = time_to_live(cell);
        self.count.cells += 1;
        self.count.bytes += (cell.key().len() + cell.value().len()) as u64;
        self.count.tags_left_out += u64::from(has_other_tags);
        let (family, qualifier, timestamp) = (cell.family(), cell.qualifier(), cell.timestamp());
        match cell.cell_type() {
            Some(CellType::Put) => row.add_put(family, qualifier, timestamp, cell.value(), ttl),
            Some(marker) => row.add_marker(family, qualifier, timestamp, marker),
            // A scan returns no other types.
            None => {}
        }
    }
}
