//! gzip: bodies of requests, and of answers if the client requests it.

use std::io::{Read as _, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use hyper::StatusCode;
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap};

use crate::error_page;
use crate::request::Request;
use crate::response::{Body, Response};

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

/// Decompresses the body of a request; `None` if it is malformed, or has more than `size_max`
/// bytes.
pub(crate) fn unpack(bytes: &[u8], size_max: usize) -> Option<Bytes> {
    let mut unpacked = Vec::new();
    let limit = u64::try_from(size_max).unwrap_or(u64::MAX).saturating_add(1);
    MultiGzDecoder::new(bytes).take(limit).read_to_end(&mut unpacked).ok()?;
    (unpacked.len() <= size_max).then(|| Bytes::from(unpacked))
}

/// Compresses an answer of a resource, even an empty one, if the client requests it.
pub(crate) fn pack(request: &Request, response: Response) -> Response {
    let Body::Whole(bytes) = &response.body else { return response };
    let has_no_body = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED];
    let is_bare = has_no_body.contains(&response.status) || error_page::is_page(&response);
    if is_bare || !is_wanted(request) {
        return response;
    }
    let packed = Packer::new(true).pack(bytes, true);
    let response = Response { body: Body::Whole(packed.into()), ..response };
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
    pub(crate) fn pack(&mut self, piece: &[u8], is_last: bool) -> Vec<u8> {
        let Some(encoder) = &mut self.0 else { return piece.to_vec() };
        let written = encoder.write_all(piece).and_then(|()| match is_last {
            true => encoder.try_finish(),
            false => encoder.flush(),
        });
        debug_assert!(written.is_ok(), "writes to memory do not fail");
        std::mem::take(encoder.get_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_one_stream() {
        let mut packer = Packer::new(true);
        let packed = [packer.pack(b"one ", false), packer.pack(b"two", true)].concat();
        assert_eq!(unpack(&packed, 100).as_deref(), Some(&b"one two"[..]));
        assert_eq!(unpack(&packed, 6), None);
        assert_eq!(unpack(&packed[..packed.len() - 1], 100), None);
        assert_eq!(unpack(b"no gzip", 100), None);
    }
}
