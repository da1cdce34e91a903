//! The calls of a scanner that is open on one region: open, next, renew, close.

use std::sync::Arc;
use std::time::Duration;

use hblite_model::{RowResult, Scan, TableName};
use hblite_wire::{convert, pb};

use super::region_call::method_of;
use crate::error::CallError;
use crate::locator::Location;
use crate::rpc::{Answer, Limit, Method};
use crate::shared::Shared;

/// A scanner on a server.
#[derive(Debug)]
pub(super) struct RegionScanner {
    pub(super) location: Arc<Location>,
    id: u64,
    next_call_seq: u64,
    /// The read point, if the server returned one.
    pub(super) read_point: Option<u64>,
}

/// The contents of an answer.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) results: Vec<RowResult>,
    /// Whether the scan as a whole may find more.
    pub(super) has_more: bool,
    /// Whether the region may have more. If not, its scanner is closed.
    pub(super) has_more_in_region: bool,
    /// The position of the search, if the time limit passed before a row was found.
    pub(super) cursor: Option<Vec<u8>>,
    /// What the server has counted, if it was asked to.
    pub(super) metrics: Option<pb::ScanMetrics>,
}

/// The limits of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// Maximum number of results.
    pub(super) results: u32,
    /// Number of rows that the scan still needs; `None` for all.
    pub(super) rows_left: Option<u32>,
    /// Whether the server counts what it does.
    pub(super) tracks_metrics: bool,
    pub(super) limit: Limit,
}

impl RegionScanner {
    /// Opens a scanner, and reads its first results.
    pub(super) async fn open(
        shared: &Shared,
        location: Arc<Location>,
        scan: &Scan,
        read_point: Option<u64>,
        wanted: Wanted,
    ) -> Result<(Self, Fetched), CallError> {
        let size_max = scan.size_max_bytes().unwrap_or(shared.settings.scanner_size_max_bytes);
        let message = pb::Scan {
            max_result_size: Some(size_max),
            caching: Some(wanted.results),
            need_cursor_result: Some(true),
            mvcc_read_point: read_point,
            ..convert::scan_message(scan)?
        };
        let request = pb::ScanRequest {
            region: Some(convert::region_specifier(&location.region_name)),
            scan: Some(message),
            close_scanner: Some(false),
            ..request(wanted)
        };
        let method = method_of(location.region.table(), "Scan");
        let answer = shared.rpc.call(&location.server, method, &request, b"", wanted.limit).await?;
        let (message, fetched) = read(&location, answer)?;
        let Some(id) = message.scanner_id else {
            return Err(malformed(&location, "an answer without the id of the scanner"));
        };
        let read_point = message.mvcc_read_point;
        Ok((Self { location, id, next_call_seq: 0, read_point }, fetched))
    }

    /// Reads the next results.
    pub(super) async fn next(
        &mut self,
        shared: &Shared,
        wanted: Wanted,
    ) -> Result<Fetched, CallError> {
        let request = pb::ScanRequest {
            scanner_id: Some(self.id),
            next_call_seq: Some(self.next_call_seq),
            close_scanner: Some(false),
            ..request(wanted)
        };
        let (_, fetched) = self.call(shared, &request, wanted.limit).await?;
        self.next_call_seq += 1;
        Ok(fetched)
    }

    /// Extends the lease.
    pub(super) async fn renew(&mut self, shared: &Shared, limit: Limit) -> Result<(), CallError> {
        let request = pb::ScanRequest {
            scanner_id: Some(self.id),
            next_call_seq: Some(self.next_call_seq),
            number_of_rows: Some(0),
            close_scanner: Some(false),
            renew: Some(true),
            ..pb::ScanRequest::default()
        };
        self.call(shared, &request, limit).await?;
        self.next_call_seq += 1;
        Ok(())
    }

    /// Closes the scanner. If the call is lost, the scanner ends with its lease.
    pub(super) async fn close(self, shared: &Shared, limit: Duration) {
        let request = pb::ScanRequest {
            scanner_id: Some(self.id),
            number_of_rows: Some(0),
            close_scanner: Some(true),
            ..pb::ScanRequest::default()
        };
        let deadline = tokio::time::Instant::now() + limit;
        let limit = Limit { rpc: limit, deadline, server: None };
        let _ = self.call(shared, &request, limit).await;
    }

    async fn call(
        &self,
        shared: &Shared,
        request: &pb::ScanRequest,
        limit: Limit,
    ) -> Result<(pb::ScanResponse, Fetched), CallError> {
        let method: Method = method_of(self.location.region.table(), "Scan");
        let answer = shared.rpc.call(&self.location.server, method, request, b"", limit).await?;
        read(&self.location, answer)
    }

    /// The table.
    pub(super) fn table(&self) -> &TableName {
        self.location.region.table()
    }
}

fn request(wanted: Wanted) -> pb::ScanRequest {
    pb::ScanRequest {
        number_of_rows: Some(wanted.results),
        limit_of_rows: wanted.rows_left,
        client_handles_partials: Some(true),
        client_handles_heartbeats: Some(true),
        track_scan_metrics: wanted.tracks_metrics.then_some(true),
        ..pb::ScanRequest::default()
    }
}

fn read(
    location: &Location,
    answer: Answer<pb::ScanResponse>,
) -> Result<(pb::ScanResponse, Fetched), CallError> {
    let Answer { mut message, cells } = answer;
    let results = convert::rows_from(&message, &cells)
        .map_err(|error| malformed(location, error.message()))?;
    let cursor = message.cursor.as_ref().and_then(|cursor| cursor.row.clone());
    let fetched = Fetched {
        results,
        has_more: message.more_results.unwrap_or(true),
        has_more_in_region: message.more_results_in_region.unwrap_or(true),
        cursor: cursor.map(|row| row.to_vec()),
        metrics: message.scan_metrics.take(),
    };
    Ok((message, fetched))
}

fn malformed(location: &Location, why: &str) -> CallError {
    CallError::Malformed { server: location.server.clone(), why: why.to_owned() }
}
