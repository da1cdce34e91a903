//! Goal: no request makes the gateway panic, hang, or use unbounded memory, and each limit holds.
//! Method: requests that break one limit each, and random changes of valid input.

#[path = "../../../tests/fuzz/bodies/corpus.rs"]
mod corpus;
#[path = "../../../tests/fuzz/bodies/rest.rs"]
mod rest;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use hblite::{ColumnFamilyDescriptor, Connection, ManualClock, Options, Put, TableDescriptor};
use hblite_rest::{RestLimits, RestOptions, RestServer};

use crate::http::{exchange, read, send};

const JSON: &str = "application/json";

/// A gateway with these limits, over a table `t` with the family `f`.
fn start(connection: &Connection, limits: RestLimits) -> RestServer {
    let family = ColumnFamilyDescriptor::new("f");
    let table = TableDescriptor::new("t".parse().expect("a name")).with_family(family);
    connection.admin().create_table(&table).expect("a table");
    let options = RestOptions::default().with_port(0).with_limits(limits);
    RestServer::start(connection, options).expect("a gateway")
}

fn memory() -> Connection {
    hblite::open_in_memory().expect("a store")
}

fn put(connection: &Connection, rows: usize, value: &[u8]) {
    let table = connection.table("t").expect("the table");
    for row in 0..rows {
        table.put(&Put::new(format!("r{row:05}")).add_at("f", "q", 5, value)).expect("a put");
    }
}

#[test]
fn bodies_are_limited_packed_and_unpacked() {
    let limits = RestLimits::default().with_body_size_max_bytes(10_000);
    let server = start(&memory(), limits);
    let play = |headers: &[(&str, &str)], body: &[u8]| {
        let headers = [&[("Content-Type", "application/octet-stream")], headers].concat();
        send(server.port(), "PUT", "/t/r/f:q", &headers, Some(body)).status
    };
    assert_eq!(play(&[], &[7; 10_000]), 200);
    assert_eq!(play(&[], &[7; 10_001]), 413);
    let packed = |length: usize| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&vec![0; length]).expect("to memory");
        encoder.finish().expect("to memory")
    };
    let gzip = [("Content-Encoding", "gzip")];
    assert_eq!(play(&gzip, &packed(10_000)), 200);
    assert_eq!(play(&gzip, &packed(5_000_000)), 400);
    assert_eq!(play(&gzip, b"no gzip"), 400);
    let chunked = format!(
        "PUT /t/r/f:q HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n\
         Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n4e20\r\n{}\r\n0\r\n\r\n",
        "x".repeat(20_000)
    );
    assert_eq!(read(&exchange(server.port(), chunked.as_bytes())).status, 413);
}

#[test]
fn attributes_namespaces_and_depth_of_documents_are_limited() {
    let server = start(&memory(), RestLimits::default());
    let attributes =
        |count: usize| -> String { (0..count).map(|number| format!(" a{number}='1'")).collect() };
    let schema = |count: usize| format!("<TableSchema{}/>", attributes(count));
    let deep = format!("<Scanner>{}", "<a>".repeat(500_000));
    let namespaces: String =
        (0..60_000).map(|number| format!(" xmlns:n{number}='{number}'")).collect();
    let inherited = format!("<Scanner{namespaces}>{}</Scanner>", "<a xmlns='b'/>".repeat(1_000));
    let put = |path: &str, body: &str| {
        send(server.port(), "PUT", path, &[("Content-Type", "text/xml")], Some(body.as_bytes()))
    };
    let begun = Instant::now();
    for (path, body, status) in [
        ("/s/schema", schema(150).replace("/>", "><ColumnSchema name='f'/></TableSchema>"), 201),
        ("/u/schema", schema(80_000), 400),
        ("/u/schema", format!("<TableSchema>{}</TableSchema>", schema(4_000).repeat(100)), 400),
        ("/t/scanner", inherited, 400),
        ("/t/scanner", deep, 400),
    ] {
        assert_eq!(put(path, &body).status, status, "{body:.80}");
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "it took {:?}", begun.elapsed());
}

#[test]
fn heads_are_limited() {
    let server = start(&memory(), RestLimits::default());
    let long = "x".repeat(400_000);
    let answer = send(server.port(), "GET", "/t/r", &[("X-Long", &long)], None);
    assert_eq!(answer.status, 431);
    let answer = exchange(server.port(), b"no HTTP at all\r\n\r\n");
    assert!(answer.is_empty() || read(&answer).status == 400);
    assert_eq!(send(server.port(), "GET", "/version/cluster", &[], None).status, 200);
}

#[test]
fn hosts_of_other_names_are_refused() {
    let server = start(&memory(), RestLimits::default());
    for (host, status) in [
        ("localhost", 200),
        ("127.0.0.1:1", 200),
        ("[::1]", 200),
        ("evil.example", 403),
        ("localhost.evil.example:8080", 403),
        ("löcalhost", 400),
        ("localhost\r\nHost: localhost", 400),
        ("localhost:1\r\nOrigin: http://localhost:1", 200),
        ("localhost:1\r\nOrigin: http://evil.example", 403),
        ("localhost:1\r\nOrigin: null", 403),
    ] {
        assert_eq!(status_for(&server, "/version/cluster", host), status, "{host}");
    }
    assert_eq!(status_for(&server, "http://localhost/version/cluster", "localhost"), 200);
    assert_eq!(status_for(&server, "http://evil.example/version/cluster", "localhost"), 403);
}

fn status_for(server: &RestServer, uri: &str, host: &str) -> u16 {
    let head = format!("GET {uri} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    read(&exchange(server.port(), head.as_bytes())).status
}

#[test]
fn a_gateway_for_other_machines_has_any_name_and_no_foreign_pages() {
    let options = RestOptions::default().with_port(0).with_bind([0, 0, 0, 0]);
    let server = RestServer::start(&memory(), options).expect("a gateway");
    assert_eq!(status_for(&server, "/version/cluster", "hbase-rest:8080"), 200);
    let foreign = "hbase-rest:8080\r\nOrigin: http://evil.example";
    assert_eq!(status_for(&server, "/version/cluster", foreign), 403);
}

#[test]
fn half_sent_requests_make_room_for_newcomers() {
    let server = start(&memory(), RestLimits::default().with_connections_max(8));
    let halves =
        ["GET / HTT", "PUT /t/r/f:q HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"];
    let half_sent: Vec<TcpStream> = (0..20)
        .map(|number| {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("it listens");
            stream.write_all(halves[number % 2].as_bytes()).expect("sent");
            stream
        })
        .collect();
    let begun = Instant::now();
    assert_eq!(send(server.port(), "GET", "/version/cluster", &[], None).status, 200);
    assert!(begun.elapsed() < Duration::from_secs(30), "it waited for a timeout");
    drop(half_sent);
}

#[test]
fn answers_that_nobody_takes_leave_the_threads_to_others() {
    let connection = memory();
    let limits = RestLimits::default().with_threads_max(2);
    let server = start(&connection, limits);
    put(&connection, 40, &vec![7; 1 << 20]);
    let scan = format!("GET /t/* HTTP/1.1\r\nHost: localhost\r\nAccept: {JSON}\r\n\r\n");
    let mut untaken = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("it listens");
        stream.write_all(scan.as_bytes()).expect("sent");
        // The answer has begun.
        stream.read_exact(&mut [0; 8]).expect("the beginning of an answer");
        untaken.push(stream);
    }
    let begun = Instant::now();
    assert_eq!(send(server.port(), "GET", "/version/cluster", &[], None).status, 200);
    assert!(begun.elapsed() < Duration::from_secs(30), "it waited for a timeout");
    // The answers are not lost.
    let mut rest = [0; 1 << 16];
    untaken[0].read_exact(&mut rest).expect("more of the answer");
}

#[test]
fn idle_connections_are_closed_and_make_room() {
    let limits =
        RestLimits::default().with_connections_max(2).with_idle_timeout(Duration::from_secs(1));
    let server = start(&memory(), limits);
    let connect = || TcpStream::connect(("127.0.0.1", server.port())).expect("it listens");
    let mut idle = [connect(), connect()];
    // One in the middle of a head, one in the middle of a body.
    idle[0].write_all(b"GET / HTT").expect("sent");
    let head = "PUT /t/r/f:q HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf";
    idle[1].write_all(head.as_bytes()).expect("sent");
    let start = Instant::now();
    let mut left = Vec::new();
    let _ = idle[0].read_to_end(&mut left);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(send(server.port(), "GET", "/version/cluster", &[], None).status, 200);
}

#[test]
fn ranges_are_limited_and_scans_are_not() {
    let connection = memory();
    let limits = RestLimits::default().with_answer_size_max_bytes(50_000);
    let server = start(&connection, limits);
    put(&connection, 300, &[b'v'; 1_000]);
    let accept = [("Accept", JSON)];
    let range = send(server.port(), "GET", "/t/r00000,r00300", &accept, None);
    assert_eq!(range.status, 503);
    let rows = |body: &[u8]| {
        let value: serde_json::Value = serde_json::from_slice(body).expect("JSON");
        value["Row"].as_array().map_or(0, Vec::len)
    };
    let scan = send(server.port(), "GET", "/t/*", &accept, None);
    assert_eq!((scan.status, rows(&scan.body)), (200, 300));
    assert_eq!(scan.headers["transfer-encoding"], "chunked");
    let packed = [accept[0], ("Accept-Encoding", "gzip")];
    let scan = send(server.port(), "GET", "/t/*", &packed, None);
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(scan.body.as_slice()).read_to_end(&mut unpacked).expect("gzip");
    assert_eq!(rows(&unpacked), 300);

    let kind = [("Content-Type", JSON)];
    let created = send(server.port(), "PUT", "/t/scanner", &kind, Some(b"{}"));
    let location = created.headers["location"].clone();
    let path = location.split_once("/t/").map_or("", |(_, path)| path);
    let (mut found, mut answers) = (0, 0);
    loop {
        let answer = send(server.port(), "GET", &format!("/t/{path}"), &accept, None);
        if answer.status == 204 {
            break;
        }
        found += rows(&answer.body);
        answers += 1;
    }
    assert_eq!(found, 300);
    assert!(answers > 3, "{answers} answers have less than the limit each");
}

#[test]
fn scanners_expire_and_make_room() {
    let clock = Arc::new(ManualClock::new(1_000_000));
    let connection = Options::new().with_clock(Arc::clone(&clock) as _).open_in_memory();
    let connection = connection.expect("a store");
    let limits = RestLimits::default().with_scanners_max(3);
    let server = start(&connection, limits);
    put(&connection, 3, b"v");
    let create = || {
        let answer =
            send(server.port(), "POST", "/t/scanner", &[("Content-Type", JSON)], Some(b"{}"));
        clock.advance(1_000);
        answer.headers["location"].split_once("/t/").map_or(String::new(), |(_, id)| id.to_owned())
    };
    let status = |id: &str| {
        send(server.port(), "GET", &format!("/t/{id}"), &[("Accept", JSON)], None).status
    };
    let ids: Vec<String> = (0..4).map(|_| create()).collect();
    assert_eq!([status(&ids[0]), status(&ids[1]), status(&ids[3])], [404, 200, 200]);
    clock.advance(60 * 60 * 1_000);
    let deadline = Instant::now() + Duration::from_secs(30);
    while status(&create()) != 404 && Instant::now() < deadline {
        // Each use of a scanner renews it: the unused one is closed.
        if status(&ids[2]) == 404 {
            return;
        }
        clock.advance(60 * 60 * 1_000);
    }
    panic!("a scanner outlives its time");
}

/// Valid inputs for each parser, to be changed.
const CORPUS: &[(u8, &str)] = &[
    (0, "r1,r2/a:1,b/100,200/%3Fm=3%26n=2"),
    (1, "cjE=/YTox"),
    (2, r#"{"type":"FilterList","op":"MUST_PASS_ONE","filters":[{"type":"KeyOnlyFilter"}]}"#),
    (2, r#"{"type":"RowFilter","op":"EQUAL","comparator":{"type":"NullComparator"}}"#),
    (3, "application/json;q=0.5, text/*, */*;q=0"),
    (5, "<CellSet><Row key='cjE='><Cell column='YTox' timestamp='5'>djE=</Cell></Row></CellSet>"),
    (5, r#"{"Row":[{"key":"cjE=","Cell":[{"column":"YTox","timestamp":5,"$":"djE="}]}]}"#),
    (6, "<TableSchema name='t' A='1'><ColumnSchema name='f' TTL='60'/></TableSchema>"),
    (6, r#"{"name":"t","ColumnSchema":[{"name":"f","VERSIONS":3}],"READONLY":true}"#),
    (7, "<NamespaceProperties><properties><entry><key>k</key></entry></properties>"),
    (8, "<Scanner batch='2' startRow='cjE='><column>YTox</column><filter>{}</filter></Scanner>"),
    (8, r#"{"batch":2,"startRow":"cjE=","column":["YTox"],"startTime":1,"endTime":9}"#),
    (255, "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    (255, "PUT /t/r/f:q HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"),
];

#[test]
fn changed_input_is_answered_or_refused() {
    // Marsaglia's xorshift.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound as u64) as usize
    };
    for round in 0..3_000 {
        let (choice, text) = CORPUS[round % CORPUS.len()];
        // Whole requests take longer.
        if choice == 255 && round > 600 {
            continue;
        }
        let mut bytes = [&[choice], text.as_bytes()].concat();
        for _ in 0..below(5) {
            let at = 1 + below(bytes.len() - 1);
            match below(3) {
                0 => bytes[at] = below(256) as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b"<>{}[]\"'/%,:&\x00\xff"[below(15)]),
            }
            if bytes.len() < 2 {
                break;
            }
        }
        rest::run(&bytes);
    }
    let deep = ["<CellSet>", &"<Row>".repeat(200_000)].concat();
    rest::run(&[&[5], deep.as_bytes()].concat());
    rest::run(&[&[2], "{\"filters\":[".repeat(200_000).as_bytes()].concat());
}

#[test]
fn what_the_fuzzer_kept_does_no_harm() {
    corpus::inputs("rest").iter().for_each(|input| rest::run(input));
}
