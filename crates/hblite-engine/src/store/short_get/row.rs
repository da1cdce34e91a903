//! A whole row.
//!
//! A source's first cell of each column is its newest, and what precedes it are other columns of
//! the row, with their markers and those of the family. So if a source has no marker in the row,
//! the newest version of each column is the first one of some source. Sources are read from the
//! first cell of the row on, one after another, and what each has is merged into what the earlier
//! ones had.

use std::borrow::Cow;
use std::mem;

use hblite_model::cell::{CellRef, key};
use hblite_model::{CellBuffer, Result};

use super::{Found, Limits, ShortRead, is_newer};
use crate::memstore::SegmentScanner;
use crate::store::store_file::StoreFile;

/// Cells that are examined. Beyond them, opening a scanner takes a small part of the time.
const CELLS_MAX: u64 = 64;

/// The columns of the row that were found so far.
pub(super) struct FoundRow<'k> {
    /// The key that sorts before all cells of the row.
    key: &'k [u8],
    limits: Limits,
    /// One cell of each column, in order.
    cells: &'k mut CellBuffer,
    /// The same from the sources before the current one.
    earlier: CellBuffer,
    /// Those of them that the current source has reached.
    merged: usize,
    cells_examined: u64,
    is_unclear: bool,
}

impl<'k> FoundRow<'k> {
    /// Nothing so far; `key` sorts before all cells of the row.
    pub(super) fn new(key: &'k [u8], limits: Limits, cells: &'k mut CellBuffer) -> Self {
        let earlier = CellBuffer::new();
        Self { key, limits, cells, earlier, merged: 0, cells_examined: 0, is_unclear: false }
    }

    /// The result, after all sources.
    pub(super) fn end(self) -> ShortRead {
        match self.is_unclear {
            true => ShortRead::Unclear,
            false => ShortRead::Done { cells_examined: self.cells_examined },
        }
    }

    fn enter_source(&mut self) {
        // Mostly there is nothing to merge with.
        if !self.cells.is_empty() {
            mem::swap(self.cells, &mut self.earlier);
            self.cells.clear();
            self.merged = 0;
        }
    }

    /// Adds what earlier sources have before `column`, and returns what they have of it.
    fn merge_up_to(&mut self, column: &[u8]) -> Option<CellRef<'_>> {
        while let Some(cell) = self.earlier.get(self.merged)
            && key::column(cell.key()) < column
        {
            self.cells.push(&cell);
            self.merged += 1;
        }
        let known = self.earlier.get(self.merged)?;
        if key::column(known.key()) != column {
            return None;
        }
        self.merged += 1;
        Some(known)
    }
}

impl<'k> Found<'k> for FoundRow<'k> {
    /// An older source may have other columns.
    fn may_be_changed_by(&self, _: i64) -> bool {
        true
    }

    fn enter_segment(&mut self, _: &SegmentScanner) -> Cow<'k, [u8]> {
        self.enter_source();
        Cow::Borrowed(self.key)
    }

    fn enter_file(&mut self, file: &StoreFile) -> Result<Cow<'k, [u8]>> {
        self.enter_source();
        self.is_unclear |= file.is_reference();
        Ok(Cow::Borrowed(self.key))
    }

    #[inline]
    fn look(&mut self, cell: &CellRef<'_>) -> bool {
        if self.is_unclear || !key::is_same_row(cell.row(), key::row(self.key)) {
            return false;
        }
        self.cells_examined += 1;
        if cell.sequence_id() > self.limits.read_point {
            return true;
        }
        if !self.limits.allow(cell) || self.cells_examined > CELLS_MAX {
            self.is_unclear = true;
            return false;
        }
        let column = key::column(cell.key());
        if self.cells.last().is_some_and(|last| key::column(last.key()) == column) {
            // An older version.
            return true;
        }
        let is_known_newer = self.merge_up_to(column).is_some_and(|known| !is_newer(cell, &known));
        if is_known_newer {
            let known = self.earlier.get(self.merged - 1);
            known.iter().for_each(|known| self.cells.push(known));
        } else {
            self.limits.bytes_left -= cell.serialized_size();
            self.cells.push(cell);
        }
        true
    }

    fn leave(&mut self) {
        if self.cells.is_empty() {
            // The source does not have the row.
            mem::swap(self.cells, &mut self.earlier);
        }
        for at in self.merged..self.earlier.len() {
            self.earlier.get(at).iter().for_each(|cell| self.cells.push(cell));
        }
        self.earlier.clear();
        self.merged = 0;
    }

    fn is_unclear(&self) -> bool {
        self.is_unclear
    }
}
