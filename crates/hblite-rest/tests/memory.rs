//! What clients can make the gateway allocate: no more than its budget, whatever they send and
//! leave unread; and everything is given back when they go.
//!
//! The peak is that of the whole process, counted by its allocator. So the attacks go one by one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../tests/testkit/counting.rs"]
mod counting;
mod http;

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use hblite::{ColumnFamilyDescriptor, FlushRequest, Put, TableDescriptor, TableName};
use hblite_rest::{Complaints, RestLimits, RestOptions, RestServer};
use http::{Answer, exchange, read, send};

const MIB: usize = 1 << 20;
/// The memory for requests.
const BUDGET: usize = 64 * MIB;
/// The memory that the process may use in addition: the test's clients, threads and the store.
const SLACK: usize = 24 * MIB;
const WAIT: Duration = Duration::from_secs(30);
/// Bytes of the value of the rows `large0` and so on.
const LARGE: usize = MIB;
const LARGE_ROWS: usize = 40;
const JSON: &str = "application/json";
const PROTOBUF: &str = "application/x-protobuf";

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

static ONE_BY_ONE: Mutex<()> = Mutex::new(());

/// A gateway under attack.
struct Attacked {
    server: RestServer,
    before: usize,
    lines: Arc<Mutex<Vec<String>>>,
    _alone: MutexGuard<'static, ()>,
}

impl Attacked {
    fn start() -> Self {
        let alone = ONE_BY_ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let connection = hblite::open_in_memory().unwrap();
        let family = ColumnFamilyDescriptor::new("f");
        let name: TableName = "t".parse().unwrap();
        let table = TableDescriptor::new(name.clone()).with_family(family);
        connection.admin().create_table(&table).unwrap();
        let table = connection.table("t").unwrap();
        for row in 0..LARGE_ROWS {
            let put = Put::new(format!("large{row}")).add("f", "q", vec![7; LARGE]);
            table.put(&put).unwrap();
        }
        table.put(&Put::new("small").add("f", "q", "v")).unwrap();
        // A flush in the middle of an attack would count as its memory.
        connection.admin().flush(&FlushRequest::table(name)).unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let complaints = Complaints::new(move |line| sink.lock().unwrap().push(line.to_owned()));
        let options = RestOptions::default()
            .with_port(0)
            .with_limits(RestLimits::default().with_memory_max_bytes(BUDGET))
            .with_complaints(complaints);
        let server = RestServer::start(&connection, options).unwrap();
        Self { server, before: counting::reset_peak(), lines, _alone: alone }
    }

    /// What the test itself allocated so far does not count.
    fn reset_peak(&mut self) {
        self.before = counting::reset_peak();
    }

    /// Connections that have each sent a part of a request, or more than the gateway reads.
    fn connect(&self, count: usize, bytes: &[u8]) -> Vec<TcpStream> {
        let connect = |_| {
            let mut stream = TcpStream::connect(("127.0.0.1", self.server.port())).unwrap();
            stream.set_read_timeout(Some(WAIT)).unwrap();
            stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
            // The gateway may answer, and close the connection, before.
            let _ = stream.write_all(bytes);
            stream
        };
        (0..count).map(connect).collect()
    }

    fn get(&self, path: &str, accept: &str) -> Answer {
        send(self.server.port(), "GET", path, &[("Accept", accept)], None)
    }

    fn put(&self, path: &str, kind: &str, body: &[u8]) -> Answer {
        send(self.server.port(), "PUT", path, &[("Content-Type", kind)], Some(body))
    }

    /// Asserts that the attack was held within the budget, while others are answered, and that
    /// everything is given back.
    fn check(&self, what: &str, streams: Vec<TcpStream>) {
        assert_eq!(self.get("/t/small", JSON).status, 200, "{what}");
        let peak = counting::peak_bytes().saturating_sub(self.before);
        println!("{what}: peak {} MiB, budget {} MiB", peak / MIB, BUDGET / MIB);
        assert!(peak <= BUDGET + SLACK, "{what}: {} MiB at the peak", peak / MIB);
        drop(streams);
        let deadline = Instant::now() + WAIT;
        while self.server.memory_used_bytes() > 0 {
            let used = self.server.memory_used_bytes();
            assert!(Instant::now() < deadline, "{what}: {used} bytes are still in use");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }
}

/// Asserts that there was no memory for a request.
fn assert_refused(answer: &Answer) {
    let body = String::from_utf8_lossy(&answer.body);
    assert_eq!(answer.status, 503, "{body:.200}");
    let class = "Unavailable\r\norg.apache.hadoop.hbase.CallQueueTooBigException: ";
    assert!(body.starts_with(class), "{body:.200}");
    assert_eq!(answer.headers["retry-after"], "1");
}

/// Bodies that are sent but for their end.
fn half_sent_bodies(attacked: &mut Attacked) {
    let head = format!(
        "PUT /t/r/f:q HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n\
         Content-Length: {}\r\n\r\n",
        20 * MIB
    );
    let bytes = [head.as_bytes(), &vec![7; 12 * MIB]].concat();
    attacked.reset_peak();
    let streams = attacked.connect(12, &bytes);
    attacked.check("half-sent bodies", streams);
}

/// Small bodies that are large when they are decompressed.
fn packed_bodies(attacked: &mut Attacked) {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![0; 50 * MIB]).unwrap();
    let body = encoder.finish().unwrap();
    let head = format!(
        "PUT /t/r/f:q HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n\
         Content-Encoding: gzip\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let bytes = [head.as_bytes(), &body].concat();
    attacked.reset_peak();
    let streams = attacked.connect(6, &bytes);
    assert_refused(&read(&exchange(attacked.server.port(), &bytes)));
    attacked.check("packed bodies", streams);
}

/// Bodies of nothing but empty elements, each of a few bytes and many more in memory.
fn empty_elements(attacked: &mut Attacked) {
    let rows = format!("{{\"Row\":[{}{{}}]}}", "{},".repeat(MIB));
    let xml = format!("<CellSet>{}</CellSet>", "<Row/>".repeat(MIB));
    let cells = [b"\x0a\x80\x80\x80\x01".as_slice(), &b"\x12\0".repeat(MIB)].concat();
    let name = [("application/json", rows.as_bytes()), ("text/xml", xml.as_bytes())];
    attacked.reset_peak();
    for (kind, body) in name.into_iter().chain([(PROTOBUF, cells.as_slice())]) {
        assert_refused(&attacked.put("/t/r", kind, body));
    }
    attacked.check("empty elements", Vec::new());
}

/// Many rows, or the same row many times, whose answers are not taken.
fn answers_that_are_not_taken(attacked: &mut Attacked) {
    let rows = "row=large1&".repeat(500);
    let request = |path: &str, accept: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n")
    };
    attacked.reset_peak();
    assert_refused(&attacked.get(&format!("/t/multiget?{rows}"), JSON));
    assert_refused(&attacked.get("/t/large0,large9", "text/xml"));
    let mut streams = Vec::new();
    for accept in [JSON, "text/xml", PROTOBUF] {
        for path in ["/t/multiget?row=large1&row=large2", "/t/large1,large3", "/t/*"] {
            streams.extend(attacked.connect(6, request(path, accept).as_bytes()));
        }
    }
    std::thread::park_timeout(Duration::from_secs(1));
    attacked.check("answers that are not taken", streams);
}

/// The same columns and filter in each of many gets.
fn gets_with_many_columns(attacked: &mut Attacked) {
    let columns = "f:a,".repeat(1_500);
    let rows = "row=small&".repeat(1_500);
    attacked.reset_peak();
    let answer = attacked.get(&format!("/t/multiget/{columns}?{rows}"), JSON);
    assert_eq!(answer.status, 404, "{:.200}", String::from_utf8_lossy(&answer.body));
    attacked.check("gets with many columns", Vec::new());
}

/// Scanners with a large request each, and scanners that hold a large row.
fn scanners(attacked: &mut Attacked) {
    let body = format!("{{\"column\":[{}\"Zjo=\"]}}", "\"Zjo=\",".repeat(20_000));
    attacked.reset_peak();
    let mut refused = 0;
    for _ in 0..100 {
        let answer = attacked.put("/t/scanner", JSON, body.as_bytes());
        refused += usize::from(answer.status == 503);
    }
    assert!(refused > 50, "{refused} of 100 scanners were refused");
    let peak = counting::peak_bytes() - attacked.before;
    println!("scanners: peak {} MiB, budget {} MiB", peak / MIB, BUDGET / MIB);
    assert!(peak <= BUDGET + SLACK, "{} MiB at the peak", peak / MIB);
}

#[test]
fn attacks_stay_within_the_budget() {
    let mut attacked = Attacked::start();
    half_sent_bodies(&mut attacked);
    packed_bodies(&mut attacked);
    empty_elements(&mut attacked);
    answers_that_are_not_taken(&mut attacked);
    gets_with_many_columns(&mut attacked);
    scanners(&mut attacked);
    assert_eq!(attacked.put("/t/r", JSON, b"{\"Row\"").status, 500);
    let lines = attacked.lines.lock().unwrap();
    assert!(lines.iter().any(|line| line.starts_with("REST: malformed input")), "{lines:?}");
}

#[test]
fn a_scan_that_is_larger_than_the_memory_is_sent_as_it_is_read() {
    let attacked = Attacked::start();
    let answer = attacked.get("/t/*", JSON);
    assert_eq!(answer.status, 200);
    let value: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(value["Row"].as_array().map(Vec::len), Some(LARGE_ROWS + 1));
}
