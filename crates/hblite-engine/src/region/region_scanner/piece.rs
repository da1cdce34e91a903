//! Reads as a server does for its clients: rows are cut to fit into one response.

use hblite_model::filter::FilterState;
use hblite_model::{CellBuffer, Result};

use super::{CellSink, RegionScanner, RegionStep};
use crate::store::key_value_scanner::KeyValueScanner;

/// What a scanner did with the rows that it reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RowCounts {
    /// Rows that were read completely.
    pub(crate) scanned: u64,
    /// Rows of which nothing was returned.
    pub(crate) filtered: u64,
}

impl RowCounts {
    pub(super) fn count(&mut self, is_given: bool, is_cut: bool) {
        self.scanned += u64::from(!is_cut);
        self.filtered += u64::from(!is_given);
    }

    /// Counts rows that were read completely and of which nothing was returned.
    pub(super) fn count_filtered(&mut self, rows: u64) {
        self.scanned += rows;
        self.filtered += rows;
    }

    /// Counts rows that were returned completely.
    pub(super) fn count_given(&mut self, rows: u64) {
        self.scanned += rows;
    }
}

impl<S: KeyValueScanner> RegionScanner<S> {
    /// What was done with the rows so far.
    pub(crate) fn row_counts(&self) -> RowCounts {
        self.rows
    }

    /// Like [`RegionScanner::next_row_until`], but rows are cut as in a server: at
    /// `size_limit_bytes`, if there is one, and without reading ahead after a batch.
    pub(crate) fn next_piece<C: CellSink>(
        &mut self,
        sink: &mut C,
        size_limit_bytes: Option<u64>,
        is_time_over: impl FnMut() -> bool,
    ) -> Result<RegionStep> {
        self.piece.limit_bytes(size_limit_bytes);
        self.read_next_row(sink, is_time_over)
    }

    /// Whether the last part looked incomplete but turned out to end the region.
    pub(crate) fn is_last_piece_corrected(&self) -> bool {
        self.is_last_piece_corrected
    }

    /// Sets how much work reading may do before it pauses, counted as in [`super::RowBudget`].
    pub(crate) fn allow_work(&mut self, work: u64) {
        self.piece.allow_work(work);
    }

    /// The remaining work before reading pauses.
    pub(crate) fn work_left(&self) -> u64 {
        self.piece.work_left()
    }

    /// Whether reading has paused within a row.
    pub(crate) fn is_within_row(&self) -> bool {
        self.paused.is_some()
    }

    /// Whether rows are collected before they are returned.
    pub(crate) fn collects_rows(&self) -> bool {
        !self.joined.is_empty() || self.filter.as_ref().is_some_and(FilterState::has_filter_row)
    }

    /// Bytes of cells that were collected for a filter to evaluate.
    pub(crate) fn collected_bytes(&self) -> usize {
        self.collected.size_bytes()
    }

    /// Frees the memory for collected rows, unless reading has paused within one.
    pub(crate) fn release_collected(&mut self) {
        if self.paused.is_none() {
            self.collected = CellBuffer::new();
        }
    }

    /// Whether the region may have more for this scan: HBase's `moreRows`.
    pub(crate) fn may_have_more(&mut self) -> bool {
        if self.ahead.is_some() {
            return true;
        }
        if self.is_done {
            return false;
        }
        if let (None, [store]) = (&self.filter, self.stores.as_mut_slice()) {
            return match self.stop.is_open() {
                true => store.is_at_cell(),
                false => store.row().is_some_and(|row| !self.stop.is_beyond(row)),
            };
        }
        self.is_row_joining || (self.find_row() && !self.stop.is_beyond(&self.row))
    }
}
