//! The memory that decoding a body takes, before it is decoded.
//!
//! A body may be much smaller than the result of decoding it: an empty row has two bytes, but about
//! a hundred as an element of a vector. Elements are counted by the bytes that begin them, so the
//! result is an upper bound, even for a malformed body.

use hblite_model::protobuf::read_varint;

use crate::media::Format;

/// The most memory that a field of a message takes when it is decoded: an empty cell of two bytes
/// becomes a cell of the message, of the model and of a put.
const FIELD_BYTES: usize = 256;
/// The deepest level at which messages repeat: set, row, cell.
const FIELD_DEPTH: usize = 3;

/// An upper bound of what decoding a body allocates, including the changes built from it.
pub(crate) fn decoded_bytes(format: Format, body: &[u8]) -> usize {
    let parts = match format {
        Format::Protobuf | Format::ProtobufIetf => fields(body, FIELD_DEPTH) * FIELD_BYTES,
        _ => text_bytes(body),
    };
    // The values, in the model and in the change.
    parts.saturating_add(body.len().saturating_mul(2))
}

/// The memory of the elements of a document in XML or JSON, counted by the bytes that begin or
/// separate them.
fn text_bytes(text: &[u8]) -> usize {
    let weight = |byte: &u8| match byte {
        b'{' => 512,
        b'<' => 256,
        b'=' | b'[' | b',' => 64,
        _ => 0,
    };
    text.iter().map(weight).sum()
}

/// Counts the fields of a message and, down to `depth`, of what may be messages in it. It ends
/// where decoding ends.
fn fields(mut message: &[u8], depth: usize) -> usize {
    let mut count = 0;
    while let Some(key) = read_varint(&mut message) {
        count += 1;
        let length = match key & 7 {
            0 if read_varint(&mut message).is_some() => 0,
            1 => 8,
            2 => match read_varint(&mut message).map(usize::try_from) {
                Some(Ok(length)) => length,
                _ => break,
            },
            3 | 4 => 0,
            5 => 4,
            _ => break,
        };
        let Some((content, rest)) = message.split_at_checked(length) else { break };
        if key & 7 == 2 && depth > 1 {
            count += fields(content, depth - 1);
        }
        message = rest;
    }
    count
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use crate::model::stargate;

    #[test]
    fn what_a_message_repeats_is_counted_and_its_values_are_not() {
        let cell = stargate::Cell { data: Some(vec![8; 1000]), ..stargate::Cell::default() };
        let row = stargate::Row { key: Vec::new(), values: vec![cell; 10] };
        let set = stargate::CellSet { rows: vec![row; 7] }.encode_to_vec();
        // A row has a key and cells; a cell has data.
        assert_eq!(fields(&set, FIELD_DEPTH), 7 * (2 + 10 * 2));
        let empty = stargate::Row { key: Vec::new(), values: vec![stargate::Cell::default(); 5] };
        let empty = stargate::CellSet { rows: vec![empty] }.encode_to_vec();
        assert_eq!(fields(&empty, FIELD_DEPTH), 7);
        for end in 0..set.len() {
            assert!(fields(&set[..end], FIELD_DEPTH) <= 7 * 22);
        }
        assert_eq!(fields(&[0x0a, 0xff, 0xff, 0x03], FIELD_DEPTH), 1, "longer than the message");
    }

    #[test]
    fn elements_of_documents_are_counted() {
        assert_eq!(decoded_bytes(Format::Json, b"{}"), 512 + 4);
        assert!(decoded_bytes(Format::Xml, b"<a b='c'/>") >= 256 + 64);
        let value = [b'A'; 1000];
        assert_eq!(decoded_bytes(Format::Json, &value), 2000);
    }
}
