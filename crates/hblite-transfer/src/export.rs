//! Writes the rows of a scan.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use hblite::{CellRef, RowResult, Scan, ScanStep, Table};
use hblite_model::cell::{TagIter, TagType};

use crate::error::TransferError;

/// A row with more bytes than this is written in several pieces, if the format allows that.
pub const PIECE_SIZE: usize = 1 << 20;

/// A format that rows are written in.
pub trait RowWriter {
    /// Writes a row, or a piece of one.
    ///
    /// # Errors
    /// `Write`, and `Unwritable` if the format cannot represent the row.
    fn write(&mut self, row: &RowResult) -> Result<(), TransferError>;

    /// Writes what remains. Nothing may be written afterwards.
    ///
    /// # Errors
    /// `Write`.
    fn finish(&mut self) -> Result<(), TransferError>;

    /// Whether a row may come in several pieces.
    fn takes_pieces(&self) -> bool;

    /// Cells whose tags (other than a time to live) could not be represented so far.
    fn tags_left_out(&self) -> u64;
}

/// What was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExportReport {
    /// Rows.
    pub rows: u64,
    /// Cells.
    pub cells: u64,
    /// Cells whose tags (other than a time to live) the format could not represent.
    pub tags_left_out: u64,
    /// How long it took.
    pub duration: Duration,
}

/// Rows between two progress calls.
const ROWS_PER_PROGRESS: u64 = 256;

/// How long a scan searches for a row between two progress calls.
pub(crate) const PATIENCE: Duration = Duration::from_millis(100);

/// Writes the rows of `scan`. Calls `progress` every few rows, and several times a second while
/// none is found; `Break` ends the export.
///
/// Memory does not grow with the table: a wide row comes in pieces if the writer accepts them.
///
/// # Errors
/// `Store` if the scan fails, `Interrupted` if `progress` ends the export, and those of the writer.
pub fn export(
    table: &Table,
    scan: &Scan,
    writer: &mut dyn RowWriter,
    progress: &mut dyn FnMut(&ExportReport) -> ControlFlow<()>,
) -> Result<ExportReport, TransferError> {
    let mut go_on = |report: &ExportReport| continue_or_end(progress(report));
    let begun = Instant::now();
    // Damage that occurred after a block's first read must not be exported as data.
    let scan = scan.clone().with_cache_blocks(false);
    let scan = if writer.takes_pieces() { in_pieces(&scan) } else { scan };
    let mut scanner = table.scan(&scan)?;
    let mut report = ExportReport::default();
    let mut last_row = Vec::new();
    loop {
        let row = match scanner.next_row_within(PATIENCE)? {
            ScanStep::Row(row) => row,
            ScanStep::Cursor(_) => {
                go_on(&report)?;
                continue;
            }
            ScanStep::End => break,
        };
        writer.write(row)?;
        report.cells += row.len() as u64;
        if report.rows == 0 || row.row() != last_row {
            last_row.clear();
            last_row.extend_from_slice(row.row());
            report.rows += 1;
            if report.rows.is_multiple_of(ROWS_PER_PROGRESS) {
                go_on(&report)?;
            }
        }
    }
    go_on(&report)?;
    writer.finish()?;
    report.tags_left_out = writer.tags_left_out();
    report.duration = begun.elapsed();
    Ok(report)
}

/// Converts the answer of a progress call to a result.
pub(crate) fn continue_or_end(answer: ControlFlow<()>) -> Result<(), TransferError> {
    match answer {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(TransferError::Interrupted),
    }
}

/// The scan, changed to divide rows over [`PIECE_SIZE`].
pub(crate) fn in_pieces(scan: &Scan) -> Scan {
    scan.clone().with_partial_results(true).with_size_max_bytes(PIECE_SIZE as u64)
}

/// The cell's own time to live in milliseconds, and whether it has other tags.
pub(crate) fn time_to_live(cell: &CellRef<'_>) -> (Option<i64>, bool) {
    let (mut ttl, mut has_others) = (None, false);
    for tag in TagIter::new(cell.tags()) {
        match tag.value.try_into() {
            Ok(millis) if tag.tag_type == TagType::TTL && ttl.is_none() => {
                ttl = Some(i64::from_be_bytes(millis));
            }
            _ => has_others = true,
        }
    }
    (ttl, has_others)
}
