//! Computes the decoded size of a message before it is decoded.
//!
//! A message may be much smaller than what it decodes to: an empty element of a repeated field is
//! two bytes in the frame, and hundreds in the vector that it becomes part of. So a server charges
//! the decoded size before it decodes. Bytes of the frame are not counted again: `Bytes` refers to
//! them. Strings are copied, and counted.
//!
//! The table that the build generates says which fields repeat, and gives an upper bound for the
//! size of each element. The walk counts at least what decoding allocates, even for a malformed
//! message, since decoding stops no later than the walk.
//!
//! Threads: any.

use hblite_model::protobuf::read_varint;
use prost::Name;

use crate::shape::{Field, Kind, SHAPES, Shape, shape_of};

/// Bytes that the allocator adds to each allocation.
const ALLOCATION_BYTES: usize = 16;
/// The maximum nesting that decoding follows.
const DEPTH_MAX: usize = 100;

/// An upper bound of the memory that decoding `message` as an `M` allocates.
pub fn decoded_bytes<M: Name>(message: &[u8]) -> usize {
    let name = M::full_name();
    let shape = shape_of(&name);
    debug_assert!(shape.is_some(), "{name} is not a message of the protocol");
    shape.map_or(0, |shape| bytes_of(shape, message, 0))
}

fn bytes_of(shape: &Shape, mut message: &[u8], depth: usize) -> usize {
    let mut total = 0_usize;
    while let Some(key) = read_varint(&mut message) {
        let field = shape.fields.iter().find(|field| u64::from(field.number) == key >> 3);
        let element = field.map_or(0, |field| field.element_bytes as usize);
        let skipped = match key & 7 {
            0 => {
                total = total.saturating_add(element);
                read_varint(&mut message).map(|_| ())
            }
            1 => {
                total = total.saturating_add(element);
                skip(&mut message, 8).map(|_| ())
            }
            5 => {
                total = total.saturating_add(element);
                skip(&mut message, 4).map(|_| ())
            }
            2 => read_varint(&mut message)
                .and_then(|length| skip(&mut message, usize::try_from(length).ok()?))
                .map(|content| {
                    let more = field.map_or(0, |field| content_bytes(field, content, depth));
                    total = total.saturating_add(element).saturating_add(more);
                }),
            // The fields of a group are skipped; counting them is harmless.
            3 | 4 => Some(()),
            _ => None,
        };
        if skipped.is_none() {
            break;
        }
    }
    total
}

/// The memory of a field's content in addition to its element.
fn content_bytes(field: &Field, content: &[u8], depth: usize) -> usize {
    match field.kind {
        Kind::Bytes => 0,
        Kind::String => content.len() + ALLOCATION_BYTES,
        // Each packed number takes at least one byte.
        Kind::Numbers(_) => content.len().saturating_mul(field.element_bytes as usize),
        Kind::Message(_) if depth == DEPTH_MAX => 0,
        Kind::Message(index) => bytes_of(&SHAPES[usize::from(index)], content, depth + 1),
    }
}

fn skip<'m>(message: &mut &'m [u8], length: usize) -> Option<&'m [u8]> {
    let (skipped, rest) = message.split_at_checked(length)?;
    *message = rest;
    Some(skipped)
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use crate::pb;

    #[test]
    fn an_element_takes_no_more_than_the_table_says() {
        let element = |name: &str, number: u32| {
            let shape = SHAPES.iter().find(|shape| shape.name == name).unwrap();
            let field = shape.fields.iter().find(|field| field.number == number).unwrap();
            field.element_bytes as usize
        };
        let multi = element("hbase.pb.MultiRequest", 1);
        let action = element("hbase.pb.RegionAction", 3);
        let column = element("hbase.pb.Get", 2);
        for (bound, actual) in [
            (multi, size_of::<pb::RegionAction>()),
            (action, size_of::<pb::Action>()),
            (column, size_of::<pb::Column>()),
        ] {
            assert!(bound >= 2 * actual && bound <= 4 * actual, "{bound} for {actual}");
        }
    }

    #[test]
    fn the_parts_of_an_action_are_counted_when_they_are_there() {
        let count = |action: pb::Action| {
            decoded_bytes::<pb::RegionAction>(
                &pb::RegionAction { action: vec![action], ..Default::default() }.encode_to_vec(),
            )
        };
        let bare = count(pb::Action::default());
        let put = pb::Action { mutation: Some(Box::default()), ..Default::default() };
        let get = pb::Action { get: Some(Box::default()), ..Default::default() };
        for (more, size) in [
            (count(put) - bare, size_of::<pb::MutationProto>()),
            (count(get) - bare, size_of::<pb::Get>()),
        ] {
            assert!(more >= size && more <= 2 * size + 16, "{more} for {size}");
        }
    }

    #[test]
    fn repeated_fields_count_however_deep_they_are() {
        let action = pb::Action::default();
        let one = pb::RegionAction { action: vec![action; 10], ..pb::RegionAction::default() };
        let request =
            pb::MultiRequest { region_action: vec![one; 3], ..pb::MultiRequest::default() };
        let bytes = decoded_bytes::<pb::MultiRequest>(&request.encode_to_vec());
        assert!(bytes >= 30 * size_of::<pb::Action>(), "{bytes}");
        assert!(bytes <= 8 * 30 * size_of::<pb::Action>(), "{bytes}");
        assert_eq!(decoded_bytes::<pb::MultiRequest>(b""), 0);
    }

    #[test]
    fn malformed_messages_end_the_walk_and_groups_do_not() {
        let action = pb::RegionAction {
            action: vec![pb::Action::default(); 4],
            ..pb::RegionAction::default()
        };
        let message = action.encode_to_vec();
        let whole = decoded_bytes::<pb::RegionAction>(&message);
        let group = [&[0xfb, 0x07, 0xfc, 0x07], message.as_slice()].concat();
        assert_eq!(decoded_bytes::<pb::RegionAction>(&group), whole);
        for end in 0..message.len() {
            assert!(decoded_bytes::<pb::RegionAction>(&message[..end]) <= whole);
        }
        // A number that is unpacked, and a length beyond the end.
        assert_eq!(decoded_bytes::<pb::RegionAction>(&[0x1a, 0xff, 0xff, 0x03]), 0);
    }
}
