//! What clients can make the gateways allocate: no more than their budget, whatever they send and
//! leave unread; and everything is given back when they go.
//!
//! The peak is that of the whole process, counted by its allocator. So the attacks go one by one.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../tests/testkit/counting.rs"]
mod counting;
#[allow(dead_code, reason = "each test uses a part of the client")]
mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hblite::{ColumnFamilyDescriptor, Put, TableDescriptor};
use hblite_thrift::{Complaints, ThriftGateway, ThriftLimits, ThriftOptions};
use support::{Notation, Value, ask, call};

const MIB: usize = 1 << 20;
/// The memory for calls.
const BUDGET: usize = 64 * MIB;
/// The memory that the process may use in addition: the test's clients, threads and the store.
const SLACK: usize = 24 * MIB;
const WAIT: Duration = Duration::from_secs(30);
/// Bytes of the value of the row `large`.
const LARGE: usize = MIB;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// Gateways under attack.
struct Attacked {
    gateway: ThriftGateway,
    before: usize,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Attacked {
    fn start() -> Self {
        let connection = hblite::open_in_memory().unwrap();
        let family = ColumnFamilyDescriptor::new("f");
        let table = TableDescriptor::new("t".parse().unwrap()).with_family(family);
        connection.admin().create_table(&table).unwrap();
        let table = connection.table("t").unwrap();
        table.put(&Put::new("large").add("f", "q", vec![7; LARGE])).unwrap();
        table.put(&Put::new("small").add("f", "q", "v")).unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let complaints = Complaints::new(move |line| sink.lock().unwrap().push(line.to_owned()));
        let options = ThriftOptions::default()
            .with_thrift_port(0)
            .with_limits(ThriftLimits::default().with_memory_max_bytes(BUDGET))
            .with_complaints(complaints);
        let gateway = ThriftGateway::start(&connection, options).unwrap();
        let before = counting::reset_peak();
        Self { gateway, before, lines }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.gateway.ports().thrift.unwrap()));
        let stream = stream.unwrap();
        stream.set_read_timeout(Some(WAIT)).unwrap();
        stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
        stream
    }

    /// What the test itself allocated so far does not count.
    fn reset_peak(&mut self) {
        self.before = counting::reset_peak();
    }

    /// Asserts that the attack was held within the budget, while others are answered, and that
    /// everything is given back.
    fn check(&self, what: &str, streams: Vec<TcpStream>) {
        let (kind, answer) = text(&mut self.connect(), "getRow", "1:\"t\" 2:\"small\"");
        assert_eq!(kind, 2, "{what}: {answer}");
        assert!(answer.contains("small"), "{what}: {answer}");
        let peak = counting::peak_bytes().saturating_sub(self.before);
        println!("{what}: peak {} MiB, budget {} MiB", peak / MIB, BUDGET / MIB);
        assert!(peak <= BUDGET + SLACK, "{what}: {} MiB at the peak", peak / MIB);
        drop(streams);
        let deadline = Instant::now() + WAIT;
        while self.gateway.memory_used_bytes() > 0 || self.gateway.connections() > 0 {
            let used = self.gateway.memory_used_bytes();
            assert!(Instant::now() < deadline, "{what}: {used} bytes are still in use");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }
}

fn text(stream: &mut TcpStream, method: &str, arguments: &str) -> (u8, String) {
    let (kind, value) = ask(stream, method, &Notation::new(arguments).fields()).unwrap();
    (kind, value.to_string())
}

/// Frames with a value of 4 MiB that are sent but for their end.
fn half_sent_frames(attacked: &mut Attacked) {
    let chunk = vec![0_u8; MIB];
    attacked.reset_peak();
    let mut streams: Vec<TcpStream> = (0..24).map(|_| attacked.connect()).collect();
    for stream in &mut streams {
        let size = (5 * MIB) as u32;
        let mut head = size.to_be_bytes().to_vec();
        head.extend(b"\x80\x01\0\x01\0\0\0\x06getRow\0\0\0\0\x0b\0\x01\0\x40\0\0");
        let _ = stream.write_all(&head);
        // The gateway may close the connection before.
        let _ = (0..3).try_for_each(|_| stream.write_all(&chunk));
    }
    attacked.check("half-sent frames", streams);
}

/// Reads what has arrived of an answer.
fn read_some(stream: &mut TcpStream) -> String {
    let mut answer = [0; 1024];
    loop {
        match stream.read(&mut answer) {
            // A stopped process that was continued.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            length => return String::from_utf8_lossy(&answer[..length.unwrap()]).into_owned(),
        }
    }
}

/// One call for the same large row, hundreds of times, whose answers are not taken.
fn rows_without_an_answer_taken(attacked: &mut Attacked) {
    let rows = vec!["\"large\""; 500].join(" ");
    let message = call("getRows", &Notation::new(&format!("1:\"t\" 2:[{rows}]")).fields());
    attacked.reset_peak();
    let mut streams: Vec<TcpStream> = (0..12).map(|_| attacked.connect()).collect();
    for stream in &mut streams {
        stream.write_all(&message).unwrap();
    }
    for stream in &mut streams {
        let answer = read_some(stream);
        assert!(answer.contains("CallQueueTooBigException"), "{answer}");
    }
    // As many as fit are sent, and lie in buffers until the clients take them.
    let rows = ["\"large\""; 6].join(" ");
    let message = call("getRows", &Notation::new(&format!("1:\"t\" 2:[{rows}]")).fields());
    for stream in &mut streams {
        stream.write_all(&message).unwrap();
    }
    std::thread::park_timeout(Duration::from_millis(500));
    attacked.check("answers that are not taken", streams);
}

/// Lists of empty values: each takes a few bytes in the message and many more in memory.
fn lists_of_nothing(attacked: &mut Attacked) {
    let rows = Value::List(vec![Value::Bytes(Vec::new()); 2 * MIB]);
    let message = call("getRows", &Value::Struct(vec![(1, Value::text("t")), (2, rows)]));
    attacked.reset_peak();
    let mut streams: Vec<TcpStream> = (0..8).map(|_| attacked.connect()).collect();
    for stream in &mut streams {
        let _ = stream.write_all(&message);
    }
    std::thread::park_timeout(Duration::from_millis(500));
    attacked.check("lists of empty values", streams);
}

/// Scanners with a large request each.
fn scanners(attacked: &mut Attacked) {
    let column = format!("\"{}\" ", "c".repeat(1000));
    let columns = column.repeat(1000);
    let scan = format!("1:\"t\" 2:{{4:[{}]}}", columns.trim_end());
    let message = call("scannerOpenWithScan", &Notation::new(&scan).fields());
    attacked.reset_peak();
    let mut stream = attacked.connect();
    let mut refused = 0;
    for _ in 0..100 {
        stream.write_all(&message).unwrap();
        refused += usize::from(read_some(&mut stream).contains("CallQueueTooBigException"));
    }
    assert!(refused > 50, "{refused} of 100 scanners were refused");
    let peak = counting::peak_bytes() - attacked.before;
    assert!(peak <= BUDGET + SLACK, "{} MiB at the peak", peak / MIB);
}

/// Scanners whose filters take much more memory than their text, parsed and running.
fn filters(attacked: &mut Attacked) {
    let filter = vec!["PageFilter(1)"; 20_000].join(" AND ");
    let scan = format!("1:\"t\" 2:{{6:\"{filter}\"}}");
    let message = call("scannerOpenWithScan", &Notation::new(&scan).fields());
    attacked.reset_peak();
    let mut stream = attacked.connect();
    let mut opened = 0;
    for _ in 0..30 {
        stream.write_all(&message).unwrap();
        let (_, value) = support::answer(&mut stream).unwrap();
        match value.to_string() {
            refused if refused.contains("CallQueueTooBigException") => continue,
            _ => opened += 1,
        }
    }
    assert!((1..15).contains(&opened), "{opened} scanners were opened");
    for id in 0..opened {
        let rows = text(&mut stream, "scannerGet", &format!("1:{id}")).1;
        assert!(rows.starts_with("{0:["), "{rows:.200}");
    }
    let peak = counting::peak_bytes() - attacked.before;
    println!("filters: peak {} MiB, budget {} MiB", peak / MIB, BUDGET / MIB);
    assert!(peak <= BUDGET + SLACK, "{} MiB at the peak", peak / MIB);
    for id in 0..opened {
        text(&mut stream, "scannerClose", &format!("1:{id}"));
    }
    attacked.check("filters", vec![stream]);
}

#[test]
fn attacks_stay_within_the_budget() {
    let mut attacked = Attacked::start();
    half_sent_frames(&mut attacked);
    rows_without_an_answer_taken(&mut attacked);
    lists_of_nothing(&mut attacked);
    filters(&mut attacked);
    scanners(&mut attacked);
    // What was malformed, or too large, is on record.
    assert!(attacked.lines.lock().unwrap().iter().any(|line| line.contains("Thrift 1")));
}
