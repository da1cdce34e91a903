//! Writes and their conditions as messages: the inverse of `mutation`.

use bytes::Bytes;
use hblite_model::{
    CheckAndMutate, Condition, Durability, LATEST_TIMESTAMP, Mutation, MutationKind, Result,
};

use super::comparator::{comparator_message, operator_number};
use super::read_message::{TRUE, attributes};
use super::{filter_message, time_range_message};
use crate::cell_block::Codec;
use crate::pb;

/// `RegionSpecifierType.REGION_NAME`.
const REGION_NAME: i32 = 1;

/// The write as a message; its cells are appended to `block`.
pub fn mutation_message(
    mutation: &Mutation,
    codec: Codec,
    block: &mut Vec<u8>,
) -> pb::MutationProto {
    for cell in mutation.cells() {
        codec.push(block, &cell);
    }
    let mut attribute = attributes(mutation.attributes());
    if let Some(ttl) = mutation.time_to_live_ms() {
        attribute.extend(attributes([("_ttl", &ttl.to_be_bytes()[..])]));
    }
    if !mutation.returns_results() {
        attribute.extend(attributes([("_rr_", &[0][..])]));
    }
    debug_assert_ne!(TRUE, [0], "false is another byte");
    let timestamp = mutation.timestamp();
    pb::MutationProto {
        row: Some(Bytes::copy_from_slice(mutation.row())),
        mutate_type: Some(match mutation.kind() {
            MutationKind::Append => 0,
            MutationKind::Increment => 1,
            MutationKind::Put => 2,
            MutationKind::Delete => 3,
        }),
        timestamp: (timestamp != LATEST_TIMESTAMP).then_some(timestamp as u64),
        attribute,
        durability: Some(match mutation.durability() {
            Durability::UseDefault => 0,
            Durability::SkipWal => 1,
            Durability::AsyncWal => 2,
            Durability::SyncWal => 3,
            Durability::FsyncWal => 4,
        }),
        time_range: Some(time_range_message(mutation.time_range())),
        associated_cell_count: i32::try_from(mutation.cells().len()).ok(),
        ..pb::MutationProto::default()
    }
}

/// The condition as a message.
///
/// # Errors
/// As [`CheckAndMutate::parts`] and [`filter_message()`].
pub fn condition_message(check: &CheckAndMutate) -> Result<pb::Condition> {
    let (condition, _) = check.parts()?;
    let message = pb::Condition {
        row: Bytes::copy_from_slice(check.row()),
        time_range: Some(time_range_message(check.time_range())),
        ..pb::Condition::default()
    };
    Ok(match condition {
        Condition::Filter(filter) => {
            pb::Condition { filter: Some(filter_message(filter)?), ..message }
        }
        Condition::Column { family, qualifier, operator, comparator } => pb::Condition {
            family: Some(family.clone().into()),
            qualifier: Some(qualifier.clone().into()),
            compare_type: Some(operator_number(*operator)),
            comparator: Some(comparator_message(comparator)?),
            ..message
        },
    })
}

/// The region with this name as a message.
pub fn region_specifier(region_name: &[u8]) -> pb::RegionSpecifier {
    pb::RegionSpecifier { r#type: REGION_NAME, value: Bytes::copy_from_slice(region_name) }
}
