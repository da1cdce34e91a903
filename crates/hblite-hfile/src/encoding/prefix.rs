//! PREFIX: omits what a key has in common with the previous one.
//!
//! ```text
//! varint (key length - common) | varint value length | varint common | key from common on | value
//! ```

use hblite_model::CellRef;
use hblite_model::bytes::common_prefix_length;
use hblite_model::cell::key;

use super::decoded::DecodedCells;
use super::packed::{CellPacker, Packed, PackedTrailer, common_prefix};
use crate::error::Parsed;
use crate::input::{Input, write_varint};

/// Writes cells in this encoding.
#[derive(Debug, Default)]
pub(crate) struct PrefixPacker {
    /// Key of the previous cell, empty at the beginning of a block.
    previous: Vec<u8>,
}

impl CellPacker for PrefixPacker {
    fn append(&mut self, out: &mut Vec<u8>, cell: &CellRef<'_>) {
        let flat_key = cell.key();
        let common = self.common(flat_key);
        write_varint(out, flat_key.len() - common);
        write_varint(out, cell.value().len());
        write_varint(out, common);
        out.extend_from_slice(&flat_key[common..]);
        out.extend_from_slice(cell.value());
        self.previous.clear();
        self.previous.extend_from_slice(flat_key);
    }

    fn clear(&mut self) {
        self.previous.clear();
    }
}

impl PrefixPacker {
    /// Alone among the encodings, this one also compares timestamp and type.
    fn common(&self, flat_key: &[u8]) -> usize {
        if self.previous.is_empty() {
            return 0;
        }
        let common = common_prefix(&self.previous, flat_key);
        let version_start = flat_key.len() - key::TIMESTAMP_TYPE_SIZE;
        let has_same_column = common == version_start && self.previous.len() == flat_key.len();
        if !has_same_column {
            return common;
        }
        common + common_prefix_length(&self.previous[version_start..], &flat_key[version_start..])
    }
}

/// The encoding, for the registry.
pub(super) const PACKED: Packed = Packed { packer: || Box::<PrefixPacker>::default(), decode };

/// Decodes all cells of a block.
fn decode(input: &mut Input<'_>, mut trailer: PackedTrailer, out: &mut DecodedCells) -> Parsed<()> {
    while !input.is_empty() {
        let rest_length = input.varint()?;
        let value_length = input.varint()?;
        let common = input.varint()?;
        out.begin(common + rest_length, value_length)?;
        out.copy_from_previous_key(common)?;
        out.push(input.take(rest_length)?)?;
        out.push(input.take(value_length)?)?;
        trailer.read(input, out)?;
    }
    Ok(())
}
