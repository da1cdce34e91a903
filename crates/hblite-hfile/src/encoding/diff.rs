//! DIFF: differences from the previous cell, including timestamps.
//!
//! ```text
//! before the first cell   u8 family length | family
//! each cell               u8 flag | [varint key length] | [varint value length] | varint common
//!                         row part | qualifier part | timestamp | [u8 type] | value
//!
//! flag  0x01 0x02 0x04    key length, value length, type are those of the cell before: left out
//!       0x08              the timestamp field is previous - this
//!       0x70              bytes of the timestamp field, less one
//!       0x80              the timestamp field is to be negated
//! ```
//!
//! The timestamp field is little-endian, 1 to 8 bytes. A difference is written only if it is
//! shorter than the timestamp itself. Arithmetic wraps.

use hblite_model::CellRef;
use hblite_model::cell::key;

use super::decoded::DecodedCells;
use super::packed::{
    CellPacker, Packed, PackedTrailer, common_prefix, read_row_and_qualifier,
    write_row_and_qualifier,
};
use crate::error::{Parsed, ensure};
use crate::input::{Input, write_varint};

const SAME_KEY_LENGTH: u8 = 0x01;
const SAME_VALUE_LENGTH: u8 = 0x02;
const SAME_TYPE: u8 = 0x04;
const TIMESTAMP_IS_DIFFERENCE: u8 = 0x08;
const TIMESTAMP_SIZE_SHIFT: u32 = 4;
const TIMESTAMP_SIZE_MASK: u8 = 0x07;
const TIMESTAMP_IS_NEGATED: u8 = 0x80;

/// Writes cells in this encoding.
#[derive(Debug, Default)]
pub(crate) struct DiffPacker {
    /// Key of the previous cell, empty at the beginning of a block.
    previous: Vec<u8>,
    previous_value_length: usize,
}

/// A number without its sign, and how many bytes it needs.
#[derive(Clone, Copy)]
struct Magnitude {
    bits: u64,
    size: usize,
    is_negative: bool,
}

impl Magnitude {
    fn of(number: i64) -> Self {
        // The smallest number stays negative when negated and takes all eight bytes.
        let bits = number.wrapping_abs() as u64;
        let size = (u64::BITS - bits.leading_zeros()).div_ceil(8).max(1) as usize;
        Self { bits, size, is_negative: number < 0 }
    }

    fn flag(self) -> u8 {
        let sign = if self.is_negative { TIMESTAMP_IS_NEGATED } else { 0 };
        ((self.size - 1) as u8) << TIMESTAMP_SIZE_SHIFT | sign
    }
}

impl CellPacker for DiffPacker {
    fn append(&mut self, out: &mut Vec<u8>, cell: &CellRef<'_>) {
        let flat_key = cell.key();
        let timestamp = Magnitude::of(cell.timestamp());
        if self.previous.is_empty() {
            out.push(cell.family().len() as u8);
            out.extend_from_slice(cell.family());
            out.push(timestamp.flag());
            write_varint(out, flat_key.len());
            write_varint(out, cell.value().len());
            write_varint(out, 0);
            write_rest(out, cell, 0, timestamp, false);
        } else {
            self.append_difference(out, cell, timestamp);
        }
        self.previous.clear();
        self.previous.extend_from_slice(flat_key);
        self.previous_value_length = cell.value().len();
    }

    fn clear(&mut self) {
        self.previous.clear();
    }
}

impl DiffPacker {
    fn append_difference(&self, out: &mut Vec<u8>, cell: &CellRef<'_>, timestamp: Magnitude) {
        let flat_key = cell.key();
        let previous_timestamp = key::timestamp(&self.previous);
        let difference = Magnitude::of(previous_timestamp.wrapping_sub(cell.timestamp()));
        let (field, mut flag) = if difference.size < timestamp.size {
            (difference, difference.flag() | TIMESTAMP_IS_DIFFERENCE)
        } else {
            (timestamp, timestamp.flag())
        };
        let has_same_type = key::type_code(&self.previous) == cell.type_code();
        for (is_same, bit) in [
            (self.previous.len() == flat_key.len(), SAME_KEY_LENGTH),
            (self.previous_value_length == cell.value().len(), SAME_VALUE_LENGTH),
            (has_same_type, SAME_TYPE),
        ] {
            flag |= if is_same { bit } else { 0 };
        }
        out.push(flag);
        if flag & SAME_KEY_LENGTH == 0 {
            write_varint(out, flat_key.len());
        }
        if flag & SAME_VALUE_LENGTH == 0 {
            write_varint(out, cell.value().len());
        }
        let common = common_prefix(&self.previous, flat_key);
        write_varint(out, common);
        write_rest(out, cell, common, field, has_same_type);
    }
}

fn write_rest(
    out: &mut Vec<u8>,
    cell: &CellRef<'_>,
    common: usize,
    timestamp: Magnitude,
    has_same_type: bool,
) {
    write_row_and_qualifier(out, cell.key(), common);
    out.extend_from_slice(&timestamp.bits.to_le_bytes()[..timestamp.size]);
    if !has_same_type {
        out.push(cell.type_code());
    }
    out.extend_from_slice(cell.value());
}

/// The encoding, for the registry.
pub(super) const PACKED: Packed = Packed { packer: || Box::<DiffPacker>::default(), decode };

/// Decodes all cells of a block.
fn decode(input: &mut Input<'_>, mut trailer: PackedTrailer, out: &mut DecodedCells) -> Parsed<()> {
    let family_length = input.u8()? as usize;
    let family = input.take(family_length)?;
    let mut is_first = true;
    while !input.is_empty() {
        let flag = input.u8()?;
        let same = SAME_KEY_LENGTH | SAME_VALUE_LENGTH | SAME_TYPE | TIMESTAMP_IS_DIFFERENCE;
        ensure(!is_first || flag & same == 0, "first cell refers to a previous one")?;
        let key_length =
            if flag & SAME_KEY_LENGTH == 0 { input.varint()? } else { out.key_length() };
        let value_length =
            if flag & SAME_VALUE_LENGTH == 0 { input.varint()? } else { out.value_length() };
        let common = input.varint()?;
        out.begin(key_length, value_length)?;
        read_row_and_qualifier(input, out, common, family)?;
        let timestamp = read_timestamp(input, flag, out)?;
        out.push(&timestamp.to_be_bytes())?;
        if flag & SAME_TYPE == 0 {
            out.push(input.take(1)?)?;
        } else {
            out.push(&out.previous_key_tail::<1>()?)?;
        }
        out.push(input.take(value_length)?)?;
        trailer.read(input, out)?;
        is_first = false;
    }
    Ok(())
}

fn read_timestamp(input: &mut Input<'_>, flag: u8, out: &DecodedCells) -> Parsed<i64> {
    let size = (flag >> TIMESTAMP_SIZE_SHIFT & TIMESTAMP_SIZE_MASK) as usize + 1;
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(input.take(size)?);
    let mut timestamp = i64::from_le_bytes(bytes);
    if flag & TIMESTAMP_IS_NEGATED != 0 {
        timestamp = timestamp.wrapping_neg();
    }
    if flag & TIMESTAMP_IS_DIFFERENCE != 0 {
        let previous = key::timestamp(&out.previous_key_tail::<{ key::TIMESTAMP_TYPE_SIZE }>()?);
        timestamp = previous.wrapping_sub(timestamp);
    }
    Ok(timestamp)
}
