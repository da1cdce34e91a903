//! gzip: bodies of requests, and of answers if the client requests it.

use std::io::{Read as _, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use hblite_wire::memory::Room;
use hyper::StatusCode;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap};

use crate::error_page;
use crate::request::Request;
use crate::response::{Body, Response};

/// Bytes that are decompressed at a time.
const CHUNK: usize = 8 * 1024;

fn has_gzip(headers: &HeaderMap, name: hyper::header::HeaderName) -> bool {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| value.to_ascii_lowercase().contains("gzip"))
}

/// Whether the body of a request is compressed.
pub(crate) fn is_packed(headers: &HeaderMap) -> bool {
    has_gzip(headers, CONTENT_ENCODING)
}

/// Whether a client requests a compressed answer.
pub(crate) fn is_wanted(request: &Request) -> bool {
    has_gzip(&request.headers, ACCEPT_ENCODING)
}

/// Why a body cannot be decompressed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unpackable {
    /// It is not gzip data, or exceeds the size limit.
    Malformed,
    NoMemory,
}

/// Decompresses the body of a request, up to `size_max` bytes, into memory of `room`.
pub(crate) fn unpack(bytes: &[u8], size_max: usize, room: &mut Room) -> Result<Bytes, Unpackable> {
    let mut unpacked = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes);
    let mut chunk = [0; CHUNK];
    loop {
        let count = decoder.read(&mut chunk).map_err(|_| Unpackable::Malformed)?;
        if count == 0 {
            return Ok(Bytes::from(unpacked));
        }
        if count > size_max - unpacked.len() {
            return Err(Unpackable::Malformed);
        }
        if !room.try_reserve(&mut unpacked, count) {
            return Err(Unpackable::NoMemory);
        }
        unpacked.extend_from_slice(&chunk[..count]);
    }
}

/// Compresses an answer of a resource, even an empty one, if the client requests it.
pub(crate) fn pack(request: &Request, response: Response) -> Response {
    let Body::Whole(bytes) = &response.body else { return response };
    let has_no_body = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED];
    let is_bare = has_no_body.contains(&response.status) || error_page::is_page(&response);
    if is_bare || !is_wanted(request) {
        return response;
    }
    let packed = Packer::new(true).pack(bytes.clone(), true);
    let response = Response { body: Body::Whole(packed), ..response };
    response.with_header(CONTENT_ENCODING, "gzip")
}

/// Compresses the pieces of an answer, or leaves them unchanged.
#[derive(Debug)]
pub(crate) struct Packer(Option<GzEncoder<Vec<u8>>>);

impl Packer {
    pub(crate) fn new(is_packed: bool) -> Self {
        Self(is_packed.then(|| GzEncoder::new(Vec::new(), Compression::fast())))
    }

    /// The bytes to send for a piece.
    pub(crate) fn pack(&mut self, piece: Bytes, is_last: bool) -> Bytes {
        let Some(encoder) = &mut self.0 else { return piece };
        let written = encoder.write_all(&piece).and_then(|()| match is_last {
            true => encoder.try_finish(),
            false => encoder.flush(),
        });
        debug_assert!(written.is_ok(), "writes to memory do not fail");
        std::mem::take(encoder.get_mut()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_one_stream() {
        let mut packer = Packer::new(true);
        let packed = [packer.pack("one ".into(), false), packer.pack("two".into(), true)].concat();
        let unpack = |bytes: &[u8], size_max| super::unpack(bytes, size_max, &mut Room::of(100));
        assert_eq!(unpack(&packed, 100).as_deref(), Ok(&b"one two"[..]));
        assert_eq!(unpack(&packed, 6), Err(Unpackable::Malformed));
        assert_eq!(unpack(&packed[..packed.len() - 1], 100), Err(Unpackable::Malformed));
        assert_eq!(unpack(b"no gzip", 100), Err(Unpackable::Malformed));
        let packed = Packer::new(true).pack(vec![0; 10_000].into(), true);
        assert_eq!(unpack(&packed, 10_000), Err(Unpackable::NoMemory));
    }
}
