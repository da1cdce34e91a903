//! The fast path through a row: all columns, no filter, nothing expired, simple markers.
//!
//! Most scans and most rows are like that. Then a cell needs one look at its key: it is an older
//! version of the previous column, or the first of a new one. A usual marker ([`Hides`]) only adds
//! what it hides. The first cell that is neither (tags, an expired timestamp) ends the fast path,
//! and the matcher continues in the middle of the row as if it had seen all of it.

use hblite_model::Result;
use hblite_model::cell::key;

use super::attempts::Attempts;
use super::{CellSink, RowBudget, StoreScanner};
use crate::store::key_value_scanner::KeyValueScanner;
use crate::store::matcher::{Hidden, Hides, Markers, PlainRules};

/// Hidden cells of a row that are passed step by step; beyond them, columns are left by a seek.
pub(super) const HIDDEN_STEPS_MAX: usize = 16;

/// The state of the fast path.
pub(super) struct PlainRows {
    rules: PlainRules,
    pub(super) column: LastColumn,
    /// Memory for the key of another column.
    pub(super) spare_key: Vec<u8>,
    pub(super) markers: Markers,
    /// Hidden cells of the row that were passed step by step.
    hidden: usize,
    pub(super) attempts: Attempts,
    /// The scan has paused within a row.
    is_paused: bool,
}

/// The previous column.
#[derive(Default)]
pub(super) struct LastColumn {
    /// Row, family and qualifier, in the layout of a key.
    pub(super) key: Vec<u8>,
    /// Versions seen so far; 0 if the row has had no column yet.
    pub(super) versions: i32,
    /// Timestamp of the last version that was returned.
    pub(super) timestamp: i64,
}

impl PlainRows {
    pub(super) fn new(rules: PlainRules) -> Self {
        Self {
            rules,
            column: LastColumn::default(),
            spare_key: Vec::new(),
            markers: Markers::default(),
            hidden: 0,
            attempts: Attempts::default(),
            is_paused: false,
        }
    }

    /// Which cells are plain, and how many versions are returned.
    #[inline]
    pub(super) fn rules(&self) -> PlainRules {
        self.rules
    }

    /// Records that the next cell continues the row of the last column.
    pub(super) fn resume(&mut self) {
        self.is_paused = true;
    }

    /// Whether the scan has paused within a row that has been plain so far.
    #[inline]
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }
}

impl LastColumn {
    /// Makes `column`, a key without a version, the last one.
    #[inline]
    pub(super) fn set(&mut self, column: &[u8], versions: i32, timestamp: i64) {
        self.key.clear();
        self.key.extend_from_slice(column);
        (self.versions, self.timestamp) = (versions, timestamp);
    }

    /// Makes `column` the last one, without a version so far, unless it is. Returns whether it was.
    #[inline]
    fn enter(&mut self, column: &[u8]) -> bool {
        let is_known = self.key == column;
        if !is_known {
            self.set(column, 0, 0);
        }
        is_known
    }

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

    /// The row of the column: it has the same place as in a whole key.
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
        let mut returned = 0;
        if let Some(plain) = &mut self.plain
            && !std::mem::take(&mut plain.is_paused)
        {
            plain.column.versions = 0;
            plain.markers = Markers::default();
            plain.hidden = 0;
        }
        while let (Some(plain), Some(cell)) = (&mut self.plain, self.cursor.heap.current()) {
            let PlainRows { rules, column: last, markers, hidden, .. } = plain;
            let (column, timestamp) = (key::without_version(cell.key()), cell.timestamp());
            let mut is_column_done = false;
            if !rules.is_plain(&cell, timestamp) {
                let is_added = Hides::of(&cell, rules).is_some_and(|hides| {
                    let is_of_last_column = last.enter(column);
                    markers.add(hides, is_of_last_column)
                });
                if !is_added {
                    return Ok((returned, false));
                }
            } else if let hides = markers.hide(|| last.key == column, timestamp)
                && hides != Hidden::No
            {
                *hidden += 1;
                is_column_done = hides == Hidden::WithOlder && *hidden > HIDDEN_STEPS_MAX;
            } else {
                if last.count(column, timestamp, rules.versions_max) {
                    sink.push(&cell);
                    returned += 1;
                }
                is_column_done = last.versions > rules.versions_max;
            }
            self.cursor.cells_examined += 1;
            budget.work_on_key();
            if is_column_done {
                self.cursor.go_to_next_column(None)?;
            } else {
                self.cursor.step()?;
            }
            if !self.is_in_last_row() {
                break;
            }
            let hides_nothing = self.plain.as_ref().is_some_and(|plain| plain.markers.is_empty());
            if hides_nothing && budget.work_left() > 0 {
                let read = self.visit_block_cells(budget.work_left(), sink)?;
                returned += read;
                budget.work_on_keys(read);
                if read > 0 && !self.is_in_last_row() {
                    break;
                }
            }
            if budget.pauses() {
                self.plain.iter_mut().for_each(PlainRows::resume);
                return Ok((returned, true));
            }
        }
        self.cursor.row.leave();
        self.is_closed = self.is_get;
        Ok((returned, true))
    }

    /// Whether the cell at the scanner belongs to the row of the last column.
    #[inline]
    fn is_in_last_row(&self) -> bool {
        let (Some(plain), Some(next)) = (&self.plain, self.cursor.heap.current_key()) else {
            return false;
        };
        key::is_same_row(key::row(next), plain.column.row())
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
        if let Some(PlainRows { column: last, markers, .. }) = &self.plain
            && (last.versions > 0 || !markers.is_empty())
        {
            let at = last.row().len() + key::ROW_LENGTH_SIZE;
            let family_length = last.key[at] as usize;
            let qualifier = &last.key[at + key::FAMILY_LENGTH_SIZE + family_length..];
            if last.versions > 0 {
                self.matcher.resume_row(qualifier, last.versions, last.timestamp);
            }
            self.matcher.resume_markers(qualifier, markers);
        }
        self.read_row(&mut None, budget, sink)
    }
}
