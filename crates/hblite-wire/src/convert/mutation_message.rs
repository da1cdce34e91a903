//! Writes, their conditions and whole batches as messages: the inverse of `mutation`.

use bytes::Bytes;
use hblite_model::{
    Action, CheckAndMutate, Condition, Durability, LATEST_TIMESTAMP, Mutation, MutationKind,
    Result, RowMutations,
};

use super::comparator::{comparator_message, operator_number};
use super::read_message::TRUE;
use super::{filter_message, get_message, time_range_message};
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
    let pair =
        |name: &str, value: Bytes| pb::NameBytesPair { name: name.to_owned(), value: Some(value) };
    let ttl = mutation.time_to_live_ms().map(|ttl| ttl.to_be_bytes().to_vec());
    let mut attribute: Vec<pb::NameBytesPair> =
        ttl.into_iter().map(|ttl| pair("_ttl", ttl.into())).collect();
    if !mutation.returns_results() {
        attribute.push(pair("_rr_", Bytes::from_static(&[0])));
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

/// Actions on one region as parts of a `MultiRequest`: one part for the gets and writes, which have
/// their indexes, and one for each [`RowMutations`], which is atomic, and each [`CheckAndMutate`].
///
/// # Errors
/// As [`get_message()`] and [`condition_message()`].
pub fn region_actions<'a>(
    region_name: &[u8],
    actions: impl IntoIterator<Item = (u32, &'a Action)>,
    codec: Codec,
    block: &mut Vec<u8>,
) -> Result<Vec<pb::RegionAction>> {
    let of_region = |atomic| pb::RegionAction {
        region: region_specifier(region_name),
        atomic: Some(atomic),
        ..pb::RegionAction::default()
    };
    // Cells are in the order of the messages, so the parts are built one after another.
    let (mut single, mut parts) = (of_region(false), Vec::new());
    let mut of_one_row: Vec<(u32, &RowMutations, Option<pb::Condition>)> = Vec::new();
    for (index, action) in actions {
        let mut message = pb::Action { index: Some(index), ..pb::Action::default() };
        match action {
            Action::Get(get) => message.get = Some(get_message(get)?.into()),
            Action::Mutation(mutation) => {
                message.mutation = Some(mutation_message(mutation, codec, block).into());
            }
            Action::RowMutations(mutations) => {
                of_one_row.push((index, mutations, None));
                continue;
            }
            Action::CheckAndMutate(check) => {
                of_one_row.push((index, check.parts()?.1, Some(condition_message(check)?)));
                continue;
            }
        }
        single.action.push(message);
    }
    if !single.action.is_empty() {
        parts.push(single);
    }
    for (index, mutations, condition) in of_one_row {
        let mutations = mutations.mutations();
        // HBase's client does not call a single conditional write atomic.
        let mut part = of_region(condition.is_none() || mutations.len() > 1);
        part.condition = condition;
        for mutation in mutations {
            let mutation = Some(mutation_message(mutation, codec, block).into());
            part.action.push(pb::Action { index: Some(index), mutation, ..pb::Action::default() });
        }
        parts.push(part);
    }
    Ok(parts)
}
