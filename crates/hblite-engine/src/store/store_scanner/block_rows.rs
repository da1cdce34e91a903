//! Plain cells and usual markers within a block of a file, when that file is the only source left
//! (for several, see `merged_rows`).
//!
//! Nothing has to be merged then, and the scanner moves once for many cells: a loop over the cells
//! of the block compares each with the cell before it, in place. [`StoreScanner::visit_rows`]
//! takes whole rows, [`StoreScanner::visit_block_cells`] the cells of a single row, and
//! [`StoreScanner::pass_rejected_rows`] leaves out rows that a filter rejects. What they
//! leave, such as a row that continues in the next block or a cell that is not plain, takes the
//! path from cell to cell.

use std::ops::Range;

use hblite_hfile::BlockCells;
use hblite_model::Result;
use hblite_model::cell::{CellRef, CellType, key};

use super::{CellSink, RowBudget, StoreScanner};
use crate::prefetch::prefetch;
use crate::store::key_value_scanner::{BlockPlace, KeyValueScanner, WALK_CELLS_MAX};
use crate::store::matcher::{Hidden, Hides, Markers, PlainRules};

/// The loop asks for the memory of the cell that is this many further on. A short scan would wait
/// for much of it: the processor recognizes a sequence after some lines, and anew in each page.
const CELLS_AHEAD: usize = 16;
/// A scan that has seen this many cells does not ask: asking would cost more than it saves.
pub(super) const ASKING_CELLS_MAX: u64 = 1024;

/// What a loop over blocks did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct VisitedRows {
    /// Rows that were passed to a sink.
    pub(crate) rows: u64,
    /// Their cells.
    pub(crate) cells: u64,
    /// Other rows that were read, of which nothing is returned.
    pub(crate) hidden_rows: u64,
}

impl VisitedRows {
    /// Rows that were read.
    pub(crate) fn rows_read(&self) -> u64 {
        self.rows + self.hidden_rows
    }
}

impl<S: KeyValueScanner> StoreScanner<S> {
    /// [`StoreScanner::visit_rows`], where one source is left.
    #[inline]
    pub(super) fn visit_block_rows<C: CellSink>(
        &mut self,
        rows_max: u64,
        is_beyond: impl Fn(&[u8]) -> bool,
        sink: &mut C,
    ) -> Result<VisitedRows> {
        let is_reverse = self.cursor.heap.direction().is_reverse();
        let (Some(plain), Some(place), false) =
            (&mut self.plain, self.cursor.heap.block(), self.is_closed || self.is_get)
        else {
            return Ok(VisitedRows::default());
        };
        if plain.is_paused() {
            return Ok(VisitedRows::default());
        }
        let cells = place.cells;
        let mut rows = BlockRows {
            cells,
            rules: plain.rules(),
            rows_max,
            is_beyond,
            sink,
            previous: None,
            marked: None,
            takes_markers: true,
            visited: VisitedRows::default(),
            examined: 0,
            asks: self.cursor.cells_examined < ASKING_CELLS_MAX,
        };
        let end = if is_reverse { rows.read_backward(place) } else { rows.read_forward(place) };
        let BlockRows { previous, marked, mut visited, examined, .. } = rows;
        if examined == 0 {
            return Ok(visited);
        }
        let row = (!end.is_read).then(|| key::row(cells.key(end.at)));
        let within = previous.filter(|last| row.is_some_and(|row| key::is_same_row(last.row, row)));
        let is_within_row = within.is_some();
        if let Some(last) = within {
            let marked = marked.filter(|marked| key::is_same_row(marked.row, last.row));
            let (column, versions, timestamp) = match &marked {
                // A later column than that of the last put, without a version so far.
                Some(marked) if marked.is_last_column(&last) => (marked.column, 0, 0),
                _ => (last.column, last.versions, last.timestamp),
            };
            plain.column.set(column, versions, timestamp);
            plain.markers = marked.map(|marked| marked.markers).unwrap_or_default();
            plain.resume();
        }
        self.cursor.cells_examined += examined;
        self.cursor.row.leave();
        self.cursor.heap.move_in_block(end.at, end.row, examined);
        if end.is_read {
            self.cursor.step()?;
        }
        if is_within_row {
            let mut budget = RowBudget::UNLIMITED;
            visited.cells += self.next_plain_row(&mut budget, sink)? as u64;
        }
        Ok(visited)
    }

    /// Moves past rows, from the one at the scanner on, of which `is_rejected` holds for every
    /// cell, as far as they have only puts and certainly end within the block. Such a row returns
    /// nothing, whatever else applies to its cells. Stops before a row for which `is_stop` holds,
    /// which is asked once for each row. Looks at `cells_max` cells at most. Does nothing where
    /// this path cannot be taken.
    pub(crate) fn pass_rejected_rows(
        &mut self,
        cells_max: usize,
        mut is_stop: impl FnMut(&[u8]) -> bool,
        mut is_rejected: impl FnMut(&CellRef<'_>) -> bool,
    ) -> VisitedRows {
        let is_reverse = self.cursor.heap.direction().is_reverse();
        let mut passed = VisitedRows::default();
        if is_reverse || self.is_closed || self.is_get || self.cursor.has_rest_of_row() {
            return passed;
        }
        let Some(BlockPlace { cells, at: start, .. }) = self.cursor.heap.block() else {
            return passed;
        };
        let end = start_of_last_row(cells).min(start.saturating_add(cells_max));
        let (mut at, mut row, mut row_start) = (start, key::row(cells.key(start)), start);
        let mut is_at_end = is_stop(row);
        while at <= end {
            let cell = cells.cell(at);
            if !key::is_same_row(cell.row(), row) {
                (row, row_start) = (cell.row(), at);
                passed.rows += 1;
                is_at_end = is_stop(row);
            }
            let is_put = cell.type_code() == CellType::Put.code();
            if at == end || is_at_end || !is_put || !is_rejected(&cell) {
                break;
            }
            at += 1;
        }
        if passed.rows > 0 {
            passed.cells = (row_start - start) as u64;
            self.cursor.cells_examined += passed.cells;
            self.cursor.row.leave();
            self.cursor.heap.move_in_block(row_start, (0, 0), passed.cells);
        }
        passed
    }

    /// Passes up to `cells_max` cells to `sink`, from the cell at the scanner on, as far as they
    /// are plain and of the last column's row and block. Returns their number; 0 where this path
    /// cannot be taken. Afterwards the scanner is at the next cell.
    ///
    /// # Errors
    /// As [`StoreScanner::visit_rows`].
    pub(super) fn visit_block_cells<C: CellSink>(
        &mut self,
        cells_max: u64,
        sink: &mut C,
    ) -> Result<usize> {
        let is_reverse = self.cursor.heap.direction().is_reverse();
        let (Some(plain), Some(place)) = (&mut self.plain, self.cursor.heap.block()) else {
            return Ok(0);
        };
        let (rules, visited) = (plain.rules(), VisitedRows { rows: 1, ..VisitedRows::default() });
        let (cells, at, (before, after)) = (place.cells, place.at, place.row);
        let after = if is_reverse { after } else { cells.len() - 1 - at };
        if at + after >= cells.len() {
            return Ok(0);
        }
        // Moved out, because the loop borrows its key and its end writes another one.
        let last = std::mem::take(&mut plain.column);
        let previous = Previous {
            row: key::row(&last.key),
            column: &last.key,
            versions: last.versions,
            timestamp: last.timestamp,
        };
        let previous = Some(previous);
        let is_beyond = |_: &[u8]| true;
        let mut rows = BlockRows {
            cells,
            rules,
            rows_max: 1,
            is_beyond,
            sink,
            previous,
            marked: None,
            takes_markers: false,
            visited,
            examined: 0,
            asks: false,
        };
        let wanted = (after + 1).min(usize::try_from(cells_max).unwrap_or(usize::MAX));
        let read = (at..at + wanted).take_while(|cell| rows.read(*cell)).count();
        let Some(previous) = rows.previous.filter(|_| read > 0) else {
            plain.column = last;
            return Ok(0);
        };
        plain.column.key = std::mem::take(&mut plain.spare_key);
        plain.column.set(previous.column, previous.versions, previous.timestamp);
        plain.spare_key = last.key;
        self.cursor.cells_examined += read as u64;
        // The scanner has to be at a cell of the block, if only at the last one that was read.
        let is_read = read > after;
        let steps = if is_read { after } else { read };
        self.cursor.heap.move_in_block(at + steps, (before + steps, after - steps), read as u64);
        if is_read {
            self.cursor.step()?;
        }
        Ok(read)
    }
}

/// A loop over the rows of a block.
struct BlockRows<'a, 's, C, F> {
    cells: BlockCells<'a>,
    rules: PlainRules,
    rows_max: u64,
    is_beyond: F,
    sink: &'s mut C,
    previous: Option<Previous<'a>>,
    marked: Option<Marked<'a>>,
    takes_markers: bool,
    visited: VisitedRows,
    /// Cells that were read.
    examined: u64,
    /// Whether it asks for memory in advance.
    asks: bool,
}

/// The last row with markers.
struct Marked<'a> {
    row: &'a [u8],
    markers: Markers,
    /// The column of the last marker: its key without the version.
    column: &'a [u8],
    /// Cells of the row so far, until one was returned.
    hidden: Option<usize>,
}

impl Marked<'_> {
    /// Whether the last marker is of a later column than the last put of the row.
    fn is_last_column(&self, last: &Previous<'_>) -> bool {
        self.markers.of_column().is_some() && self.column != last.column
    }
}

/// The put that was returned last.
struct Previous<'a> {
    row: &'a [u8],
    /// Its key without the version.
    column: &'a [u8],
    /// Versions of the column so far, and the timestamp of this one.
    versions: i32,
    timestamp: i64,
}

/// Where a loop ended.
struct End {
    at: usize,
    /// In reverse: cells of the row before and after this one.
    row: (usize, usize),
    /// This cell and its row were read, and the next row may begin in another block.
    is_read: bool,
}

impl<'a, C: CellSink, F: Fn(&[u8]) -> bool> BlockRows<'a, '_, C, F> {
    // Inlined, so that what is known of the previous cell stays in registers.
    #[inline(always)]
    fn read_forward(&mut self, place: BlockPlace<'_>) -> End {
        let end = start_of_last_row(self.cells);
        let mut at = place.at;
        self.ask_for(at..at + CELLS_AHEAD);
        while at < end && self.read(at) {
            self.ask_for(at + CELLS_AHEAD..at + CELLS_AHEAD + 1);
            at += 1;
        }
        at -= self.leave_marked(Some(at));
        End { at, row: (0, 0), is_read: false }
    }

    #[inline(always)]
    fn read_backward(&mut self, place: BlockPlace<'_>) -> End {
        let (before, after) = place.row;
        let mut first = place.at - before;
        let mut last = place.at + after;
        if before > 0 || last >= self.cells.len() {
            return End { at: place.at, row: place.row, is_read: false };
        }
        self.ask_for(first.saturating_sub(CELLS_AHEAD)..first);
        loop {
            let mut at = first;
            while at <= last {
                if !self.read(at) {
                    at -= self.leave_marked(Some(at));
                    return End { at, row: (at - first, last - at), is_read: false };
                }
                if let Some(ahead) = at.checked_sub(CELLS_AHEAD) {
                    self.ask_for(ahead..ahead + 1);
                }
                at += 1;
            }
            let row_before = first
                .checked_sub(1)
                .and_then(|before| Some((start_of_row(self.cells, before)?, before)));
            let Some(row_before) = row_before else {
                self.leave_marked(None);
                return End { at: last, row: (last - first, 0), is_read: true };
            };
            (first, last) = row_before;
        }
    }

    /// Asks for the memory of these cells, as far as the block has them.
    #[inline(always)]
    fn ask_for(&self, cells: Range<usize>) {
        if self.asks {
            let starts = cells.filter_map(|cell| self.cells.bytes_from(cell));
            starts.for_each(|start| prefetch(start.as_ptr()));
        }
    }

    /// Reads a cell. False, and it is not read, if it is neither plain nor a usual marker, if its
    /// version is not returned, or if it begins a row that the scan does not need.
    #[inline(always)]
    fn read(&mut self, at: usize) -> bool {
        let cell = self.cells.cell(at);
        let timestamp = cell.timestamp();
        if !self.rules.is_plain(&cell, timestamp) {
            return self.takes_markers && self.mark(&cell);
        }
        let (row, column) = (cell.row(), key::without_version(cell.key()));
        if self.marked.is_some() && self.is_hidden(row, column, timestamp) {
            self.examined += 1;
            return true;
        }
        let mut versions = 1;
        match &self.previous {
            Some(previous) if key::is_same_row(previous.row, row) => {
                if previous.column == column {
                    versions = previous.versions.saturating_add(1);
                    if versions > self.rules.versions_max || timestamp == previous.timestamp {
                        return false;
                    }
                }
            }
            _ => {
                if self.is_not_needed(row) {
                    return false;
                }
                self.visited.rows += 1;
            }
        }
        self.previous = Some(Previous { row, column, versions, timestamp });
        self.visited.cells += 1;
        self.examined += 1;
        self.sink.push_stored(&cell, || self.cells.serialized(at));
        true
    }

    /// Whether the scan does not need a row that begins here.
    #[inline(always)]
    fn is_not_needed(&self, row: &[u8]) -> bool {
        self.visited.rows == self.rows_max || (self.is_beyond)(row)
    }

    /// Reads a cell that is not plain; false if that cannot be done here.
    #[inline]
    fn mark(&mut self, cell: &CellRef<'a>) -> bool {
        let Some(hides) = Hides::of(cell, &self.rules) else { return false };
        let (row, column) = (cell.row(), key::without_version(cell.key()));
        match &mut self.marked {
            Some(marked) if key::is_same_row(marked.row, row) => {
                let is_of_last_column = marked.column == column;
                if !marked.markers.add(hides, is_of_last_column) {
                    return false;
                }
                marked.column = column;
                marked.hidden.iter_mut().for_each(|hidden| *hidden += 1);
            }
            _ => {
                let previous = self.previous.as_ref();
                let is_begun = previous.is_some_and(|last| key::is_same_row(last.row, row));
                if !is_begun && self.is_not_needed(row) {
                    return false;
                }
                self.leave_marked(None);
                let mut markers = Markers::default();
                markers.add(hides, false);
                let hidden = (!is_begun).then_some(1);
                self.marked = Some(Marked { row, markers, column, hidden });
            }
        }
        self.examined += 1;
        true
    }

    /// Whether the markers of its row hide a put.
    #[inline]
    fn is_hidden(&mut self, row: &[u8], column: &[u8], timestamp: i64) -> bool {
        match &mut self.marked {
            Some(marked) if key::is_same_row(marked.row, row) => {
                let is_of_last_column = || marked.column == column;
                if marked.markers.hide(is_of_last_column, timestamp) == Hidden::No {
                    marked.hidden = None;
                    return false;
                }
                marked.hidden.iter_mut().for_each(|hidden| *hidden += 1);
                true
            }
            _ => {
                self.leave_marked(None);
                self.marked = None;
                false
            }
        }
    }

    /// Counts the row with markers, if nothing of it was returned. But if it continues at the cell
    /// `next`, it is left to the other path: returns how many of its cells precede that one.
    #[inline]
    fn leave_marked(&mut self, next: Option<usize>) -> usize {
        let Some(&Marked { row, hidden: Some(hidden), .. }) = self.marked.as_ref() else {
            return 0;
        };
        self.marked = None;
        if next.is_none_or(|next| !key::is_same_row(key::row(self.cells.key(next)), row)) {
            self.visited.hidden_rows += 1;
            return 0;
        }
        self.examined -= hidden as u64;
        hidden
    }
}

/// The first cell of the last row, which may continue in the next block. If the row has many cells,
/// 0: such blocks are not worth a search.
fn start_of_last_row(cells: BlockCells<'_>) -> usize {
    start_of_row(cells, cells.len() - 1).unwrap_or(0)
}

/// The first cell of the row of the cell `last`; `None` if the row may begin in the previous block,
/// or has many cells.
#[inline(always)]
fn start_of_row(cells: BlockCells<'_>, last: usize) -> Option<usize> {
    let row = key::row(cells.key(last));
    let lowest = last.saturating_sub(WALK_CELLS_MAX);
    let mut cell = last;
    while cell > lowest {
        if !key::is_same_row(key::row(cells.key(cell - 1)), row) {
            return Some(cell);
        }
        cell -= 1;
    }
    None
}
