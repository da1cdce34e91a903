//! FAST_DIFF: differences from the previous cell that need no arithmetic.
//!
//! ```text
//! first cell   00 | varint key length | varint value length | 00 | whole key | value
//! others       u8 flag | [varint key length] | [varint value length] | varint common
//!              row part | qualifier part | timestamp tail | [u8 type] | [value]
//!
//! flag  0x07             leading timestamp bytes that are those of the cell before, at most 7
//!       0x08 0x10 0x20   key length, value length, type are those of the cell before: left out
//!       0x40             value is that of the cell before: left out
//! ```

use hblite_model::CellRef;
use hblite_model::bytes::common_prefix_length;
use hblite_model::cell::key;

use super::decoded::DecodedCells;
use super::packed::{
    CellPacker, Packed, PackedTrailer, common_prefix, read_row_and_qualifier,
    write_row_and_qualifier,
};
use crate::error::{Parsed, ensure};
use crate::input::{Input, write_varint};

const TIMESTAMP_COMMON_MASK: u8 = 0x07;
const SAME_KEY_LENGTH: u8 = 0x08;
const SAME_VALUE_LENGTH: u8 = 0x10;
const SAME_TYPE: u8 = 0x20;
const SAME_VALUE: u8 = 0x40;

const TIMESTAMP_SIZE: usize = 8;

/// Writes cells in this encoding.
#[derive(Debug, Default)]
pub(crate) struct FastDiffPacker {
    /// Key of the previous cell, empty at the beginning of a block.
    previous: Vec<u8>,
    previous_value: Vec<u8>,
}

impl CellPacker for FastDiffPacker {
    fn append(&mut self, out: &mut Vec<u8>, cell: &CellRef<'_>) {
        let flat_key = cell.key();
        if self.previous.is_empty() {
            out.push(0);
            write_varint(out, flat_key.len());
            write_varint(out, cell.value().len());
            write_varint(out, 0);
            out.extend_from_slice(flat_key);
            out.extend_from_slice(cell.value());
        } else {
            self.append_difference(out, cell);
        }
        self.previous.clear();
        self.previous.extend_from_slice(flat_key);
        self.previous_value.clear();
        self.previous_value.extend_from_slice(cell.value());
    }

    fn clear(&mut self) {
        self.previous.clear();
    }
}

impl FastDiffPacker {
    fn append_difference(&self, out: &mut Vec<u8>, cell: &CellRef<'_>) {
        let (flat_key, value) = (cell.key(), cell.value());
        let timestamp = cell.timestamp().to_be_bytes();
        let previous_timestamp = key::timestamp(&self.previous).to_be_bytes();
        let timestamp_common = common_prefix_length(&timestamp, &previous_timestamp)
            .min(TIMESTAMP_COMMON_MASK as usize);
        let has_same_type = key::type_code(&self.previous) == cell.type_code();
        let has_same_value = self.previous_value == value;
        let mut flag = timestamp_common as u8;
        for (is_same, bit) in [
            (self.previous.len() == flat_key.len(), SAME_KEY_LENGTH),
            (self.previous_value.len() == value.len(), SAME_VALUE_LENGTH),
            (has_same_type, SAME_TYPE),
            (has_same_value, SAME_VALUE),
        ] {
            flag |= if is_same { bit } else { 0 };
        }
        out.push(flag);
        if flag & SAME_KEY_LENGTH == 0 {
            write_varint(out, flat_key.len());
        }
        if flag & SAME_VALUE_LENGTH == 0 {
            write_varint(out, value.len());
        }
        let common = common_prefix(&self.previous, flat_key);
        write_varint(out, common);
        write_row_and_qualifier(out, flat_key, common);
        out.extend_from_slice(&timestamp[timestamp_common..]);
        if !has_same_type {
            out.push(cell.type_code());
        }
        if !has_same_value {
            out.extend_from_slice(value);
        }
    }
}

/// The encoding, for the registry.
pub(super) const PACKED: Packed = Packed { packer: || Box::<FastDiffPacker>::default(), decode };

/// Decodes all cells of a block.
fn decode(input: &mut Input<'_>, mut trailer: PackedTrailer, out: &mut DecodedCells) -> Parsed<()> {
    ensure(input.u8()? == 0, "first cell refers to a previous one")?;
    let key_length = input.varint()?;
    let value_length = input.varint()?;
    ensure(input.varint()? == 0, "first cell refers to a previous one")?;
    let first_key = input.take(key_length)?;
    ensure(key::is_well_formed(first_key), "lengths inside a key do not fit")?;
    out.begin(key_length, value_length)?;
    out.push(first_key)?;
    out.push(input.take(value_length)?)?;
    trailer.read(input, out)?;
    let family = key::family(first_key);
    while !input.is_empty() {
        decode_difference(input, out, family)?;
        trailer.read(input, out)?;
    }
    Ok(())
}

fn decode_difference(input: &mut Input<'_>, out: &mut DecodedCells, family: &[u8]) -> Parsed<()> {
    let flag = input.u8()?;
    let key_length = if flag & SAME_KEY_LENGTH == 0 { input.varint()? } else { out.key_length() };
    let value_length =
        if flag & SAME_VALUE_LENGTH == 0 { input.varint()? } else { out.value_length() };
    let common = input.varint()?;
    out.begin(key_length, value_length)?;
    read_row_and_qualifier(input, out, common, family)?;
    let previous = out.previous_key_tail::<{ key::TIMESTAMP_TYPE_SIZE }>()?;
    let timestamp_common = (flag & TIMESTAMP_COMMON_MASK) as usize;
    out.push(&previous[..timestamp_common])?;
    out.push(input.take(TIMESTAMP_SIZE - timestamp_common)?)?;
    if flag & SAME_TYPE == 0 {
        out.push(input.take(1)?)?;
    } else {
        out.push(&previous[TIMESTAMP_SIZE..])?;
    }
    if flag & SAME_VALUE == 0 {
        out.push(input.take(value_length)?)
    } else {
        out.copy_previous_value()
    }
}
