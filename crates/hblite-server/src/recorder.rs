//! Writes every call and its answer to a file (`hblite_wire::recording` has the format).
//!
//! Connections copy the bytes of requests and answers into a queue; one thread pairs them, makes
//! the lines and writes them. Recording never delays a call: if the queue is full, calls are left
//! out, and a line in the file states how many.
//!
//! Invariant: queue and unanswered calls together take at most [`QUEUE_MAX_BYTES`], and one event
//! beyond that. Threads: connections add events; the thread `hblite-record` does the rest.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hblite_model::{Error, Result};
use hblite_wire::client_frame::Reply;
use hblite_wire::frame::{LENGTH_SIZE, Request, decode_connection_header};
use hblite_wire::recording::{
    Call, Connection, Line, RecordedException, cells_to_json, shown, to_json,
};
use hblite_wire::tree::{Tree, messages_of};
use parking_lot::{Condvar, Mutex};

/// Bytes of calls that wait to be written, or for their answers.
const QUEUE_MAX_BYTES: usize = 64 << 20;
/// The overhead of an event in memory.
const EVENT_BYTES: usize = 256;
/// The buffer of the file.
const BUFFER_BYTES: usize = 256 << 10;

/// Records the calls of a server. Clones record to the same file.
///
/// ```no_run
/// use hblite_server::{Recorder, Server, ServerOptions};
/// let recorder = Recorder::create("calls.jsonl", |line| eprintln!("{line}"))?;
/// let options = ServerOptions::on_free_ports().with_recorder(recorder.clone());
/// let server = Server::start(&hblite::open_in_memory()?, options)?;
/// server.stop();
/// println!("{} calls", recorder.finish()?.calls);
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Clone)]
pub struct Recorder(Arc<Handle>);

/// The contents of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedCalls {
    /// Calls in the file.
    pub calls: u64,
    /// Calls that were left out because the queue was full.
    pub dropped: u64,
}

struct Handle {
    queue: Arc<Queue>,
    last_connection: AtomicU64,
    thread: Mutex<Option<JoinHandle<Result<RecordedCalls>>>>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    /// Of events, and of calls without an answer.
    size_bytes: usize,
    /// Requests left out since the last event.
    dropped: u64,
    /// Nothing more is added: the recording has ended, or the file cannot be written.
    is_closed: bool,
}

enum Event {
    Opened { connection: Connection, at_ms: i64 },
    Request { connection: u64, id: u32, at_ms: i64, since: Instant, request: Requested },
    Answer { connection: u64, after: Instant, head: Bytes, cells: Bytes },
    Closed { connection: u64 },
    Dropped { calls: u64 },
}

struct Requested {
    method: String,
    message: Bytes,
    cells: Bytes,
}

impl Event {
    fn size_bytes(&self) -> usize {
        EVENT_BYTES
            + match self {
                Self::Opened { connection, .. } => connection.header.len(),
                Self::Request { request, .. } => request.message.len() + request.cells.len(),
                Self::Answer { head, cells, .. } => head.len() + cells.len(),
                Self::Closed { .. } | Self::Dropped { .. } => 0,
            }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    /// Creates the file, or empties it. If a call is left out or the file cannot be written,
    /// `report` is called with one line that says so.
    ///
    /// # Errors
    /// `Io` if the file cannot be created.
    pub fn create(path: impl AsRef<Path>, report: impl Fn(&str) + Send + 'static) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let failed = |error| Error::io("cannot create", &path, error);
        let file = File::create(&path).map_err(failed)?;
        let output = BufWriter::with_capacity(BUFFER_BYTES, file);
        let queue = Arc::new(Queue::default());
        let writer = Writer {
            path: path.clone(),
            output,
            queue: Arc::clone(&queue),
            report: Box::new(report),
            has_begun: false,
            connections: HashMap::new(),
            counts: RecordedCalls { calls: 0, dropped: 0 },
            last_call: 0,
        };
        let thread = std::thread::Builder::new().name("hblite-record".to_owned());
        let thread = thread.spawn(move || writer.run()).map_err(failed)?;
        let thread = Mutex::new(Some(thread));
        Ok(Self(Arc::new(Handle { queue, last_connection: AtomicU64::new(0), thread })))
    }

    /// Writes what has been recorded, and ends the recording. Later calls are not recorded.
    ///
    /// # Errors
    /// `Io` if the file could not be written; `IllegalState` if the recording has already ended.
    pub fn finish(&self) -> Result<RecordedCalls> {
        self.0.finish().unwrap_or_else(|| {
            let message = "the recording has already ended";
            Err(Error::new(hblite_model::Exception::IllegalState, message))
        })
    }

    /// A connection has identified itself.
    pub(crate) fn connection(
        &self,
        server: String,
        service: String,
        peer: String,
        header: Bytes,
        at_ms: i64,
    ) -> RecordedConnection {
        let number = self.0.last_connection.fetch_add(1, Ordering::Relaxed) + 1;
        let connection = Connection { number, server, service, peer, header };
        self.0.queue.add(Event::Opened { connection, at_ms });
        RecordedConnection { recorder: self.clone(), number }
    }
}

impl Handle {
    fn finish(&self) -> Option<Result<RecordedCalls>> {
        let thread = self.thread.lock().take()?;
        self.queue.state.lock().is_closed = true;
        self.queue.changed.notify_all();
        let ended = thread.join();
        Some(ended.unwrap_or_else(|_| Err(Error::do_not_retry("the recorder failed"))))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // `finish` reports failures.
        let _ = self.finish();
    }
}

/// A connection whose calls are recorded.
#[derive(Debug)]
pub(crate) struct RecordedConnection {
    recorder: Recorder,
    number: u64,
}

impl RecordedConnection {
    /// A request was read.
    pub(crate) fn request(&self, request: &Request, at_ms: i64) {
        let connection = self.number;
        let detached = Requested {
            method: request.method().to_owned(),
            // A slice would keep the larger buffer alive.
            message: Bytes::copy_from_slice(&request.message),
            cells: Bytes::copy_from_slice(&request.cells),
        };
        let (id, since) = (request.call_id(), Instant::now());
        let event = Event::Request { connection, id, at_ms, since, request: detached };
        self.recorder.0.queue.add(event);
    }

    /// An answer is about to be sent.
    pub(crate) fn answer(&self, head: &Bytes, cells: &Bytes) {
        let (connection, after) = (self.number, Instant::now());
        let (head, cells) = (Bytes::copy_from_slice(head), Bytes::copy_from_slice(cells));
        self.recorder.0.queue.add(Event::Answer { connection, after, head, cells });
    }
}

impl Drop for RecordedConnection {
    fn drop(&mut self) {
        self.recorder.0.queue.add(Event::Closed { connection: self.number });
    }
}

impl Queue {
    fn add(&self, event: Event) {
        let mut state = self.state.lock();
        if state.is_closed {
            return;
        }
        let size = event.size_bytes();
        // The beginning and the end of a connection are small, and calls are unintelligible without
        // them.
        let is_call = matches!(event, Event::Request { .. } | Event::Answer { .. });
        if is_call && state.size_bytes + size > QUEUE_MAX_BYTES {
            // A request whose answer is left out is dropped with its connection's end.
            state.dropped += u64::from(matches!(event, Event::Request { .. }));
            return;
        }
        let calls = std::mem::take(&mut state.dropped);
        if calls > 0 {
            state.size_bytes += EVENT_BYTES;
            state.events.push_back(Event::Dropped { calls });
        }
        state.size_bytes += size;
        state.events.push_back(event);
        drop(state);
        self.changed.notify_one();
    }

    /// The added events; `None` once no more will follow.
    fn take(&self) -> Option<VecDeque<Event>> {
        let mut state = self.state.lock();
        while state.events.is_empty() && !state.is_closed {
            self.changed.wait(&mut state);
        }
        let calls = std::mem::take(&mut state.dropped);
        if calls > 0 {
            state.size_bytes += EVENT_BYTES;
            state.events.push_back(Event::Dropped { calls });
        }
        (!state.events.is_empty()).then(|| std::mem::take(&mut state.events))
    }

    fn release(&self, size_bytes: usize) {
        self.state.lock().size_bytes -= size_bytes;
    }
}

/// The thread that writes.
struct Writer {
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
    fn run(mut self) -> Result<RecordedCalls> {
        let written = self.write_all();
        written.map_err(|error| {
            let mut state = self.queue.state.lock();
            state.is_closed = true;
            state.events.clear();
            drop(state);
            let path = self.path.display();
            let calls = self.counts.calls;
            (self.report)(&format!(
                "the recording {path} ends after {calls} calls: it cannot be written: {error}"
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

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use hblite_wire::frame::Response;
    use hblite_wire::pb;
    use hblite_wire::recording::Reader;
    use prost::Message as _;

    use super::*;

    fn request(size: usize) -> Event {
        let (message, cells) = (Bytes::from(vec![0; size]), Bytes::new());
        let request = Requested { method: "Get".to_owned(), message, cells };
        Event::Request { connection: 1, id: 1, at_ms: 0, since: Instant::now(), request }
    }

    #[test]
    fn what_the_queue_has_no_room_for_is_counted_and_left_out() {
        let queue = Queue::default();
        let third = QUEUE_MAX_BYTES / 3;
        (0..5).for_each(|_| queue.add(request(third)));
        assert!(queue.state.lock().size_bytes <= QUEUE_MAX_BYTES);
        let events = queue.take().unwrap();
        assert_eq!(events.len(), 3);
        assert!(matches!(events[2], Event::Dropped { calls: 3 }));
        // Events taken from the queue count until they are written.
        queue.add(request(2 * third));
        assert_eq!(queue.state.lock().dropped, 1);
        queue.release(events.iter().map(Event::size_bytes).sum());
        queue.add(request(2 * third));
        let events = queue.take().unwrap();
        assert!(matches!(events[0], Event::Dropped { calls: 1 }));
        assert_eq!(events.len(), 2);
    }

    #[test]
    fn an_answer_is_paired_with_its_request_and_the_end_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("calls.jsonl");
        let recorder = Recorder::create(&path, |_| {}).unwrap();
        let header = Bytes::new();
        let service = "ClientService".to_owned();
        let connection =
            recorder.connection("master".to_owned(), service, "p".to_owned(), header, 7);
        let get = pb::GetRequest {
            region: pb::RegionSpecifier { r#type: 1, value: Bytes::from_static(b"t,,1.e.") },
            get: pb::Get { row: Bytes::from_static(b"r"), ..pb::Get::default() },
        };
        for (id, method) in [(5, "Get"), (6, "Get")] {
            let header = pb::RequestHeader {
                call_id: Some(id),
                method_name: Some(method.to_owned()),
                ..pb::RequestHeader::default()
            };
            let message = get.encode_to_vec().into();
            connection.request(&Request { header, message, cells: Bytes::new() }, 8);
        }
        let answer = Response::new(6, &pb::GetResponse { result: None }, Bytes::new());
        connection.answer(&answer.head, &answer.cells);
        drop(connection);
        let expected = RecordedCalls { calls: 2, dropped: 0 };
        assert_eq!(recorder.finish().unwrap(), expected);
        recorder.finish().unwrap_err();

        let mut reader = Reader::new(BufReader::new(File::open(&path).unwrap()));
        let lines: Vec<Line> = std::iter::from_fn(|| reader.next_line().unwrap()).collect();
        let [
            Line::Begin { began_ms: 7 },
            Line::Connection(_),
            Line::Call(one),
            Line::Call(two),
            end,
        ] = lines.as_slice()
        else {
            panic!("{lines:?}")
        };
        assert_eq!((one.number, one.table.as_deref()), (2, Some("t")));
        assert!(one.response_bytes.is_some());
        // The connection ended before this one was answered.
        assert_eq!((two.number, &two.response_bytes), (1, &None));
        assert_eq!(*end, Line::End { calls: 2, dropped: 0 });
    }
}
