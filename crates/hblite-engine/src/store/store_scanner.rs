//! Reading one family: the merged sources, and the matcher that decides about each cell.
//!
//! [`StoreScanner`] serves scans, row by row; [`CompactionScanner`] streams what a flush or
//! compaction writes. Both move in the same way after a cell (`cursor`): near cells are reached by
//! steps, far ones by a seek. A seek that would not move forward becomes a step, so no matcher or
//! filter can make a scan stop advancing.
//!
//! Threads: a scanner belongs to one thread at a time and sees one read point.

mod attempts;
mod block_rows;
mod budget;
mod cursor;
mod merged_rows;
mod plain;
#[cfg(test)]
pub(crate) mod random_reads;
#[cfg(test)]
mod tests;

use hblite_model::cell::{CellBuffer, CellRef, key};
use hblite_model::filter::{FilterState, HintsInRow};
use hblite_model::{Direction, Error, Qualifiers, Result, Scan};

use self::block_rows::VisitedRows;
pub(crate) use self::budget::{JUDGED_CELL_WORK, RowBudget};
use self::cursor::StoreCursor;
use self::plain::PlainRows;
use super::key_value_heap::KeyValueHeap;
use super::key_value_scanner::{KeyValueScanner, is_get};
pub(crate) use super::matcher::ScanType;
use super::matcher::{CompactionMatcher, CompactionSettings, MatchCode, ScanInfo, UserScanMatcher};

/// Receives the cells of a row. The cells are in files and memory; nothing was copied.
pub(crate) trait CellSink {
    /// Takes one cell, lent for the call.
    fn push(&mut self, cell: &CellRef<'_>);

    /// The same for a cell whose lengths, key and value are also contiguous, in `serialized`.
    #[inline]
    fn push_stored<'a>(&mut self, cell: &CellRef<'a>, _serialized: impl FnOnce() -> &'a [u8]) {
        self.push(cell);
    }
}

impl CellSink for CellBuffer {
    #[inline]
    fn push(&mut self, cell: &CellRef<'_>) {
        Self::push(self, cell);
    }

    #[inline]
    fn push_stored<'a>(&mut self, cell: &CellRef<'a>, serialized: impl FnOnce() -> &'a [u8]) {
        Self::push_stored(self, cell, serialized());
    }
}

impl<F: FnMut(&CellRef<'_>)> CellSink for F {
    #[inline]
    fn push(&mut self, cell: &CellRef<'_>) {
        self(cell);
    }
}

/// Reads one family of a region for a scan (HBase's `StoreScanner`).
pub(crate) struct StoreScanner<S> {
    cursor: StoreCursor<S>,
    matcher: UserScanMatcher,
    /// For scans that can take the fast path.
    plain: Option<PlainRows>,
    is_get: bool,
    /// Cells of the family and row that are returned, and left out before them.
    family_limit: i32,
    family_offset: i32,
    /// Cells of the row that matched.
    count: i64,
    /// Nothing more is needed.
    is_closed: bool,
}

impl<S: KeyValueScanner> StoreScanner<S> {
    /// A scanner of `scan` over `sources`, the newest first, at the scan's first cell.
    ///
    /// # Errors
    /// `DoNotRetryIo` if a raw scan names columns; those of the sources.
    pub(crate) fn new(sources: Vec<S>, info: &ScanInfo, scan: &Scan, now: i64) -> Result<Self> {
        let columns = scan.columns().get(&info.family);
        if scan.is_raw() && matches!(columns, Some(Qualifiers::Some(_))) {
            return Err(Error::do_not_retry("Cannot specify any column for a raw scan"));
        }
        let heap = KeyValueHeap::new(
            sources,
            info.comparator,
            scan.direction(),
            scan.start_row(),
            scan.is_start_inclusive(),
        )?;
        let matcher = UserScanMatcher::new(scan, info, now);
        let has_limits = scan.family_limit().is_some() || scan.family_offset() > 0;
        let java_int = |number| i32::try_from(number).unwrap_or(i32::MAX);
        let plain = matcher.plain_rules().filter(|_| !has_limits).map(PlainRows::new);
        Ok(Self {
            cursor: StoreCursor::new(heap),
            matcher,
            plain,
            is_get: is_get(scan),
            family_limit: scan.family_limit().map_or(-1, java_int),
            family_offset: java_int(scan.family_offset()),
            count: 0,
            is_closed: false,
        })
    }

    /// The row of the cell at the scanner, which was not read yet or not completely.
    #[inline]
    pub(crate) fn row(&mut self) -> Option<&[u8]> {
        if self.is_closed { None } else { self.cursor.current_row() }
    }

    /// Whether the scanner is at a cell.
    #[inline]
    pub(crate) fn is_at_cell(&self) -> bool {
        !self.is_closed && self.cursor.heap.is_at_cell()
    }

    /// Whether the scanner is at a cell of `row`.
    #[inline]
    pub(crate) fn is_at_row(&mut self, row: &[u8]) -> bool {
        self.row().is_some_and(|current| current == row)
    }

    /// Whether the last row has more cells.
    pub(crate) fn has_rest_of_row(&self) -> bool {
        !self.is_closed && self.cursor.has_rest_of_row()
    }

    /// Cells examined so far.
    pub(crate) fn cells_examined(&self) -> u64 {
        self.cursor.cells_examined
    }

    /// Reads the row at the scanner, or its rest if the last call ran out of budget, and returns
    /// how many cells it passed to `sink`. Afterwards the scanner is at the next row, unless the
    /// budget is exhausted or reading has paused. Each call examines at least one cell.
    ///
    /// # Errors
    /// Those of the sources and of the filter; the scanner must not be used afterwards.
    pub(crate) fn next_row<C: CellSink>(
        &mut self,
        filter: &mut Option<FilterState>,
        budget: &mut RowBudget,
        sink: &mut C,
    ) -> Result<usize> {
        if self.is_closed {
            return Ok(0);
        }
        if let Some(plain) = &self.plain
            && (plain.is_paused() || (budget.is_unlimited() && !self.cursor.has_rest_of_row()))
        {
            return self.next_plain_row(budget, sink);
        }
        if self.row().is_none() {
            return Ok(0);
        }
        if self.cursor.row.begin() {
            self.count = 0;
            self.matcher.begin_row();
        }
        self.read_row(filter, budget, sink)
    }

    /// Passes the cells of up to `rows_max` rows, from the row at the scanner on, to `sink`, as far
    /// as these rows are plain, certainly end within the blocks at the scanner, and are not beyond
    /// the end of the scan. Does nothing where this path cannot be taken. Afterwards the scanner is
    /// at the next row.
    ///
    /// # Errors
    /// Those of the sources; the scanner must not be used afterwards.
    #[inline]
    pub(crate) fn visit_rows<C: CellSink>(
        &mut self,
        rows_max: u64,
        is_beyond: impl Fn(&[u8]) -> bool,
        sink: &mut C,
    ) -> Result<VisitedRows> {
        let visited = self.visit_block_rows(rows_max, &is_beyond, sink)?;
        if visited.rows_read() > 0 {
            Ok(visited)
        } else {
            self.visit_merged_rows(rows_max, is_beyond, sink)
        }
    }

    /// Continues reading the current row.
    fn read_row<C: CellSink>(
        &mut self,
        filter: &mut Option<FilterState>,
        budget: &mut RowBudget,
        sink: &mut C,
    ) -> Result<usize> {
        let (mut returned, mut is_in_row) = (0, true);
        loop {
            // Checked before the row is compared: a filter that is done with the last cell of a row
            // ends the family's scan when the next row appears.
            if filter.as_ref().is_some_and(FilterState::filter_all_remaining) {
                self.is_closed = true;
                break;
            }
            if !is_in_row && (!self.is_still_in_row() || budget.pauses()) {
                break;
            }
            is_in_row = false;
            let Some(cell) = self.cursor.heap.current() else {
                break;
            };
            self.cursor.cells_examined += 1;
            budget.work_on(&cell, filter.is_some());
            let code = self.matcher.match_cell(&cell, filter.as_mut())?;
            if is_include(code) {
                self.count += 1;
                if self.count > i64::from(self.family_offset) {
                    give(&cell, filter.as_ref(), sink);
                    returned += 1;
                    budget.take(&cell);
                    if self.is_family_limit_reached() {
                        self.finish_row()?;
                        break;
                    }
                }
            }
            if matches!(code, MatchCode::Include | MatchCode::Skip) {
                self.cursor.step()?;
            } else if !self.seek_on(code, filter)? {
                break;
            }
            if is_include(code) && budget.is_exhausted() {
                break;
            }
        }
        Ok(returned)
    }

    /// Whether the cell at the scanner belongs to the current row; if not, that row is done and the
    /// cell's row is next.
    #[inline]
    fn is_still_in_row(&mut self) -> bool {
        let Some(key) = self.cursor.heap.current_key() else {
            return false;
        };
        let row = key::row(key);
        if self.cursor.row.contains(row) {
            return true;
        }
        self.cursor.row.enter(row);
        self.is_closed = self.is_get;
        false
    }

    /// Moves by more than a step, as `code` says; false if nothing more is needed.
    fn seek_on(&mut self, code: MatchCode, filter: &mut Option<FilterState>) -> Result<bool> {
        match code {
            MatchCode::IncludeAndSeekNextColumn | MatchCode::SeekNextColumn => {
                self.cursor.go_to_next_column(self.matcher.column_hint())?;
            }
            MatchCode::IncludeAndSeekNextRow | MatchCode::SeekNextRow => {
                return self.finish_row();
            }
            MatchCode::SeekNextUsingHint => {
                let hint = match (self.cursor.current(), &mut *filter) {
                    (Some(cell), Some(filter)) => filter.next_cell_hint(&cell),
                    _ => None,
                };
                let follow = filter.as_ref().map_or(HintsInRow::None, FilterState::hints_in_row);
                self.cursor.go_to_hint(hint.as_deref(), follow)?;
            }
            MatchCode::Include | MatchCode::Skip => self.cursor.step()?,
        }
        Ok(true)
    }

    /// Skips the rest of the row; false if nothing more is needed.
    fn finish_row(&mut self) -> Result<bool> {
        if self.is_get {
            self.is_closed = true;
            return Ok(false);
        }
        self.cursor.go_to_next_row()?;
        Ok(true)
    }

    fn is_family_limit_reached(&self) -> bool {
        // The sum may wrap in HBase, and then ends the row.
        let limit = self.family_limit.wrapping_add(self.family_offset);
        self.family_limit > -1 && self.count >= i64::from(limit)
    }

    /// Moves past `row` without examining its cells.
    pub(crate) fn pass_row(&mut self, row: &[u8]) -> Result<()> {
        if !self.is_closed {
            self.cursor.pass_row(row)?;
        }
        Ok(())
    }

    /// Moves forward to `row`, or to the first row after it.
    pub(crate) fn go_to_row(&mut self, row: &[u8]) -> Result<()> {
        if !self.is_closed {
            self.cursor.go_to_row(row)?;
        }
        Ok(())
    }
}

#[inline]
fn is_include(code: MatchCode) -> bool {
    matches!(
        code,
        MatchCode::Include | MatchCode::IncludeAndSeekNextColumn | MatchCode::IncludeAndSeekNextRow
    )
}

#[inline]
fn give<C: CellSink>(cell: &CellRef<'_>, filter: Option<&FilterState>, sink: &mut C) {
    match filter {
        None => sink.push(cell),
        Some(filter) => {
            let value = filter.transform_cell(cell);
            sink.push(&value.apply(*cell));
        }
    }
}

/// Streams the cells that a flush or compaction writes.
pub(crate) struct CompactionScanner<'s, S> {
    cursor: StoreCursor<S>,
    matcher: CompactionMatcher,
    /// Sequence ids up to this one become 0.
    visible_to_all: Option<u64>,
    /// Where to go from the cell that was returned last.
    pending: Option<MatchCode>,
    /// Called at intervals: whether to abandon the compaction.
    is_stopped: Option<&'s dyn Fn() -> bool>,
}

/// How many cells a compaction examines between two such calls.
const CELLS_BETWEEN_QUESTIONS: u64 = 4096;

impl<'s, S: KeyValueScanner> CompactionScanner<'s, S> {
    /// A scanner over `sources`, the newest first, that writes cells at `now`.
    ///
    /// `smallest_read_point` is the lowest read point of all open scanners: cells that they may not
    /// see yet mask nothing and do not count as versions.
    ///
    /// # Errors
    /// Those of the sources.
    pub(crate) fn new(
        sources: Vec<S>,
        info: &ScanInfo,
        scan_type: ScanType,
        smallest_read_point: u64,
        now: i64,
    ) -> Result<Self> {
        let heap = KeyValueHeap::new(sources, info.comparator, Direction::Forward, b"", true)?;
        let settings =
            CompactionSettings { scan_type, smallest_read_point, earliest_put_timestamp: 0, now };
        Ok(Self {
            cursor: StoreCursor::new(heap),
            matcher: CompactionMatcher::new(info, settings),
            visible_to_all: None,
            pending: None,
            is_stopped: None,
        })
    }

    /// With the timestamp of the oldest put in the files: a compaction that keeps deleted cells
    /// drops markers below it.
    #[must_use]
    pub(crate) fn with_earliest_put_timestamp(mut self, timestamp: i64) -> Self {
        self.matcher.set_earliest_put_timestamp(timestamp);
        self
    }

    /// Sequence ids up to `sequence_id`, which all scanners see, become 0. HBase does so in
    /// compactions of all files of a store, for files that are older than five days
    /// (`hbase.hstore.compaction.keep.seqId.period`). This loses NEW_VERSION_BEHAVIOR.
    #[must_use]
    pub(crate) fn clearing_sequence_ids(self, sequence_id: u64) -> Self {
        Self { visible_to_all: Some(sequence_id), ..self }
    }

    /// Ends the stream early when `is_stopped` returns true.
    #[must_use]
    pub(crate) fn stopped_by(self, is_stopped: &'s dyn Fn() -> bool) -> Self {
        Self { is_stopped: Some(is_stopped), ..self }
    }

    /// The next cell to write, `None` at the end.
    ///
    /// # Errors
    /// Those of the sources; columns that do not ascend. The scanner must not be used afterwards.
    pub(crate) fn next(&mut self) -> Result<Option<CellRef<'_>>> {
        if let Some(code) = self.pending.take() {
            self.move_on(code)?;
        }
        while let Some(cell) = self.cursor.heap.current() {
            if !self.cursor.row.contains(cell.row()) {
                self.cursor.row.enter(cell.row());
                self.cursor.row.begin();
                self.matcher.begin_row();
            }
            self.cursor.cells_examined += 1;
            if self.cursor.cells_examined.is_multiple_of(CELLS_BETWEEN_QUESTIONS)
                && self.is_stopped.is_some_and(|is_stopped| is_stopped())
            {
                return Ok(None);
            }
            let code = self.matcher.match_cell(&cell)?;
            if is_include(code) {
                self.pending = Some(code);
                break;
            }
            self.move_on(code)?;
        }
        Ok(self.cursor.current().map(|cell| self.as_written(cell)))
    }

    fn as_written<'a>(&self, cell: CellRef<'a>) -> CellRef<'a> {
        match self.visible_to_all {
            Some(limit) if cell.sequence_id() <= limit => cell.with_sequence_id(0),
            _ => cell,
        }
    }

    fn move_on(&mut self, code: MatchCode) -> Result<()> {
        match code {
            MatchCode::IncludeAndSeekNextColumn | MatchCode::SeekNextColumn => {
                self.cursor.go_to_next_column(None)
            }
            MatchCode::IncludeAndSeekNextRow | MatchCode::SeekNextRow => {
                self.cursor.go_to_next_row()
            }
            MatchCode::Include | MatchCode::Skip | MatchCode::SeekNextUsingHint => {
                self.cursor.step()
            }
        }
    }
}
