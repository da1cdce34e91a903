//! The request for many actions, `MultiRequest`, encoded action by action.
//!
//! A batch has hundreds of small actions. As one message, all of them would be in memory at the
//! same time, and each level of it would add up their lengths again. Here, each action is a message
//! of its own, which ends when it is encoded.
//!
//! ```text
//! MultiRequest    2 nonce group   1 RegionAction ...
//! RegionAction    1 region   2 atomic   4 condition   3 Action ...
//! Action          1 index   2 MutationProto, or 3 Get
//! ```
//!
//! Fields may come in any order.

use hblite_model::{Action, Mutation, Result, RowMutations};
use prost::Message;
use prost::encoding::{self, WireType, encode_key, encode_varint, encoded_len_varint, key_len};

use super::{condition_message, get_message, mutation_message, region_specifier};
use crate::cell_block::Codec;
use crate::client_frame::EncodedMessage;
use crate::pb;

/// Numbers of fields.
mod field {
    pub(super) mod request {
        pub(crate) const REGION_ACTION: u32 = 1;
        pub(crate) const NONCE_GROUP: u32 = 2;
    }
    pub(super) mod region_action {
        pub(crate) const REGION: u32 = 1;
        pub(crate) const ATOMIC: u32 = 2;
        pub(crate) const ACTION: u32 = 3;
        pub(crate) const CONDITION: u32 = 4;
    }
    pub(super) mod action {
        pub(crate) const INDEX: u32 = 1;
        pub(crate) const MUTATION: u32 = 2;
        pub(crate) const GET: u32 = 3;
    }
}

/// A request that grows by the actions on one region after another.
#[derive(Debug)]
pub struct MultiRequest {
    encoded: Vec<u8>,
    codec: Codec,
    /// The cells of all writes, in their order.
    cells: Vec<u8>,
    /// The message of an action, between two uses.
    scratch: Vec<u8>,
}

/// One part of a request. The answer has a part for each, in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestPart {
    /// What the answer to it is.
    pub kind: PartKind,
    /// The actions in it, in order.
    pub indexes: Vec<u32>,
}

/// What a part of a request consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// Gets and writes with a result for each.
    Independent,
    /// One action of several writes.
    Atomic,
    /// One action that has a condition.
    Conditional,
}

impl MultiRequest {
    /// A request without actions. `nonce_group` identifies the client.
    pub fn new(nonce_group: u64, codec: Codec) -> Self {
        let mut encoded = Vec::new();
        encoding::uint64::encode(field::request::NONCE_GROUP, &nonce_group, &mut encoded);
        Self { encoded, codec, cells: Vec::new(), scratch: Vec::new() }
    }

    /// The request, and its cells.
    pub fn finish(self) -> (EncodedMessage, Vec<u8>) {
        (EncodedMessage::new(self.encoded), self.cells)
    }

    /// Adds actions on one region: one part for the gets and writes, which have their indexes, and
    /// one for each [`RowMutations`], which is atomic, and each conditional write. `nonce` returns
    /// the nonce of the action with an index.
    ///
    /// # Errors
    /// As [`get_message()`] and [`condition_message()`]. The request must not be used then.
    pub fn add_region<'a>(
        &mut self,
        region_name: &[u8],
        actions: impl IntoIterator<Item = (u32, &'a Action)>,
        nonce: impl Fn(u32) -> u64,
    ) -> Result<Vec<RequestPart>> {
        let mut independent = region_action(region_name, false, None);
        // Cells are in the order of the parts, so the others are built after this one.
        let (mut indexes, mut of_one_row) = (Vec::new(), Vec::new());
        for (index, action) in actions {
            match action {
                Action::Get(get) => {
                    self.push(&mut independent, index, field::action::GET, &get_message(get)?);
                    indexes.push(index);
                }
                Action::Mutation(mutation) => {
                    self.push_mutation(&mut independent, index, mutation, nonce(index));
                    indexes.push(index);
                }
                Action::RowMutations(mutations) => of_one_row.push((index, mutations, None)),
                Action::CheckAndMutate(check) => {
                    of_one_row.push((index, check.parts()?.1, Some(condition_message(check)?)));
                }
            }
        }
        let mut parts = Vec::new();
        if !indexes.is_empty() {
            push_bytes(&mut self.encoded, field::request::REGION_ACTION, &independent);
            parts.push(RequestPart { kind: PartKind::Independent, indexes });
        }
        for (index, mutations, condition) in of_one_row {
            // HBase's client does not call a single conditional write atomic.
            let is_atomic = condition.is_none() || mutations.mutations().len() > 1;
            let condition = condition.as_ref();
            self.add_row(region_name, index, mutations, is_atomic, condition, nonce(index));
            let kind = condition.map_or(PartKind::Atomic, |_| PartKind::Conditional);
            parts.push(RequestPart { kind, indexes: vec![index] });
        }
        Ok(parts)
    }

    /// Adds a part with writes to one row, possibly with a condition.
    pub fn add_row(
        &mut self,
        region_name: &[u8],
        index: u32,
        mutations: &RowMutations,
        is_atomic: bool,
        condition: Option<&pb::Condition>,
        nonce: u64,
    ) {
        let mut part = region_action(region_name, is_atomic, condition);
        for mutation in mutations.mutations() {
            self.push_mutation(&mut part, index, mutation, nonce);
        }
        push_bytes(&mut self.encoded, field::request::REGION_ACTION, &part);
    }

    fn push_mutation(&mut self, part: &mut Vec<u8>, index: u32, mutation: &Mutation, nonce: u64) {
        let message = pb::MutationProto {
            nonce: Some(nonce),
            ..mutation_message(mutation, self.codec, &mut self.cells)
        };
        self.push(part, index, field::action::MUTATION, &message);
    }

    /// Appends an action to a part.
    fn push(&mut self, part: &mut Vec<u8>, index: u32, tag: u32, message: &impl Message) {
        encode(&mut self.scratch, message);
        let size = encoding::uint32::encoded_len(field::action::INDEX, &index)
            + key_len(tag)
            + encoded_len_varint(self.scratch.len() as u64)
            + self.scratch.len();
        encode_key(field::region_action::ACTION, WireType::LengthDelimited, part);
        encode_varint(size as u64, part);
        encoding::uint32::encode(field::action::INDEX, &index, part);
        push_bytes(part, tag, &self.scratch);
    }
}

/// The fields of a part before its actions.
fn region_action(
    region_name: &[u8],
    is_atomic: bool,
    condition: Option<&pb::Condition>,
) -> Vec<u8> {
    let (mut part, mut message) = (Vec::new(), Vec::new());
    encode(&mut message, &region_specifier(region_name));
    push_bytes(&mut part, field::region_action::REGION, &message);
    encoding::bool::encode(field::region_action::ATOMIC, &is_atomic, &mut part);
    if let Some(condition) = condition {
        encode(&mut message, condition);
        push_bytes(&mut part, field::region_action::CONDITION, &message);
    }
    part
}

/// Replaces what is in `buffer` with the encoded message.
fn encode(buffer: &mut Vec<u8>, message: &impl Message) {
    buffer.clear();
    // Encoding fails only if the buffer is full, and this one grows.
    let _ = message.encode(buffer);
}

fn push_bytes(to: &mut Vec<u8>, tag: u32, bytes: &[u8]) {
    encode_key(tag, WireType::LengthDelimited, to);
    encode_varint(bytes.len() as u64, to);
    to.extend_from_slice(bytes);
}
