//! Goal: scanners of both Thrift gateways keep the clock from being set back, end when the clock
//! passes their lease, and are unknown after a rewind, whether they have begun or not. Method: real
//! connections, and the connection of the process that serves them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "each test uses a part of the client")]
use std::net::TcpStream;

use crate::support::{Notation, ask};
use hblite::{ClockMode, ColumnFamilyDescriptor, Connection, ErrorKind, Put, TableDescriptor};
use hblite_thrift::{ThriftGateway, ThriftOptions};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// The calls of one service.
struct Calls {
    stream: TcpStream,
    open: (&'static str, &'static str),
    next: (&'static str, &'static str),
    close: &'static str,
    /// What it says about a scanner that it does not know.
    unknown: &'static str,
}

impl Calls {
    fn call(&mut self, method: &str, arguments: &str) -> String {
        let fields = Notation::new(arguments).fields();
        let (kind, answer) = ask(&mut self.stream, method, &fields).unwrap();
        assert_eq!(kind, 2, "{method}: {answer}");
        answer.to_string()
    }

    /// Opens a scanner and returns its number.
    fn open(&mut self) -> String {
        let answer = self.call(self.open.0, self.open.1);
        answer.trim_start_matches("{0:").trim_end_matches('}').to_owned()
    }

    fn next(&mut self, id: &str) -> String {
        self.call(self.next.0, &format!("1:{id}{}", self.next.1))
    }

    fn close(&mut self, id: &str) {
        self.call(self.close, &format!("1:{id}"));
    }
}

/// A store with three rows, its gateways, and a client of each.
fn serve() -> (Connection, ThriftGateway, [Calls; 2]) {
    let connection = hblite::open_in_memory().unwrap();
    let family = ColumnFamilyDescriptor::new("f");
    let table = TableDescriptor::new("t".parse().unwrap()).with_family(family);
    connection.admin().create_table(&table).unwrap();
    for row in ["a", "b", "c"] {
        connection.table("t").unwrap().put(&Put::new(row).add("f", "q", "v")).unwrap();
    }
    let options = ThriftOptions::default().with_thrift_port(0).with_thrift2_port(0);
    let gateway = ThriftGateway::start(&connection, options).unwrap();
    let connect = |port: Option<u16>| TcpStream::connect(("127.0.0.1", port.unwrap())).unwrap();
    let one = Calls {
        stream: connect(gateway.ports().thrift),
        open: ("scannerOpenWithScan", r#"1:"t" 2:{}"#),
        next: ("scannerGet", ""),
        close: "scannerClose",
        unknown: "scanner ID is invalid",
    };
    let two = Calls {
        stream: connect(gateway.ports().thrift2),
        open: ("openScanner", r#"1:"t" 2:{}"#),
        next: ("getScannerRows", " 2:1"),
        close: "closeScanner",
        unknown: "Invalid scanner Id",
    };
    (connection, gateway, [one, two])
}

#[test]
fn the_clock_is_not_set_back_while_a_scanner_is_open() {
    let (connection, gateway, [mut one, mut two]) = serve();
    let start = connection.now_millis() + HOUR_MS;
    connection.set_clock(ClockMode::Manual(start)).unwrap();
    for calls in [&mut one, &mut two] {
        let id = calls.open();
        let error = connection.set_clock(ClockMode::Manual(start - 5)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongState);
        assert_eq!(
            error.message(),
            "the clock cannot be set back by 5 ms while 1 scanner is open; close it first"
        );
        assert_eq!(connection.now_millis(), start);
        calls.close(&id);
    }
    let ids = [one.open(), two.open()];
    let error = connection.set_clock(ClockMode::Real).unwrap_err();
    assert!(error.message().contains("while 2 scanners are open; close them first"), "{error}");
    // Scanners whose lease has ended do not count, and are unknown at once.
    connection.set_clock(ClockMode::Manual(start + HOUR_MS)).unwrap();
    assert_eq!(gateway.open_scanners(), 0);
    for (calls, id) in [one, two].iter_mut().zip(ids) {
        let answer = calls.next(&id);
        assert!(answer.contains(calls.unknown), "{answer}");
    }
    connection.set_clock(ClockMode::Manual(start)).unwrap();
}

#[test]
fn scanners_of_before_a_rewind_are_unknown() {
    let (connection, gateway, both) = serve();
    connection.checkpoint("base").unwrap();
    for mut calls in both {
        let (waiting, begun) = (calls.open(), calls.open());
        assert!(calls.next(&begun).contains("\"a\""));
        connection.rewind("base").unwrap();
        assert_eq!(gateway.open_scanners(), 0);
        for id in [&waiting, &begun] {
            let answer = calls.next(id);
            assert!(answer.contains(calls.unknown), "{answer}");
        }
        // A later scanner never has the number of an earlier one.
        let later = calls.open();
        assert!(later != waiting && later != begun);
        assert!(calls.next(&later).contains("\"a\""));
        calls.close(&later);
    }
}
