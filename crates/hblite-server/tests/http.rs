//! The admin endpoint, as scripts and tests in other languages use it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::{self, Client, connect, create_table, get};
use hblite_server::{ServerOptions, TestServer};
use hblite_wire::read_only::ReadOnly;
use serde_json::{Value, json};

struct Http {
    agent: ureq::Agent,
    url: String,
}

impl Http {
    fn of(server: &TestServer) -> Self {
        let url = format!("http://127.0.0.1:{}", server.ports().http.expect("it works"));
        let config = ureq::Agent::config_builder().http_status_as_error(false).proxy(None);
        Self { agent: config.build().into(), url }
    }

    fn get(&self, path: &str) -> (u16, String) {
        let mut response = self.agent.get(format!("{}{path}", self.url)).call().expect("it works");
        (response.status().as_u16(), response.body_mut().read_to_string().expect("it works"))
    }

    fn json(&self, path: &str) -> Value {
        let (status, text) = self.get(path);
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).expect("it works")
    }

    fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let mut response =
            self.agent.post(format!("{}{path}", self.url)).send_json(body).expect("it works");
        (response.status().as_u16(), response.body_mut().read_json().expect("it works"))
    }

    fn delete(&self, path: &str) -> u16 {
        self.agent.delete(format!("{}{path}", self.url)).call().expect("it works").status().as_u16()
    }
}

fn two_servers() -> TestServer {
    let options = ServerOptions::on_free_ports().with_region_servers(2);
    TestServer::start_with(hblite::Options::new(), options).expect("it works")
}

#[test]
fn state_and_counters_are_shown() {
    let server = two_servers();
    let http = Http::of(&server);
    assert_eq!(http.get("/health"), (200, "ok\n".to_owned()));
    let names = create_table(&server, "t", &["m"]);
    let table = server.connection().table("t").unwrap();
    table.put(&hblite::Put::new("a").add("f", "q", "v")).unwrap();
    table.get(&hblite::Get::new("a")).unwrap();
    let _scanner = Client::data(&server);

    let status = http.json("/status");
    assert_eq!(status["cluster_id"], server.server().cluster_id());
    assert_eq!(status["servers"].as_array().unwrap().len(), 2);
    assert_eq!(status["servers"][1]["port"], server.ports().region_servers[1]);
    let regions = status["regions"].as_array().unwrap();
    let of_table: Vec<&Value> = regions.iter().filter(|region| region["table"] == "t").collect();
    assert_eq!(of_table.len(), names.len());
    assert_eq!((&of_table[1]["start_key"], &of_table[1]["end_key"]), (&json!("m"), &json!("")));
    assert_eq!(of_table[0]["write_requests"], 1);

    let (status, text) = http.get("/metrics");
    assert_eq!(status, 200);
    let name = of_table[0]["encoded_name"].as_str().unwrap();
    let place = of_table[0]["server"].as_u64().unwrap();
    let sample = format!(
        "hblite_region_read_requests_total{{table=\"t\",region=\"{name}\",server=\"{place}\"}} 1\n"
    );
    assert!(text.contains(&sample), "{text}");
    assert!(text.contains("# TYPE hblite_region_memstore_bytes gauge\n"));
    assert!(text.contains("hblite_server_up{server=\"1\"} 1\n"));
    // Every line is a comment or a sample.
    for line in text.lines() {
        let is_sample =
            || line.rsplit_once(' ').is_some_and(|(_, value)| value.parse::<f64>().is_ok());
        assert!(line.starts_with("# ") || is_sample(), "{line}");
    }
}

#[test]
fn faults_are_set_listed_and_cleared() {
    let server = two_servers();
    let http = Http::of(&server);
    let names = create_table(&server, "t", &[]);
    let fault = json!({ "error": "RegionTooBusyException", "methods": ["Get"], "count": 1 });
    assert_eq!(http.post("/faults", fault.clone()), (200, json!({ "id": 1 })));
    let name = String::from_utf8_lossy(&names[0]).into_owned();
    let encoded = name.trim_end_matches('.').rsplit('.').next().unwrap().to_owned();
    let place = server.faults().server_of(&encoded).unwrap();
    let mut client = Client::java(server.ports().region_servers[place], "ClientService");
    let answer = client.call("Get", &get(&names[0], "r"));
    assert_eq!(answer.exception(), ("RegionTooBusyException", false));
    assert_eq!(client.call("Get", &get(&names[0], "r")).header.exception, None);
    let listed = json!([{ "id": 1, "fault": fault, "seen": 2, "happened": 1 }]);
    assert_eq!(http.json("/faults"), listed);
    assert_eq!((http.delete("/faults/1"), http.delete("/faults/1")), (200, 404));
    http.post("/faults", json!({ "drop": "after" }));
    assert_eq!((http.delete("/faults"), http.json("/faults")), (200, json!([])));

    let other = 1 - place;
    let moved = http.post(&format!("/regions/{encoded}/move"), json!({ "server": other }));
    assert_eq!(moved, (200, json!({})));
    let answer = client.call("Get", &get(&names[0], "r"));
    assert_eq!(answer.exception(), ("RegionMovedException", false));
    let split = http.post(&format!("/regions/{encoded}/split"), json!({ "row": "m\\x00" }));
    assert_eq!(split, (200, json!({})));
    let regions = server.connection().table("t").unwrap().regions().unwrap();
    assert_eq!(regions[1].start_key(), b"m\0");

    let (status, crash) = http.post(&format!("/servers/{other}/crash"), json!({}));
    assert!(status == 200 && crash["regions"].as_u64() >= Some(2), "{crash}");
    assert_eq!(http.json("/status")["servers"][other]["is_alive"], false);
    let (status, _) = http.post(&format!("/servers/{other}/restart"), json!({}));
    assert_eq!(status, 200);
    assert_eq!(http.json("/status")["servers"][other]["is_alive"], true);
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let server = TestServer::start().unwrap();
    let http = Http::of(&server);
    for (path, body, status, reason) in [
        ("/faults", json!({ "error": "Nope" }), 422, "Nope"),
        ("/faults", json!({ "drop": "after", "servers": [1] }), 400, "not 1"),
        ("/regions/nowhere/move", json!({ "server": 0 }), 404, "nowhere"),
        ("/regions/nowhere/fly", json!({}), 400, "assign"),
        ("/regions/nowhere/move", json!({ "row": "a" }), 400, "server"),
        ("/servers/0/restart", json!({}), 400, "alive"),
        ("/servers/9/crash", json!({}), 400, "9"),
    ] {
        let (given, answer) = http.post(path, body);
        assert_eq!(given, status, "{path}: {answer}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(reason), "{path}: {error}");
    }
    assert_eq!(http.get("/nothing").0, 404);
}

#[test]
fn web_pages_cannot_post() {
    let server = TestServer::start().unwrap();
    let ask = |head: &str, body: &str| {
        let mut stream = connect(server.ports().http.unwrap());
        let length = body.len();
        write!(stream, "{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer[9..12].to_owned()
    };
    let fault = r#"{"drop":"after"}"#;
    let post = "POST /faults HTTP/1.1\r\n";
    // A form, or a script without permission.
    let plain = format!("{post}Host: localhost\r\nContent-Type: text/plain\r\n");
    assert_eq!(ask(&plain, fault), "415");
    // A page whose host name was made to resolve to this machine.
    let rebound = format!("{post}Host: evil.example\r\nContent-Type: application/json\r\n");
    assert_eq!(ask(&rebound, fault), "403");
    // A form without fields has no content type.
    let crash = "POST /servers/0/crash HTTP/1.1\r\nHost: localhost\r\n";
    assert_eq!(ask(&format!("{crash}Origin: http://evil.example\r\n"), ""), "403");
    assert_eq!(ask(&format!("{crash}Host: localhost\r\n"), ""), "400");
    let ours = format!("{post}Host: localhost\r\nContent-Type: application/json\r\n");
    assert_eq!(ask(&ours, fault), "200");
    assert_eq!(server.faults().list().len(), 1);
}

/// A server with short or long time limits for clients.
fn with_timeouts(hello: Duration, stall: Duration) -> TestServer {
    let limits =
        ServerOptions::default().limits.with_hello_timeout(hello).with_stall_timeout(stall);
    let options = ServerOptions::on_free_ports().with_limits(limits);
    TestServer::start_with(hblite::Options::new(), options).expect("it works")
}

#[test]
fn who_asks_is_answered_while_hundreds_hold_connections_and_say_little() {
    let server = with_timeouts(Duration::from_secs(600), Duration::from_secs(600));
    let port = server.ports().http.unwrap();
    let mut slow: Vec<TcpStream> = Vec::new();
    // Some in the middle of a head, some of a body, some between two requests.
    for index in 0..300 {
        let mut stream = connect(port);
        let sent: &[u8] = match index % 3 {
            0 => b"GET /health HT",
            1 => b"POST /faults HTTP/1.1\r\nContent-Length: 60000\r\n\r\n{",
            _ => b"GET /health HTTP/1.1\r\n\r\n",
        };
        stream.write_all(sent).unwrap();
        if index % 3 == 2 {
            let mut answer = [0; 12];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"HTTP/1.1 200");
        }
        slow.push(stream);
    }
    assert_eq!(Http::of(&server).get("/health"), (200, "ok\n".to_owned()));
    // A byte now and then does not help those that had to make room.
    let ended = slow.iter_mut().filter_map(|stream| {
        let _ = stream.write_all(b"x");
        let mut rest = Vec::new();
        stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        match stream.read_to_end(&mut rest) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            _ => Some(()),
        }
    });
    assert!(ended.count() >= 200, "at most 100 connections stay");
    assert_eq!(Http::of(&server).get("/health").0, 200);
}

#[test]
fn heads_and_bodies_come_in_time_and_connections_do_not_idle() {
    let server = with_timeouts(Duration::from_millis(300), Duration::from_millis(900));
    let port = server.ports().http.unwrap();
    let drip = |begin: &[u8]| {
        let mut stream = connect(port);
        stream.write_all(begin).unwrap();
        let begun = Instant::now();
        while stream.write_all(b"a").is_ok() {
            assert!(begun.elapsed() < Duration::from_secs(30), "it may go on for ever");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    drip(b"GET /health HTTP/1.1\r\nx: ");
    drip(b"POST /faults HTTP/1.1\r\nContent-Length: 60000\r\n\r\n{");
    let mut stream = connect(port);
    stream.write_all(b"GET /health HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("ok\n"), "{answer}");
    // Too large a request is refused.
    let mut stream = connect(port);
    write!(stream, "POST /faults HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n").unwrap();
    let _ = stream.write_all(&vec![b' '; 100_000]);
    let answer = support::read_to_end(&mut stream);
    assert!(answer.starts_with(b"HTTP/1.1 413"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn gateways_are_made_read_only() {
    let server = two_servers();
    let http = Http::of(&server);
    let read_only = ReadOnly::default();
    server.server().attach_gateway("rest", read_only.clone());
    assert_eq!(http.json("/gateways"), json!({ "rest": { "read_only": false } }));
    assert_eq!(http.post("/gateways/rest", json!({ "read_only": true })).0, 200);
    assert!(read_only.is_on());
    assert_eq!(http.json("/gateways"), json!({ "rest": { "read_only": true } }));
    let (status, refusal) = http.post("/gateways/thrift", json!({ "read_only": true }));
    assert_eq!(status, 404, "{refusal}");
    assert_eq!(http.post("/gateways/rest", json!({ "on": true })).0, 422);
}
