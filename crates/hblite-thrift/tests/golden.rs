//! Goal: the gateways answer as HBase's do. Method: scripts of calls, with the answers that HBase's
//! Thrift servers 2.6.1 gave (on hblite, through HBase's Java client) below each call.
//!
//! A call is `> method fields`, in the notation of `support`. `HBLITE_THRIFT_AT=HOST:PORT` plays
//! scripts on the server there. Only with that, `HBLITE_REWRITE=1` records its answers. Scripts
//! whose names begin with `one` are for Thrift 1, the others for Thrift 2.
//!
//! Of a message, the first line counts: HBase appends stack traces. Times of now, ports, the host
//! and the ids of regions and clusters are replaced by words.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "each test uses a part of the client")]
use std::fmt::Write as _;
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use crate::support::{Notation, Value, ask};
use hblite::RegionLocator;
use hblite_thrift::{ThriftGateway, ThriftOptions};

/// Timestamps from here on are times of now.
const NOW_MIN: i64 = 1_000_000_000_000;

/// Replaces what differs from run to run.
fn normalize(value: &mut Value) {
    match value {
        Value::I64(time) if (NOW_MIN..i64::MAX / 2).contains(time) => {
            *value = Value::text("<time>");
        }
        Value::Bytes(bytes) => *bytes = normalize_text(bytes),
        Value::I32(port) if (1024..=65535).contains(port) && *port != 65536 => {
            *value = Value::text("<port>");
        }
        Value::Struct(fields) => fields.iter_mut().for_each(|(_, value)| normalize(value)),
        Value::List(values) => values.iter_mut().for_each(normalize),
        Value::Map(pairs) => pairs.iter_mut().for_each(|(_, value)| normalize(value)),
        _ => {}
    }
}

fn normalize_text(bytes: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(bytes) else { return bytes.to_vec() };
    let first = text.lines().next().unwrap_or_default();
    if first.starts_with("Required field '") {
        // HBase prints all arguments.
        return b"Required field".to_vec();
    }
    // The name of a region: table, start key, id and hash.
    let mut words: Vec<String> = Vec::new();
    for word in first.split(' ') {
        words.push(normalize_word(word));
    }
    words.join(" ").into_bytes()
}

fn normalize_word(word: &str) -> String {
    let is_hash = |part: &str| part.len() == 32 && part.bytes().all(|b| b.is_ascii_hexdigit());
    if let Some((before, _)) = word.rsplit_once(',')
        && word.split('.').any(is_hash)
    {
        return format!("{before},<region>");
    }
    if word.len() == 36 && word.bytes().filter(|byte| *byte == b'-').count() == 4 {
        return "<cluster>".to_owned();
    }
    if word.starts_with("127.0.0.1,") || word.starts_with("localhost,") {
        return "<server>".to_owned();
    }
    word.to_owned()
}

/// A call and the lines below it; the line of a call starts with `>`.
fn play(script: &str, stream: &mut TcpStream) -> String {
    let mut out = String::new();
    for line in script.lines().filter(|line| !line.starts_with("= ") && !line.starts_with("! ")) {
        writeln!(out, "{line}").unwrap();
        let Some(call) = line.strip_prefix("> ") else { continue };
        let (method, arguments) = call.split_once(' ').unwrap_or((call, ""));
        let (kind, mut answer) = ask(stream, method, &Notation::new(arguments).fields()).unwrap();
        normalize(&mut answer);
        let mark = if kind == 2 { '=' } else { '!' };
        writeln!(out, "{mark} {answer}").unwrap();
    }
    out
}

fn run(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let script = fs::read_to_string(&path).unwrap();
    let at = std::env::var("HBLITE_THRIFT_AT").ok();
    let options = ThriftOptions::default()
        .with_thrift_port(0)
        .with_thrift2_port(0)
        .with_cluster_id("01234567-0123-0123-0123-0123456789ab")
        .with_locate(RegionLocator::new(|_| ("127.0.0.1".to_owned(), 16020)));
    let gateway = ThriftGateway::start(&hblite::open_in_memory().unwrap(), options).unwrap();
    let ports = gateway.ports();
    let port = if name.starts_with("one") { ports.thrift } else { ports.thrift2 };
    let address = at.clone().unwrap_or(format!("127.0.0.1:{}", port.unwrap()));
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let played = play(&script, &mut stream);
    if at.is_some() && std::env::var_os("HBLITE_REWRITE").is_some() {
        fs::write(&path, played).unwrap();
        return;
    }
    let differ = script.lines().zip(played.lines()).filter(|(old, new)| old != new);
    let differ: Vec<String> = differ.map(|(old, new)| format!("- {old}\n+ {new}")).collect();
    assert!(differ.is_empty(), "{name}: recorded (-) and played (+):\n{}", differ.join("\n"));
    assert_eq!(script.lines().count(), played.lines().count(), "{name}");
}

#[test]
fn thrift_1_tables() {
    run("one_tables.txt");
}

#[test]
fn thrift_1_rows() {
    run("one_rows.txt");
}

#[test]
fn thrift_1_scans() {
    run("one_scans.txt");
}

#[test]
fn thrift_2_rows() {
    run("two_rows.txt");
}

#[test]
fn thrift_2_scans() {
    run("two_scans.txt");
}

#[test]
fn thrift_2_tables() {
    run("two_tables.txt");
}
