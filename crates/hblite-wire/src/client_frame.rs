//! Builds requests and parses responses: the client's side of `frame`.
//!
//! Invariant: parsing copies nothing, and an announced length allocates nothing.

use bytes::{BufMut, Bytes, BytesMut};
use hblite_model::{Error, Result};
use prost::Message;

use crate::frame::{LENGTH_SIZE, NO_CALL_ID, take_delimited};
use crate::pb;
use crate::preamble::{AUTH_SIMPLE, PREAMBLE_SIZE, VERSION};

/// The largest frame whose length a peer can read: lengths are Java's `int`.
const FRAME_SIZE_MAX: usize = i32::MAX as usize;

/// The first bytes of a connection that authenticates by name: preamble and header.
pub fn hello(header: &pb::ConnectionHeader) -> Bytes {
    [&preamble(AUTH_SIMPLE)[..], &connection_header(header)].concat().into()
}

/// The preamble of a connection: `authentication` is one of the codes in [`crate::preamble`].
pub fn preamble(authentication: u8) -> [u8; PREAMBLE_SIZE] {
    let [h, b, a, s] = *b"HBas";
    [h, b, a, s, VERSION, authentication]
}

/// The header of a connection after its length. It follows the authentication.
pub fn connection_header(header: &pb::ConnectionHeader) -> Bytes {
    let mut bytes = BytesMut::with_capacity(LENGTH_SIZE + header.encoded_len());
    bytes.put_u32(header.encoded_len() as u32);
    bytes.put_slice(&header.encode_to_vec());
    bytes.freeze()
}

/// What a frame carries: a message, or one that was encoded before.
pub trait Body: Sync {
    /// Its size in bytes.
    fn size(&self) -> usize;

    /// Appends it to a frame.
    fn append_to(&self, frame: &mut BytesMut);
}

impl<M: Message> Body for M {
    fn size(&self) -> usize {
        self.encoded_len()
    }

    fn append_to(&self, frame: &mut BytesMut) {
        // Encoding fails only if the buffer is full, and this one grows.
        let _ = self.encode(frame);
    }
}

/// A message in its encoded form.
#[derive(Debug, Clone)]
pub struct EncodedMessage(Vec<u8>);

impl EncodedMessage {
    pub(crate) fn new(encoded: Vec<u8>) -> Self {
        Self(encoded)
    }
}

impl Body for EncodedMessage {
    fn size(&self) -> usize {
        self.0.len()
    }

    fn append_to(&self, frame: &mut BytesMut) {
        frame.put_slice(&self.0);
    }
}

/// A request as a frame. The length of `cells` is added to the header.
///
/// # Errors
/// `IllegalArgument` if the request does not fit a frame.
pub fn request(mut header: pb::RequestHeader, message: &dyn Body, cells: &[u8]) -> Result<Bytes> {
    header.cell_block_meta =
        (!cells.is_empty()).then(|| pb::CellBlockMeta { length: u32::try_from(cells.len()).ok() });
    let delimited = |length: usize| prost::length_delimiter_len(length) + length;
    let size = message.size();
    let front = delimited(header.encoded_len()) + delimited(size);
    let length = front.saturating_add(cells.len());
    if length > FRAME_SIZE_MAX {
        let message = format!("a request of {length} bytes does not fit a frame of HBase");
        return Err(Error::illegal_argument(message));
    }
    let mut frame = BytesMut::with_capacity(LENGTH_SIZE + length);
    frame.put_u32(length as u32);
    // Encoding fails only if the buffer is full, and this one grows.
    let _ = header.encode_length_delimited(&mut frame);
    let _ = prost::encode_length_delimiter(size, &mut frame);
    message.append_to(&mut frame);
    frame.put_slice(cells);
    Ok(frame.freeze())
}

/// A response whose message is still bytes.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The header, which contains the exception if there is one.
    pub header: pb::ResponseHeader,
    /// The message; empty if there is an exception.
    pub message: Bytes,
    /// The cell block, compressed if the connection says so; empty if there is none.
    pub cells: Bytes,
}

impl Reply {
    /// Parses the bytes after a frame's length.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the bytes are not a response.
    pub fn parse(mut frame: Bytes) -> Result<Self> {
        let malformed = |what: &str| Error::do_not_retry(format!("this is not a response: {what}"));
        let header = take_delimited(&mut frame).ok_or_else(|| malformed("no header"))?;
        let header =
            pb::ResponseHeader::decode(header).map_err(|error| malformed(&error.to_string()))?;
        if header.exception.is_some() {
            return Ok(Self { header, message: Bytes::new(), cells: Bytes::new() });
        }
        let message = take_delimited(&mut frame).ok_or_else(|| malformed("no message"))?;
        let length = header.cell_block_meta.and_then(|meta| meta.length).unwrap_or(0) as usize;
        if length > frame.len() {
            return Err(malformed("its cell block is cut"));
        }
        let cells = frame.split_off(frame.len() - length);
        Ok(Self { header, message, cells })
    }

    /// The id of the call that it answers; [`NO_CALL_ID`] if it answers none.
    pub fn call_id(&self) -> u32 {
        self.header.call_id.unwrap_or(NO_CALL_ID)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::{Request, Response};

    #[test]
    fn a_server_reads_what_a_client_writes() {
        let header = pb::RequestHeader {
            call_id: Some(7),
            method_name: Some("Get".to_owned()),
            request_param: Some(true),
            ..pb::RequestHeader::default()
        };
        let message = pb::NameBytesPair { name: "n".to_owned(), value: None };
        let frame = request(header, &message, b"cells").unwrap();
        let (length, frame) = frame.split_first_chunk::<LENGTH_SIZE>().unwrap();
        assert_eq!(u32::from_be_bytes(*length) as usize, frame.len());
        let read = Request::parse(Bytes::copy_from_slice(frame)).unwrap();
        assert_eq!((read.call_id(), read.method(), read.cells.as_ref()), (7, "Get", &b"cells"[..]));
    }

    #[test]
    fn a_client_reads_what_a_server_writes() {
        let message = pb::NameBytesPair { name: "n".to_owned(), value: None };
        let response = Response::new(7, &message, Bytes::from_static(b"cells"));
        let frame = [&response.head[LENGTH_SIZE..], &response.cells].concat();
        let reply = Reply::parse(frame.into()).unwrap();
        assert_eq!((reply.call_id(), reply.cells.as_ref()), (7, &b"cells"[..]));
        assert_eq!(pb::NameBytesPair::decode(reply.message).unwrap(), message);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_response_or_refused(bytes: Vec<u8>) {
            let _ = Reply::parse(Bytes::from(bytes));
        }
    }
}
