//! The rows of one answer.

use std::time::Instant;

use hblite_engine::RegionStep;
use hblite_model::{CellRef, Result};
use hblite_wire::convert::ResultWriter;
use hblite_wire::pb;

use crate::cluster::Cluster;
use crate::cluster::meta_view::MetaView;
use crate::rpc::call::Call;
use crate::rpc::scanners::OpenScanner;

/// What one call asks for.
pub(super) struct Request {
    /// Results.
    pub(super) rows_max: u32,
    /// Rows that the client wants at all, from here on.
    pub(super) rows_left: Option<u32>,
    pub(super) size_max: u64,
    /// Whether a row may be cut.
    pub(super) allows_partials: bool,
    /// When the answer is due, whatever was found.
    pub(super) time_limit: Option<Instant>,
    pub(super) tracks_metrics: bool,
    /// What the scanner had counted before.
    pub(super) counts_before: (u64, u64),
}

/// What was read.
pub(super) struct Rows {
    results: ResultWriter,
    /// Number of cells, or the cells themselves for clients without a codec.
    messages: Vec<pb::Result>,
    partial: Vec<bool>,
    has_more_in_region: bool,
    has_more: bool,
    is_heartbeat: bool,
    cursor: Option<Vec<u8>>,
    metrics: Option<pb::ScanMetrics>,
    /// Whole rows.
    complete_rows: u32,
}

/// Where the rows go on their way: to the results, and through the view of hbase:meta.
struct Sink<'s> {
    results: &'s mut ResultWriter,
    view: Option<MetaView<'s>>,
    /// What the cells of the answer count for.
    size_bytes: &'s mut u64,
    /// The row of the first cell.
    row: Vec<u8>,
}

impl Sink<'_> {
    #[inline]
    fn push(&mut self, cell: &CellRef<'_>) {
        if self.results.count() == 0 {
            self.row.clear();
            self.row.extend_from_slice(cell.row());
        }
        *self.size_bytes += cell.heap_size() as u64;
        let results = &mut *self.results;
        match &mut self.view {
            None => results.push(cell),
            Some(view) => view.show(cell, |shown| results.push(shown)),
        }
    }
}

/// Reads until something is full.
///
/// # Errors
/// Those of files and filters.
pub(super) fn read_rows(
    cluster: &Cluster,
    call: &Call<'_>,
    request: &Request,
    scanner: &mut OpenScanner,
) -> Result<Rows> {
    let mut rows = Rows {
        results: call.results(),
        messages: Vec::new(),
        partial: Vec::new(),
        has_more_in_region: true,
        has_more: true,
        is_heartbeat: false,
        cursor: None,
        metrics: None,
        complete_rows: 0,
    };
    let is_late = || request.time_limit.is_some_and(|limit| Instant::now() >= limit);
    let is_meta = scanner.scan.info().table().is_meta();
    let (mut row, mut size_bytes) = (Vec::new(), 0);
    while (rows.messages.len() as u64) < u64::from(request.rows_max) {
        let view = is_meta.then(|| MetaView::new(cluster, &call.client.host));
        let size_left = request.size_max.saturating_sub(size_bytes).max(1);
        let results = &mut rows.results;
        let mut sink = Sink { results, view, size_bytes: &mut size_bytes, row };
        let size_limit = request.allows_partials.then_some(size_left);
        let step = scanner.scan.next(size_limit, is_late, |cell| sink.push(cell))?;
        row = sink.row;
        match step {
            RegionStep::Paused => {
                rows.is_heartbeat = true;
                break;
            }
            RegionStep::End => {
                rows.has_more_in_region = false;
                // The cut was at the end of the row, as it turns out.
                if let Some(last) = rows.partial.last_mut() {
                    *last = false;
                }
                break;
            }
            RegionStep::Row { may_have_more_cells } => {
                rows.has_more_in_region = scanner.scan.may_have_more();
                if !rows.take(request, scanner, &row, may_have_more_cells) {
                    break;
                }
            }
        }
        let is_full = size_bytes >= request.size_max;
        let is_late = is_late();
        if is_full || is_late || !rows.has_more_in_region {
            rows.is_heartbeat = rows.has_more_in_region && is_late;
            break;
        }
    }
    rows.end(request, scanner);
    Ok(rows)
}

impl Rows {
    /// Takes the row that was just read as a result. `false` if it is the last one, or one too
    /// many.
    fn take(
        &mut self,
        request: &Request,
        scanner: &mut OpenScanner,
        row: &[u8],
        may_have_more_cells: bool,
    ) -> bool {
        if let Some(open) = scanner.open_row.take()
            && open != row
        {
            // What looked cut was whole.
            self.complete_rows += 1;
            if self.is_limit_reached(request) {
                self.results.discard();
                self.has_more = false;
                return false;
            }
        }
        let message = self.results.finish();
        self.messages.push(message);
        self.partial.push(may_have_more_cells);
        if may_have_more_cells {
            scanner.open_row = Some(row.to_vec());
            return true;
        }
        self.complete_rows += 1;
        self.has_more = !self.is_limit_reached(request);
        self.has_more
    }

    fn is_limit_reached(&self, request: &Request) -> bool {
        request.rows_left.is_some_and(|left| self.complete_rows >= left)
    }

    fn end(&mut self, request: &Request, scanner: &mut OpenScanner) {
        if self.messages.is_empty() && scanner.scan.is_filter_done() {
            self.has_more = false;
        }
        if self.is_heartbeat && scanner.settings.needs_cursor {
            self.cursor = scanner.scan.position().map(<[u8]>::to_vec);
        }
        if request.tracks_metrics {
            let names = ["ROWS_SCANNED", "ROWS_FILTERED", "BLOCK_BYTES_SCANNED", "FS_READ_TIME"];
            let (scanned, filtered) = scanner.scan.row_counts();
            let (scanned_before, filtered_before) = request.counts_before;
            let size = self.results.size_bytes() as u64;
            let values = [scanned - scanned_before, filtered - filtered_before, size, 0];
            let metrics = names.into_iter().zip(values).map(|(name, value)| pb::NameInt64Pair {
                name: Some(name.to_owned()),
                value: i64::try_from(value).ok(),
            });
            self.metrics = Some(pb::ScanMetrics { metrics: metrics.collect() });
        }
    }

    /// Says "still looking", of an answer without rows.
    pub(super) fn be_a_heartbeat(&mut self) {
        self.is_heartbeat = true;
    }

    /// Puts what was read into the answer; gives the cells that go beside it.
    pub(super) fn fill(self, response: &mut pb::ScanResponse) -> ResultWriter {
        response.stale = Some(false);
        response.more_results = Some(self.has_more);
        response.more_results_in_region = Some(self.has_more_in_region);
        response.heartbeat_message = self.is_heartbeat.then_some(true);
        response.scan_metrics = self.metrics;
        response.cursor = self.cursor.map(|row| pb::Cursor { row: Some(row.into()) });
        if self.results.has_block() {
            let counts = self.messages.iter().map(|message| message.associated_cell_count);
            response.cells_per_result =
                counts.map(|count| u32::try_from(count.unwrap_or(0)).unwrap_or(0)).collect();
            response.partial_flag_per_result = self.partial;
        } else {
            let pairs = self.messages.into_iter().zip(self.partial);
            response.results = pairs
                .map(|(result, partial)| pb::Result {
                    stale: Some(false),
                    partial: Some(partial),
                    ..result
                })
                .collect();
        }
        self.results
    }
}
