//! Goal: clients that send Thrift over HTTP are served on the same port, and browsers are not.
//! Method: requests as text; the messages in their bodies come from the tests' own client.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "each test uses a part of the client")]
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{Notation, Value, answer, call};
use hblite_thrift::{ThriftGateway, ThriftLimits, ThriftOptions};

const THRIFT: &str = "Content-Type: application/x-thrift\r\n";

fn gateway() -> (ThriftGateway, u16) {
    let connection = hblite::open_in_memory().unwrap();
    let limits = ThriftLimits::default().with_message_size_max_bytes(100_000);
    let options = ThriftOptions::default().with_thrift_port(0).with_limits(limits);
    let gateway = ThriftGateway::start(&connection, options).unwrap();
    let port = gateway.ports().thrift.unwrap();
    (gateway, port)
}

fn connect(port: u16) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    BufReader::new(stream)
}

fn post(headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("POST / HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn to(uri: &str, host: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("POST {uri} HTTP/1.1\r\nHost: {host}\r\n{THRIFT}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn message(method: &str, arguments: &str) -> Vec<u8> {
    call(method, &Notation::new(arguments).fields())
}

/// The status and the body of one response.
fn response(from: &mut BufReader<TcpStream>) -> (u16, Vec<u8>) {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let mut length = 0;
    loop {
        let mut header = String::new();
        from.read_line(&mut header).unwrap();
        if header.trim().is_empty() {
            break;
        }
        if let Some(size) = header.strip_prefix("Content-Length: ") {
            length = size.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).unwrap();
    (status.expect("a status"), body)
}

fn answered(from: &mut BufReader<TcpStream>) -> (u8, String) {
    let (status, body) = response(from);
    assert_eq!(status, 200);
    let (kind, value): (u8, Value) = answer(&mut &body[..]).unwrap();
    (kind, value.to_string())
}

#[test]
fn calls_are_answered_on_one_connection() {
    let (_gateway, port) = gateway();
    let mut client = connect(port);
    let create = message("createTable", "1:\"t\" 2:[{1:\"f:\"}]");
    client.get_mut().write_all(&post(THRIFT, &create)).unwrap();
    assert_eq!(answered(&mut client), (2, "{}".to_owned()));
    // Two at once, one with an exception.
    let names = post(THRIFT, &message("getTableNames", ""));
    let unknown = post(THRIFT, &message("nothing", "1:\"t\""));
    client.get_mut().write_all(&[names, unknown].concat()).unwrap();
    assert_eq!(answered(&mut client), (2, "{0:[\"t\"]}".to_owned()));
    let text = "{1:\"Invalid method name: 'nothing'\" 2:1}";
    assert_eq!(answered(&mut client), (3, text.to_owned()));
    // Headers of any case, parameters, a client that waits, and the last request.
    let headers = "content-type: Application/X-Thrift; charset=x\r\nExpect: 100-continue\r\n\
                   connection: Close\r\n";
    client.get_mut().write_all(&post(headers, &message("getTableNames", ""))).unwrap();
    assert_eq!(response(&mut client), (100, Vec::new()));
    assert_eq!(answered(&mut client), (2, "{0:[\"t\"]}".to_owned()));
    assert_eq!(client.read(&mut [0]).unwrap(), 0, "the connection is closed");
}

#[test]
fn requests_that_are_no_calls_are_refused() {
    let (_gateway, port) = gateway();
    let names = message("getTableNames", "");
    let long = format!("User-Agent: {}\r\n{THRIFT}", "a".repeat(64 * 1024));
    let in_chunks =
        format!("POST / HTTP/1.1\r\n{THRIFT}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    let requests = [
        (post(&long, &names), 431),
        (post(&format!("User-Agent: {}\r\n{THRIFT}", "a".repeat(63 * 1024)), &names), 200),
        (b"TRACE / HTTP/1.1\r\n\r\n".to_vec(), 403),
        (b"OPTIONS / HTTP/1.1\r\n\r\n".to_vec(), 403),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), 405),
        (b"POST\n\r\n\r\n".to_vec(), 400),
        (post(&format!("Origin: http://localhost\r\n{THRIFT}"), &names), 200),
        (post(&format!("Origin: http://localhost:1\r\n{THRIFT}"), &names), 403),
        (post(&format!("Origin: http://evil.example\r\n{THRIFT}"), &names), 403),
        (post(&format!("Host: localhost\r\n{THRIFT}"), &names), 400),
        (to("/", "evil.example", &names), 403),
        (to("/", "löcalhost", &names), 400),
        (to("http://evil.example/", "localhost", &names), 403),
        (to("http://localhost:9090/", "localhost:9090", &names), 200),
        (post("Content-Type: text/plain\r\n", &names), 415),
        (post("", &names), 415),
        (in_chunks.into_bytes(), 411),
        (post(THRIFT, &vec![0; 100_001]), 413),
    ];
    for (request, status) in requests {
        let mut client = connect(port);
        client.get_mut().write_all(&request).unwrap();
        let shown = String::from_utf8_lossy(&request[..request.len().min(60)]).into_owned();
        assert_eq!(response(&mut client).0, status, "{shown}");
    }
}

#[test]
fn a_message_shorter_or_longer_than_its_body_harms_nobody_else() {
    let (_gateway, port) = gateway();
    let names = message("getTableNames", "");
    let mut short = connect(port);
    short.get_mut().write_all(&post(THRIFT, &names[..names.len() - 1])).unwrap();
    // The rest of it does not come from the next request.
    short.get_mut().write_all(&post(THRIFT, &names)).unwrap();
    let mut rest = Vec::new();
    let _ = short.read_to_end(&mut rest);
    assert_eq!(rest, b"");
    let mut long = connect(port);
    let body = [&names[..], &[7; 1000]].concat();
    for _ in 0..2 {
        long.get_mut().write_all(&post(THRIFT, &body)).unwrap();
        assert_eq!(answered(&mut long), (2, "{0:[]}".to_owned()));
    }
}
