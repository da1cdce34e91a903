//! The fast path through a row: all columns, no filter, no markers, nothing expired.
//!
//! Most scans and most rows are like that. Then a cell needs one look at its key: it is an older
//! version of the previous column, or the first of a new one. The first cell that is not plain (a
//! marker, tags, an expired timestamp) ends the fast path, and the matcher continues in the middle
//! of the row as if it had seen all of it.

use hblite_model::Result;
use hblite_model::cell::{CellType, key};

use super::{CellSink, RowBudget, StoreScanner};
use crate::store::key_value_scanner::KeyValueScanner;
use crate::store::matcher::PlainRules;

/// The state of the fast path.
pub(super) struct PlainRows {
    rules: PlainRules,
    column: LastColumn,
    /// The scan has paused within a row.
    is_paused: bool,
}

/// The previous column.
#[derive(Default)]
struct LastColumn {
    /// Row, family and qualifier, in the layout of a key.
    key: Vec<u8>,
    /// Versions seen so far; 0 if the row has had no column yet.
    versions: i32,
    /// Timestamp of the last version that was returned.
    timestamp: i64,
}

impl PlainRows {
    pub(super) fn new(rules: PlainRules) -> Self {
        Self { rules, column: LastColumn::default(), is_paused: false }
    }

    /// Whether the scan has paused within a row that has been plain so far.
    #[inline]
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }
}

impl LastColumn {
    /// Counts a cell of `column` and returns whether it is another version to return.
    #[inline]
    fn count(&mut self, column: &[u8], timestamp: i64, versions_max: i32) -> bool {
        if self.versions == 0 || self.key != column {
            self.key.clear();
            self.key.extend_from_slice(column);
            self.versions = 1;
        } else if timestamp == self.timestamp {
            return false;
        } else {
            self.versions = self.versions.saturating_add(1);
        }
        let is_wanted = self.versions <= versions_max;
        if is_wanted {
            self.timestamp = timestamp;
        }
        is_wanted
    }

    /// The row, family length and family have the same places as in a whole key.
    #[inline]
    fn row(&self) -> &[u8] {
        key::row(&self.key)
    }
}

impl<S: KeyValueScanner> StoreScanner<S> {
    /// Like [`StoreScanner::next_row`], for plain scans, without a filter and limits of a row.
    #[inline]
    pub(super) fn next_plain_row<C: CellSink>(
        &mut self,
        budget: &mut RowBudget,
        sink: &mut C,
    ) -> Result<usize> {
        let (returned, is_plain) = self.read_plain_cells(budget, sink)?;
        if is_plain { Ok(returned) } else { Ok(returned + self.read_rest_of_row(budget, sink)?) }
    }

    /// Returns the number of cells returned, and whether the row was plain.
    #[inline]
    fn read_plain_cells<C: CellSink>(
        &mut self,
        budget: &mut RowBudget,
        sink: &mut C,
    ) -> Result<(usize, bool)> {
        let Some(PlainRows { rules, column: last, is_paused }) = &mut self.plain else {
            return Ok((0, false));
        };
        let mut returned = 0;
        if !std::mem::take(is_paused) {
            last.versions = 0;
        }
        while let Some(cell) = self.cursor.heap.current() {
            let timestamp = cell.timestamp();
            if cell.type_code() != CellType::Put.code()
                || timestamp < rules.oldest_unexpired
                || !cell.tags().is_empty()
            {
                return Ok((returned, false));
            }
            self.cursor.cells_examined += 1;
            budget.work_on_key();
            let column = key::without_version(cell.key());
            if last.count(column, timestamp, rules.versions_max) {
                sink.push(&cell);
                returned += 1;
            }
            if last.versions > rules.versions_max {
                self.cursor.go_to_next_column(None)?;
            } else {
                self.cursor.step()?;
            }
            let next = self.cursor.heap.current_key();
            if next.is_none_or(|next| !key::is_same_row(key::row(next), last.row())) {
                break;
            }
            if budget.pauses() {
                *is_paused = true;
                return Ok((returned, true));
            }
        }
        self.cursor.row.leave();
        self.is_closed = self.is_get;
        Ok((returned, true))
    }

    /// Continues the row at a cell that is not plain.
    #[cold]
    fn read_rest_of_row<C: CellSink>(
        &mut self,
        budget: &mut RowBudget,
        sink: &mut C,
    ) -> Result<usize> {
        if let Some(current) = self.cursor.heap.current_key() {
            self.cursor.row.enter(key::row(current));
            self.cursor.row.begin();
        }
        self.count = 0;
        self.matcher.begin_row();
        if let Some(PlainRows { column: last, .. }) = &self.plain
            && last.versions > 0
        {
            let at = last.row().len() + key::ROW_LENGTH_SIZE;
            let family_length = last.key[at] as usize;
            let qualifier = &last.key[at + key::FAMILY_LENGTH_SIZE + family_length..];
            self.matcher.resume_row(qualifier, last.versions, last.timestamp);
        }
        self.read_row(&mut None, budget, sink)
    }
}
