//! Goal: checkpoints, forks and the clock as clients and scripts see them. Method: real
//! connections, HBase's messages byte by byte, the admin endpoint over HTTP.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use crate::support::{Client, create_table, get, put, region};
use hblite::{ClockMode, ColumnFamilyDescriptor, ErrorKind, Get, Put, Scan, TableDescriptor};
use hblite_server::TestServer;
use hblite_wire::pb;
use serde_json::{Value, json};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

struct Http {
    agent: ureq::Agent,
    url: String,
}

impl Http {
    fn of(port: u16) -> Self {
        let config = ureq::Agent::config_builder().http_status_as_error(false).proxy(None);
        Self { agent: config.build().into(), url: format!("http://127.0.0.1:{port}") }
    }

    fn get(&self, path: &str) -> Value {
        let mut response = self.agent.get(format!("{}{path}", self.url)).call().unwrap();
        assert!(response.status().is_success());
        response.body_mut().read_json().unwrap()
    }

    fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let mut response = self.agent.post(format!("{}{path}", self.url)).send_json(body).unwrap();
        (response.status().as_u16(), response.body_mut().read_json().unwrap())
    }

    fn delete(&self, path: &str) -> u16 {
        self.agent.delete(format!("{}{path}", self.url)).call().unwrap().status().as_u16()
    }
}

fn write(client: &mut Client, name: &[u8], row: &str, value: &str) {
    let request = pb::MutateRequest {
        region: region(name),
        mutation: put(row, "q", value),
        ..pb::MutateRequest::default()
    };
    client.call("Mutate", &request).decode::<pb::MutateResponse>();
}

fn has(client: &mut Client, name: &[u8], row: &str) -> bool {
    let answer = client.call("Get", &get(name, row));
    answer.decode::<pb::GetResponse>();
    !answer.cells.is_empty()
}

fn scan(name: Option<&[u8]>, id: Option<u64>) -> pb::ScanRequest {
    pb::ScanRequest {
        region: name.map(region),
        scan: name.map(|_| pb::Scan::default()),
        scanner_id: id,
        number_of_rows: Some(1),
        ..pb::ScanRequest::default()
    }
}

#[test]
fn connected_clients_see_the_checkpoint_and_their_scanners_end() {
    let server = TestServer::start().unwrap();
    let http = Http::of(server.ports().http.unwrap());
    let name = create_table(&server, "t", &[]).remove(0);
    let mut client = Client::data(&server);
    for row in ["a", "b", "c"] {
        write(&mut client, &name, row, "1");
    }
    assert_eq!(http.post("/checkpoints", json!({ "name": "base" })).0, 200);
    assert_eq!(http.get("/checkpoints"), json!({ "checkpoints": ["base"] }));
    for _ in 0..3 {
        write(&mut client, &name, "d", "2");
        let opened = client.call("Scan", &scan(Some(&name), None)).decode::<pb::ScanResponse>();
        assert_ne!(server.server().open_scanners(), 0);
        let created = create_table(&server, "u", &["m"]);
        assert!(!has(&mut client, &created[0], "a"));

        assert_eq!(http.post("/checkpoints/base/rewind", json!({})).0, 200);
        // The region has its name, the connection is the same, the write is gone.
        assert!(has(&mut client, &name, "a") && !has(&mut client, &name, "d"));
        assert_eq!(server.server().open_scanners(), 0);
        let next = client.call("Scan", &scan(None, opened.scanner_id));
        assert_eq!(next.exception().0, "UnknownScannerException");
        let gone = client.call("Get", &get(&created[0], "a"));
        assert_eq!(gone.exception().0, "NotServingRegionException");
        // A later scanner never has the id of an earlier one.
        let again = client.call("Scan", &scan(Some(&name), None)).decode::<pb::ScanResponse>();
        assert_ne!(again.scanner_id, opened.scanner_id);
    }
    // Handles in this process follow as well.
    let table = server.connection().table("t").unwrap();
    table.put(&Put::new("e").add("f", "q", "v")).unwrap();
    server.connection().rewind("base").unwrap();
    assert!(table.get(&Get::new("e")).unwrap().is_empty());
    assert_eq!(table.scan(&Scan::new()).unwrap().count(), 3);
    assert_eq!(http.delete("/checkpoints/base"), 200);
    assert_eq!(http.delete("/checkpoints/base"), 404);
}

#[test]
fn every_call_sees_one_state_while_others_rewind() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &["m"]);
    let state = server.state();
    state.checkpoint("base").unwrap();
    std::thread::scope(|scope| {
        let writers = [0, 1].map(|writer| {
            let (server, name) = (&server, &name);
            scope.spawn(move || {
                let mut client = Client::data(server);
                for round in 0..300 {
                    // Two cells of one row, each written and read in one call: both or none.
                    let row = format!("{writer}-{round}");
                    let mut both = put(&row, "a", "1");
                    let more = put(&row, "b", "1").column_value;
                    both.column_value.extend(more);
                    let request = pb::MutateRequest {
                        region: region(&name[0]),
                        mutation: both,
                        ..pb::MutateRequest::default()
                    };
                    client.call("Mutate", &request).decode::<pb::MutateResponse>();
                    let answer = client.call("Get", &get(&name[0], &row));
                    let response = answer.decode::<pb::GetResponse>();
                    let cells = response.result.and_then(|result| result.associated_cell_count);
                    assert!(matches!(cells, None | Some(0) | Some(2)), "{cells:?}");
                }
            })
        });
        while writers.iter().any(|writer| !writer.is_finished()) {
            state.rewind("base").unwrap();
        }
    });
    state.rewind("base").unwrap();
    let table = server.connection().table("t").unwrap();
    assert_eq!(table.scan(&Scan::new()).unwrap().count(), 0);
}

#[test]
fn a_fork_is_a_server_of_its_own() {
    let server = TestServer::start().unwrap();
    let http = Http::of(server.ports().http.unwrap());
    let name = create_table(&server, "t", &[]).remove(0);
    write(&mut Client::data(&server), &name, "a", "1");
    http.post("/checkpoints", json!({ "name": "base" }));
    let (status, first) = http.post("/forks", json!({ "checkpoint": "base" }));
    assert_eq!(status, 200, "{first}");
    let (_, second) = http.post("/forks", json!({ "checkpoint": "base" }));
    let data = |fork: &Value| {
        let port = fork["region_server_ports"][0].as_u64().unwrap();
        Client::java(u16::try_from(port).unwrap(), "ClientService")
    };
    let (mut one, mut two) = (data(&first), data(&second));
    write(&mut one, &name, "b", "2");
    assert!(has(&mut one, &name, "a") && has(&mut one, &name, "b"));
    assert!(has(&mut two, &name, "a") && !has(&mut two, &name, "b"));
    assert!(!has(&mut Client::data(&server), &name, "b"));
    assert_eq!(http.get("/forks")["forks"], json!([first, second]));

    // It has its own clock.
    let own = Http::of(u16::try_from(first["http_port"].as_u64().unwrap()).unwrap());
    assert_eq!(own.post("/clock", json!({ "mode": "manual" })).0, 200);
    assert_eq!(own.get("/clock")["mode"], "manual");
    assert_eq!(http.get("/clock")["mode"], "real");

    assert_eq!(http.delete(&format!("/forks/{}", first["id"])), 200);
    assert_eq!(http.delete(&format!("/forks/{}", first["id"])), 404);
    assert!(one.is_closed());
    assert!(has(&mut two, &name, "a"));
    // It ends with its parent.
    drop(server);
    assert!(two.is_closed());
}

#[test]
fn unknown_names_and_unreadable_requests_are_refused_with_a_reason() {
    let server = TestServer::start().unwrap();
    let http = Http::of(server.ports().http.unwrap());
    for (path, body) in
        [("/checkpoints/no/rewind", json!({})), ("/forks", json!({ "checkpoint": "no" }))]
    {
        let (status, answer) = http.post(path, body);
        assert_eq!(status, 404);
        let reason = answer["error"].as_str().unwrap();
        assert!(reason.contains("there is no checkpoint \"no\""), "{reason}");
    }
    assert_eq!(server.fork("no").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(http.post("/checkpoints", json!({ "name": "a b" })).0, 400);
    assert_eq!(http.post("/checkpoints", json!({})).0, 422);
    assert_eq!(http.post("/clock", json!({})).0, 400);
    assert_eq!(http.post("/clock", json!({ "mode": "fast" })).0, 422);
}

#[test]
fn time_to_live_and_leases_follow_the_clock() {
    let server = TestServer::start().unwrap();
    let http = Http::of(server.ports().http.unwrap());
    let family =
        ColumnFamilyDescriptor::new("f").with_time_to_live(Duration::from_secs(24 * 60 * 60));
    let descriptor = TableDescriptor::new("t".parse().unwrap()).with_family(family);
    server.connection().admin().create_table(&descriptor).unwrap();
    let table = server.connection().table("t").unwrap();
    let name = table.regions().unwrap()[0].region_name();

    let (status, answer) = http.post("/clock", json!({ "advance_ms": 1 }));
    assert_eq!((status, server.state().clock().unwrap()), (409, ClockMode::Real), "{answer}");
    assert_eq!(http.post("/clock", json!({ "mode": "manual" })).0, 200);
    let start = server.state().now_millis() + DAY_MS;
    assert_eq!(http.post("/clock", json!({ "now_ms": start })).1["now_ms"], start);
    let mut client = Client::data(&server);
    for row in ["a", "b"] {
        write(&mut client, &name, row, "1");
    }
    let read = table.get(&Get::new("a")).unwrap();
    assert_eq!(read.cells().next().unwrap().timestamp(), start);

    // The lease of a scanner ends as soon as the clock says so, and not before.
    let opened = client.call("Scan", &scan(Some(&name), None)).decode::<pb::ScanResponse>();
    let (status, back) = http.post("/clock", json!({ "advance_ms": -1 }));
    assert_eq!(status, 409);
    assert!(
        back["error"].as_str().unwrap().contains("while 1 scanner is open; close it first"),
        "{back}"
    );
    assert_eq!(server.state().now_millis(), start);
    assert_eq!(http.post("/clock", json!({ "advance_ms": 3_600_000 })).0, 200);
    assert_eq!(server.server().open_scanners(), 0);
    let next = client.call("Scan", &scan(None, opened.scanner_id));
    assert_eq!(next.exception().0, "UnknownScannerException");

    assert!(has(&mut client, &name, "a"));
    assert_eq!(http.post("/clock", json!({ "advance_ms": DAY_MS })).0, 200);
    assert!(!has(&mut client, &name, "a"));
    // Without open scanners it may be set back.
    assert_eq!(http.post("/clock", json!({ "advance_ms": -DAY_MS })).0, 200);
    assert!(has(&mut client, &name, "a"));
    assert_eq!(http.post("/clock", json!({ "mode": "offset" })).1["mode"], "offset");
    let before = server.state().now_millis();
    server.state().advance_clock(DAY_MS).unwrap();
    assert!(server.state().now_millis() >= before + DAY_MS);
}
