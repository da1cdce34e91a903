//! Builds the results that the caller requested from those that servers send.
//!
//! A server cuts a row where an answer is full. Whole rows are reassembled, batches of cells are
//! cut again, and partial results are passed through.
//!
//! Invariant: everything before `place` was passed on, and nothing after it. A scan that continues
//! there neither loses nor repeats a cell.

use std::cmp::Ordering;
use std::collections::VecDeque;

use hblite_model::cell::compare_without_row;
use hblite_model::{CellBuffer, RowResult, Scan};

use super::limit::RowLimit;

/// The form of results for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A row.
    Row,
    /// This many cells of a row, or fewer at its end.
    Batch(usize),
    /// Results as the server sends them.
    Part,
}

/// The position up to which results were passed on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The row of the last result.
    pub(super) row: Vec<u8>,
    /// The key of its last cell, if the row may have more.
    pub(super) open_key: Option<Vec<u8>>,
}

/// Reassembles results.
#[derive(Debug)]
pub(super) struct Assembler {
    shape: Shape,
    /// Cells of a row whose other cells have not arrived yet.
    open: CellBuffer,
    place: Option<Place>,
    limit: RowLimit,
}

impl Assembler {
    pub(super) fn new(scan: &Scan) -> Self {
        let shape = match scan.batch() {
            Some(cells) => Shape::Batch(cells as usize),
            None if scan.allows_partial_results() => Shape::Part,
            None => Shape::Row,
        };
        Self { shape, open: CellBuffer::new(), place: None, limit: RowLimit::new(scan) }
    }

    /// The position up to which results were passed on; `None` before the first.
    pub(super) fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The row limit.
    pub(super) fn limit(&mut self) -> &mut RowLimit {
        &mut self.limit
    }

    /// Whether cells wait for the rest of their row.
    pub(super) fn is_within_row(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes a result of a server.
    pub(super) fn push(&mut self, result: RowResult, ready: &mut VecDeque<RowResult>) {
        let Some(result) = self.without_repeated_cells(result) else { return };
        let is_other_row = self.open.get(0).is_some_and(|cell| cell.row() != result.row());
        if is_other_row {
            self.end_row(ready);
        }
        let has_more = result.may_have_more_cells();
        match self.shape {
            Shape::Part => self.pass_on(result, ready),
            Shape::Batch(cells) if self.open.is_empty() && result.len() == cells => {
                self.pass_on(result, ready);
            }
            Shape::Row if self.open.is_empty() && !has_more => self.pass_on(result, ready),
            Shape::Row | Shape::Batch(_) => {
                result.cells().for_each(|cell| self.open.push(&cell));
                self.cut(has_more, ready);
            }
        }
    }

    /// Passes on the complete batches of the open row, and the rest of it if the row is complete.
    fn cut(&mut self, has_more: bool, ready: &mut VecDeque<RowResult>) {
        if let Shape::Batch(cells) = self.shape {
            while self.open.len() >= cells.max(1) {
                let mut rest = CellBuffer::new();
                self.open.iter().skip(cells.max(1)).for_each(|cell| rest.push(&cell));
                let mut batch = std::mem::replace(&mut self.open, rest);
                batch.truncate(cells.max(1));
                let is_cut = has_more || !self.open.is_empty();
                self.pass_on(RowResult::new(batch).with_more_cells(is_cut), ready);
            }
        }
        if !has_more {
            self.end_row(ready);
        }
    }

    /// Passes on the open row, which has no more cells.
    pub(super) fn end_row(&mut self, ready: &mut VecDeque<RowResult>) {
        if !self.open.is_empty() {
            let cells = std::mem::take(&mut self.open);
            self.pass_on(RowResult::new(cells), ready);
        }
    }

    /// Discards the waiting cells: another scanner will send them again.
    pub(super) fn restart(&mut self) {
        self.open.clear();
    }

    fn pass_on(&mut self, result: RowResult, ready: &mut VecDeque<RowResult>) {
        let last = result.cells().next_back().filter(|_| result.may_have_more_cells());
        let place = self.place.get_or_insert_default();
        place.open_key = last.map(|cell| cell.key().to_vec());
        place.row.clear();
        place.row.extend_from_slice(result.row());
        self.limit.count(&result);
        ready.push_back(result);
    }

    /// The result without the cells that were passed on before the scanner was lost; `None` if
    /// nothing is left.
    fn without_repeated_cells(&self, result: RowResult) -> Option<RowResult> {
        if result.is_empty() {
            return None;
        }
        let Some(Place { row, open_key: Some(open_key) }) = &self.place else {
            return Some(result);
        };
        let first = result.cells().next()?;
        let is_repeated = |key: &[u8]| compare_without_row(key, open_key) != Ordering::Greater;
        if result.row() != row || !is_repeated(first.key()) {
            return Some(result);
        }
        let has_more = result.may_have_more_cells();
        let mut cells = CellBuffer::new();
        result.cells().filter(|cell| !is_repeated(cell.key())).for_each(|cell| cells.push(&cell));
        (!cells.is_empty()).then(|| RowResult::new(cells).with_more_cells(has_more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(row: &str, qualifiers: &[&str], has_more: bool) -> RowResult {
        let mut cells = CellBuffer::new();
        for qualifier in qualifiers {
            cells.push_parts(row.as_bytes(), b"f", qualifier.as_bytes(), 1, 4, b"v");
        }
        RowResult::new(cells).with_more_cells(has_more)
    }

    fn shown(results: &VecDeque<RowResult>) -> Vec<String> {
        let qualifiers = |result: &RowResult| {
            let names =
                result.cells().map(|cell| String::from_utf8_lossy(cell.qualifier()).into_owned());
            names.collect::<String>()
        };
        let more = |result: &RowResult| if result.may_have_more_cells() { "…" } else { "" };
        let row = |result: &RowResult| String::from_utf8_lossy(result.row()).into_owned();
        results.iter().map(|one| format!("{}:{}{}", row(one), qualifiers(one), more(one))).collect()
    }

    /// Pushes the parts of two rows, and what a new scanner sends again after the second part.
    fn assemble(scan: &Scan) -> Vec<String> {
        let mut ready = VecDeque::new();
        let mut assembler = Assembler::new(scan);
        assembler.push(result("r", &["a", "b"], true), &mut ready);
        assembler.push(result("r", &["c"], true), &mut ready);
        assembler.restart();
        for part in [&["a", "b"][..], &["c", "d"], &["e"]] {
            assembler.push(result("r", part, true), &mut ready);
        }
        assembler.push(result("s", &["a"], false), &mut ready);
        shown(&ready)
    }

    #[test]
    fn results_have_the_shape_that_was_asked_for() {
        assert_eq!(assemble(&Scan::new()), ["r:abcde", "s:a"]);
        assert_eq!(assemble(&Scan::new().with_batch(2)), ["r:ab…", "r:cd…", "r:e", "s:a"]);
        let parts = Scan::new().with_partial_results(true);
        assert_eq!(assemble(&parts), ["r:ab…", "r:c…", "r:d…", "r:e…", "s:a"]);
    }
}
