//! Pairs requests with their answers, makes the lines, and writes them.
//!
//! Threads: the thread `hblite-record`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hblite_model::{Error, Result, counted};
use hblite_wire::client_frame::Reply;
use hblite_wire::frame::{LENGTH_SIZE, decode_connection_header};
use hblite_wire::recording::{Call, Line, RecordedException, cells_to_json, shown, to_json};
use hblite_wire::tree::{Tree, messages_of};

use super::queue::{Event, Queue, Requested};

/// The buffer of the file.
const BUFFER_BYTES: usize = 256 << 10;

/// The contents of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedCalls {
    /// Calls in the file.
    pub calls: u64,
    /// Calls that were left out because the queue was full.
    pub dropped: u64,
}

/// The writing thread.
pub(super) struct Writer {
    path: PathBuf,
    output: BufWriter<File>,
    queue: Arc<Queue>,
    report: Box<dyn Fn(&str) + Send>,
    has_begun: bool,
    connections: HashMap<u64, Open>,
    counts: RecordedCalls,
    last_call: u64,
}

/// A connection, and its calls without an answer.
struct Open {
    number: u64,
    service: String,
    /// Its cell blocks are not recorded.
    is_compressed: bool,
    calls: HashMap<u32, Waiting>,
}

struct Waiting {
    number: u64,
    at_ms: i64,
    since: Instant,
    request: Requested,
    size_bytes: usize,
}

impl Writer {
    /// A writer of `file`, at `path`.
    pub(super) fn new(
        path: PathBuf,
        file: File,
        queue: Arc<Queue>,
        report: Box<dyn Fn(&str) + Send>,
    ) -> Self {
        Self {
            path,
            output: BufWriter::with_capacity(BUFFER_BYTES, file),
            queue,
            report,
            has_begun: false,
            connections: HashMap::new(),
            counts: RecordedCalls { calls: 0, dropped: 0 },
            last_call: 0,
        }
    }

    /// Writes events until the queue is closed and empty.
    pub(super) fn run(mut self) -> Result<RecordedCalls> {
        let written = self.write_all();
        written.map_err(|error| {
            self.queue.abandon();
            let path = self.path.display();
            let calls = counted(self.counts.calls, "call");
            (self.report)(&format!(
                "the recording {path} ends after {calls}: it cannot be written: {error}"
            ));
            Error::io("cannot write", &self.path, error)
        })
    }

    fn write_all(&mut self) -> io::Result<RecordedCalls> {
        while let Some(events) = self.queue.take() {
            for event in events {
                let size = event.size_bytes();
                let kept = self.write_event(event, size)?;
                self.queue.release(size - kept);
            }
            // This also shows the failure to readers of the file.
            self.output.flush()?;
        }
        self.begin(0)?;
        let left: Vec<Open> = self.connections.drain().map(|(_, open)| open).collect();
        for open in left {
            self.write_unanswered(open)?;
        }
        let RecordedCalls { calls, dropped } = self.counts;
        self.write(&Line::End { calls, dropped })?;
        self.output.flush()?;
        Ok(self.counts)
    }

    /// Writes the lines of an event. Returns the bytes of it that are kept.
    fn write_event(&mut self, event: Event, size_bytes: usize) -> io::Result<usize> {
        match event {
            Event::Opened { connection, at_ms } => {
                let header = decode_connection_header(&connection.header).unwrap_or_default();
                let is_compressed = header.cell_block_compressor_class.is_some();
                let (number, service) = (connection.number, connection.service.clone());
                let open = Open { number, service, is_compressed, calls: HashMap::new() };
                self.connections.insert(number, open);
                self.begin(at_ms)?;
                self.write(&Line::Connection(connection))?;
            }
            Event::Request { connection, id, at_ms, since, request } => {
                self.last_call += 1;
                let number = self.last_call;
                let waiting = Waiting { number, at_ms, since, request, size_bytes };
                let open = self.connections.get_mut(&connection);
                // An id that is used twice answers the later call.
                let replaced = open.and_then(|open| open.calls.insert(id, waiting));
                self.queue.release(replaced.map_or(0, |waiting| waiting.size_bytes));
                return Ok(size_bytes);
            }
            Event::Answer { connection, after, head, cells } => {
                self.write_answer(connection, after, &head, &cells)?;
            }
            Event::Closed { connection } => {
                if let Some(open) = self.connections.remove(&connection) {
                    self.write_unanswered(open)?;
                }
            }
            Event::Dropped { calls } => {
                if self.counts.dropped == 0 {
                    let path = self.path.display();
                    (self.report)(&format!(
                        "the recording {path} leaves out calls: they come faster than they can be \
                         written"
                    ));
                }
                self.counts.dropped += calls;
                self.write(&Line::Dropped { calls })?;
            }
        }
        Ok(0)
    }

    fn write_answer(
        &mut self,
        connection: u64,
        after: Instant,
        head: &Bytes,
        cells: &Bytes,
    ) -> io::Result<()> {
        let whole = [head.get(LENGTH_SIZE..).unwrap_or_default(), cells].concat();
        let Ok(reply) = Reply::parse(whole.into()) else { return Ok(()) };
        let Some(open) = self.connections.get_mut(&connection) else { return Ok(()) };
        let Some(waiting) = open.calls.remove(&reply.call_id()) else { return Ok(()) };
        let took = after.saturating_duration_since(waiting.since);
        let size_bytes = waiting.size_bytes;
        let call = describe(open, waiting, took, Some(reply));
        self.counts.calls += 1;
        self.queue.release(size_bytes);
        self.write(&Line::Call(Box::new(call)))
    }

    /// Calls of a connection that ended before they were answered.
    fn write_unanswered(&mut self, mut open: Open) -> io::Result<()> {
        let mut calls: Vec<Waiting> = open.calls.drain().map(|(_, waiting)| waiting).collect();
        calls.sort_by_key(|waiting| waiting.number);
        for waiting in calls {
            let size_bytes = waiting.size_bytes;
            let call = describe(&open, waiting, Duration::ZERO, None);
            self.counts.calls += 1;
            self.queue.release(size_bytes);
            self.write(&Line::Call(Box::new(call)))?;
        }
        Ok(())
    }

    fn begin(&mut self, began_ms: i64) -> io::Result<()> {
        match std::mem::replace(&mut self.has_begun, true) {
            true => Ok(()),
            false => self.write(&Line::Begin { began_ms }),
        }
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        self.output.write_all(line.to_text().as_bytes())
    }
}

/// The line of a call.
fn describe(open: &Open, waiting: Waiting, took: Duration, reply: Option<Reply>) -> Call {
    let Waiting { number, at_ms, request, .. } = waiting;
    let (request_type, response_type) = messages_of(&open.service, &request.method);
    let tree = Tree::parse(&request_type, request.message.clone());
    let (table, region) = tree.as_ref().map(subject).unwrap_or_default();
    let show = |tree: Option<&Tree>, cells: &Bytes| {
        let mut json = tree.map(to_json).unwrap_or_default();
        if !cells.is_empty() && !open.is_compressed && json.is_object() {
            json["cells"] = cells_to_json(cells);
        }
        json
    };
    let mut call = Call {
        number,
        connection: open.number,
        at_ms,
        took_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        request: show(tree.as_ref(), &request.cells),
        method: request.method,
        table,
        region,
        request_bytes: request.message,
        request_cells: request.cells,
        ..Call::default()
    };
    let Some(reply) = reply else { return call };
    match reply.header.exception {
        Some(exception) => {
            let class = exception.exception_class_name.unwrap_or_default();
            let message = exception.stack_trace.unwrap_or_default();
            call.exception = Some(RecordedException { class, message });
        }
        None => {
            let tree = Tree::parse(&response_type, reply.message.clone());
            call.response = show(tree.as_ref(), &reply.cells);
            call.response_bytes = Some(reply.message);
            call.response_cells = reply.cells;
        }
    }
    call
}

/// The table and the region that a request names first.
fn subject(request: &Tree) -> (Option<String>, Option<String>) {
    let (mut table, mut region) = (None, None);
    request.for_each(&mut |message| match message.message_type() {
        "RegionSpecifier" if region.is_none() => region = message.bytes("value").cloned(),
        "TableName" if table.is_none() => {
            let part = |name| message.bytes(name).map(|bytes| shown(bytes)).unwrap_or_default();
            table = Some(match part("namespace").as_str() {
                "" | "default" => part("qualifier"),
                namespace => format!("{namespace}:{}", part("qualifier")),
            });
        }
        _ => {}
    });
    let of_region = region.as_ref().and_then(|name| {
        let end = name.iter().position(|byte| *byte == b',')?;
        Some(shown(&name[..end]))
    });
    (table.or(of_region), region.map(|name| shown(&name)))
}
