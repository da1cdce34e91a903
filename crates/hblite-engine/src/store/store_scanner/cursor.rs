//! The position of a store's scan, and how it moves.

use hblite_model::Result;
use hblite_model::cell::{CellRef, CellType, key};
use hblite_model::filter::HintsInRow;

use crate::store::key_value_heap::KeyValueHeap;
use crate::store::key_value_scanner::{KeyValueScanner, write_row_edge};

/// Cells that are stepped over before a seek is cheaper. HBase compares with the key of the next
/// block instead; a step costs a few nanoseconds, a seek a few hundred.
const STEPS_MAX: usize = 16;

/// The merged sources and the current row.
pub(super) struct StoreCursor<S> {
    pub(super) heap: KeyValueHeap<S>,
    pub(super) row: CurrentRow,
    /// Cells that were examined or stepped over.
    pub(super) cells_examined: u64,
    /// Where seek keys are built.
    key: Vec<u8>,
}

/// The current row.
///
/// A copy, so that a cell can be compared with it after the scan has moved on: the only bytes that
/// a scan copies, once per row.
#[derive(Default)]
pub(super) struct CurrentRow {
    row: Vec<u8>,
    place: Place,
}

/// Where the current cell is relative to the row.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// After it; the next row is not known yet.
    #[default]
    After,
    /// It is its first cell.
    AtStart,
    /// In it or after it.
    Within,
}

impl CurrentRow {
    /// Makes `row` the current row; the scan is at its first cell.
    #[inline]
    pub(super) fn enter(&mut self, row: &[u8]) {
        self.row.clear();
        self.row.extend_from_slice(row);
        self.place = Place::AtStart;
    }

    /// Leaves the row: the scan is beyond it.
    #[inline]
    pub(super) fn leave(&mut self) {
        self.place = Place::After;
    }

    /// Begins to read the row; false if it has already begun.
    #[inline]
    pub(super) fn begin(&mut self) -> bool {
        let is_new = self.place == Place::AtStart;
        self.place = Place::Within;
        is_new
    }

    /// Whether a cell of `row` belongs to the current row.
    #[inline]
    pub(super) fn contains(&self, row: &[u8]) -> bool {
        self.place == Place::Within && key::is_same_row(&self.row, row)
    }
}

impl<S: KeyValueScanner> StoreCursor<S> {
    pub(super) fn new(heap: KeyValueHeap<S>) -> Self {
        Self { heap, row: CurrentRow::default(), cells_examined: 0, key: Vec::new() }
    }

    /// The row of the current cell.
    #[inline]
    pub(super) fn current_row(&mut self) -> Option<&[u8]> {
        if self.row.place != Place::AtStart {
            let row = key::row(self.heap.current_key()?);
            if !self.row.contains(row) {
                self.row.enter(row);
            }
        }
        Some(&self.row.row)
    }

    /// Whether the current row has more cells.
    #[inline]
    pub(super) fn has_rest_of_row(&self) -> bool {
        self.row.place == Place::Within
            && self.heap.current_key().is_some_and(|current| self.row.contains(key::row(current)))
    }

    #[inline]
    pub(super) fn step(&mut self) -> Result<()> {
        self.heap.next()
    }

    /// Moves to the next row.
    pub(super) fn go_to_next_row(&mut self) -> Result<()> {
        self.row.leave();
        for _ in 0..STEPS_MAX {
            self.heap.next()?;
            match self.heap.current_key() {
                Some(current) if key::is_same_row(key::row(current), &self.row.row) => {}
                _ => return Ok(()),
            }
            self.cells_examined += 1;
        }
        self.heap.pass_row(&self.row.row).map(drop)
    }

    /// Moves to the column `hint`, or past the current column if there is no hint; at least one
    /// cell forward.
    pub(super) fn go_to_next_column(&mut self, hint: Option<&[u8]>) -> Result<()> {
        let Some(current) = self.heap.current_key() else {
            return Ok(());
        };
        self.key.clear();
        let (row, family, mut qualifier) =
            (key::row(current), key::family(current), key::qualifier(current));
        if qualifier.is_empty() {
            return self.go_past_equal_keys();
        }
        let (mut timestamp, mut type_code) = (i64::MIN, CellType::MINIMUM);
        if let Some(hint) = hint {
            (qualifier, timestamp, type_code) = (hint, i64::MAX, CellType::MAXIMUM);
        }
        key::write(&mut self.key, row, family, qualifier, timestamp, type_code);
        for _ in 0..STEPS_MAX {
            self.heap.next()?;
            let is_there = self.heap.current_key().is_none_or(|current| match hint {
                Some(_) => !self.heap.is_before(current, &self.key),
                None => key::without_version(current) != key::without_version(&self.key),
            });
            if is_there {
                return Ok(());
            }
            self.cells_examined += 1;
        }
        self.heap.reseek(&self.key).map(drop)
    }

    /// Skips only repetitions of the current key: markers of the family are between the versions of
    /// the empty qualifier, and are needed for the columns after it.
    fn go_past_equal_keys(&mut self) -> Result<()> {
        if let Some(current) = self.heap.current_key() {
            self.key.extend_from_slice(current);
        }
        loop {
            self.heap.next()?;
            if self.heap.current_key().is_none_or(|current| current != self.key) {
                return Ok(());
            }
            self.cells_examined += 1;
        }
    }

    /// Moves where a filter says, or one cell forward if there is no hint, if it points backwards,
    /// or if it stays in the row and such hints are not followed.
    pub(super) fn go_to_hint(&mut self, hint: Option<&[u8]>, follow: HintsInRow) -> Result<()> {
        let has_moved = match hint {
            Some(key) if follow == HintsInRow::All || self.leads_on(key, follow) => {
                self.heap.reseek(key)?
            }
            _ => false,
        };
        if has_moved { Ok(()) } else { self.heap.next() }
    }

    /// Whether a hint that may stay in the row is followed.
    fn leads_on(&self, hint: &[u8], follow: HintsInRow) -> bool {
        let is_past_markers =
            || self.heap.current_key().is_some_and(|current| !key::qualifier(current).is_empty());
        !self.heap.is_in_current_row(hint)
            || (follow == HintsInRow::PastFamilyMarkers && is_past_markers())
    }

    /// Moves past `row`.
    pub(super) fn pass_row(&mut self, row: &[u8]) -> Result<()> {
        self.row.leave();
        self.heap.pass_row(row).map(drop)
    }

    /// Moves forward to `row`, or to the first row after it.
    pub(super) fn go_to_row(&mut self, row: &[u8]) -> Result<()> {
        write_row_edge(&mut self.key, row, true);
        if self.heap.reseek(&self.key)? {
            self.row.leave();
        }
        Ok(())
    }

    /// The cell at the scan.
    #[inline]
    pub(super) fn current(&self) -> Option<CellRef<'_>> {
        self.heap.current()
    }
}
