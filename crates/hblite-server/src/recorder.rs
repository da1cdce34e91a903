//! Writes every call and its answer to a file (`hblite_wire::recording` has the format).
//!
//! Connections copy the bytes of requests and answers into a queue; one thread pairs them, makes
//! the lines and writes them. Recording never delays a call: if the queue is full, calls are left
//! out, and a line in the file states how many.
//!
//! Threads: connections add events to the `queue`; the thread `hblite-record` (`writer`) does the
//! rest.

mod queue;
mod writer;

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use bytes::Bytes;
use hblite_model::{Error, Result};
use hblite_wire::frame::Request;
use hblite_wire::recording::Connection;
use parking_lot::Mutex;

use queue::{Event, Queue, Requested};
pub use writer::RecordedCalls;
use writer::Writer;

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

struct Handle {
    queue: Arc<Queue>,
    last_connection: AtomicU64,
    thread: Mutex<Option<JoinHandle<Result<RecordedCalls>>>>,
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
        let queue = Arc::new(Queue::default());
        let writer = Writer::new(path.clone(), file, Arc::clone(&queue), Box::new(report));
        let thread = std::thread::Builder::new().name("hblite-record".to_owned());
        let thread = thread.spawn(move || writer.run()).map_err(Error::no_thread)?;
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
        self.queue.close();
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

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use hblite_wire::frame::Response;
    use hblite_wire::pb;
    use hblite_wire::recording::{Line, Reader};
    use prost::Message as _;

    use super::*;

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
