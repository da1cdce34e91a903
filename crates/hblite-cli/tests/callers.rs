//! Who sends requests: over RPC, Thrift and REST, from several addresses and as several users, in
//! every way of watching. The truth is counted here, by what sends the requests.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};

use hblite::{
    Action, ColumnFamilyDescriptor, Delete, Get, Increment, Put, Scan, TableDescriptor, TableName,
};
use serde_json::Value;

use crate::served::Served;

/// Client, user, protocol, operation and table.
type Who = [String; 5];
type Counts = BTreeMap<Who, u64>;

fn note(counts: &mut Counts, who: [&str; 5], requests: u64) {
    *counts.entry(who.map(str::to_owned)).or_default() += requests;
}

/// A connection from another address of this machine.
fn connect_from(address: Ipv4Addr, port: u16) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let context = runtime.enter();
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind((address, 0).into()).unwrap();
    let stream = runtime.block_on(socket.connect((Ipv4Addr::LOCALHOST, port).into()));
    let stream = stream.unwrap().into_std().unwrap();
    drop(context);
    stream.set_nonblocking(false).unwrap();
    stream
}

/// Requests of a client of HBase's own protocol.
fn by_rpc(served: &Served, user: &str, counts: &mut Counts) {
    let url = format!("{}?hadoop.user.name={user}", served.url());
    let connection = hblite::connect(&url).unwrap();
    for name in ["t", "u"] {
        let table = connection.table(name).unwrap();
        let put = |row: u32| Put::new(format!("{row:04}")).add("f", "q", "value");
        (0..30).for_each(|row| table.put(&put(row)).unwrap());
        let batch: Vec<Put> = (0..300).map(put).collect();
        table.put_all(&batch).unwrap();
        let gets: Vec<Action> = (0..40).map(|row| Get::new(format!("{row:04}")).into()).collect();
        table.batch(&gets).unwrap();
        table.get(&Get::new("0001")).unwrap();
        (0..7).for_each(|_| drop(table.increment(&Increment::new("n").add("f", "n", 1)).unwrap()));
        table.delete(&Delete::new("0002")).unwrap();
        let who = |operation| ["127.0.0.1", user, "RPC", operation, name];
        note(counts, who("Put"), 330);
        note(counts, who("Get"), 41);
        note(counts, who("Increment"), 7);
        note(counts, who("Delete"), 1);
    }
}

fn by_rest(served: &Served, counts: &mut Counts) {
    let mut stream = connect_from(Ipv4Addr::new(127, 0, 0, 5), served.port("rest_port"));
    let mut ask = |method: &str, path: &str, body: &str| {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        while !answer.windows(4).any(|window| window == b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
        let answer = String::from_utf8(answer).unwrap().to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 200"), "{answer}");
        let length = answer.split("content-length: ").nth(1).unwrap_or("0");
        let length: usize = length.split('\r').next().unwrap().parse().unwrap();
        stream.read_exact(&mut vec![0; length]).unwrap();
    };
    // Key, column and value in Base64.
    let row = |key: &str| format!(r#"{{"key":"{key}","Cell":[{{"column":"Zjpx","$":"dg=="}}]}}"#);
    let body = format!(r#"{{"Row":[{},{}]}}"#, row("YQ=="), row("Yg=="));
    (0..5).for_each(|_| ask("PUT", "/t/fakerow", &body));
    (0..3).for_each(|_| ask("GET", "/t/a", ""));
    let who = |operation| ["127.0.0.5", "", "REST", operation, "t"];
    note(counts, who("Put"), 10);
    note(counts, who("Get"), 3);
}

/// A call of `getRow` or `getRows` of Thrift 1, in the binary protocol.
fn thrift_call(method: &str, table: &str, rows: &[&str]) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat();
    let mut call = [&0x8001_0001_u32.to_be_bytes()[..], &text(method), &[0; 4]].concat();
    call.extend([11, 0, 1]);
    call.extend(text(table));
    match method {
        "getRow" => call.extend([11, 0, 2]),
        _ => {
            call.extend([15, 0, 2, 11]);
            call.extend((rows.len() as u32).to_be_bytes());
        }
    }
    rows.iter().for_each(|row| call.extend(text(row)));
    call.push(0);
    call
}

fn by_thrift(served: &Served, counts: &mut Counts) {
    let mut stream = connect_from(Ipv4Addr::new(127, 0, 0, 9), served.port("thrift_port"));
    let mut ask = |call: &[u8]| {
        stream.write_all(call).unwrap();
        let mut answer = vec![0; 64 * 1024];
        let size = stream.read(&mut answer).unwrap();
        assert_eq!(answer[..4], [0x80, 1, 0, 2], "{:?}", &answer[..size]);
    };
    (0..6).for_each(|_| ask(&thrift_call("getRow", "t", &["none"])));
    (0..2).for_each(|_| ask(&thrift_call("getRows", "t", &["none1", "none2", "none3"])));
    note(counts, ["127.0.0.9", "", "Thrift 1", "Get", "t"], 12);
}

/// What an answer lists, without the clients' reads of hbase:meta.
fn listed(callers: &Value) -> Counts {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entries = callers["callers"].as_array().unwrap_or_else(|| panic!("{callers}"));
    let of = |entry: &Value| {
        let client = if entry["client"].is_null() { &entry["address"] } else { &entry["client"] };
        let [user, protocol] = [&entry["user"], &entry["protocol"]];
        let who = [client, user, protocol, &entry["operation"], &entry["table"]].map(text);
        (who, entry["requests"].as_u64().unwrap())
    };
    entries.iter().map(of).filter(|(who, _)| who[4] != "hbase:meta").collect()
}

/// The sums by one of the parts, with their shares, as a document has them.
fn check_shares(callers: &Value, truth: &Counts) {
    let total: u64 = truth.values().sum();
    assert_eq!((&callers["requests"], &callers["unlisted"]), (&total.into(), &0.into()));
    let lists = [("clients", 0), ("users", 1), ("operations", 3), ("tables", 4)];
    for (list, part) in lists {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (who, count) in truth.iter().filter(|(who, _)| !who[part].is_empty()) {
            *sums.entry(who[part].as_str()).or_default() += count;
        }
        let entries = callers[list].as_array().unwrap();
        assert_eq!(entries.len(), sums.len(), "{list}: {entries:?}");
        for entry in entries {
            let sum = sums[entry["name"].as_str().unwrap()];
            assert_eq!(entry["requests"], sum, "{list}");
            let share = (sum as f64 / total as f64 * 1e4).round() / 1e4;
            for bound in ["share", "low", "high"] {
                assert_eq!(entry[bound], share, "{list}: {entry}");
            }
        }
    }
}

#[test]
fn callers_are_counted_on_every_port() {
    let gateways = ["--memory", "--thrift-port", "0", "--rest-port", "0"];
    let served = Served::start(&gateways);
    let observer = hblite::connect(&served.url()).unwrap();
    for name in ["t", "u"] {
        let descriptor = TableDescriptor::new(name.parse::<TableName>().unwrap());
        let descriptor = descriptor.with_family(ColumnFamilyDescriptor::new("f"));
        observer.admin().create_table(&descriptor).unwrap();
    }
    let start = observer.admin().row_counts(u64::MAX).unwrap().unwrap().until;
    let mut truth = Counts::new();
    by_rpc(&served, "etl", &mut truth);
    by_rpc(&served, "web", &mut truth);
    by_rpc(&served, "web", &mut truth);
    by_rest(&served, &mut truth);
    by_thrift(&served, &mut truth);
    let ask = |path: &str| -> Value {
        let url = format!("http://127.0.0.1:{}/{path}", served.port("http_port"));
        ureq::get(&url).call().unwrap().body_mut().read_json().unwrap()
    };
    let hot = ask("hot?since=0");
    check_shares(&hot["callers"], &truth);
    assert_eq!(listed(&hot["callers"]), truth);
    for name in ["t", "u"] {
        let own = truth.iter().filter(|(who, _)| who[4] == name);
        let own: Counts = own.map(|(who, count)| (who.clone(), *count)).collect();
        let tables = hot["tables"].as_array().unwrap();
        let table = tables.iter().find(|table| table["table"] == name).unwrap();
        check_shares(&table["callers"], &own);
        let heat = ask(&format!("console/api/heat?table={name}"));
        assert_eq!(listed(&heat["callers"]), own);
    }
    assert_eq!(listed(&ask("console/api/overview")["callers"]), truth);
    assert_eq!(listed(&ask(&format!("rows?after={start}"))["callers"]), truth);
    let by_rpc = observer.admin().row_counts(start).unwrap().unwrap().callers;
    assert_eq!(by_rpc.unlisted(), 0);
    let text = |text: Option<String>| text.unwrap_or_default();
    let counted = by_rpc.callers.iter().filter(|(caller, _)| !caller.table.is_system());
    let counted = counted.map(|(caller, count)| {
        let address = text(caller.address.map(|address| address.to_string()));
        let user = text(caller.user.as_deref().map(str::to_owned));
        let (protocol, operation) = (caller.protocol.to_string(), caller.operation.to_string());
        ([address, user, protocol, operation, caller.table.to_string()], *count)
    });
    assert_eq!(counted.collect::<Counts>(), truth);
}

/// A scan counts each time that it asks for rows, and a batch of a row once.
#[test]
fn scans_count_calls() {
    let served = Served::start(&["--memory"]);
    let connection = hblite::connect(&served.url()).unwrap();
    let family = ColumnFamilyDescriptor::new("f");
    let descriptor = TableDescriptor::new("t".parse::<TableName>().unwrap()).with_family(family);
    connection.admin().create_table(&descriptor).unwrap();
    let table = connection.table("t").unwrap();
    let put = |row: u32| Put::new(format!("{row:04}")).add("f", "q", "value");
    table.put_all(&(0..100).map(put).collect::<Vec<_>>()).unwrap();
    let scanned = |caching| {
        let start = connection.admin().row_counts(u64::MAX).unwrap().unwrap().until;
        let rows = table.scan(&Scan::new().with_caching(caching)).unwrap().count();
        assert_eq!(rows, 100);
        let counts = connection.admin().row_counts(start).unwrap().unwrap().callers;
        let own = counts.callers.iter().filter(|(caller, _)| !caller.table.is_system());
        own.map(|(_, count)| *count).sum::<u64>()
    };
    let (few, many) = (scanned(1_000), scanned(10));
    assert!(few <= 2, "{few}");
    assert!((10..=12).contains(&many), "{many}");
}
