//! The rows of a scan as the caller reads them, fetched when they are requested or in advance.
//!
//! In advance means: while fewer bytes are ready than one fetch may return, a task makes the next
//! fetch. So at most two fetches are in memory, as with HBase's prefetching scanner.
//!
//! Threads: one at a time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use hblite_model::{Error, Result, RowResult, Scan, ScanMetrics, ScanStep, TableName};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::regions_scan::RegionsScan;
use crate::shared::Shared;

/// The rows of a scan.
///
/// Dropping it closes the scanner on its server.
#[derive(Debug)]
pub struct ResultScanner {
    source: Source,
    ready: VecDeque<RowResult>,
    /// The cells that are ready, in bytes.
    ready_bytes: u64,
    /// Rows are fetched in advance if fewer bytes than this are ready.
    prefetch_below_bytes: Option<u64>,
    /// The failure of a fetch in advance, which follows the rows that are ready.
    failure: Option<Error>,
    /// Up to the last fetch that is over.
    metrics: ScanMetrics,
    runtime: Handle,
}

/// The scan, or the task that has it while it fetches.
#[derive(Debug)]
enum Source {
    Idle(Box<RegionsScan>),
    Fetching(Fetching),
    /// The task of a fetch was lost with the scan.
    Lost,
}

/// A fetch in advance. It is canceled when this is dropped.
#[derive(Debug)]
struct Fetching(JoinHandle<(Box<RegionsScan>, Result<()>)>);

impl Drop for Fetching {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ResultScanner {
    pub(super) async fn open(shared: Arc<Shared>, table: TableName, scan: Scan) -> Result<Self> {
        let scan = Box::new(RegionsScan::open(shared, table, scan).await?);
        let prefetch_below_bytes =
            scan.is_prefetching().then(|| scan.fetch_size_max_bytes().max(1));
        let mut scanner = Self {
            source: Source::Idle(scan),
            ready: VecDeque::new(),
            ready_bytes: 0,
            prefetch_below_bytes,
            failure: None,
            metrics: ScanMetrics::default(),
            runtime: Handle::current(),
        };
        scanner.fetch_ahead();
        Ok(scanner)
    }

    /// The next row, or with a batch or partial results the next part of one; `None` after the
    /// last.
    ///
    /// # Errors
    /// As [`Table::get`](super::Table::get). An error ends the scan.
    pub async fn next_row(&mut self) -> Result<Option<RowResult>> {
        loop {
            match self.step(None).await? {
                ScanStep::Row(row) => return Ok(Some(row)),
                ScanStep::Cursor(_) => {}
                ScanStep::End => return Ok(None),
            }
        }
    }

    /// Like [`ResultScanner::next_row`], but returns a cursor if the server has found no row after
    /// about `limit`. Apache HBase's servers search for at least ten seconds
    /// (`hbase.region.server.rpc.minimum.scan.time.limit.delta`). From this call on, no rows are
    /// fetched in advance.
    ///
    /// # Errors
    /// As [`ResultScanner::next_row`].
    pub async fn next_row_within(&mut self, limit: Duration) -> Result<ScanStep<RowResult>> {
        self.prefetch_below_bytes = None;
        self.step(Some(limit)).await
    }

    /// What the scan has done so far. Servers count rows only with [`Scan::with_metrics`].
    pub fn metrics(&self) -> ScanMetrics {
        self.metrics
    }

    /// Extends the lease of the open scanner, for callers that process rows slowly.
    ///
    /// # Errors
    /// As [`ResultScanner::next_row`]. A lost scanner is not an error: the scan opens another one.
    pub async fn renew_lease(&mut self) -> Result<()> {
        match &mut self.source {
            Source::Idle(scan) => scan.renew_lease().await,
            // A fetch extends the lease, too.
            Source::Fetching(_) | Source::Lost => Ok(()),
        }
    }

    async fn step(&mut self, search: Option<Duration>) -> Result<ScanStep<RowResult>> {
        loop {
            if matches!(&self.source, Source::Fetching(fetching) if fetching.0.is_finished()) {
                self.finish_fetch().await;
            }
            if let Some(row) = self.ready.pop_front() {
                self.ready_bytes -= row.size_bytes() as u64;
                self.fetch_ahead();
                return Ok(ScanStep::Row(row));
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            match &mut self.source {
                Source::Idle(scan) if scan.has_more() => {
                    let cursor = scan.fetch_more(search).await?;
                    let ready = scan.take_ready();
                    self.metrics = scan.metrics;
                    self.add(ready);
                    if let (Some(cursor), Some(_), true) = (cursor, search, self.ready.is_empty()) {
                        return Ok(ScanStep::Cursor(cursor));
                    }
                }
                Source::Fetching(_) => self.finish_fetch().await,
                Source::Idle(_) | Source::Lost => return Ok(ScanStep::End),
            }
        }
    }

    fn add(&mut self, rows: VecDeque<RowResult>) {
        self.ready_bytes += rows.iter().map(|row| row.size_bytes() as u64).sum::<u64>();
        match self.ready.is_empty() {
            true => self.ready = rows,
            false => self.ready.extend(rows),
        }
    }

    /// Begins a fetch in advance, if little is ready and none is under way.
    fn fetch_ahead(&mut self) {
        if self.prefetch_below_bytes.is_none_or(|limit| self.ready_bytes >= limit)
            || !matches!(&self.source, Source::Idle(scan) if scan.has_more())
        {
            return;
        }
        if let Source::Idle(mut scan) = std::mem::replace(&mut self.source, Source::Lost) {
            let fetch = async move {
                let fetched = scan.fetch_more(None).await.map(drop);
                (scan, fetched)
            };
            self.source = Source::Fetching(Fetching(self.runtime.spawn(fetch)));
        }
    }

    /// Waits for the fetch in advance, and takes its results.
    async fn finish_fetch(&mut self) {
        let Source::Fetching(fetching) = &mut self.source else { return };
        match (&mut fetching.0).await {
            Ok((mut scan, fetched)) => {
                let ready = scan.take_ready();
                self.metrics = scan.metrics;
                self.source = Source::Idle(scan);
                self.add(ready);
                self.failure = fetched.err();
                self.fetch_ahead();
            }
            Err(error) => {
                self.source = Source::Lost;
                let message = format!("the scan's fetch in advance ended: {error}");
                self.failure = Some(Error::do_not_retry(message));
            }
        }
    }
}
