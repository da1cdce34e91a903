//! Goal: the gateway answers as HBase's RESTServer did. Method: play the recorded requests on an
//! empty store, one after the other, and compare each answer.
//!
//! `tools/conformance/rest` records and describes them. An answer that differs on purpose is
//! recorded next to HBase's.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use hblite::RegionLocator;
use hblite_rest::{RestOptions, RestServer};
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::http::{Answer, send};

/// The headers that are compared.
const HEADERS: &[&str] = &[
    "content-type",
    "content-encoding",
    "cache-control",
    "allow",
    "location",
    "x-row",
    "x-column",
    "x-timestamp",
];

/// Paths of scanners, by their names in the requests.
type Saved = BTreeMap<String, String>;

fn decoded(value: &Value) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(value.as_str()?).ok()
}

fn play(port: u16, request: &Value, saved: &mut Saved) -> Value {
    let mut path = request["path"].as_str().expect("a path").to_owned();
    for (name, value) in &*saved {
        path = path.replace(&format!("{{{name}}}"), value);
    }
    if path.contains('{') {
        path = "/t/scanner/unsaved".to_owned();
    }
    let method = request["method"].as_str().expect("a method");
    let headers = request["headers"].as_object().expect("headers");
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap_or(""))).collect();
    let text = request.get("body").and_then(Value::as_str).map(|text| text.as_bytes().to_vec());
    let body = request.get("body_base64").and_then(decoded).or(text);
    let answer = send(port, method, &path, &headers, body.as_deref());
    if let (Some(name), 201) = (request.get("save").and_then(Value::as_str), answer.status) {
        saved.insert(name.to_owned(), path_of(&answer.headers["location"]).to_owned());
    }
    normal(answer)
}

fn path_of(location: &str) -> &str {
    location.splitn(4, '/').nth(3).map_or("", |path| &location[location.len() - path.len() - 1..])
}

/// The part of an answer that is the same in every run.
fn normal(mut answer: Answer) -> Value {
    let mut headers = Map::new();
    for name in HEADERS {
        if let Some(value) = answer.headers.get(*name) {
            headers.insert((*name).to_owned(), value.as_str().into());
        }
    }
    if let Some(location) = answer.headers.get("location") {
        let id = Regex::new("(/scanner/).+").expect("a pattern");
        headers["location"] = id.replace(path_of(location), "${1}ID").into();
    }
    if answer.headers.get("x-timestamp").is_some_and(|timestamp| timestamp.len() == 13) {
        headers["x-timestamp"] = "TIME".into();
    }
    let header = |name| answer.headers.get(name).map_or("", String::as_str);
    if header("content-encoding") == "gzip" {
        let mut unpacked = Vec::new();
        GzDecoder::new(answer.body.as_slice()).read_to_end(&mut unpacked).expect("gzip");
        answer.body = unpacked;
    }
    if header("cache-control").contains("must-revalidate") {
        answer.body.clear();
    }
    let is_text = header("content-type") == "text/plain";
    match String::from_utf8(answer.body) {
        Ok(text) => {
            let body = normal_text(text, is_text);
            json!({ "status": answer.status, "headers": headers, "body": body })
        }
        Err(error) => {
            use base64::Engine as _;
            let body = base64::engine::general_purpose::STANDARD.encode(error.as_bytes());
            json!({ "status": answer.status, "headers": headers, "body_base64": body })
        }
    }
}

fn normal_text(mut text: String, is_text: bool) -> String {
    let exception = Regex::new("^(Bad request|Not found|Unavailable)\r\n.").expect("a pattern");
    if is_text && exception.is_match(&text) {
        text = text.split_inclusive('\n').take(2).collect();
    }
    let variable = [
        (r"NullPointerException[^\n]*", "NullPointerException"),
        (r"\b1[5-9][0-9]{11}\b", "TIME"),
        (r"\.[0-9a-f]{32}\.", ".HASH."),
        (r"127\.0\.0\.1:[0-9]+", "HOST"),
    ];
    for (pattern, name) in variable {
        text = Regex::new(pattern).expect("a pattern").replace_all(&text, name).into_owned();
    }
    text
}

#[test]
fn answers_are_those_of_hbase() {
    let connection = hblite::open_in_memory().expect("a store");
    let locate = RegionLocator::new(|_| ("127.0.0.1".to_owned(), 16020));
    let options = RestOptions::default().with_port(0).with_locate(locate);
    let server = RestServer::start(&connection, options).expect("a gateway");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/answers.jsonl");
    let lines = std::fs::read_to_string(file).expect("the recorded answers");
    let (mut saved, mut wrong, mut count) = (Saved::new(), Vec::new(), 0);
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        let expected = match line.get("hblite") {
            Some(own) => {
                assert!(own["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
                assert_ne!(own["answer"], line["answer"], "no difference: {line}");
                &own["answer"]
            }
            None => &line["answer"],
        };
        count += 1;
        let answer = play(server.port(), &line["request"], &mut saved);
        if answer != *expected {
            wrong.push(format!("{count} {}\n  {expected}\n  {answer}", line["request"]));
        }
    }
    assert!(count > 1000, "the recording was found");
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n"));
}
