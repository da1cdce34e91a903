//! A running filter.
//!
//! One [`FilterState`] belongs to one region scanner: the state of counting filters (Page,
//! ColumnCountGet) is per region, as in HBase. It is not shared between threads, but can move
//! between them.
//!
//! The plain filters handle [`FilterState::filter_cell`] without allocating. Hints allocate, and
//! are only requested when a seek follows.

use std::fmt;

use super::Filter;
use crate::cell::{CellBuffer, CellRef, key};
use crate::direction::Direction;
use crate::error::Result;

/// What to do with a cell and where to go next (`Filter.ReturnCode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReturnCode {
    /// Include the cell.
    Include,
    /// Include the cell, skip older versions of its column.
    IncludeAndNextColumn,
    /// Skip the cell.
    Skip,
    /// Skip the cell and older versions of its column.
    NextColumn,
    /// Skip the rest of the row in this family; other families are still read.
    NextRow,
    /// Skip all cells before [`FilterState::next_cell_hint`].
    SeekNextUsingHint,
    /// Include the cell, skip the rest of the row in this family.
    IncludeAndSeekNextRow,
}

impl ReturnCode {
    /// Whether the cell is included.
    #[inline]
    pub fn is_include(self) -> bool {
        matches!(self, Self::Include | Self::IncludeAndNextColumn | Self::IncludeAndSeekNextRow)
    }
}

/// What happens to an included cell's value (`Filter.transformCell`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CellValue {
    /// It is unchanged.
    #[default]
    Original,
    /// It becomes empty.
    Empty,
    /// It becomes these bytes, the length of the original.
    Length([u8; 4]),
}

impl CellValue {
    /// `cell` with this value. As in HBase, a changed cell also loses its tags.
    #[inline]
    pub fn apply<'a>(&'a self, cell: CellRef<'a>) -> CellRef<'a> {
        match self {
            Self::Original => cell,
            Self::Empty => CellRef::new(cell.key(), b"", b"", cell.sequence_id()),
            Self::Length(bytes) => CellRef::new(cell.key(), bytes, b"", cell.sequence_id()),
        }
    }

    /// Length of the value, if the original has `original_length` bytes.
    fn length(self, original_length: usize) -> usize {
        match self {
            Self::Original => original_length,
            Self::Empty => 0,
            Self::Length(bytes) => bytes.len(),
        }
    }

    /// The length of this value in place of the value, 4 bytes big-endian.
    pub(super) fn into_length(self, original_length: usize) -> Self {
        Self::Length((self.length(original_length) as u32).to_be_bytes())
    }
}

/// The filter's decision on a whole row (`FilterWrapper.FilterRowRetCode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowVerdict {
    /// No cell was left, so [`FilterState::filter_row`] was not called.
    NotCalled,
    /// The row passes.
    Include,
    /// The row is rejected; its cells were removed.
    Exclude,
}

/// The behavior of a filter; the defaults are those of `FilterBase`.
pub(super) trait Evaluate: Send + fmt::Debug {
    fn reset(&mut self) {}

    fn filter_all_remaining(&self) -> bool {
        false
    }

    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(self.filter_all_remaining())
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode>;

    fn transform(&self, value: CellValue, _original_length: usize) -> CellValue {
        value
    }

    /// The flat key to seek to from the cell with key `key`.
    fn next_cell_hint(&mut self, _key: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn filter_row_cells(&mut self, _cells: &mut CellBuffer) {}

    fn filter_row(&mut self) -> bool {
        false
    }
}

/// Which hints to a cell of the same row a scanner follows.
///
/// HBase's reverse scans follow none: they pass each cell of a row to the filter. hblite's reverse
/// scans follow hints where the answer is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintsInRow {
    /// All, as forward scans do, even past a marker that deletes the cells after it.
    All,
    /// All except those for cells under the empty qualifier, because markers of the family are
    /// among them.
    PastFamilyMarkers,
    /// None.
    None,
}

impl HintsInRow {
    fn of(filter: &Filter, direction: Direction) -> Self {
        match direction {
            Direction::Forward => Self::All,
            Direction::Reverse if filter.forgets_passed_cells() => Self::PastFamilyMarkers,
            Direction::Reverse => Self::None,
        }
    }
}

/// A [`Filter`] in one region scanner.
#[derive(Debug)]
pub struct FilterState {
    root: Box<dyn Evaluate>,
    has_filter_row: bool,
    judges_cells_alone: bool,
    hints_in_row: HintsInRow,
}

impl FilterState {
    /// The running filter of a get or scan, if it has one; see [`FilterState::new`].
    ///
    /// # Errors
    /// As [`Filter::check_count`].
    pub fn of(filter: Option<&Filter>, direction: Direction, seed: u64) -> Result<Option<Self>> {
        let Some(filter) = filter else { return Ok(None) };
        filter.check_count()?;
        Ok(Some(Self::new(filter, direction, seed)))
    }

    /// `filter` in a scan in this direction. `seed` is for [`super::RandomRowFilter`]: the same
    /// seed chooses the same rows.
    pub fn new(filter: &Filter, direction: Direction, seed: u64) -> Self {
        let root = Evaluators { direction, seed }.same(filter);
        Self {
            root,
            has_filter_row: filter.has_filter_row(),
            judges_cells_alone: filter.judges_cells_alone(),
            hints_in_row: HintsInRow::of(filter, direction),
        }
    }

    /// Resets the state for the next row; called after each row.
    pub fn reset(&mut self) {
        self.root.reset();
    }

    /// Whether the scan of this region is over.
    #[inline]
    pub fn filter_all_remaining(&self) -> bool {
        self.root.filter_all_remaining()
    }

    /// Whether the row is rejected by its key. Called once per row, before its cells.
    ///
    /// # Errors
    /// `IOException` if a comparator cannot compare.
    pub fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        Ok(self.root.filter_all_remaining() || self.root.filter_row_key(row)?)
    }

    /// What to do with `cell`.
    ///
    /// # Errors
    /// `IOException` if a comparator cannot compare, or where HBase fails.
    #[inline]
    pub fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        self.root.filter_cell(cell)
    }

    /// Whether every answer is [`ReturnCode::Include`] or [`ReturnCode::Skip`] and depends on the
    /// cell alone, and rows as such are never rejected.
    #[inline]
    pub fn judges_cells_alone(&self) -> bool {
        self.judges_cells_alone
    }

    /// Whether the cell is certainly skipped. For filters with
    /// [`FilterState::judges_cells_alone`].
    #[inline]
    pub fn rejects_cell(&mut self, cell: &CellRef<'_>) -> bool {
        matches!(self.root.filter_cell(cell), Ok(ReturnCode::Skip))
    }

    /// What happens to the value of an included cell; see [`CellValue::apply`].
    #[inline]
    pub fn transform_cell(&self, cell: &CellRef<'_>) -> CellValue {
        self.root.transform(CellValue::Original, cell.value().len())
    }

    /// The flat key to seek to, after [`ReturnCode::SeekNextUsingHint`] for `cell`. `None` means to
    /// continue with the next cell. It may precede `cell` (for a filter that assumes a forward scan
    /// inside a reverse one); the scanner must not go back.
    pub fn next_cell_hint(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        self.root.next_cell_hint(cell.key())
    }

    /// Which hints to a cell of the same row are followed.
    #[inline]
    pub fn hints_in_row(&self) -> HintsInRow {
        self.hints_in_row
    }

    /// Whether the filter selects whole rows ([`Filter::has_filter_row`]).
    #[inline]
    pub fn has_filter_row(&self) -> bool {
        self.has_filter_row
    }

    /// Decides on the row whose included cells are `cells`: may remove some, and removes all if the
    /// row is rejected. Calls [`FilterState::filter_row`] itself. For filters with
    /// [`FilterState::has_filter_row`].
    pub fn filter_row_cells(&mut self, cells: &mut CellBuffer) -> RowVerdict {
        self.root.filter_row_cells(cells);
        if cells.is_empty() {
            return RowVerdict::NotCalled;
        }
        if self.root.filter_row() {
            cells.clear();
            return RowVerdict::Exclude;
        }
        RowVerdict::Include
    }

    /// Whether the row is rejected after all. For filters without [`FilterState::has_filter_row`];
    /// for the others, [`FilterState::filter_row_cells`] has called it.
    pub fn filter_row(&mut self) -> bool {
        self.root.filter_row()
    }
}

/// Makes evaluators: each knows the direction of the scan, and each random one has its own seed.
pub(super) struct Evaluators {
    direction: Direction,
    seed: u64,
}

impl Evaluators {
    /// The direction that the evaluator expects.
    pub(super) fn direction(&self) -> Direction {
        self.direction
    }

    /// The evaluator of an inner filter, in the same direction.
    pub(super) fn same(&mut self, filter: &Filter) -> Box<dyn Evaluate> {
        filter.kind().evaluator(self)
    }

    /// The evaluator of an inner filter that expects a forward scan, whatever this one is.
    pub(super) fn forward(&mut self, filter: &Filter) -> Box<dyn Evaluate> {
        let direction = std::mem::replace(&mut self.direction, Direction::Forward);
        let evaluator = self.same(filter);
        self.direction = direction;
        evaluator
    }

    pub(super) fn next_seed(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.seed
    }
}

/// The first possible key of `row`, which may be longer than the rows of a table can be.
///
/// Truncating it loses nothing: rows have at most [`key::ROW_LENGTH_MAX`] bytes, so none is in
/// between.
pub(super) fn first_on_row(row: &[u8]) -> Vec<u8> {
    key::first_on_row(&row[..row.len().min(key::ROW_LENGTH_MAX)])
}

/// The first possible key of `qualifier` in the row and family of `key`.
pub(super) fn first_on_column(key: &[u8], qualifier: &[u8]) -> Vec<u8> {
    key::first_on_column(key::row(key), key::family(key), qualifier)
}
