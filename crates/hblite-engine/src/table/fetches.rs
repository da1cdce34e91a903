//! The row limit of a scan in fetches, counted as HBase counts it.
//!
//! HBase counts twice. The region server counts the rows of one fetch (one response, of at most
//! `caching` results) and ends the scan when they reach what the client still needs. The client
//! counts the rows of the whole fetch, and subtracts them before it requests the next one. A row in
//! batches ends in three ways, which the two count differently:
//!
//! - its last part says that nothing follows: both count it
//! - a part of another row follows: both count it; the client counts it even if it has counted it
//!   before, because it remembers only full parts
//! - a response without results follows: only the client counts it
//!
//! A client that has counted more rows than requested no longer has a limit. Limit 0 does not reach
//! the server, and the client ends the scan after the first fetch.
//!
//! Source: `ClientScanner.loadCache`, `BatchScanResultCache` and `RSRpcServices.scan` of HBase 2.6.

use hblite_model::Scan;

/// A part of a row, as the server returns it.
#[derive(Clone, Copy)]
pub(super) struct PieceOfRow<'a> {
    pub(super) row: &'a [u8],
    pub(super) cells: usize,
    /// What the client learns about the part.
    pub(super) may_have_more_cells: bool,
    /// The server reached the end of the region after a part that looked incomplete, and corrected
    /// that.
    pub(super) is_corrected: bool,
    /// Whether the region may have more for the scan.
    pub(super) has_more_in_region: bool,
}

/// The fetches of a scan with a limit.
#[derive(Debug)]
pub(super) struct Fetches {
    batch: usize,
    /// Results per fetch.
    caching: u64,
    /// Rows that the client still needs; below 0 all of them, at 0 none after this fetch.
    rows_left: i64,
    /// Results of the current fetch, and its rows by either count.
    results: u64,
    rows_of_server: i64,
    rows_of_client: i64,
    /// The row of the last part in the region, if it looked incomplete.
    open_row: Option<Vec<u8>>,
    /// The same for the client, which remembers only full parts, across regions.
    remembered_row: Option<Vec<u8>>,
    is_over: bool,
}

impl Fetches {
    /// For scans whose rows are not simply counted: those with a limit and a batch, whose parts the
    /// client combines, and those with limit 0.
    pub(super) fn of(scan: &Scan) -> Option<Self> {
        let rows = scan.limit()?;
        let batch = scan.batch().filter(|_| !scan.allows_partial_results());
        (rows == 0 || batch.is_some()).then(|| Self {
            batch: batch.map_or(usize::MAX, |cells| cells as usize),
            caching: scan.caching().map_or(u64::MAX, u64::from),
            rows_left: i64::from(rows),
            results: 0,
            rows_of_server: 0,
            rows_of_client: 0,
            open_row: None,
            remembered_row: None,
            is_over: false,
        })
    }

    /// Whether the scan is done.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Counts a part. `false` if the server ended the scan before it.
    pub(super) fn take(&mut self, piece: PieceOfRow<'_>) -> bool {
        debug_assert!(!self.is_over, "a scan that is over reads nothing");
        if self.open_row.take().is_some_and(|open| open != piece.row) && self.count_on_server() {
            self.end_fetch();
            return false;
        }
        self.results += 1;
        if piece.may_have_more_cells {
            self.open_row = Some(piece.row.to_vec());
        } else if !piece.is_corrected {
            self.count_on_server();
        }
        self.count_on_client(piece);
        if self.is_over || self.results == self.caching || !piece.has_more_in_region {
            self.end_fetch();
        }
        true
    }

    /// Counts a row as the server does; returns whether it was the last one.
    fn count_on_server(&mut self) -> bool {
        self.rows_of_server += 1;
        self.is_over |= self.rows_left > 0 && self.rows_of_server >= self.rows_left;
        self.is_over
    }

    fn count_on_client(&mut self, piece: PieceOfRow<'_>) {
        let is_next_row = self.remembered_row.as_ref().is_some_and(|row| row != piece.row);
        self.rows_of_client += i64::from(is_next_row) + i64::from(!piece.may_have_more_cells);
        if piece.cells >= self.batch {
            self.remembered_row = piece.may_have_more_cells.then(|| piece.row.to_vec());
        }
    }

    /// Records that the region has no more parts; `was_known` says whether the last part said so.
    pub(super) fn end_region(&mut self, was_known: bool) {
        if !was_known {
            let is_empty = self.results == 0;
            self.rows_of_client += i64::from(is_empty && self.remembered_row.is_some());
            self.end_fetch();
        }
        self.open_row = None;
    }

    fn end_fetch(&mut self) {
        if self.rows_left > 0 {
            self.rows_left -= self.rows_of_client;
        }
        self.is_over |= self.rows_left == 0;
        (self.results, self.rows_of_server, self.rows_of_client) = (0, 0, 0);
    }
}
