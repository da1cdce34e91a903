//! Digests of tables: equal tables have equal digests, whatever their regions and files.
//!
//! ```text
//! cell    key (u16 row length | row | u8 family length | family | qualifier | i64 timestamp
//!         | u8 type) | u64 value length | value
//! row     MD5 of its cells in their order, each as u32 length of the key | cell; for a digest of
//!         fields: the fields of its key (KeyFields), and its cells without the row
//! table   sum of the digests of its rows, as 128-bit numbers, modulo 2^128
//! ```
//!
//! The sum does not depend on the order of the rows, so ranges can be read in parallel and the
//! result does not change when a region splits. It detects differences, not forgeries.

use std::fmt;
use std::ops::ControlFlow;

use hblite::descriptor::VERSIONS_ALL;
use hblite::{CellRef, Scan, ScanStep, Table};
use md5::{Digest as _, Md5};

use crate::error::TransferError;
use crate::export::{PATIENCE, continue_or_end, in_pieces};
use crate::rekey::KeyFields;
use crate::row_range::{RowRange, in_parallel};

/// Which cells are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CellView {
    /// Versions of a column, at most; the family's VERSIONS limit it, too.
    pub versions: u32,
    /// Whether delete markers are read, and what they hide. Two tables that return the same results
    /// may differ here, since compactions remove such cells.
    pub is_raw: bool,
}

impl CellView {
    /// What a reader sees: all versions, nothing deleted.
    pub const VISIBLE: Self = Self { versions: VERSIONS_ALL, is_raw: false };
    /// All that is stored, delete markers included.
    pub const RAW: Self = Self { versions: VERSIONS_ALL, is_raw: true };

    /// Sets the maximum number of versions of a column.
    pub fn with_versions(self, versions: u32) -> Self {
        Self { versions, ..self }
    }

    /// The scan of these cells; wide rows come in pieces.
    pub(crate) fn scan(self) -> Scan {
        let scan = Scan::new().with_versions(self.versions).with_raw(self.is_raw);
        // Blocks are read only once, and never served from memory if they are damaged on disk.
        in_pieces(&scan.with_cache_blocks(false))
    }
}

/// The digest of the cells of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableDigest {
    /// Rows.
    pub rows: u64,
    /// Cells.
    pub cells: u64,
    /// The sum of the digests of the rows.
    pub sum: u128,
}

/// The sum as 32 hexadecimal digits.
impl fmt::Display for TableDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.sum)
    }
}

/// Cells between two progress calls.
const CELLS_PER_PROGRESS: u64 = 1_024;

/// The digest of a table, with a thread for each of up to `threads` regions. Calls `progress` with
/// the number of cells read since the last call; `Break` ends the work.
///
/// Costs one full scan; memory does not grow with the table. Writes during the call may or may not
/// be included.
///
/// # Errors
/// `Store` if the scan fails; `Interrupted` if `progress` ends it.
///
/// ```
/// use std::ops::ControlFlow;
/// use hblite_transfer::{CellView, digest};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let connection = hblite::open_in_memory()?;
/// # connection.admin().create_table(&hblite::TableDescriptor::new("t".parse()?)
/// #     .with_family(hblite::ColumnFamilyDescriptor::new("f")))?;
/// let table = connection.table("t")?;
/// table.put(&hblite::Put::new("r").add_at("f", "q", 1, "v"))?;
/// let found = digest(&table, CellView::VISIBLE, 1, &|_| ControlFlow::Continue(()))?;
/// assert_eq!((found.rows, found.cells), (1, 1));
/// # Ok(())
/// # }
/// ```
pub fn digest(
    table: &Table,
    view: CellView,
    threads: usize,
    progress: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
) -> Result<TableDigest, TransferError> {
    digest_all(table, view, threads, None, progress)
}

/// As [`digest`], of the fields of keys instead of their bytes: a table whose rows were moved to
/// another key has the same digest under that key's design.
///
/// # Errors
/// As [`digest`]; `BadRow` if a row is not a key of the design, unless such rows are left out.
pub fn digest_of_fields(
    table: &Table,
    view: CellView,
    fields: &KeyFields,
    threads: usize,
    progress: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
) -> Result<TableDigest, TransferError> {
    digest_all(table, view, threads, Some(fields), progress)
}

fn digest_all(
    table: &Table,
    view: CellView,
    threads: usize,
    fields: Option<&KeyFields>,
    progress: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
) -> Result<TableDigest, TransferError> {
    let ranges = RowRange::of_regions(table)?;
    let scan = view.scan();
    let parts = in_parallel(ranges.len(), threads, |index| {
        digest_range(table, &ranges[index].scan(&scan), fields, progress)
    })?;
    Ok(parts.iter().fold(TableDigest::default(), |sum, part| TableDigest {
        rows: sum.rows + part.rows,
        cells: sum.cells + part.cells,
        sum: sum.sum.wrapping_add(part.sum),
    }))
}

fn digest_range(
    table: &Table,
    scan: &Scan,
    fields: Option<&KeyFields>,
    progress: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
) -> Result<TableDigest, TransferError> {
    let mut scanner = table.scan(scan)?;
    let mut row_digest = RowDigest { fields, ..RowDigest::default() };
    let (mut cells, mut reported) = (0, 0);
    loop {
        match scanner.next_row_within(PATIENCE)? {
            ScanStep::Row(piece) => {
                piece.cells().try_for_each(|cell| row_digest.add(&cell))?;
                cells += piece.len() as u64;
            }
            ScanStep::Cursor(_) => continue_or_end(progress(0))?,
            ScanStep::End => break,
        }
        if cells - reported >= CELLS_PER_PROGRESS {
            continue_or_end(progress(cells - reported))?;
            reported = cells;
        }
    }
    continue_or_end(progress(cells - reported))?;
    Ok(row_digest.finish())
}

/// Adds up the digests of rows, whose cells come in order.
#[derive(Debug, Default)]
struct RowDigest<'f> {
    fields: Option<&'f KeyFields>,
    /// The last row; `None` before the first.
    row: Option<Vec<u8>>,
    /// What is known of the key of the row: itself, or its fields.
    identity: Vec<u8>,
    is_left_out: bool,
    cells: Md5,
    total: TableDigest,
}

impl RowDigest<'_> {
    fn add(&mut self, cell: &CellRef<'_>) -> Result<(), TransferError> {
        if self.row.as_deref() != Some(cell.row()) {
            self.end_row();
            self.begin_row(cell.row())?;
        }
        if self.is_left_out {
            return Ok(());
        }
        self.total.cells += 1;
        let key = match self.fields {
            None => cell.key(),
            Some(_) => cell.key().get(2 + cell.row().len()..).unwrap_or_default(),
        };
        self.cells.update(u32::try_from(key.len()).unwrap_or(u32::MAX).to_be_bytes());
        self.cells.update(key);
        self.cells.update((cell.value().len() as u64).to_be_bytes());
        self.cells.update(cell.value());
        Ok(())
    }

    fn begin_row(&mut self, row: &[u8]) -> Result<(), TransferError> {
        self.row.get_or_insert_default().clone_from(&row.to_vec());
        self.is_left_out = false;
        if let Some(fields) = self.fields {
            match fields.write(row, &mut self.identity) {
                Err(TransferError::BadRow(_)) if fields.skips_bad_rows() => {
                    self.is_left_out = true;
                    return Ok(());
                }
                written => written?,
            }
            self.cells.update(&self.identity);
        }
        self.total.rows += 1;
        Ok(())
    }

    fn end_row(&mut self) {
        if self.row.is_some() && !self.is_left_out {
            let digest: [u8; 16] = self.cells.finalize_reset().into();
            self.total.sum = self.total.sum.wrapping_add(u128::from_be_bytes(digest));
        }
    }

    fn finish(mut self) -> TableDigest {
        self.end_row();
        self.total
    }
}
