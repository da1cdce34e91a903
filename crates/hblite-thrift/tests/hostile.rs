//! Goal: no client can hurt the gateways. Method: connections that lie about sizes, nest deeply,
//! stop in the middle, never take their answers, or are too many; a well-behaved client is served
//! all the time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "each test uses a part of the client")]
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::{Notation, Value, ask, call};
use hblite::{ColumnFamilyDescriptor, Connection, Put, TableDescriptor};
use hblite_thrift::{ThriftGateway, ThriftLimits, ThriftOptions};

const WAIT: Duration = Duration::from_secs(20);

fn store() -> Connection {
    let connection = hblite::open_in_memory().unwrap();
    let family = ColumnFamilyDescriptor::new("f");
    let table = TableDescriptor::new("t".parse().unwrap()).with_family(family);
    connection.admin().create_table(&table).unwrap();
    for row in ["a", "b", "c", "d"] {
        let value = vec![b'x'; 100_000];
        connection.table("t").unwrap().put(&Put::new(row).add("f", "q", value)).unwrap();
    }
    connection
}

fn gateway(limits: ThriftLimits) -> (ThriftGateway, u16) {
    let options = ThriftOptions::default().with_thrift_port(0).with_limits(limits);
    let gateway = ThriftGateway::start(&store(), options).unwrap();
    let port = gateway.ports().thrift.unwrap();
    (gateway, port)
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(WAIT)).unwrap();
    stream
}

fn ask_text(stream: &mut TcpStream, method: &str, arguments: &str) -> (u8, String) {
    let (kind, value) = ask(stream, method, &Notation::new(arguments).fields()).unwrap();
    (kind, value.to_string())
}

/// The gateway closes the connection without an answer.
fn assert_closed(mut stream: TcpStream) {
    let mut rest = Vec::new();
    // A connection with unread bytes is reset.
    let _ = stream.read_to_end(&mut rest);
    assert_eq!(rest, b"");
}

fn assert_serves(port: u16) {
    let tables = ask_text(&mut connect(port), "getTableNames", "");
    assert_eq!(tables, (2, "{0:[\"t\"]}".to_owned()));
}

#[test]
fn sizes_beyond_the_limits_end_the_connection() {
    let limits = ThriftLimits::default().with_message_size_max_bytes(100_000);
    let (_gateway, port) = gateway(limits);
    let messages: [&[u8]; 7] = [
        b"\x7f\xff\xff\xff\x80\x01\0\x01",
        b"\0\x02\0\0\x80\x01\0\x01",
        b"\x80\x01\0\x01\x7f\xff\xff\xff",
        b"\x80\x01\0\x01\0\0\0\x06getRow\0\0\0\0\x0b\0\x01\x7f\xff\xff\xff",
        b"\x80\x01\0\x01\0\0\0\x07getRows\0\0\0\0\x0f\0\x02\x0b\x00\x01\x86\xa0",
        b"\x82\x21\x01\xff\xff\xff\xff\x0f",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc",
    ];
    for message in messages {
        let mut stream = connect(port);
        stream.write_all(message).unwrap();
        assert_closed(stream);
    }
    // A long value, sent in whole: it is refused before it has arrived.
    let mut stream = connect(port);
    let row = Value::Bytes(vec![b'r'; 200_000]);
    let arguments = Value::Struct(vec![(1, Value::text("t")), (2, row)]);
    let _ = stream.write_all(&call("getRow", &arguments));
    assert_closed(stream);
    assert_serves(port);
}

#[test]
fn deep_nesting_ends_the_connection() {
    let (_gateway, port) = gateway(ThriftLimits::default());
    let mut stream = connect(port);
    let head = call("getRow", &Value::Struct(vec![]));
    stream.write_all(&head[..head.len() - 1]).unwrap();
    let _ = stream.write_all(&[0x0c, 0, 9].repeat(100_000));
    assert_closed(stream);
    assert_serves(port);
}

#[test]
fn a_message_that_does_not_end_is_given_up() {
    let limits = ThriftLimits::default()
        .with_idle_timeout(Duration::from_millis(300))
        .with_message_timeout(Duration::from_millis(300));
    let (gateway, port) = gateway(limits);
    let mut stalled = connect(port);
    stalled.write_all(b"\x80\x01\0").unwrap();
    assert_closed(stalled);
    // One byte at a time, each in time.
    let mut slow = connect(port);
    let begun = Instant::now();
    let message = call("getRow", &Value::Struct(vec![(1, Value::Bytes(vec![0; 10_000]))]));
    let mut bytes = message.iter();
    while let Some(byte) = bytes.next().filter(|_| begun.elapsed() < WAIT) {
        if slow.write_all(&[*byte]).is_err() || gateway.connections() == 0 {
            break;
        }
        std::thread::yield_now();
        std::thread::park_timeout(Duration::from_millis(5));
    }
    assert!(bytes.len() > 0, "the connection was ended before the message");
    assert_closed(slow);
}

#[test]
fn an_answer_that_is_not_taken_ends_the_connection() {
    let limits = ThriftLimits::default()
        .with_idle_timeout(Duration::from_millis(300))
        .with_message_timeout(Duration::from_millis(300));
    let (gateway, port) = gateway(limits);
    let mut stream = connect(port);
    let rows = "a b c d ".repeat(100).trim_end().replace(' ', "\" \"");
    let arguments = format!("1:\"t\" 2:[\"{rows}\"]");
    let message = call("getRows", &Notation::new(&arguments).fields());
    stream.write_all(&message).unwrap();
    let begun = Instant::now();
    while gateway.connections() > 0 {
        assert!(begun.elapsed() < WAIT, "the connection is still open");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

#[test]
fn half_sent_messages_and_unread_answers_make_room_for_newcomers() {
    let (_gateway, port) = gateway(ThriftLimits::default().with_connections_max(8));
    let rows = "a b c d ".repeat(100).trim_end().replace(' ', "\" \"");
    let unread = call("getRows", &Notation::new(&format!("1:\"t\" 2:[\"{rows}\"]")).fields());
    let half = call("getRow", &Value::Struct(vec![(1, Value::Bytes(vec![0; 10_000]))]));
    let framed = [&20_000_u32.to_be_bytes()[..], &call("getTableNames", &Value::Struct(vec![]))];
    let framed = framed.concat();
    let beginnings = [&b"\x80\x01\0"[..], &half[..5_000], &unread, &framed];
    let hostile: Vec<TcpStream> = (0..24)
        .map(|number| {
            let mut stream = connect(port);
            stream.write_all(beginnings[number % beginnings.len()]).unwrap();
            stream
        })
        .collect();
    let begun = Instant::now();
    assert_serves(port);
    assert!(begun.elapsed() < Duration::from_secs(10), "it waited for a timeout");
    drop(hostile);
}

#[test]
fn connections_and_scanners_are_limited() {
    let limits = ThriftLimits::default()
        .with_connections_max(2)
        .with_connection_scanners_max(2)
        .with_result_size_max_bytes(150_000);
    let (gateway, port) = gateway(limits);
    let (mut first, mut second) = (connect(port), connect(port));
    assert_eq!(ask_text(&mut first, "getThriftServerType", ""), (2, "{0:1}".to_owned()));
    assert_eq!(ask_text(&mut second, "getThriftServerType", ""), (2, "{0:1}".to_owned()));
    // A third makes the one end that has been idle longest, which is not the second.
    assert_eq!(ask_text(&mut connect(port), "getThriftServerType", ""), (2, "{0:1}".to_owned()));
    assert_closed(first);
    let begun = Instant::now();
    while gateway.connections() > 1 {
        assert!(begun.elapsed() < WAIT, "the third connection is still open");
        std::thread::park_timeout(Duration::from_millis(10));
    }
    first = connect(port);
    assert_eq!(ask_text(&mut first, "getThriftServerType", ""), (2, "{0:1}".to_owned()));
    assert_eq!(ask_text(&mut second, "getThriftServerType", ""), (2, "{0:1}".to_owned()));
    let open = |stream: &mut TcpStream| ask_text(stream, "scannerOpenWithScan", "1:\"t\" 2:{}").1;
    assert_eq!(open(&mut first), "{0:0}");
    assert_eq!(open(&mut first), "{0:1}");
    let refused = "{1:{1:\"java.io.IOException: too many open scanners; close those that are not \
                   needed\" 2:true}}";
    assert_eq!(open(&mut first), refused);
    // Another connection has scanners of its own, and may use those of the first.
    assert_eq!(open(&mut second), "{0:2}");
    let rows = ask_text(&mut second, "scannerGetList", "1:0 2:1000").1;
    assert_eq!(rows.matches("\"f:q\"").count(), 2, "the answer is limited by its size");
    assert_eq!(ask_text(&mut first, "scannerClose", "1:0").1, "{}");
    assert_eq!(gateway.open_scanners(), 2);
    assert_eq!(ask_text(&mut first, "scannerClose", "1:0").1, "{2:{1:\"scanner ID is invalid\"}}");
    drop(first);
    drop(second);
    gateway.stop();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "the port is closed");
}

#[test]
fn too_many_filters_are_refused_when_a_scanner_is_opened() {
    let limits = ThriftLimits::default().with_memory_max_bytes(1 << 30);
    let (gateway, port) = gateway(limits);
    let mut stream = connect(port);
    let text = vec!["PageFilter(1)"; 100_001].join(" OR ");
    let refused =
        ask_text(&mut stream, "scannerOpenWithScan", &format!("1:\"t\" 2:{{6:\"{text}\"}}"));
    assert!(refused.1.contains("more than 100000 filters"), "{:.200}", refused.1);
    assert_eq!(gateway.open_scanners(), 0);
}

#[test]
fn unknown_methods_and_other_messages_are_answered() {
    let (_gateway, port) = gateway(ThriftLimits::default());
    let mut stream = connect(port);
    let unknown = ask_text(&mut stream, "dropEverything", "1:[{1:(\"a\":5l)}]");
    assert_eq!(unknown, (3, "{1:\"Invalid method name: 'dropEverything'\" 2:1}".to_owned()));
    // Fields that are not known, or have another type, are skipped.
    let odd = ask_text(&mut stream, "getRow", "1:\"t\" 2:\"none\" 3:5 99:{1:2.5}");
    assert_eq!(odd, (2, "{0:[]}".to_owned()));
    let internal = ask_text(&mut stream, "getRow", "1:\"t\" 2:\"\"");
    assert_eq!(internal, (3, "{1:\"Internal error processing getRow\" 2:6}".to_owned()));
    assert_serves(port);
}
