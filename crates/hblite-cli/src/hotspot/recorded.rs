//! The requests of a recording that are about one table.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use bytes::Bytes;
use hblite_hotspot::predict::RecordedRequest;
use hblite_hotspot::simulate::Kind;
use hblite_wire::cell_block::CellReader;
use hblite_wire::pb;
use hblite_wire::recording::{Call, Line, Reader};
use prost::Message as _;

/// `MutationProto.MutationType` of a put, and of a delete.
const PLAIN: [i32; 2] = [2, 3];

/// What a recording has of a table.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) requests: Vec<RecordedRequest>,
    /// Calls that the recorder had no room for, of any table.
    pub(super) dropped: u64,
    /// Whether the recording has no end.
    pub(super) is_cut: bool,
    /// Scans.
    pub(super) scans: u64,
    /// Other calls: of coprocessors, and bulk loads.
    pub(super) others: u64,
    /// Calls that were answered with an exception.
    pub(super) failed: u64,
    /// Calls whose messages cannot be read.
    pub(super) unreadable: u64,
    /// Requests that came in batches.
    pub(super) in_batches: u64,
    /// Increments, appends and conditional writes.
    pub(super) not_plain: u64,
    written_bytes: u64,
}

impl Recorded {
    /// Reads the calls about a table.
    ///
    /// # Errors
    /// If the file is not a recording or damaged, with the line; if it has no call about the table,
    /// with the tables that it has calls about.
    pub(super) fn read(path: &Path, table: &str) -> Result<Self, String> {
        let shown = path.display();
        let file = File::open(path).map_err(|error| format!("{shown}: {error}"))?;
        Self::of_reader(BufReader::new(file), table).map_err(|reason| format!("{shown}: {reason}"))
    }

    fn of_reader(input: impl BufRead, table: &str) -> Result<Self, String> {
        let mut reader = Reader::new(input);
        let mut recorded = Self { is_cut: true, ..Self::default() };
        let mut others: Vec<String> = Vec::new();
        let mut is_there = false;
        while let Some(line) = reader.next_line().map_err(|error| error.to_string())? {
            match line {
                Line::Call(call) if call.table.as_deref() == Some(table) => {
                    is_there = true;
                    recorded.add(&call);
                }
                Line::Call(call) => match call.table {
                    Some(name) if others.len() < 10 && !others.contains(&name) => others.push(name),
                    _ => {}
                },
                Line::Dropped { calls } => {
                    recorded.dropped = recorded.dropped.saturating_add(calls);
                }
                Line::End { .. } => recorded.is_cut = false,
                Line::Begin { .. } | Line::Connection(_) => {}
            }
        }
        match (is_there, others.is_empty()) {
            (true, _) => Ok(recorded),
            (false, true) => Err(format!("no call is about table {table}, or any other")),
            (false, false) => {
                let others = others.join(", ");
                Err(format!("no call is about table {table}; there are calls about {others}"))
            }
        }
    }

    /// The mean number of bytes of a written row's values.
    pub(super) fn value_bytes(&self) -> usize {
        let is_write = |request: &&RecordedRequest| request.kind == Kind::Write;
        let writes = self.requests.iter().filter(is_write).count();
        usize::try_from(self.written_bytes / writes.max(1) as u64).unwrap_or(0)
    }

    fn add(&mut self, call: &Call) {
        if call.exception.is_some() {
            self.failed += 1;
            return;
        }
        let bytes = call.request_bytes.clone();
        let is_readable = match call.method.as_str() {
            "Get" => pb::GetRequest::decode(bytes).map(|request| self.get(call, &request.get)),
            "Mutate" => pb::MutateRequest::decode(bytes).map(|request| {
                self.mutation(call, &request.mutation, request.condition.is_some());
            }),
            "Multi" => pb::MultiRequest::decode(bytes).map(|request| self.batch(call, &request)),
            "Scan" => pb::ScanRequest::decode(bytes)
                .map(|request| self.scans += u64::from(request.scan.is_some())),
            "ExecService" | "ExecRegionServerService" | "BulkLoadHFile" => {
                self.others += 1;
                return;
            }
            _ => return,
        };
        match is_readable {
            Ok(()) => self.written_bytes += values(&call.request_cells),
            Err(_) => self.unreadable += 1,
        }
    }

    fn get(&mut self, call: &Call, get: &pb::Get) {
        self.push(call, Kind::Read, &get.row);
    }

    fn mutation(&mut self, call: &Call, mutation: &pb::MutationProto, is_conditional: bool) {
        let Some(row) = &mutation.row else {
            self.unreadable += 1;
            return;
        };
        let is_plain = PLAIN.contains(&mutation.mutate_type.unwrap_or_default());
        self.not_plain += u64::from(is_conditional || !is_plain);
        let cells = mutation.column_value.iter().flat_map(|column| &column.qualifier_value);
        let values = cells.filter_map(|cell| cell.value.as_ref());
        self.written_bytes += values.map(|value| value.len() as u64).sum::<u64>();
        self.push(call, Kind::Write, row);
    }

    fn batch(&mut self, call: &Call, request: &pb::MultiRequest) {
        let before = self.requests.len();
        for of_region in &request.region_action {
            let is_conditional = request.condition.is_some() || of_region.condition.is_some();
            for action in &of_region.action {
                match (&action.get, &action.mutation) {
                    (Some(get), _) => self.get(call, get),
                    (_, Some(mutation)) => self.mutation(call, mutation, is_conditional),
                    (None, None) => self.others += 1,
                }
            }
        }
        match self.requests.len() - before {
            0 | 1 => {}
            count => self.in_batches += count as u64,
        }
    }

    fn push(&mut self, call: &Call, kind: Kind, row: &Bytes) {
        self.requests.push(RecordedRequest { at_ms: call.at_ms, kind, row: row.to_vec() });
    }
}

/// The bytes of the values in a cell block; all of its bytes if it is compressed.
fn values(block: &[u8]) -> u64 {
    let (mut reader, mut bytes) = (CellReader::new(block), 0);
    while let Ok(cell) = reader.next_cell() {
        bytes += cell.value().len() as u64;
    }
    if bytes == 0 { block.len() as u64 } else { bytes }
}
