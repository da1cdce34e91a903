//! The rows of one answer.

use std::time::Instant;

use hblite_engine::RegionStep;
use hblite_model::{CellRef, RowPart};
use hblite_wire::convert::ResultWriter;
use hblite_wire::{RemoteException, pb};

use super::super::reading;
use crate::cluster::Cluster;
use crate::cluster::meta_view::MetaView;
use crate::cluster::scanners::OpenScanner;
use crate::rpc::call::Call;

/// The time is looked at after this many rows or bytes, whichever come first: looking takes as long
/// as reading a row.
const ROWS_BETWEEN_LOOKS: usize = 32;
const BYTES_BETWEEN_LOOKS: u64 = 16 * 1024;
/// An answer with at least one row ends when there is no room for this many more bytes.
const ROW_ROOM: usize = 16 * 1024;

/// The request of one call.
pub(super) struct Request {
    /// Results.
    pub(super) rows_max: u32,
    /// Rows that the client still expects.
    pub(super) rows_left: Option<u32>,
    pub(super) size_max: u64,
    /// Whether a row may be cut.
    pub(super) allows_partials: bool,
    /// When the answer is due, whatever was found.
    pub(super) time_limit: Option<Instant>,
    pub(super) tracks_metrics: bool,
    /// Whether the answer must be a heartbeat without rows.
    pub(super) only_opens: bool,
    /// The scanner's previous counts.
    pub(super) counts_before: (u64, u64),
}

/// The result so far.
pub(super) struct Rows {
    results: ResultWriter,
    /// The size of the cells of the answer.
    size_bytes: u64,
    /// The last row read.
    row: Vec<u8>,
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

/// Where the rows go: to the results, through the view of hbase:meta.
struct Sink<'s> {
    results: &'s mut ResultWriter,
    view: Option<MetaView<'s>>,
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

impl Request {
    fn is_late(&self, now: Instant) -> bool {
        self.time_limit.is_some_and(|limit| now >= limit)
    }
}

impl Rows {
    /// Nothing yet.
    pub(super) fn new(call: &Call<'_>) -> Self {
        Self {
            results: call.results(),
            size_bytes: 0,
            row: Vec::new(),
            messages: Vec::new(),
            partial: Vec::new(),
            has_more_in_region: true,
            has_more: true,
            is_heartbeat: false,
            cursor: None,
            metrics: None,
            complete_rows: 0,
        }
    }

    /// Charges all memory in use; false if that is not possible.
    pub(super) fn charge_all(&mut self) -> bool {
        self.results.charge_all()
    }

    /// Reads until a limit is reached; `false` if `pause_at` came first, or the call's turn is
    /// over. The next call then continues.
    ///
    /// # Errors
    /// Those of files and filters; `CallQueueTooBig` if there is no memory for a row.
    pub(super) fn read_on(
        &mut self,
        cluster: &Cluster,
        call: &Call<'_>,
        request: &Request,
        scanner: &mut OpenScanner,
        pause_at: Option<Instant>,
    ) -> Result<bool, RemoteException> {
        if request.only_opens {
            self.is_heartbeat = true;
            self.end(request, scanner);
            return Ok(true);
        }
        let has_limit = request.time_limit.is_some() || pause_at.is_some();
        let is_pause = |now| pause_at.is_some_and(|pause| now >= pause);
        let is_over = || {
            has_limit && {
                let now = Instant::now();
                request.is_late(now) || is_pause(now)
            }
        };
        let is_meta = scanner.scan.info().table().is_meta();
        let (mut rows_looked_at, mut bytes_looked_at) = (self.messages.len(), self.size_bytes);
        while (self.messages.len() as u64) < u64::from(request.rows_max) {
            let view = is_meta.then(|| MetaView::new(cluster, &call.client.host));
            let row = std::mem::take(&mut self.row);
            let size_left = request.size_max.saturating_sub(self.size_bytes).max(1);
            let (results, size_bytes) = (&mut self.results, &mut self.size_bytes);
            let mut sink = Sink { results, view, size_bytes, row };
            let size_limit = request.allows_partials.then_some(size_left);
            let scan = &mut scanner.scan;
            let step = reading::next_row(call, scan, size_limit, is_over, |cell| sink.push(cell))?;
            self.row = sink.row;
            if self.results.is_out_of_memory() {
                return Err(call.out_of_memory());
            }
            if step == RegionStep::Cursor(()) && scanner.scan.is_within_row() {
                return Ok(false);
            }
            let found_row = matches!(step, RegionStep::Row(_));
            let is_last = self.take_step(request, scanner, step);
            if is_last {
                break;
            }
            let is_time_to_look = !found_row
                || self.messages.len() - rows_looked_at >= ROWS_BETWEEN_LOOKS
                || self.size_bytes - bytes_looked_at >= BYTES_BETWEEN_LOOKS;
            if has_limit && is_time_to_look {
                (rows_looked_at, bytes_looked_at) = (self.messages.len(), self.size_bytes);
                let now = Instant::now();
                if request.is_late(now) {
                    self.is_heartbeat = true;
                    break;
                }
                if is_pause(now) {
                    return Ok(false);
                }
            }
            if call.is_turn_over() {
                return Ok(false);
            }
        }
        self.end(request, scanner);
        Ok(true)
    }

    /// Takes what a step has found. Returns whether it is the last one of the answer.
    fn take_step(
        &mut self,
        request: &Request,
        scanner: &mut OpenScanner,
        step: RegionStep,
    ) -> bool {
        match step {
            RegionStep::Cursor(()) => false,
            RegionStep::End => {
                self.has_more_in_region = false;
                // The cut turned out to be at the end of the row.
                if let Some(last) = self.partial.last_mut() {
                    *last = false;
                }
                true
            }
            RegionStep::Row(RowPart { may_have_more_cells }) => {
                self.has_more_in_region = scanner.scan.may_have_more();
                !self.take(request, scanner, may_have_more_cells)
                    || self.size_bytes >= request.size_max
                    || !self.results.has_room_for(ROW_ROOM)
                    || !self.has_more_in_region
            }
        }
    }

    /// Adds the row just read as a result. `false` if it is the last one, or one too many.
    fn take(
        &mut self,
        request: &Request,
        scanner: &mut OpenScanner,
        may_have_more_cells: bool,
    ) -> bool {
        if let Some(open) = scanner.open_row.take()
            && open != self.row
        {
            // The row that looked incomplete was complete.
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
            scanner.open_row = Some(self.row.clone());
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

    /// Puts what was read into the answer; returns the cells that follow it.
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
