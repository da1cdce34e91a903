//! Goal: scanners of the gateway keep the clock from being set back, end when the clock passes the
//! time without a request, and are unknown after a rewind, whether they have begun or not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::http::send;
#[allow(dead_code, reason = "each test uses a part of the client")]
use hblite::{ClockMode, ColumnFamilyDescriptor, Connection, ErrorKind, Put, TableDescriptor};
use hblite_rest::{RestOptions, RestServer};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// A store with three rows and its gateway.
fn serve() -> (Connection, RestServer) {
    let connection = hblite::open_in_memory().unwrap();
    let family = ColumnFamilyDescriptor::new("f");
    let table = TableDescriptor::new("t".parse().unwrap()).with_family(family);
    connection.admin().create_table(&table).unwrap();
    for row in ["a", "b", "c"] {
        connection.table("t").unwrap().put(&Put::new(row).add("f", "q", "v")).unwrap();
    }
    let server = RestServer::start(&connection, RestOptions::default().with_port(0)).unwrap();
    (connection, server)
}

/// Creates a scanner and returns its path.
fn open(server: &RestServer) -> String {
    let json = ("Content-Type", "application/json");
    let answer = send(server.port(), "POST", "/t/scanner", &[json], Some(b"{\"batch\":1}"));
    let location = &answer.headers["location"];
    location[location.find("/t/").unwrap()..].to_owned()
}

/// The status of a request for the scanner's next cells.
fn next(server: &RestServer, path: &str) -> u16 {
    send(server.port(), "GET", path, &[("Accept", "application/json")], None).status
}

#[test]
fn the_clock_is_not_set_back_while_a_scanner_is_open() {
    let (connection, server) = serve();
    let start = connection.now_millis() + HOUR_MS;
    connection.set_clock(ClockMode::Manual(start)).unwrap();
    let path = open(&server);
    let error = connection.set_clock(ClockMode::Manual(start - 5)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongState);
    assert_eq!(
        error.message(),
        "the clock cannot be set back by 5 ms while 1 scanner is open; close it first"
    );
    assert_eq!(connection.now_millis(), start);
    assert_eq!(send(server.port(), "DELETE", &path, &[], None).status, 200);
    connection.set_clock(ClockMode::Manual(start - 5)).unwrap();

    // A scanner that has expired does not count, and is unknown at once.
    let path = open(&server);
    connection.set_clock(ClockMode::Manual(start + HOUR_MS)).unwrap();
    connection.set_clock(ClockMode::Manual(start)).unwrap();
    assert_eq!(next(&server, &path), 404);
}

#[test]
fn scanners_of_before_a_rewind_are_unknown() {
    let (connection, server) = serve();
    connection.checkpoint("base").unwrap();
    let (waiting, begun) = (open(&server), open(&server));
    assert_eq!(next(&server, &begun), 200);
    connection.rewind("base").unwrap();
    assert_eq!([next(&server, &waiting), next(&server, &begun)], [404, 404]);
    assert_eq!(next(&server, &open(&server)), 200);
}
