//! A request's frame: its header, its message and its cell block.

use bytes::Bytes;
use hblite_wire::frame::{NO_CALL_ID, Request, decode_connection_header};
use hblite_wire::preamble;

pub(crate) fn run(data: &[u8]) {
    if let Some(first) = data.first_chunk() {
        let _ = preamble::parse(*first, "peer");
    }
    let _ = decode_connection_header(data);
    let peeked = Request::peek_call_id(data);
    match Request::parse(Bytes::copy_from_slice(data)) {
        Ok(request) => {
            assert!(request.message.len() + request.cells.len() <= data.len());
            assert_eq!(peeked.unwrap_or(NO_CALL_ID), request.call_id());
            let again = request.clone().detached();
            assert_eq!((&again.message, &again.cells), (&request.message, &request.cells));
            assert_eq!(again.method(), request.method());
        }
        Err((id, _)) => assert!(id == NO_CALL_ID || peeked == Some(id)),
    }
}
