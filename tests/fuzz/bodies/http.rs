//! Requests to the admin endpoint: from the first byte on, as the rest of a head, and as a body.

use super::ports::{SERVER, exchange};

pub(crate) fn run(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let head: &[u8] = match choice % 4 {
        0 => b"",
        1 => b"GET /",
        2 => b"GET /health HTTP/1.1\r\n",
        _ => b"POST /faults HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n",
    };
    let mut sent = head.to_vec();
    if choice % 4 == 3 {
        sent.extend_from_slice(format!("Content-Length: {}\r\n\r\n", bytes.len()).as_bytes());
    }
    sent.extend_from_slice(bytes);
    let answer = exchange(SERVER.ports().http.expect("a port"), &sent);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."), "{answer:?}");
    // The settings must not affect the next input.
    SERVER.faults().clear_all();
}
