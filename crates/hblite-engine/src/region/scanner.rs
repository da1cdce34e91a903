//! Reading the rows of a region, in either direction.
//!
//! A region scanner asks its stores, in the order of their families, for the cells of one row
//! after the other. Without a filter, cells go straight from where they lie to the caller's sink.
//! A filter is asked, per row: the row's key, every cell (by the stores), the row as a whole.
//! If the filter judges whole rows, the row is collected first.
//!
//! Load on demand: families that the filter does not look at ("joined" ones) are read only for
//! rows that have passed it.
//!
//! Where HBase is odd, so is this: a row whose key was rejected is read on by the filter in a
//! forward scan and not in a reverse one; the key is asked again for each piece of a row that
//! comes in batches. Source: `RegionScannerImpl` and `ReversedRegionScannerImpl` of HBase 2.6.
//!
//! Batches: a row that is cut may turn out to have nothing more that is visible. HBase's servers
//! know that of the last result of a region, which they never call partial unless it filled the
//! fetch; so behind a cut the scanner looks one piece ahead.
//! Threads: a scanner belongs to one thread at a time and sees one read point.

mod open;
mod piece;
mod stop_row;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hblite_model::cell::{CellBuffer, CellRef};
use hblite_model::filter::{Filter, FilterState, RowVerdict};
use hblite_model::{CellComparator, Direction, Error, Exception, Result, Scan};

pub(crate) use self::open::ScanSources;
pub(crate) use self::piece::RowCounts;
use self::stop_row::StopRow;
use crate::store::key_value_scanner::{KeyValueScanner, SourceScanner};
use crate::store::matcher::ScanInfo;
pub(crate) use crate::store::scanner::CellSink;
use crate::store::scanner::{RowBudget, StoreScanner};

/// What [`RegionScanner::next_row`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextRow {
    /// A row, or a piece of one.
    Row {
        /// The row goes on in the next piece.
        may_have_more_cells: bool,
    },
    /// The time was over before a row was found; the next call goes on (a heartbeat in HBase).
    Paused,
    /// The scan has nothing more in this region.
    End,
}

/// What a scanner did so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReadStats {
    /// Cells that were looked at.
    pub(crate) cells_examined: u64,
    /// Cells that were returned.
    pub(crate) cells_returned: u64,
}

/// One family of a scan.
pub(crate) struct StoreSources<S> {
    pub(crate) info: Arc<ScanInfo>,
    /// The newest first.
    pub(crate) sources: Vec<S>,
}

/// Reads rows of one region (HBase's `RegionScannerImpl`).
pub(crate) struct RegionScanner<S = SourceScanner> {
    /// In the order of families; those that the filter needs.
    stores: Vec<StoreScanner<S>>,
    /// In the order of families; those that are read only for rows that pass.
    joined: Vec<StoreScanner<S>>,
    filter: Option<FilterState>,
    comparator: CellComparator,
    direction: Direction,
    stop: StopRow,
    /// How much of a row comes in one piece.
    piece: RowBudget,
    /// The row that is being read.
    row: Vec<u8>,
    /// Where a row is collected that may still be rejected.
    collected: CellBuffer,
    /// The stores are done with the row, the joined ones are not.
    is_row_joining: bool,
    is_done: bool,
    cells_returned: u64,
    rows: RowCounts,
    /// Rows and pieces in one fetch, and those of the present one.
    fetch_max: Option<u64>,
    fetched: u64,
    /// The piece that was read ahead.
    ahead: Option<Piece>,
}

/// A row, or a piece of one.
struct Piece {
    cells: CellBuffer,
    may_have_more_cells: bool,
}

impl Piece {
    fn give<C: CellSink>(&self, sink: &mut C) -> NextRow {
        for cell in &self.cells {
            sink.push(&cell);
        }
        NextRow::Row { may_have_more_cells: self.may_have_more_cells }
    }
}

impl<S: KeyValueScanner> RegionScanner<S> {
    /// A scanner over the sources of each wanted family, in the order of families.
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
        let filter = scan.filter_ref().map(|filter| FilterState::new(filter, direction, seed));
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
            is_done: false,
            cells_returned: 0,
            rows: RowCounts::default(),
            fetch_max: u64::try_from(scan.rows_per_fetch()).ok().filter(|rows| *rows > 0),
            fetched: 0,
            ahead: None,
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

    /// Gives the cells of the next row, or of its next piece, to `sink`. A row has at least one.
    ///
    /// # Errors
    /// Those of files and filters; the scan is over then.
    pub(crate) fn next_row<C: CellSink>(&mut self, sink: &mut C) -> Result<NextRow> {
        self.next_row_until(sink, || false)
    }

    /// As [`RegionScanner::next_row`], and pauses behind a row that was not given when
    /// `is_time_over`. Each call leads on by one row at least.
    pub(crate) fn next_row_until<C: CellSink>(
        &mut self,
        sink: &mut C,
        is_time_over: impl FnMut() -> bool,
    ) -> Result<NextRow> {
        let next = match self.ahead.take() {
            Some(piece) => piece.give(sink),
            None => self.read_next_row(sink, is_time_over)?,
        };
        if next == NextRow::Paused {
            return Ok(next);
        }
        self.fetched += 1;
        let fills_fetch = self.fetch_max.is_some_and(|max| self.fetched.is_multiple_of(max));
        match next {
            NextRow::Row { may_have_more_cells: true } if self.piece.is_batch() && !fills_fetch => {
                self.look_ahead()?;
                Ok(NextRow::Row { may_have_more_cells: self.ahead.is_some() })
            }
            next => Ok(next),
        }
    }

    fn look_ahead(&mut self) -> Result<()> {
        let mut cells = CellBuffer::new();
        let next = self.read_next_row(&mut cells, || false)?;
        self.ahead = match next {
            NextRow::Row { may_have_more_cells } => Some(Piece { cells, may_have_more_cells }),
            NextRow::Paused | NextRow::End => None,
        };
        Ok(())
    }

    #[inline]
    fn read_next_row<C: CellSink>(
        &mut self,
        sink: &mut C,
        is_time_over: impl FnMut() -> bool,
    ) -> Result<NextRow> {
        if self.is_done {
            return Ok(NextRow::End);
        }
        let next = match (&self.filter, self.stores.as_mut_slice()) {
            (None, [_]) => self.next_plain_row(sink, is_time_over),
            _ => self.next_judged_row(sink, is_time_over),
        };
        self.is_done |= matches!(next, Err(_) | Ok(NextRow::End));
        next
    }

    /// The row that comes next, given or not.
    pub(crate) fn position(&mut self) -> Option<&[u8]> {
        self.find_row().then_some(&self.row)
    }

    /// Whether the filter wants nothing more, of this region or any other.
    pub(crate) fn is_filter_done(&self) -> bool {
        self.filter.as_ref().is_some_and(FilterState::filter_all_remaining)
    }

    /// One family and no filter: nothing stands between the store and the sink.
    #[inline]
    fn next_plain_row<C: CellSink>(
        &mut self,
        sink: &mut C,
        mut is_time_over: impl FnMut() -> bool,
    ) -> Result<NextRow> {
        let mut budget = self.piece;
        let mut is_first = true;
        loop {
            let store = &mut self.stores[0];
            let is_over = if self.stop.is_open() {
                !store.is_at_cell()
            } else {
                store.row().is_none_or(|row| self.stop.is_beyond(row))
            };
            if is_over {
                return Ok(NextRow::End);
            }
            if !is_first && is_time_over() {
                return Ok(NextRow::Paused);
            }
            let returned = store.next_row(&mut self.filter, &mut budget, sink)?;
            let may_have_more_cells = budget.is_exhausted() && store.has_rest_of_row();
            self.rows.count(returned > 0, may_have_more_cells);
            if returned > 0 {
                self.cells_returned += returned as u64;
                return Ok(NextRow::Row { may_have_more_cells });
            }
            is_first = false;
        }
    }

    fn next_judged_row<C: CellSink>(
        &mut self,
        sink: &mut C,
        mut is_time_over: impl FnMut() -> bool,
    ) -> Result<NextRow> {
        let mut is_first = true;
        loop {
            let may_pause = !std::mem::take(&mut is_first);
            let mut budget = self.piece;
            let found = if self.is_row_joining {
                self.join_row(sink, &mut budget)?
            } else if !self.find_row() || self.stop.is_beyond(&self.row) {
                return Ok(NextRow::End);
            } else if may_pause && is_time_over() {
                return Ok(NextRow::Paused);
            } else if self.is_row_key_rejected()? {
                self.rows.count(false, self.is_filter_done());
                if self.is_filter_done() {
                    return Ok(NextRow::End);
                }
                self.skip_row()?;
                continue;
            } else {
                self.read_row(sink, &mut budget)?
            };
            self.rows.count(found.is_some(), found.unwrap_or(false));
            let Some(may_have_more_cells) = found else {
                self.skip_row()?;
                continue;
            };
            if !may_have_more_cells && let Some(filter) = &mut self.filter {
                filter.reset();
            }
            self.is_done = self.is_filter_done();
            return Ok(NextRow::Row { may_have_more_cells });
        }
    }

    /// Finds the row that comes first.
    fn find_row(&mut self) -> bool {
        let mut is_found = false;
        for store in &mut self.stores {
            let Some(row) = store.row() else {
                continue;
            };
            let order = self.comparator.compare_rows(row, &self.row);
            if !is_found || self.direction.apply(order).is_lt() {
                self.row.clear();
                self.row.extend_from_slice(row);
                is_found = true;
            }
        }
        is_found
    }

    fn is_row_key_rejected(&mut self) -> Result<bool> {
        self.filter.as_mut().map_or(Ok(false), |filter| filter.filter_row_key(&self.row))
    }

    /// Reads the row from the stores: whether it has more cells, or `None` if it was rejected.
    fn read_row<C: CellSink>(
        &mut self,
        sink: &mut C,
        budget: &mut RowBudget,
    ) -> Result<Option<bool>> {
        let judges_rows = self.filter.as_ref().is_some_and(FilterState::has_filter_row);
        if judges_rows {
            // Such a row must not be cut by its size.
            budget.forget_bytes();
        }
        if !judges_rows && self.joined.is_empty() {
            let returned =
                read_stores(&mut self.stores, &self.row, &mut self.filter, budget, sink)?;
            self.cells_returned += returned as u64;
            // No such filter rejects a row of which it has let a cell through.
            return Ok((returned > 0).then(|| budget.is_exhausted() && self.has_more_in_row()));
        }
        self.collected.clear();
        let returned = read_stores(
            &mut self.stores,
            &self.row,
            &mut self.filter,
            budget,
            &mut self.collected,
        )?;
        if budget.is_exhausted() {
            if judges_rows {
                return Err(incompatible_filter());
            }
            if self.has_more_in_row() {
                self.give_collected(sink);
                return Ok(Some(true));
            }
        }
        if returned == 0 || self.is_row_rejected() {
            return Ok(None);
        }
        self.join_collected(sink, budget)
    }

    fn has_more_in_row(&mut self) -> bool {
        self.stores.iter_mut().any(|store| store.is_at_row(&self.row))
    }

    /// Asks the filter about the collected row.
    fn is_row_rejected(&mut self) -> bool {
        match &mut self.filter {
            Some(filter) if filter.has_filter_row() => {
                filter.filter_row_cells(&mut self.collected) == RowVerdict::Exclude
            }
            Some(filter) => filter.filter_row(),
            None => false,
        }
    }

    /// Reads the rest of a row from the joined stores.
    fn join_row<C: CellSink>(
        &mut self,
        sink: &mut C,
        budget: &mut RowBudget,
    ) -> Result<Option<bool>> {
        self.collected.clear();
        self.join_collected(sink, budget)
    }

    /// Adds the cells of the joined stores to those collected and gives all to `sink`.
    fn join_collected<C: CellSink>(
        &mut self,
        sink: &mut C,
        budget: &mut RowBudget,
    ) -> Result<Option<bool>> {
        for store in &mut self.joined {
            store.go_to_row(&self.row)?;
        }
        if !budget.is_exhausted() {
            read_stores(
                &mut self.joined,
                &self.row,
                &mut self.filter,
                budget,
                &mut self.collected,
            )?;
        }
        self.is_row_joining =
            budget.is_exhausted() && self.joined.iter_mut().any(|store| store.is_at_row(&self.row));
        if self.collected.is_empty() {
            return Ok(None);
        }
        self.give_collected(sink);
        Ok(Some(self.is_row_joining))
    }

    /// Gives the collected cells to `sink`, in order.
    fn give_collected<C: CellSink>(&mut self, sink: &mut C) {
        self.cells_returned += self.collected.len() as u64;
        if self.joined.is_empty() {
            for cell in &self.collected {
                sink.push(&cell);
            }
            return;
        }
        // Families of both kinds alternate.
        let mut cells: Vec<CellRef<'_>> = self.collected.iter().collect();
        cells.sort_by(|left, right| self.comparator.compare(left, right));
        for cell in &cells {
            sink.push(cell);
        }
    }

    /// Goes on to the next row.
    fn skip_row(&mut self) -> Result<()> {
        for store in &mut self.stores {
            if !store.is_at_row(&self.row) {
                continue;
            }
            match self.direction {
                Direction::Forward => {
                    let mut unlimited = RowBudget::UNLIMITED;
                    store.next_row(&mut self.filter, &mut unlimited, &mut |_: &CellRef<'_>| {})?;
                }
                Direction::Reverse => store.pass_row(&self.row)?,
            }
        }
        if let Some(filter) = &mut self.filter {
            filter.reset();
        }
        Ok(())
    }
}

/// A row is cut by the batch limit, and by the size limit if the caller can do with parts.
fn piece_budget(scan: &Scan) -> RowBudget {
    let size_limit = u64::try_from(scan.size_limit_bytes()).ok().filter(|bytes| *bytes > 0);
    let bytes = size_limit.filter(|_| scan.are_partial_results_allowed());
    RowBudget::new(scan.batch_limit(), bytes)
}

/// Whether `family` is read only for rows that pass the filter.
fn is_joined(scan: &Scan, family: &[u8]) -> bool {
    let is_needed = |filter: &Filter| filter.is_family_essential(family);
    scan.is_on_demand() && scan.filter_ref().is_some_and(|filter| !is_needed(filter))
}

/// Reads the cells of `row` from each store that has some, until the budget is exhausted.
fn read_stores<S: KeyValueScanner, C: CellSink>(
    stores: &mut [StoreScanner<S>],
    row: &[u8],
    filter: &mut Option<FilterState>,
    budget: &mut RowBudget,
    sink: &mut C,
) -> Result<usize> {
    let mut returned = 0;
    for store in stores {
        if store.is_at_row(row) {
            returned += store.next_row(filter, budget, sink)?;
            if budget.is_exhausted() {
                break;
            }
        }
    }
    Ok(returned)
}

fn incompatible_filter() -> Error {
    Error::new(
        Exception::IncompatibleFilter,
        "Filter whose hasFilterRow() returns true is incompatible with scans that must  stop \
         mid-row because of a limit.",
    )
}
