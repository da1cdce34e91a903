//! Goal: the settings that HBase's REST server has besides limits: read-only mode, the header that
//! browsers must send, and the headers of responses.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::http::{Answer, send};
#[allow(dead_code, reason = "each test uses a part of the client")]
use hblite::{ColumnFamilyDescriptor, TableDescriptor};
use hblite_rest::{
    BrowserPatterns, CsrfProtection, ReadOnly, RestOptions, RestServer, SecurityHeaders,
};

const BYTES: (&str, &str) = ("Content-Type", "application/octet-stream");
const BROWSER: (&str, &str) = ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64)");

fn start(options: RestOptions) -> RestServer {
    let connection = hblite::open_in_memory().unwrap();
    let family = ColumnFamilyDescriptor::new("f");
    let table = TableDescriptor::new("t".parse().unwrap()).with_family(family);
    connection.admin().create_table(&table).unwrap();
    RestServer::start(&connection, options.with_port(0)).unwrap()
}

fn put(server: &RestServer, headers: &[(&str, &str)]) -> Answer {
    let headers = [&[BYTES], headers].concat();
    send(server.port(), "PUT", "/t/r/f:q", &headers, Some(b"v"))
}

#[test]
fn a_gateway_that_only_reads_refuses_changes_until_it_is_switched_back() {
    let switch = ReadOnly::from(true);
    let server = start(RestOptions::default().with_read_only(switch.clone()));
    let refused = put(&server, &[]);
    assert_eq!((refused.status, &*refused.body), (403, &b"Forbidden\r\n"[..]));
    assert_eq!(send(server.port(), "GET", "/t/schema", &[], None).status, 200);
    switch.set(false);
    assert_eq!(put(&server, &[]).status, 200);
}

#[test]
fn browsers_must_send_the_header_for_changes() {
    let csrf = CsrfProtection::default().with_enabled(true);
    let server = start(RestOptions::default().with_csrf(csrf.clone()));
    assert_eq!(put(&server, &[BROWSER]).status, 400);
    assert_eq!(put(&server, &[BROWSER, ("x-xsrf-header", "")]).status, 200);
    assert_eq!(put(&server, &[("User-Agent", "curl/8.5.0")]).status, 200);
    assert_eq!(put(&server, &[]).status, 200);
    assert_eq!(send(server.port(), "GET", "/t/r", &[BROWSER], None).status, 200);
    let accepts_text = ("Accept", "text/plain");
    let answer = send(server.port(), "POST", "/t/r", &[BROWSER, accepts_text], Some(b""));
    let text = String::from_utf8(answer.body).unwrap();
    assert_eq!(answer.status, 400);
    assert!(text.contains("Missing Required Header for CSRF Vulnerability Protection"), "{text}");
    drop(server);

    let all = BrowserPatterns::new("none,.*").unwrap();
    let csrf = csrf.with_header("X-Mine").with_methods_to_ignore("PUT").with_browsers(all);
    let server = start(RestOptions::default().with_csrf(csrf));
    let agent = ("User-Agent", "curl/8.5.0");
    assert_eq!(put(&server, &[agent]).status, 200);
    assert_eq!(send(server.port(), "GET", "/t/r", &[agent], None).status, 400);
    assert_eq!(send(server.port(), "GET", "/t/r", &[agent, ("X-Mine", "1")], None).status, 200);
}

#[test]
fn responses_have_the_headers_of_the_settings() {
    let hsts = "max-age=63072000;includeSubDomains;preload";
    let headers = SecurityHeaders::default()
        .with_transport_security(hsts)
        .with_content_policy("default-src 'self'")
        .with_frame_options("SAMEORIGIN");
    let server = start(RestOptions::default().with_security_headers(headers));
    let answer = send(server.port(), "GET", "/version/cluster", &[], None);
    assert_eq!(answer.headers["strict-transport-security"], hsts);
    assert_eq!(answer.headers["content-security-policy"], "default-src 'self'");
    assert_eq!(answer.headers["x-frame-options"], "SAMEORIGIN");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    let connection = hblite::open_in_memory().unwrap();
    let bad = SecurityHeaders::default().with_content_policy("a\nb");
    let options = RestOptions::default().with_port(0).with_security_headers(bad);
    let error = RestServer::start(&connection, options).unwrap_err();
    assert!(error.message().contains("content-security-policy"), "{error}");
}
