//! One scan across the regions of a table, in either direction.
//!
//! Each region is scanned as it is when the scan reaches it. Its scanner keeps what it reads, so a
//! flush, compaction, split or merge in progress does not affect it. The next region is found by
//! the boundary of the previous one, so no row is read twice or left out. A rewind ends the scan
//! with an error: its rows are those of a state that is gone.
//!
//! Threads: not shared; each scan owns one.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use hblite_model::cell::CellBuffer;
use hblite_model::{
    CellRef, Direction, Error, Exception, Result, RowPart, RowResult, Scan, ScanMetrics, ScanStep,
};

use super::TableHandle;
use super::fetches::{Fetches, PieceOfRow};
use crate::region::Region;
use crate::region::region_scanner::{CellSink, RegionScanner, RegionStep};

/// The rows of a scan.
pub struct TableScanner {
    table: TableHandle,
    /// The moves of the table's slot when the scan began.
    moves: u64,
    scan: Scan,
    region: Option<Current>,
    /// Where the scan continues when the current region is done.
    next: Option<Boundary>,
    /// Rows still needed; `None` for all, and if `fetches` counts them.
    rows_left: Option<u64>,
    /// Counts the rows if the limit depends on the fetches.
    fetches: Option<Fetches>,
    /// The row of the last part, if it was incomplete.
    open_row: Option<Vec<u8>>,
    /// What was done in the regions before the current one.
    metrics: ScanMetrics,
}

struct Current {
    region: Arc<Region>,
    scanner: RegionScanner,
    has_rows: bool,
    /// Whether the last part said that it was the last one of the region.
    is_end_known: bool,
    cells_read: u64,
    size_bytes: u64,
}

/// Where the next region's scan begins. Regions may have been merged or split since the previous
/// one was found, so the boundary limits the scan, not only the search for the region.
enum Boundary {
    /// At the start of the scan.
    Start,
    /// At this row (forward).
    From(Vec<u8>),
    /// Before this row (reverse).
    Before(Vec<u8>),
}

impl Boundary {
    /// Whether the scan continues from here to `next`.
    fn is_before(&self, next: Option<&Self>) -> bool {
        match (self, next) {
            (Self::From(row), Some(Self::From(next))) => row < next,
            (Self::Before(row), Some(Self::Before(next))) => row > next,
            (_, Some(Self::Start)) => false,
            _ => true,
        }
    }
}

impl TableScanner {
    pub(super) fn open(table: TableHandle, scan: Scan) -> Result<Self> {
        let fetches = Fetches::of(&scan);
        let rows_left = scan.limit().filter(|_| fetches.is_none()).map(u64::from);
        let mut scanner = Self {
            moves: table.parts.slot.moves(),
            table,
            scan,
            region: None,
            next: Some(Boundary::Start),
            rows_left,
            fetches,
            open_row: None,
            metrics: ScanMetrics::default(),
        };
        // The first region is opened now, so that a missing table is reported immediately.
        scanner.open_next_region()?;
        Ok(scanner)
    }

    /// Puts the next row (or, with a batch, part of a row) into `row`; `false` after the last.
    ///
    /// # Errors
    /// Those of reading; they end the scan.
    pub fn next_row(&mut self, row: &mut RowResult) -> Result<bool> {
        Ok(matches!(self.next_row_until(row, || false)?, RegionStep::Row(_)))
    }

    /// Like [`TableScanner::next_row`], but searches no longer than `limit` by the store's clock.
    /// Each call advances by at least one row, so a scan ends with any limit.
    ///
    /// # Errors
    /// As [`TableScanner::next_row`].
    pub fn next_row_within(&mut self, row: &mut RowResult, limit: Duration) -> Result<ScanStep> {
        let clock = self.table.clock();
        let limit = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
        let end = clock.now_millis().saturating_add(limit);
        Ok(match self.next_row_until(row, || clock.now_millis() >= end)? {
            RegionStep::Row(_) => ScanStep::Row(()),
            RegionStep::Cursor(()) => ScanStep::Cursor(self.position()),
            RegionStep::End => ScanStep::End,
        })
    }

    fn next_row_until(
        &mut self,
        row: &mut RowResult,
        is_time_over: impl FnMut() -> bool,
    ) -> Result<RegionStep> {
        self.check_not_rewound()?;
        let mut found = match self.next_into(row.refill(), is_time_over) {
            Ok(RegionStep::Cursor(())) => return Ok(RegionStep::Cursor(())),
            Ok(found) => found,
            Err(error) => {
                row.refill();
                return Err(error);
            }
        };
        if let RegionStep::Row(part) = found
            && self.is_beyond_limit(row, part)
        {
            row.refill();
            self.end();
            found = RegionStep::End;
        }
        let has_more = found == RegionStep::Row(RowPart { may_have_more_cells: true });
        if has_more || self.open_row.is_some() {
            self.open_row = row.cells().next().filter(|_| has_more).map(|cell| cell.row().to_vec());
        }
        row.set_more_cells(has_more);
        Ok(found)
    }

    /// What the scan has done so far.
    pub fn metrics(&self) -> ScanMetrics {
        let mut metrics = self.metrics;
        if let Some(current) = &self.region {
            let rows = current.scanner.row_counts();
            metrics.regions_scanned += 1;
            metrics.rows_scanned += rows.scanned;
            metrics.rows_filtered += rows.filtered;
            metrics.bytes_in_results +=
                current.size_bytes + current.cells_read * size_of::<u32>() as u64;
        }
        metrics
    }

    /// The current row of the scan, or the boundary that it is about to cross.
    fn position(&mut self) -> Vec<u8> {
        let in_region = self.region.as_mut().and_then(|current| current.scanner.position());
        match (in_region, &self.next) {
            (Some(row), _) => row.to_vec(),
            (None, Some(Boundary::From(row))) => row.clone(),
            (None, _) => Vec::new(),
        }
    }

    /// Calls `visit` with every remaining cell, in place.
    ///
    /// # Errors
    /// As [`TableScanner::next_row`].
    pub fn for_each_cell(&mut self, mut visit: impl FnMut(&CellRef<'_>)) -> Result<()> {
        self.check_not_rewound()?;
        if self.fetches.is_some() {
            let mut piece = RowResult::default();
            while self.next_row(&mut piece)? {
                piece.cells().for_each(|cell| visit(&cell));
            }
            return Ok(());
        }
        let mut sink = Visitor { visit: &mut visit, cells: 0, size_bytes: 0 };
        loop {
            self.visit_region(&mut sink)?;
            if self.next_into(&mut sink, || false)? == RegionStep::End {
                return Ok(());
            }
        }
    }

    /// Visits the rest of the current region, or of the limit, if nothing has to be decided between
    /// rows.
    fn visit_region<S: CellSink + Measured>(&mut self, sink: &mut S) -> Result<()> {
        let (Some(current), None) = (&mut self.region, &self.open_row) else { return Ok(()) };
        let before = sink.measure();
        let rows_max = self.rows_left.unwrap_or(u64::MAX);
        let Some(rows) = current.scanner.visit_rows(rows_max, sink)? else { return Ok(()) };
        let (cells, size_bytes) = sink.measure();
        current.has_rows |= rows > 0;
        current.cells_read += cells - before.0;
        current.size_bytes += size_bytes - before.1;
        self.rows_left = self.rows_left.map(|left| left - rows);
        Ok(())
    }

    /// Calls `visit` with every remaining cell, in place, until it breaks. The rest of the row in
    /// which it breaks is skipped, and the scan can continue with the next row.
    ///
    /// # Errors
    /// As [`TableScanner::next_row`].
    pub fn try_for_each_cell<B>(
        &mut self,
        visit: impl FnMut(&CellRef<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        self.check_not_rewound()?;
        if self.fetches.is_some() {
            return self.try_for_each_cell_of_pieces(visit);
        }
        let mut sink =
            StoppingVisitor { visit, end: ControlFlow::Continue(()), cells: 0, size_bytes: 0 };
        while sink.end.is_continue() && self.next_into(&mut sink, || false)? != RegionStep::End {}
        Ok(sink.end)
    }

    fn try_for_each_cell_of_pieces<B>(
        &mut self,
        mut visit: impl FnMut(&CellRef<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        let mut piece = RowResult::default();
        while self.next_row(&mut piece)? {
            if let end @ ControlFlow::Break(_) = piece.cells().try_for_each(|cell| visit(&cell)) {
                return Ok(end);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn next_into<S: CellSink + Measured>(
        &mut self,
        sink: &mut S,
        mut is_time_over: impl FnMut() -> bool,
    ) -> Result<RegionStep> {
        loop {
            if self.is_limit_reached() {
                self.end();
                return Ok(RegionStep::End);
            }
            let Some(current) = &mut self.region else {
                if !self.open_next_region()? {
                    return Ok(RegionStep::End);
                }
                continue;
            };
            let before = sink.measure();
            match current.scanner.next_row_until(sink, &mut is_time_over)? {
                RegionStep::Cursor(()) => return Ok(RegionStep::Cursor(())),
                RegionStep::End => {
                    // If a server returns no rows because the filter is done, the whole scan ends.
                    let is_last = !current.has_rows && current.scanner.is_filter_done();
                    if is_last {
                        self.next = None;
                    }
                    if let Some(fetches) = &mut self.fetches {
                        fetches.end_region(current.is_end_known);
                    }
                    self.close_region();
                    // In reverse, the scan continues not at the boundary but before it.
                    if matches!(self.next, Some(Boundary::From(_))) && is_time_over() {
                        return Ok(RegionStep::Cursor(()));
                    }
                }
                row @ RegionStep::Row(RowPart { may_have_more_cells }) => {
                    let (cells, size_bytes) = sink.measure();
                    current.has_rows = true;
                    current.cells_read += cells - before.0;
                    current.size_bytes += size_bytes - before.1;
                    if !may_have_more_cells && let Some(left) = &mut self.rows_left {
                        *left = left.saturating_sub(1);
                    }
                    return Ok(row);
                }
            }
        }
    }

    /// Fails if the store was rewound since the scan began.
    #[inline]
    fn check_not_rewound(&self) -> Result<()> {
        if self.table.parts.slot.moves() == self.moves {
            return Ok(());
        }
        let message = "the store was rewound after the scan began; open a new scanner";
        Err(Error::new(Exception::UnknownScanner, message))
    }

    fn is_limit_reached(&self) -> bool {
        (self.rows_left == Some(0) && self.open_row.is_none())
            || self.fetches.as_ref().is_some_and(Fetches::is_over)
    }

    /// A row that looked incomplete but had no further part is counted when the next row begins, as
    /// HBase's server does. Returns whether `read`, just read, begins a row beyond the limit.
    fn is_beyond_limit(&mut self, read: &RowResult, part: RowPart) -> bool {
        let Some(row) = read.cells().next().map(|cell| cell.row()) else {
            return false;
        };
        if let (Some(fetches), Some(current)) = (&mut self.fetches, &mut self.region) {
            let has_more_in_region = current.scanner.may_have_more();
            current.is_end_known = !has_more_in_region;
            return !fetches.take(PieceOfRow {
                row,
                cells: read.len(),
                may_have_more_cells: part.may_have_more_cells,
                is_corrected: current.scanner.is_last_piece_corrected(),
                has_more_in_region,
            });
        }
        let ends_open_row = self.open_row.as_ref().is_some_and(|open| open != row);
        let Some(left) = &mut self.rows_left else {
            return false;
        };
        if ends_open_row {
            *left = left.saturating_sub(1);
        }
        ends_open_row && *left == 0
    }

    fn end(&mut self) {
        self.close_region();
        self.next = None;
    }

    fn close_region(&mut self) {
        self.metrics = self.metrics();
        if let Some(current) = self.region.take() {
            let (cells, bytes) = (current.cells_read as usize, current.size_bytes as usize);
            current.region.count_read(&current.scanner, cells, bytes);
        }
    }

    /// Moves to the next region; `false` if there is none.
    fn open_next_region(&mut self) -> Result<bool> {
        let Some(boundary) = self.next.take() else {
            return Ok(false);
        };
        let (region, scanner) = self.open_region(&boundary)?;
        self.next = self.boundary_after(&region);
        assert!(boundary.is_before(self.next.as_ref()), "a scan reads no region twice");
        self.region = Some(Current {
            region,
            scanner,
            has_rows: false,
            is_end_known: false,
            cells_read: 0,
            size_bytes: 0,
        });
        Ok(true)
    }

    fn open_region(&self, boundary: &Boundary) -> Result<(Arc<Region>, RegionScanner)> {
        let scan = match boundary {
            Boundary::Start => Cow::Borrowed(&self.scan),
            Boundary::From(row) => Cow::Owned(self.scan.clone().with_start_row(row)),
            Boundary::Before(row) => Cow::Owned(self.scan.clone().with_start_row_exclusive(row)),
        };
        let mut deadline = None;
        loop {
            let region = self.find_region(boundary)?;
            match region.scanner(&scan) {
                Err(error)
                    if self
                        .table
                        .waits_after(&error, &mut deadline, || self.find_region(boundary)) => {}
                scanner => return Ok((region, scanner?)),
            }
        }
    }

    fn find_region(&self, boundary: &Boundary) -> Result<Arc<Region>> {
        let (slot, start) = (&self.table.parts.slot, self.scan.start_row());
        let region = match boundary {
            Boundary::Start
                if self.scan.direction().is_reverse()
                    && (start.is_empty() || !self.scan.is_start_inclusive()) =>
            {
                slot.route_before(start)
            }
            Boundary::Start => slot.route(start),
            Boundary::From(row) => slot.route(row),
            Boundary::Before(row) => slot.route_before(row),
        };
        // After that: it may be a region of after a rewind.
        self.check_not_rewound().and(region)
    }

    fn boundary_after(&self, region: &Region) -> Option<Boundary> {
        let (start, end) = (region.info().start_key(), region.info().end_key());
        let stop = self.scan.stop_row();
        match self.scan.direction() {
            Direction::Forward => {
                let is_beyond = !stop.is_empty()
                    && (end > stop || (end == stop && !self.scan.is_stop_inclusive()));
                (!end.is_empty() && !is_beyond).then(|| Boundary::From(end.to_vec()))
            }
            Direction::Reverse => {
                let is_beyond = !stop.is_empty() && start <= stop;
                (!start.is_empty() && !is_beyond).then(|| Boundary::Before(start.to_vec()))
            }
        }
    }
}

impl Drop for TableScanner {
    fn drop(&mut self) {
        self.close_region();
    }
}

impl std::fmt::Debug for TableScanner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableScanner").field("table", &self.table).finish_non_exhaustive()
    }
}

/// How much went into a sink, for the region's counters.
trait Measured {
    fn measure(&self) -> (u64, u64);
}

impl Measured for CellBuffer {
    fn measure(&self) -> (u64, u64) {
        (self.len() as u64, self.size_bytes() as u64)
    }
}

struct Visitor<'v, F> {
    visit: &'v mut F,
    cells: u64,
    size_bytes: u64,
}

impl<F> Measured for Visitor<'_, F> {
    fn measure(&self) -> (u64, u64) {
        (self.cells, self.size_bytes)
    }
}

impl<F: FnMut(&CellRef<'_>)> CellSink for Visitor<'_, F> {
    #[inline]
    fn push(&mut self, cell: &CellRef<'_>) {
        self.cells += 1;
        self.size_bytes += cell.serialized_size() as u64;
        (self.visit)(cell);
    }
}

/// A visitor that may break; after that it is not called again.
struct StoppingVisitor<F, B> {
    visit: F,
    end: ControlFlow<B>,
    cells: u64,
    size_bytes: u64,
}

impl<F, B> Measured for StoppingVisitor<F, B> {
    fn measure(&self) -> (u64, u64) {
        (self.cells, self.size_bytes)
    }
}

impl<F: FnMut(&CellRef<'_>) -> ControlFlow<B>, B> CellSink for StoppingVisitor<F, B> {
    #[inline]
    fn push(&mut self, cell: &CellRef<'_>) {
        self.cells += 1;
        self.size_bytes += cell.serialized_size() as u64;
        if self.end.is_continue() {
            self.end = (self.visit)(cell);
        }
    }
}
