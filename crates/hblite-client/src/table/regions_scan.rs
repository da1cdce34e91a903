//! A scan across the regions of a table, in either direction.
//!
//! Regions are read one after the other. A scanner is lost if its region moves or splits, its
//! server crashes, or its lease expires. Another one is then opened at the same position, if
//! necessary within a row.
//!
//! Invariant: `next` is where the scan continues. It is after every row that was passed on, and
//! before every one that was not.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hblite_model::{
    Direction, RegionInfo, Result, RowResult, Scan, ScanMetrics, TableName, row_bound,
};
use tokio::runtime::Handle;

use super::assemble::Assembler;
use super::scan_region::{Fetched, RegionScanner, Wanted};
use super::timeline::{Replicas, first_answer};
use crate::error::CallError;
use crate::locator::{LocateKind, Location};
use crate::retry::Retries;
use crate::rpc::Limit;
use crate::shared::Shared;

/// The minimum time for which a server searches before it reports its position.
const SEARCH_MIN: Duration = Duration::from_millis(500);
/// Time limit for closing a dropped scanner.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

/// A scan across regions, which fetches results on request.
///
/// Dropping it closes the scanner on its server.
#[derive(Debug)]
pub(super) struct RegionsScan {
    shared: Arc<Shared>,
    table: TableName,
    scan: Scan,
    /// Where the scan continues; `None` at its end.
    next: Option<Border>,
    scanner: Option<RegionScanner>,
    /// The name of the region in which a scanner was opened last, and its read point.
    seen: Option<(Vec<u8>, u64)>,
    assembler: Assembler,
    ready: VecDeque<RowResult>,
    retries: Retries,
    pub(super) metrics: ScanMetrics,
    /// When the last call was answered.
    answered: Option<Instant>,
    runtime: Handle,
}

/// Where a scan continues: at a row, or after it in the scan's direction.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Border {
    row: Vec<u8>,
    is_inclusive: bool,
}

impl RegionsScan {
    pub(super) async fn open(shared: Arc<Shared>, table: TableName, scan: Scan) -> Result<Self> {
        let retries = Retries::within(&shared.rpc, shared.settings.scanner_timeout);
        let start =
            Border { row: scan.start_row().to_vec(), is_inclusive: scan.is_start_inclusive() };
        let mut scanner = Self {
            shared,
            table,
            assembler: Assembler::new(&scan),
            scan,
            next: Some(start),
            scanner: None,
            seen: None,
            ready: VecDeque::new(),
            retries,
            metrics: ScanMetrics::default(),
            answered: None,
            runtime: Handle::current(),
        };
        // Reports now if the table does not exist or is disabled.
        let found = scanner.find_first().await;
        scanner.shared.counted(found)?;
        Ok(scanner)
    }

    /// Whether a call may find more than what is ready.
    pub(super) fn has_more(&self) -> bool {
        self.next.is_some()
    }

    /// The results that are ready.
    pub(super) fn take_ready(&mut self) -> VecDeque<RowResult> {
        std::mem::take(&mut self.ready)
    }

    /// Bytes of a full fetch.
    pub(super) fn fetch_size_max_bytes(&self) -> u64 {
        self.scan.size_max_bytes().unwrap_or(self.shared.settings.scanner_size_max_bytes)
    }

    /// Whether rows are to be fetched in advance.
    pub(super) fn is_prefetching(&self) -> bool {
        self.scan.async_prefetch().unwrap_or(self.shared.settings.scanner_async_prefetch)
    }

    /// Fetches results once. Returns the position of the search if no row was found.
    ///
    /// # Errors
    /// As [`Table::get`](super::Table::get). An error ends the scan.
    pub(super) async fn fetch_more(&mut self, search: Option<Duration>) -> Result<Option<Vec<u8>>> {
        let Some(border) = self.next.clone() else { return Ok(None) };
        let fetched = self.fetch(&border, search).await;
        let fetched = self.shared.counted(fetched);
        if fetched.is_err() {
            self.end();
        }
        fetched
    }

    /// Extends the lease of the open scanner.
    ///
    /// # Errors
    /// As [`RegionsScan::fetch_more`]. A lost scanner is not an error: the scan opens another one.
    pub(super) async fn renew_lease(&mut self) -> Result<()> {
        let Some(scanner) = &mut self.scanner else { return Ok(()) };
        self.retries.renew();
        let limit = self.retries.limit();
        match scanner.renew(&self.shared, limit).await {
            Err(error) if error.is_retryable() || error.is_scanner_lost() => {
                self.lose_scanner();
                Ok(())
            }
            other => Ok(other?),
        }
    }

    /// Repeats a call until it succeeds. Returns the position of the search if no row was found.
    async fn fetch(
        &mut self,
        border: &Border,
        search: Option<Duration>,
    ) -> Result<Option<Vec<u8>>> {
        self.retries.renew();
        let since = self.answered.map(|answered| answered.elapsed().as_millis());
        self.metrics.millis_between_nexts += since.and_then(|ms| ms.try_into().ok()).unwrap_or(0);
        loop {
            let error = match self.attempt(border, search).await {
                Ok((location, fetched)) => {
                    self.count(&fetched);
                    return Ok(self.take(&location, fetched));
                }
                Err(error) => error,
            };
            self.metrics.rpc_retries += 1;
            self.metrics.not_serving_region_exceptions += u64::from(error.is_not_serving());
            let is_lost = error.is_scanner_lost();
            let keeps_scanner = error.is_retryable() && !error.clears_location();
            if is_lost || (self.scanner.is_some() && !keeps_scanner) {
                self.lose_scanner();
                if is_lost || error.is_retryable() {
                    self.retries.after_lost(error).await?;
                    // The caller opens another scanner where the scan continues.
                    return Ok(None);
                }
            }
            if error.is_not_serving() {
                let deadline = self.retries.deadline();
                self.shared.locator.check_in_service(&self.table, deadline).await?;
            }
            self.retries.after(error).await?;
        }
    }

    async fn attempt(
        &mut self,
        border: &Border,
        search: Option<Duration>,
    ) -> std::result::Result<(Arc<Location>, Fetched), CallError> {
        let wanted = self.wanted(search);
        if let Some(scanner) = &mut self.scanner {
            let location = Arc::clone(&scanner.location);
            let fetched = scanner.next(&self.shared, wanted).await;
            if let Err(error) = &fetched {
                self.shared.locator.learn(&location, error).await;
            }
            return Ok((location, fetched?));
        }
        let (scanner, fetched) = self.open_scanner(border, wanted).await?;
        let location = Arc::clone(&scanner.location);
        self.seen = scanner.read_point.map(|at| (location.region_name.clone(), at));
        self.scanner = Some(scanner);
        self.metrics.regions_scanned += 1;
        Ok((location, fetched))
    }

    fn count(&mut self, fetched: &Fetched) {
        self.answered = Some(Instant::now());
        self.metrics.rpc_calls += 1;
        let bytes = fetched.results.iter().map(ScanMetrics::bytes_of_result);
        self.metrics.bytes_in_results += bytes.sum::<u64>();
        for pair in fetched.metrics.iter().flat_map(|metrics| &metrics.metrics) {
            let value = pair.value.and_then(|value| value.try_into().ok());
            self.metrics.add(pair.name.as_deref().unwrap_or_default(), value.unwrap_or(0));
        }
    }

    /// Opens a scanner on the region where the scan continues, or on a replica of it.
    async fn open_scanner(
        &self,
        border: &Border,
        wanted: Wanted,
    ) -> std::result::Result<(RegionScanner, Fetched), CallError> {
        let bound = row_bound(&border.row, border.is_inclusive);
        let scan = &self.scan.clone().with_start_bound(bound);
        let open = |location: Arc<Location>| self.open_at(location, scan, wanted);
        match Replicas::of(&self.scan, self.shared.settings.primary_scan_timeout) {
            Replicas::One(id) => open(self.locate(border, id).await?).await,
            Replicas::Any { after } => {
                let region = self.locate(border, 0).await?;
                let others = region.replicas.iter().cloned().map(open).collect();
                first_answer(self.shared.rpc.counters(), after, open(region), others).await
            }
        }
    }

    async fn open_at(
        &self,
        location: Arc<Location>,
        scan: &Scan,
        wanted: Wanted,
    ) -> std::result::Result<(RegionScanner, Fetched), CallError> {
        let read_point = self.read_point(&location);
        let opened =
            RegionScanner::open(&self.shared, Arc::clone(&location), scan, read_point, wanted)
                .await;
        if let Err(error) = &opened {
            self.shared.locator.learn(&location, error).await;
        }
        opened
    }

    /// The read point of the lost scanner, if the new one continues within a row: the row's cells
    /// must belong to one point in time.
    fn read_point(&self, location: &Location) -> Option<u64> {
        self.assembler.place()?.open_key.as_ref()?;
        let (region, read_point) = self.seen.as_ref()?;
        (*region == location.region_name).then_some(*read_point)
    }

    fn wanted(&mut self, search: Option<Duration>) -> Wanted {
        let rows_left = self.assembler.limit().of_request();
        // A server answers after half of the call's time limit, at the latest.
        let server = search.map(|limit| (limit * 2).max(SEARCH_MIN));
        Wanted {
            results: self.scan.caching().unwrap_or(self.shared.settings.scanner_caching),
            rows_left,
            tracks_metrics: self.scan.tracks_metrics(),
            limit: Limit { server, ..self.retries.limit() },
        }
    }

    /// Takes an answer. Returns the position of the search if the answer has no results.
    fn take(&mut self, location: &Location, fetched: Fetched) -> Option<Vec<u8>> {
        let Fetched { results, has_more, has_more_in_region, cursor, metrics: _ } = fetched;
        let is_progress = !results.is_empty() || !has_more_in_region || !has_more;
        let is_empty = results.is_empty();
        let before = self.assembler.place().cloned();
        for result in results {
            self.assembler.push(result, &mut self.ready);
        }
        if !has_more_in_region || !has_more {
            self.assembler.end_row(&mut self.ready);
        }
        // The server has then closed the scanner.
        let is_closed = !has_more_in_region || !has_more;
        if is_closed {
            self.scanner = None;
        }
        if self.assembler.place() != before.as_ref() {
            self.next = self.border_of_place();
        } else if let Some(row) = cursor.clone().filter(|_| !self.assembler.is_within_row()) {
            self.next = Some(Border { row, is_inclusive: true });
        }
        if is_progress {
            self.retries.reset();
        } else {
            self.retries.renew();
        }
        let is_limit_reached = is_progress && self.assembler.limit().end_fetch(is_empty);
        if !has_more || is_limit_reached {
            self.end();
        } else if !has_more_in_region {
            self.next = self.border_after(&location.region);
            self.seen = None;
        }
        cursor.filter(|_| !is_progress)
    }

    /// Where the scan continues after the results that were passed on.
    fn border_of_place(&self) -> Option<Border> {
        let place = self.assembler.place()?;
        Some(Border { row: place.row.clone(), is_inclusive: place.open_key.is_some() })
    }

    /// Where the scan continues after a region; `None` if it ends there.
    fn border_after(&self, region: &RegionInfo) -> Option<Border> {
        let (start, end) = (region.start_key(), region.end_key());
        let stop = self.scan.stop_row();
        let (row, is_inclusive, is_beyond) = match self.scan.direction() {
            Direction::Forward => {
                let is_beyond = end > stop || (end == stop && !self.scan.is_stop_inclusive());
                (end, true, is_beyond)
            }
            Direction::Reverse => (start, false, start <= stop),
        };
        let is_last = row.is_empty() || (!stop.is_empty() && is_beyond);
        (!is_last).then(|| Border { row: row.to_vec(), is_inclusive })
    }

    async fn locate(
        &self,
        border: &Border,
        replica: u16,
    ) -> std::result::Result<Arc<Location>, CallError> {
        let Border { row, is_inclusive } = border;
        let is_reverse = self.scan.direction().is_reverse();
        let after;
        let (row, kind) = match (is_reverse, row.is_empty(), *is_inclusive) {
            (true, true, _) | (true, false, false) => (row, LocateKind::Before),
            (false, false, false) => {
                after = [row, &b"\0"[..]].concat();
                (&after, LocateKind::Current)
            }
            _ => (row, LocateKind::Current),
        };
        let deadline = self.retries.deadline();
        self.shared.locator.locate_replica(&self.table, row, kind, replica, deadline).await
    }

    async fn find_first(&mut self) -> Result<()> {
        let Some(border) = self.next.clone() else { return Ok(()) };
        loop {
            let Err(error) = self.locate(&border, 0).await else { return Ok(()) };
            if error.is_not_serving() {
                let deadline = self.retries.deadline();
                self.shared.locator.check_in_service(&self.table, deadline).await?;
            }
            self.retries.after(error).await?;
        }
    }

    /// Drops a lost scanner. The scan continues after the results that were passed on.
    fn lose_scanner(&mut self) {
        self.scanner = None;
        self.assembler.restart();
    }

    /// Ends the scan.
    fn end(&mut self) {
        self.next = None;
        self.close();
    }

    /// Closes the scanner without waiting for the server's answer.
    fn close(&mut self) {
        if let Some(scanner) = self.scanner.take() {
            debug_assert_eq!(scanner.table(), &self.table);
            let shared = Arc::clone(&self.shared);
            self.runtime.spawn(async move { scanner.close(&shared, CLOSE_LIMIT).await });
        }
    }
}

impl Drop for RegionsScan {
    fn drop(&mut self) {
        self.close();
    }
}
