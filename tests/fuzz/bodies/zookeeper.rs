//! What a client of ZooKeeper sends: from the first byte on, and as requests of a session, with an
//! existing operation or any other.

use super::ports::{SERVER, exchange};

/// A session without end.
const CONNECT: [u8; 49] = {
    let mut bytes = [0; 49];
    (bytes[3], bytes[18], bytes[31]) = (45, 0x75, 16);
    bytes
};
/// Operations that have parsers of their own: of nodes, watches, several at once, a session's.
const OPERATIONS: [i32; 20] =
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 17, 22, 100, 101, 105, 106];

pub(crate) fn run(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let mut sent = Vec::new();
    match choice % 3 {
        0 => sent.extend_from_slice(bytes),
        1 => {
            sent.extend_from_slice(&CONNECT);
            frames(bytes, &mut sent);
        }
        _ => {
            sent.extend_from_slice(&CONNECT);
            requests(bytes, &mut sent);
        }
    }
    exchange(SERVER.ports().zookeeper.expect("a port"), &sent);
}

/// Each frame is a length, taken from the first byte, and what follows.
fn frames(mut bytes: &[u8], to: &mut Vec<u8>) {
    while let Some((length, rest)) = bytes.split_first() {
        let (frame, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        to.extend_from_slice(&(frame.len() as u32).to_be_bytes());
        to.extend_from_slice(frame);
        bytes = rest;
    }
}

/// Each request is an operation, taken from the first byte, a length from the second, and a body.
fn requests(mut bytes: &[u8], to: &mut Vec<u8>) {
    while let [operation, length, rest @ ..] = bytes {
        let (body, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        to.extend_from_slice(&(body.len() as u32 + 8).to_be_bytes());
        to.extend_from_slice(&7_u32.to_be_bytes());
        let operation = OPERATIONS[usize::from(*operation) % OPERATIONS.len()];
        to.extend_from_slice(&operation.to_be_bytes());
        to.extend_from_slice(body);
        bytes = rest;
    }
}
