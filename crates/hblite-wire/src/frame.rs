//! Parses requests and builds responses.
//!
//! A frame is `u32 length` and that many bytes: a header and a message, each after its length as a
//! varint; the rest is the cell block, whose length is in the header. As in HBase, a message ends
//! with the frame if its length says more.

use bytes::{BufMut, Bytes, BytesMut};
use hblite_model::{Error, Exception, Result};
use prost::Message;

use crate::RemoteException;
use crate::pb;

/// Bytes of the length field before a frame.
pub const LENGTH_SIZE: usize = 4;
/// The call id of answers to no call: to preambles and to frames that cannot be read.
pub const NO_CALL_ID: u32 = u32::MAX;

/// A request whose message is still bytes.
#[derive(Debug, Clone)]
pub struct Request {
    /// The header.
    pub header: pb::RequestHeader,
    /// The message of the method's parameter.
    pub message: Bytes,
    /// The cell block, compressed if the connection says so; empty if there is none.
    pub cells: Bytes,
}

impl Request {
    /// Parses the bytes after a frame's length, without copying them.
    ///
    /// # Errors
    /// `DoNotRetryIo` if they are invalid, with the call's id if it could be read.
    pub fn parse(mut frame: Bytes) -> std::result::Result<Self, (u32, Error)> {
        let malformed = |id: u32, what: &str| {
            (id, Error::do_not_retry(format!("this is not a request: {what}")))
        };
        let header =
            take_delimited(&mut frame).ok_or_else(|| malformed(NO_CALL_ID, "no header"))?;
        let header = pb::RequestHeader::decode(header)
            .map_err(|error| malformed(NO_CALL_ID, &error.to_string()))?;
        let id = header.call_id.unwrap_or(NO_CALL_ID);
        if header.request_param != Some(true) {
            return Err(malformed(id, "no parameter"));
        }
        let message = match take_delimited(&mut frame) {
            Some(message) => message,
            None if header.cell_block_meta.is_none() => {
                take_rest(&mut frame).ok_or_else(|| malformed(id, "no message"))?
            }
            None => return Err(malformed(id, "no cells after its message")),
        };
        let length = header.cell_block_meta.and_then(|meta| meta.length).unwrap_or(0) as usize;
        if length > frame.len() {
            return Err(malformed(id, "its cell block is cut"));
        }
        Ok(Self { header, message, cells: frame.split_to(length) })
    }

    /// The call's id, if `front`, the beginning of a frame, contains the whole header.
    pub fn peek_call_id(mut front: &[u8]) -> Option<u32> {
        let length = usize::try_from(hblite_model::protobuf::read_varint(&mut front)?).ok()?;
        pb::RequestHeader::decode(front.get(..length)?).ok()?.call_id
    }

    /// The same request in its own memory, so that the frame can be freed.
    #[must_use]
    pub fn detached(self) -> Self {
        let whole = [self.message.as_ref(), self.cells.as_ref()].concat();
        let mut message = Bytes::from(whole);
        let cells = message.split_off(self.message.len());
        Self { header: self.header, message, cells }
    }

    /// The call's id.
    pub fn call_id(&self) -> u32 {
        self.header.call_id.unwrap_or(NO_CALL_ID)
    }

    /// The method's name, empty if it is missing.
    pub fn method(&self) -> &str {
        self.header.method_name.as_deref().unwrap_or_default()
    }
}

/// Takes a varint and that many bytes from the front.
pub(crate) fn take_delimited(bytes: &mut Bytes) -> Option<Bytes> {
    let mut front: &[u8] = bytes;
    let length = hblite_model::protobuf::read_varint(&mut front)?;
    let begin = bytes.len() - front.len();
    let end = begin.checked_add(usize::try_from(length).ok()?)?;
    if end > bytes.len() {
        return None;
    }
    let taken = bytes.slice(begin..end);
    *bytes = bytes.slice(end..);
    Some(taken)
}

/// Takes a varint and everything after it, if the varint is a length in Java.
fn take_rest(bytes: &mut Bytes) -> Option<Bytes> {
    let mut front: &[u8] = bytes;
    let length = hblite_model::protobuf::read_varint(&mut front)?;
    i32::try_from(length).ok()?;
    let begin = bytes.len() - front.len();
    Some(bytes.split_off(begin))
}

/// Decodes the parameter of a method.
///
/// # Errors
/// `DoNotRetryIo` if the bytes are not such a message.
pub fn decode<M: Message + Default>(message: Bytes) -> Result<M> {
    M::decode(message).map_err(|error| {
        Error::new(Exception::DoNotRetryIo, format!("unreadable parameter: {error}"))
    })
}

/// Decodes the connection header.
///
/// # Errors
/// `DoNotRetryIo` if the bytes are not a header.
pub fn decode_connection_header(bytes: &[u8]) -> Result<pb::ConnectionHeader> {
    pb::ConnectionHeader::decode(bytes)
        .map_err(|error| Error::do_not_retry(format!("unreadable connection header: {error}")))
}

/// A response ready to be sent: what comes before the cell block, and the cell block.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// Length of the frame, header and message.
    pub head: Bytes,
    /// The cell block; empty if there is none.
    pub cells: Bytes,
}

impl Response {
    /// An answer.
    pub fn new(call_id: u32, message: &impl Message, cells: Bytes) -> Self {
        let cell_block_meta =
            (!cells.is_empty()).then(|| pb::CellBlockMeta { length: Some(cells.len() as u32) });
        let header =
            pb::ResponseHeader { call_id: Some(call_id), exception: None, cell_block_meta };
        let mut head = BytesMut::new();
        put_head(&mut head, &header, message.encoded_len(), cells.len());
        // Encoding fails only if the buffer is full, and this one grows.
        let _ = message.encode_length_delimited(&mut head);
        Self { head: head.freeze(), cells }
    }

    /// An exception.
    pub fn of_exception(call_id: u32, exception: &RemoteException) -> Self {
        let header = pb::ResponseHeader {
            call_id: Some(call_id),
            exception: Some(exception.to_response()),
            cell_block_meta: None,
        };
        let mut head = BytesMut::new();
        let length = prost::length_delimiter_len(header.encoded_len()) + header.encoded_len();
        head.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
        let _ = header.encode_length_delimited(&mut head);
        Self { head: head.freeze(), cells: Bytes::new() }
    }

    /// The size of both parts in bytes.
    pub fn size_bytes(&self) -> usize {
        self.head.len() + self.cells.len()
    }
}

fn put_head(head: &mut BytesMut, header: &pb::ResponseHeader, message: usize, cells: usize) {
    let delimited = |length: usize| prost::length_delimiter_len(length) + length;
    let front = delimited(header.encoded_len()) + delimited(message);
    head.reserve(LENGTH_SIZE + front);
    head.put_u32(u32::try_from(front + cells).unwrap_or(u32::MAX));
    let _ = header.encode_length_delimited(head);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// gohbase's probe of hbase:meta.
    const PROBE: &[u8] =
        b"\x09\x08\x01\x1a\x03Get\x20\x01\x2c\x0a\x11\x08\x01\x12\x0dhbase:meta,,1\
        \x12\x17\x0a\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x2a\x00\x50\x01";

    #[test]
    fn gohbases_probe_is_understood() {
        let request = Request::parse(Bytes::from_static(PROBE)).unwrap();
        assert_eq!((request.call_id(), request.method()), (1, "Get"));
        assert!(request.cells.is_empty());
        assert_eq!(Request::peek_call_id(PROBE), Some(1));
        assert_eq!(Request::peek_call_id(&PROBE[..5]), None);
        let request = request.detached();
        let get: pb::GetRequest = decode(request.message).unwrap();
        assert_eq!(get.region.value.as_ref(), b"hbase:meta,,1");
        assert_eq!((get.get.row.len(), get.get.existence_only), (17, Some(true)));
    }

    #[test]
    fn its_answer_is_that_of_hbase() {
        let result = pb::Result {
            associated_cell_count: Some(0),
            exists: Some(false),
            ..pb::Result::default()
        };
        let answer = pb::GetResponse { result: Some(result) };
        let response = Response::new(1, &answer, Bytes::new());
        assert_eq!(response.head.as_ref(), b"\0\0\0\x0a\x02\x08\x01\x06\x0a\x04\x10\x00\x18\x00");
    }

    #[test]
    fn a_message_ends_with_its_frame() {
        let with_length = |length: u64, tail: &[u8]| {
            let mut frame = PROBE[..10].to_vec();
            prost::encode_length_delimiter(usize::try_from(length).unwrap(), &mut frame).unwrap();
            frame.extend_from_slice(&PROBE[11..]);
            frame.extend_from_slice(tail);
            Request::parse(Bytes::from(frame))
        };
        let whole = Request::parse(Bytes::from_static(PROBE)).unwrap().message;
        for more in [1, 16_384, (1 << 31) - 1 - whole.len() as u64] {
            let request = with_length(whole.len() as u64 + more, b"").unwrap();
            assert_eq!(request.message, whole, "{more}");
        }
        assert!(with_length(1 << 31, b"").is_err());
        // What follows a message without a cell block is ignored.
        assert_eq!(with_length(whole.len() as u64, b"rest").unwrap().message, whole);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_refused(bytes: Vec<u8>, flips in any::<(usize, u8)>()) {
            let _ = Request::peek_call_id(&bytes);
            let _ = Request::parse(Bytes::from(bytes));
            let mut probe = PROBE.to_vec();
            let at = flips.0 % probe.len();
            probe[at] = flips.1;
            if let Ok(request) = Request::parse(Bytes::from(probe)) {
                let _ = decode::<pb::GetRequest>(request.message);
            }
        }
    }
}
