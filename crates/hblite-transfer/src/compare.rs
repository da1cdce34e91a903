//! Compares two tables cell by cell and names the rows that differ.
//!
//! Both are read in the order of their rows, a range at a time, so memory does not grow with the
//! tables. Ranges are the regions of the left table, whatever regions the right one has.

use std::cmp::Ordering;
use std::fmt;
use std::ops::ControlFlow;

use hblite::bytes::to_string_binary;
use hblite::{CellBuffer, CellRef, ResultScanner, Table};

use crate::digest::CellView;
use crate::error::TransferError;
use crate::export::continue_or_end;
use crate::row_range::{RowRange, in_parallel};

/// How two tables differ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// Rows of the left table.
    pub left_rows: u64,
    /// Rows of the right table.
    pub right_rows: u64,
    /// Rows that only one table has, or that have different cells.
    pub rows_different: u64,
    /// The first of the rows that differ, in order.
    pub first: Vec<RowDifference>,
}

impl Comparison {
    /// Whether the tables have the same cells.
    pub fn is_equal(&self) -> bool {
        self.rows_different == 0
    }

    fn merge(&mut self, other: Self, kept_max: usize) {
        self.left_rows += other.left_rows;
        self.right_rows += other.right_rows;
        self.rows_different += other.rows_different;
        let free = kept_max - self.first.len();
        self.first.extend(other.first.into_iter().take(free));
    }
}

/// A row that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowDifference {
    /// The row.
    pub row: Vec<u8>,
    /// How it differs.
    pub kind: DifferenceKind,
}

/// How a row differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DifferenceKind {
    /// Only the left table has it.
    OnlyLeft,
    /// Only the right table has it.
    OnlyRight,
    /// The first cell in order that differs, as `family:qualifier/timestamp/type`. `None`: the
    /// table has no further cell in this row.
    Cells {
        /// Of the left table.
        left: Option<String>,
        /// Of the right table.
        right: Option<String>,
    },
}

impl fmt::Display for RowDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = to_string_binary(&self.row);
        match &self.kind {
            DifferenceKind::OnlyLeft => write!(f, "{row}: only on the left"),
            DifferenceKind::OnlyRight => write!(f, "{row}: only on the right"),
            DifferenceKind::Cells { left, right } => {
                let shown = |cell: &Option<String>| match cell {
                    Some(cell) => cell.clone(),
                    None => "no cell".to_owned(),
                };
                write!(f, "{row}: {} on the left, {} on the right", shown(left), shown(right))
            }
        }
    }
}

/// How to compare.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CompareOptions {
    /// Which cells are read.
    pub view: CellView,
    /// Ranges compared at a time, at least one.
    pub threads: usize,
    /// How many of the rows that differ are kept.
    pub differences_kept: usize,
}

impl CompareOptions {
    /// The defaults for these cells: one thread, and the first ten rows that differ are kept.
    pub fn of(view: CellView) -> Self {
        Self { view, threads: 1, differences_kept: 10 }
    }

    /// Sets the number of threads.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Sets how many of the rows that differ are kept.
    pub fn with_differences_kept(self, rows: usize) -> Self {
        Self { differences_kept: rows, ..self }
    }
}

/// Rows between two progress calls.
const ROWS_PER_PROGRESS: u64 = 256;

/// Compares two tables. Calls `progress` with the number of rows compared since the last call;
/// `Break` ends the work. Tags, such as a cell's own time to live, are not compared.
///
/// Costs a full scan of each. Writes during the call may appear as differences.
///
/// # Errors
/// `Store` if a scan fails; `Interrupted` if `progress` ends it.
pub fn compare(
    left: &Table,
    right: &Table,
    options: &CompareOptions,
    progress: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
) -> Result<Comparison, TransferError> {
    let ranges = RowRange::of_regions(left)?;
    let scan = options.view.scan();
    let parts = in_parallel(ranges.len(), options.threads, |index| {
        let scan = ranges[index].scan(&scan);
        let sides = [Cells::new(left.scan(&scan)?), Cells::new(right.scan(&scan)?)];
        compare_range(sides, options.differences_kept, progress)
    })?;
    let mut all = Comparison::default();
    parts.into_iter().for_each(|part| all.merge(part, options.differences_kept));
    Ok(all)
}

fn compare_range(
    [mut left, mut right]: [Cells; 2],
    kept_max: usize,
    progress: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
) -> Result<Comparison, TransferError> {
    let mut comparison = Comparison::default();
    let (mut rows, mut row) = (0, Vec::new());
    loop {
        row.clear();
        let order = match (left.peek()?, right.peek()?) {
            (None, None) => break,
            (Some(a), None) => set(&mut row, &a, Ordering::Less),
            (None, Some(b)) => set(&mut row, &b, Ordering::Greater),
            (Some(a), Some(b)) => match a.row().cmp(b.row()) {
                Ordering::Greater => set(&mut row, &b, Ordering::Greater),
                order => set(&mut row, &a, order),
            },
        };
        let difference = match order {
            Ordering::Less => Some(DifferenceKind::OnlyLeft),
            Ordering::Greater => Some(DifferenceKind::OnlyRight),
            Ordering::Equal => compare_row(&mut left, &mut right, &row)?,
        };
        if order.is_le() {
            comparison.left_rows += 1;
            left.skip(&row)?;
        }
        if order.is_ge() {
            comparison.right_rows += 1;
            right.skip(&row)?;
        }
        if let Some(kind) = difference {
            comparison.rows_different += 1;
            if comparison.first.len() < kept_max {
                comparison.first.push(RowDifference { row: row.clone(), kind });
            }
        }
        rows += 1;
        if rows % ROWS_PER_PROGRESS == 0 {
            continue_or_end(progress(ROWS_PER_PROGRESS))?;
        }
    }
    continue_or_end(progress(rows % ROWS_PER_PROGRESS))?;
    Ok(comparison)
}

fn set(row: &mut Vec<u8>, cell: &CellRef<'_>, order: Ordering) -> Ordering {
    row.extend_from_slice(cell.row());
    order
}

/// The first cell of a row that differs.
fn compare_row(
    left: &mut Cells,
    right: &mut Cells,
    row: &[u8],
) -> Result<Option<DifferenceKind>, TransferError> {
    loop {
        let a = left.peek()?.filter(|cell| cell.row() == row);
        let b = right.peek()?.filter(|cell| cell.row() == row);
        match (a, b) {
            (None, None) => return Ok(None),
            (Some(a), Some(b)) if a.key() == b.key() && a.value() == b.value() => {}
            (a, b) => {
                let is_same_key = matches!((&a, &b), (Some(a), Some(b)) if a.key() == b.key());
                let shown =
                    |cell: Option<CellRef<'_>>| cell.map(|cell| to_text(&cell, is_same_key));
                return Ok(Some(DifferenceKind::Cells { left: shown(a), right: shown(b) }));
            }
        }
        left.advance();
        right.advance();
    }
}

/// Bytes of a value that a difference shows.
const VALUE_SHOWN: usize = 40;

/// A cell in a difference: its key, and its value if the keys are the same.
fn to_text(cell: &CellRef<'_>, with_value: bool) -> String {
    let (family, qualifier) = (to_string_binary(cell.family()), to_string_binary(cell.qualifier()));
    let kind = match cell.cell_type() {
        Some(cell_type) => cell_type.to_string(),
        None => cell.type_code().to_string(),
    };
    let key = format!("{family}:{qualifier}/{}/{kind}", cell.timestamp());
    if !with_value {
        return key;
    }
    let value = cell.value();
    let more = if value.len() > VALUE_SHOWN { "…" } else { "" };
    let shown = to_string_binary(&value[..value.len().min(VALUE_SHOWN)]);
    format!("{key} = {shown}{more} ({} bytes)", value.len())
}

/// The cells of a scan, one after the other.
struct Cells {
    scanner: ResultScanner,
    piece: CellBuffer,
    index: usize,
}

impl Cells {
    fn new(scanner: ResultScanner) -> Self {
        Self { scanner, piece: CellBuffer::new(), index: 0 }
    }

    /// The next cell; `None` at the end.
    fn peek(&mut self) -> Result<Option<CellRef<'_>>, TransferError> {
        while self.index >= self.piece.len() {
            let Some(piece) = self.scanner.next() else { return Ok(None) };
            self.piece = piece?.into_cells();
            self.index = 0;
        }
        Ok(self.piece.get(self.index))
    }

    fn advance(&mut self) {
        self.index += 1;
    }

    /// Skips the rest of a row.
    fn skip(&mut self, row: &[u8]) -> Result<(), TransferError> {
        while self.peek()?.is_some_and(|cell| cell.row() == row) {
            // A piece belongs to one row.
            self.index = self.piece.len();
        }
        Ok(())
    }
}
