//! Reads the rows of a region, in either direction.
//!
//! A region scanner reads one row after another from its stores, in the order of their families.
//! Without a filter, cells go directly from their storage to the caller's sink. A filter sees, per
//! row: the row's key, every cell (in the stores), and the row as a whole. If the filter evaluates
//! whole rows, the row is collected first.
//!
//! Load on demand: families that the filter does not use ("joined" ones) are read only for rows
//! that have passed it.
//!
//! HBase's quirks are kept: if a row's key was rejected, the filter still sees the row's cells in a
//! forward scan, but not in a reverse one; and the key is checked again for each batch of a row.
//! Source: `RegionScannerImpl` and `ReversedRegionScannerImpl` of HBase 2.6.
//!
//! Batches: after a batch, a row may have no more visible cells. HBase's servers know this for the
//! last result of a region, which they never mark as partial unless it filled the fetch; so after a
//! batch the scanner looks one batch ahead.
//! Threads: a scanner belongs to one thread at a time and sees one read point.

#[cfg(test)]
mod file_tests;
mod judged;
mod piece;
mod stop_row;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use hblite_model::cell::CellBuffer;
use hblite_model::filter::{Filter, FilterState};
use hblite_model::{CellComparator, Direction, Error, Result, RowPart, Scan, ScanStep};

pub(crate) use self::piece::RowCounts;
use self::stop_row::StopRow;
use super::dead_rows::{DeadRows, Skip, Watch};
use super::{FileGate, Region};
use crate::store::Store;
use crate::store::key_value_scanner::is_get;
use crate::store::key_value_scanner::{KeyValueScanner, SourceScanner, select_sources};
use crate::store::matcher::ScanInfo;
pub(crate) use crate::store::store_scanner::CellSink;
use crate::store::store_scanner::{JUDGED_CELL_WORK, RowBudget, StoreScanner};

/// What a step of a scan of one region found. [`ScanStep::Cursor`] has no row: the time limit
/// passed before a row was found (a heartbeat in HBase), or the work limit was reached, perhaps
/// within a row. The next call continues there.
pub type RegionStep = ScanStep<RowPart, ()>;

/// What a scanner did so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReadStats {
    /// Cells that were examined.
    pub(crate) cells_examined: u64,
    /// Cells that were returned.
    pub(crate) cells_returned: u64,
}

/// What a scan of a region reads.
#[derive(Clone, Copy)]
pub(crate) struct ScanSources<'a> {
    pub(crate) stores: &'a [Arc<Store>],
    /// The gate through which files of several stores become visible together.
    pub(crate) gate: &'a FileGate,
    /// With the first row of the scan in the region.
    pub(crate) dead_rows: Option<(&'a DeadRows, &'a [u8])>,
    /// Of hbase:meta, also the columns that only the catalog reads.
    pub(crate) own_columns: bool,
}

impl Region {
    /// Begins a scan for the catalog, which has columns in hbase:meta that no client sees.
    pub(crate) fn catalog_scanner(&self, scan: &Scan) -> Result<RegionScanner> {
        let (stores, gate) = (&self.stores, &self.file_gate);
        let sources = ScanSources { stores, gate, dead_rows: None, own_columns: true };
        let now = self.context.env.clock.now_millis();
        let read_point = || self.mvcc.read_point();
        RegionScanner::open(sources, scan, self.comparator, (read_point, now), 0, None)
    }
}

/// One family of a scan.
pub(crate) struct StoreSources<S> {
    pub(crate) info: Arc<ScanInfo>,
    /// The newest first.
    pub(crate) sources: Vec<S>,
}

/// Reads rows of one region (HBase's `RegionScannerImpl`).
pub(crate) struct RegionScanner<S = SourceScanner> {
    /// The families that the filter needs, in order.
    stores: Vec<StoreScanner<S>>,
    /// The families that are read only for rows that pass, in order.
    joined: Vec<StoreScanner<S>>,
    filter: Option<FilterState>,
    comparator: CellComparator,
    direction: Direction,
    stop: StopRow,
    /// How much of a row is returned at a time.
    piece: RowBudget,
    /// The row that is being read.
    row: Vec<u8>,
    /// Where a row is collected that may still be rejected.
    collected: CellBuffer,
    /// Whether the stores that the filter needs are done with the row, and the joined ones are not.
    is_row_joining: bool,
    /// Where reading paused within a row.
    paused: Option<PausedRow>,
    is_done: bool,
    cells_returned: u64,
    rows: RowCounts,
    /// Limit of rows and partial rows in one fetch, and those of the current one.
    fetch_max: Option<u64>,
    fetched: u64,
    /// The partial row that was read ahead.
    ahead: Option<Piece>,
    /// Until the first row.
    watch: Option<Watch>,
    /// The last partial row looked incomplete, but reading ahead found nothing after it.
    is_last_piece_corrected: bool,
}

/// A row in which reading has paused because the work limit was reached.
struct PausedRow {
    step: RowStep,
    /// What is left of the row's budget.
    budget: RowBudget,
    /// Cells of the row that were returned or collected.
    given: usize,
}

/// The current step of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowStep {
    /// The stores that the filter needs are read.
    Reading,
    /// The joined stores are read.
    Joining,
    /// The row was rejected, and the rest of it is skipped.
    Skipping,
}

/// A row, or a part of one.
struct Piece {
    cells: CellBuffer,
    may_have_more_cells: bool,
}

impl Piece {
    fn give<C: CellSink>(&self, sink: &mut C) -> RegionStep {
        for cell in &self.cells {
            sink.push(&cell);
        }
        RegionStep::Row(RowPart { may_have_more_cells: self.may_have_more_cells })
    }
}

impl RegionScanner {
    /// A scanner of the sources in `from`, whose stores are in the order of their families, at the
    /// region's current `read_point`.
    ///
    /// `seed` is for filters that choose at random; `watch` learns what precedes the first row.
    ///
    /// # Errors
    /// As [`RegionScanner::new`].
    pub(crate) fn open(
        from: ScanSources<'_>,
        scan: &Scan,
        comparator: CellComparator,
        (read_point, now): (impl Fn() -> u64, i64),
        seed: u64,
        mut watch: Option<Watch>,
    ) -> Result<Self> {
        loop {
            let passed = from.gate.enter();
            let read_point = read_point();
            let skip = from.dead_rows;
            let skip = skip.and_then(|(rows, first)| rows.skip(scan, first, read_point, now));
            let scan = match &skip {
                Some(Skip::To(row)) => Cow::Owned(scan.clone().with_start_row(row)),
                Some(Skip::All) | None => Cow::Borrowed(scan),
            };
            let families = sources_at(from, &scan, read_point, now)?;
            if let Some(families) = families.filter(|_| from.gate.was_open_since(passed)) {
                let mut scanner = Self::new(families, &scan, comparator, now, seed)?;
                scanner.is_done = skip == Some(Skip::All);
                watch.iter_mut().for_each(|watch| watch.begin(read_point, now));
                scanner.watch = watch;
                return Ok(scanner);
            }
        }
    }
}

/// The sources of the selected families, with everything up to the read point; `None` if the read
/// point is outdated.
///
/// A flush or compaction drops versions that newer ones hide. If a file has cells beyond the read
/// point, it was committed after the read point was taken, and may lack versions that are visible
/// there. The newest file has the highest sequence id.
fn sources_at(
    from: ScanSources<'_>,
    scan: &Scan,
    read_point: u64,
    now: i64,
) -> Result<Option<Vec<StoreSources<SourceScanner>>>> {
    let mut families = Vec::with_capacity(from.stores.len());
    for store in from.stores {
        let info = store.scan_info();
        if scan.columns().get(&info.family).is_none() {
            continue;
        }
        let view = store.view();
        let segments = match is_get(scan) {
            true => view.segments.scanners_of_row(read_point, scan.start_row()),
            false => view.segments.scanners(read_point),
        };
        if view.files.last().is_some_and(|newest| newest.sequence_id_max() > read_point) {
            return Ok(None);
        }
        let sources = select_sources(segments, &view.files, info, scan, read_point, now)?;
        let info = match from.own_columns {
            true => Arc::new(info.with_own_columns()),
            false => Arc::clone(info),
        };
        families.push(StoreSources { info, sources });
    }
    Ok(Some(families))
}

impl<S: KeyValueScanner> RegionScanner<S> {
    /// A scanner over the sources of each selected family, in the order of families.
    ///
    /// # Errors
    /// `DoNotRetryIo` if a raw scan names columns, or if a reverse scan would have to load
    /// families on demand; those of the sources.
    pub(crate) fn new(
        families: Vec<StoreSources<S>>,
        scan: &Scan,
        comparator: CellComparator,
        now: i64,
        seed: u64,
    ) -> Result<Self> {
        let direction = scan.direction();
        let mut stores = Vec::with_capacity(families.len());
        let mut joined = Vec::new();
        for StoreSources { info, sources } in families {
            let store = StoreScanner::new(sources, &info, scan, now)?;
            if is_joined(scan, &info.family) { joined.push(store) } else { stores.push(store) }
        }
        if direction.is_reverse() && !joined.is_empty() {
            return Err(Error::do_not_retry(
                "Reverse scan with loading CFs on demand is not supported",
            ));
        }
        let filter = FilterState::of(scan.filter(), direction, seed)?;
        Ok(Self {
            stores,
            joined,
            filter,
            comparator,
            direction,
            stop: StopRow::new(scan, comparator),
            piece: piece_budget(scan),
            row: Vec::new(),
            collected: CellBuffer::new(),
            is_row_joining: false,
            paused: None,
            is_done: false,
            cells_returned: 0,
            rows: RowCounts::default(),
            fetch_max: scan.caching().map(u64::from),
            fetched: 0,
            ahead: None,
            watch: None,
            is_last_piece_corrected: false,
        })
    }

    /// What was done so far.
    pub(crate) fn stats(&self) -> ReadStats {
        let stores = self.stores.iter().chain(&self.joined);
        ReadStats {
            cells_examined: stores.map(StoreScanner::cells_examined).sum(),
            cells_returned: self.cells_returned,
        }
    }

    /// Passes the cells of the next row, or of its next part, to `sink`. A row has at least one.
    ///
    /// # Errors
    /// Those of files and filters; they end the scan.
    pub(crate) fn next_row<C: CellSink>(&mut self, sink: &mut C) -> Result<RegionStep> {
        self.next_row_until(sink, || false)
    }

    /// Like [`RegionScanner::next_row`], but pauses after a skipped row if `is_time_over`. Each
    /// call advances by at least one row.
    pub(crate) fn next_row_until<C: CellSink>(
        &mut self,
        sink: &mut C,
        is_time_over: impl FnMut() -> bool,
    ) -> Result<RegionStep> {
        let next = match self.ahead.take() {
            Some(piece) => piece.give(sink),
            None => self.read_next_row(sink, is_time_over)?,
        };
        if next == RegionStep::Cursor(()) {
            return Ok(next);
        }
        self.fetched += 1;
        self.is_last_piece_corrected = false;
        let fills_fetch = self.fetch_max.is_some_and(|max| self.fetched.is_multiple_of(max));
        match next {
            RegionStep::Row(RowPart { may_have_more_cells: true })
                if self.piece.is_batch() && !fills_fetch =>
            {
                self.look_ahead()?;
                self.is_last_piece_corrected = self.ahead.is_none();
                Ok(RegionStep::Row(RowPart { may_have_more_cells: self.ahead.is_some() }))
            }
            next => Ok(next),
        }
    }

    fn look_ahead(&mut self) -> Result<()> {
        let mut cells = CellBuffer::new();
        let next = self.read_next_row(&mut cells, || false)?;
        self.ahead = match next {
            RegionStep::Row(RowPart { may_have_more_cells }) => {
                Some(Piece { cells, may_have_more_cells })
            }
            RegionStep::Cursor(()) | RegionStep::End => None,
        };
        Ok(())
    }

    #[inline]
    fn read_next_row<C: CellSink>(
        &mut self,
        sink: &mut C,
        is_time_over: impl FnMut() -> bool,
    ) -> Result<RegionStep> {
        if self.is_done {
            return Ok(RegionStep::End);
        }
        let next = match (&self.filter, self.stores.as_mut_slice()) {
            (None, [_]) if self.watch.is_none() => self.next_plain_row(sink, is_time_over),
            _ => self.next_judged_row(sink, is_time_over),
        };
        if self.watch.is_some() {
            self.end_watch(&next);
        }
        self.is_done |= matches!(next, Err(_) | Ok(RegionStep::End));
        next
    }

    #[cold]
    fn end_watch(&mut self, next: &Result<RegionStep>) {
        let hidden = self.stats().cells_examined;
        let first_row = match next {
            Ok(RegionStep::Cursor(())) => return,
            Ok(RegionStep::Row(_)) => Some(self.row.as_slice()),
            Ok(RegionStep::End) => None,
            Err(_) => {
                self.watch = None;
                return;
            }
        };
        if let Some(watch) = self.watch.take() {
            watch.end(first_row, hidden);
        }
    }

    /// The next row, whether it will be returned or not.
    pub(crate) fn position(&mut self) -> Option<&[u8]> {
        self.find_row().then_some(&self.row)
    }

    /// Whether the filter needs nothing more, from this region or any other.
    pub(crate) fn is_filter_done(&self) -> bool {
        self.filter.as_ref().is_some_and(FilterState::filter_all_remaining)
    }

    /// One family and no filter: cells go directly from the store to the sink.
    #[inline]
    fn next_plain_row<C: CellSink>(
        &mut self,
        sink: &mut C,
        mut is_time_over: impl FnMut() -> bool,
    ) -> Result<RegionStep> {
        let mut budget = self.piece;
        let mut given = 0;
        match self.paused.take() {
            Some(paused) => (budget, given) = (paused.budget.resumed(&budget), paused.given),
            None if self.is_plain_end() => return Ok(RegionStep::End),
            None => {}
        }
        loop {
            let store = &mut self.stores[0];
            let returned = store.next_row(&mut self.filter, &mut budget, sink)?;
            self.piece.allow_work(budget.work_left());
            self.cells_returned += returned as u64;
            given += returned;
            if budget.is_paused() {
                self.paused = Some(PausedRow { step: RowStep::Reading, budget, given });
                return Ok(RegionStep::Cursor(()));
            }
            let may_have_more_cells = budget.is_exhausted() && store.has_rest_of_row();
            self.rows.count(given > 0, may_have_more_cells);
            if given > 0 {
                return Ok(RegionStep::Row(RowPart { may_have_more_cells }));
            }
            if self.is_plain_end() {
                return Ok(RegionStep::End);
            }
            if budget.work_left() == 0 || is_time_over() {
                return Ok(RegionStep::Cursor(()));
            }
        }
    }

    /// Passes the cells of up to `rows_max` rows to `sink`, without the checks between rows that
    /// only limits and filters need. Returns the number of rows; `None` if the scan has limits or a
    /// filter. Fewer than `rows_max` rows means that the scan is done.
    ///
    /// # Errors
    /// As [`RegionScanner::next_row`].
    pub(crate) fn visit_rows<C: CellSink>(
        &mut self,
        rows_max: u64,
        sink: &mut C,
    ) -> Result<Option<u64>> {
        let is_plain = self.filter.is_none()
            && self.stores.len() == 1
            && self.joined.is_empty()
            && self.piece.is_unlimited()
            && self.piece.work_left() > u64::MAX / 2
            && self.paused.is_none()
            && self.ahead.is_none()
            && self.watch.is_none()
            && !self.is_done;
        if !is_plain {
            return Ok(None);
        }
        let mut rows = 0;
        while rows < rows_max && !self.is_plain_end() {
            let stop = &self.stop;
            let visited =
                self.stores[0].visit_rows(rows_max - rows, |row| stop.is_beyond(row), sink);
            let visited = visited.inspect_err(|_| self.is_done = true)?;
            if visited.rows_read() > 0 {
                self.cells_returned += visited.cells;
                self.rows.count_given(visited.rows);
                self.rows.count_filtered(visited.hidden_rows);
                rows += visited.rows;
                continue;
            }
            let mut budget = RowBudget::UNLIMITED;
            let returned = self.stores[0].next_row(&mut self.filter, &mut budget, sink);
            let returned = returned.inspect_err(|_| self.is_done = true)?;
            self.cells_returned += returned as u64;
            self.rows.count(returned > 0, false);
            rows += u64::from(returned > 0);
        }
        self.fetched += rows;
        Ok(Some(rows))
    }

    /// Whether a plain scan has reached the end of its rows.
    #[inline]
    fn is_plain_end(&mut self) -> bool {
        let store = &mut self.stores[0];
        match self.stop.is_open() {
            true => !store.is_at_cell(),
            false => store.row().is_none_or(|row| self.stop.is_beyond(row)),
        }
    }
}

/// A row is cut by the batch limit, and by the size limit if the caller accepts partial rows.
fn piece_budget(scan: &Scan) -> RowBudget {
    let size_limit = scan.size_max_bytes();
    let bytes = size_limit.filter(|_| scan.allows_partial_results());
    RowBudget::new(scan.batch().map(|cells| cells as usize), bytes)
}

/// Whether `family` is read only for rows that pass the filter.
fn is_joined(scan: &Scan, family: &[u8]) -> bool {
    let is_needed = |filter: &Filter| filter.is_family_essential(family);
    scan.loads_families_on_demand() && scan.filter().is_some_and(|filter| !is_needed(filter))
}
