//! Recognizes clients and servers of other protocols by the first bytes that they send, so that an
//! error names the wrong port.

use crate::preamble::PREAMBLE_SIZE;

/// What a ZooKeeper client sends first: the length of its request, and the version of the protocol.
const ZOOKEEPER: [&[u8]; 2] = [b"\0\0\0\x2c\0\0", b"\0\0\0\x2d\0\0"];
/// The beginnings of other connections, and what they are.
const KNOWN: [(&[u8], &str); 11] = [
    (b"HBas", "it is a client of HBase's RPC; this is another port"),
    (b"Regist", "it is a client of HBase's RPC; this is another port"),
    (b"Securi", "it is a client of HBase's RPC; this is another port"),
    (b"hrpc", "it is a client of HBase 0.94 or older, whose protocol HBase has given up"),
    (ZOOKEEPER[0], "it is a client of ZooKeeper; this is another port"),
    (ZOOKEEPER[1], "it is a client of ZooKeeper; this is another port"),
    (b"HTTP", "it speaks HTTP; this is the port of a web page"),
    (b"GET ", "it is a client of HTTP; this is another port"),
    (b"POST", "it is a client of HTTP; this is another port"),
    (b"\x16\x03", "it speaks TLS, which is not enabled here"),
    (b"\x80\x01\0", "it is a client of Thrift; this is another port"),
];

/// What a peer speaks that began with `bytes`, of which six suffice; `None` if they are unknown.
pub fn other_protocol(bytes: &[u8]) -> Option<&'static str> {
    let first = &bytes[..bytes.len().min(PREAMBLE_SIZE)];
    KNOWN.iter().find(|(begin, _)| first.starts_with(begin)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_recognized() {
        for (bytes, word) in [
            (&b"HBas\0P"[..], "HBase's RPC"),
            (b"hrpc\x04", "0.94"),
            (b"\0\0\0\x2d\0\0\0\0\0", "ZooKeeper"),
            (b"GET / HTTP/1.1", "HTTP"),
            (b"\x16\x03\x01\x02\0", "TLS"),
        ] {
            assert!(other_protocol(bytes).unwrap().contains(word), "{word}");
        }
        for bytes in [&b""[..], b"H", b"\0\0\0\x2d", b"ruok"] {
            assert_eq!(other_protocol(bytes), None, "{bytes:?}");
        }
    }
}
