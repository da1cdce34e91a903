//! What PREFIX, DIFF and FAST_DIFF have in common.
//!
//! Each of them writes a cell as its difference to the one before, then
//!
//! ```text
//! [varint tags length | tags] [vlong mvcc]
//! ```
//!
//! The cells of one block are of one family; the writer sees to that.

use hblite_model::CellRef;
use hblite_model::bytes::common_prefix_length;
use hblite_model::cell::key;

use super::cells::CellLayout;
use super::tag_dictionary::TagDictionary;
use crate::error::{Damage, Parsed, ensure, reserve};
use crate::input::{Input, write_varint, write_vlong};

/// Bytes of an output that are reserved at once, at most this many times the input.
const RESERVE_FACTOR: usize = 8;

/// An encoding that writes cells as differences: what its file adds to the registry.
pub(crate) struct Packed {
    pub(super) packer: fn() -> Box<dyn CellPacker>,
    /// Decodes all cells of a block.
    pub(super) decode: fn(&mut Input<'_>, PackedTrailer, &mut DecodedCells) -> Parsed<()>,
}

/// Writes cells as differences; remembers the cell before.
pub(crate) trait CellPacker: std::fmt::Debug + Send {
    /// Appends a cell without tags and mvcc.
    fn append(&mut self, out: &mut Vec<u8>, cell: &CellRef<'_>);

    /// Begins a new block.
    fn clear(&mut self);
}

/// How much of `key` is taken from `previous`, timestamp and type apart: all of it up to the end of
/// the qualifier only if both have the same column.
pub(crate) fn common_prefix(previous: &[u8], key: &[u8]) -> usize {
    if previous[..key::ROW_LENGTH_SIZE] != key[..key::ROW_LENGTH_SIZE] {
        return common_prefix_length(
            &previous[..key::ROW_LENGTH_SIZE],
            &key[..key::ROW_LENGTH_SIZE],
        );
    }
    let (previous_row, row) = (key::row(previous), key::row(key));
    if previous_row != row {
        return key::ROW_LENGTH_SIZE + common_prefix_length(previous_row, row);
    }
    let column_start = key::ROW_LENGTH_SIZE + row.len() + key::FAMILY_LENGTH_SIZE;
    let qualifier_start = column_start + key::family(key).len();
    qualifier_start + common_prefix_length(key::qualifier(previous), key::qualifier(key))
}

/// Where the row ends in a flat key.
fn row_end(flat_key: &[u8]) -> usize {
    key::ROW_LENGTH_SIZE + key::row_length(flat_key)
}

/// Appends what of row and qualifier is not common; the family is left out.
pub(crate) fn write_row_and_qualifier(out: &mut Vec<u8>, flat_key: &[u8], common: usize) {
    let version_start = flat_key.len() - key::TIMESTAMP_TYPE_SIZE;
    if common < row_end(flat_key) {
        out.extend_from_slice(&flat_key[common..row_end(flat_key)]);
        out.extend_from_slice(key::qualifier(flat_key));
    } else {
        out.extend_from_slice(&flat_key[common..version_start]);
    }
}

/// Reads what [`write_row_and_qualifier`] wrote and completes the key up to its timestamp.
pub(crate) fn read_row_and_qualifier(
    input: &mut Input<'_>,
    out: &mut DecodedCells,
    common: usize,
    family: &[u8],
) -> Parsed<()> {
    let version_start = out
        .key_length
        .checked_sub(key::TIMESTAMP_TYPE_SIZE)
        .filter(|start| common <= *start)
        .ok_or_else(|| Damage::new("common prefix is longer than the key"))?;
    out.copy_from_previous_key(common)?;
    if common < key::ROW_LENGTH_SIZE {
        out.push(input.take(key::ROW_LENGTH_SIZE - common)?)?;
    }
    let row_end = row_end(out.key_so_far());
    let family_size = key::FAMILY_LENGTH_SIZE + family.len();
    let qualifier_start = row_end + family_size;
    ensure(qualifier_start <= version_start, "row and family are longer than the key")?;
    if common < row_end {
        out.push(input.take(row_end - common.max(key::ROW_LENGTH_SIZE))?)?;
        out.push(&[family.len() as u8])?;
        out.push(family)?;
        out.push(input.take(version_start - qualifier_start)?)
    } else {
        ensure(common >= qualifier_start, "common prefix ends inside the family")?;
        out.push(input.take(version_start - common)?)
    }
}

/// Plain cells as they come out of a decoder, which may not become more than was announced.
#[derive(Debug)]
pub(crate) struct DecodedCells {
    bytes: Vec<u8>,
    size_max: usize,
    key_start: usize,
    key_length: usize,
    value_length: usize,
    previous_key_start: usize,
    previous_key_length: usize,
    previous_value_length: usize,
}

impl DecodedCells {
    /// Room for cells of `size_max` bytes that come out of `input_size` bytes.
    pub(crate) fn new(size_max: usize, input_size: usize) -> Parsed<Self> {
        let mut bytes = Vec::new();
        reserve(&mut bytes, size_max.min(input_size.saturating_mul(RESERVE_FACTOR)))?;
        Ok(Self {
            bytes,
            size_max,
            key_start: 0,
            key_length: 0,
            value_length: 0,
            previous_key_start: 0,
            previous_key_length: 0,
            previous_value_length: 0,
        })
    }

    /// Key length of the last cell that was begun.
    pub(crate) fn key_length(&self) -> usize {
        self.key_length
    }

    /// Value length of the last cell that was begun.
    pub(crate) fn value_length(&self) -> usize {
        self.value_length
    }

    /// Begins a cell with its two lengths.
    pub(crate) fn begin(&mut self, key_length: usize, value_length: usize) -> Parsed<()> {
        self.previous_key_start = self.key_start;
        self.previous_key_length = self.key_length;
        self.previous_value_length = self.value_length;
        self.push(&(key_length as u32).to_be_bytes())?;
        self.push(&(value_length as u32).to_be_bytes())?;
        self.key_start = self.bytes.len();
        (self.key_length, self.value_length) = (key_length, value_length);
        Ok(())
    }

    /// Appends bytes to the cell.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Parsed<()> {
        ensure(
            bytes.len() <= self.size_max - self.bytes.len(),
            "encoded block decodes to more than it announces",
        )?;
        reserve(&mut self.bytes, bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends the first `length` bytes of the previous cell's key.
    pub(crate) fn copy_from_previous_key(&mut self, length: usize) -> Parsed<()> {
        ensure(length <= self.previous_key_length, "common prefix is longer than the last key")?;
        self.copy(self.previous_key_start, length)
    }

    /// Appends the value of the previous cell, which must be as long as this one's.
    pub(crate) fn copy_previous_value(&mut self) -> Parsed<()> {
        let same = self.previous_value_length == self.value_length;
        ensure(same, "same value of another length")?;
        self.copy(self.previous_key_start + self.previous_key_length, self.value_length)
    }

    fn copy(&mut self, start: usize, length: usize) -> Parsed<()> {
        ensure(
            length <= self.size_max - self.bytes.len(),
            "encoded block decodes to more than it announces",
        )?;
        reserve(&mut self.bytes, length)?;
        self.bytes.extend_from_within(start..start + length);
        Ok(())
    }

    /// What of the key was appended.
    pub(crate) fn key_so_far(&self) -> &[u8] {
        &self.bytes[self.key_start..]
    }

    /// The bytes of the previous cell's key from `start` on; there must be `N`.
    pub(crate) fn previous_key_tail<const N: usize>(&self) -> Parsed<[u8; N]> {
        let end = self.previous_key_start + self.previous_key_length;
        ensure(self.previous_key_length >= N, "there is no previous key")?;
        let mut tail = [0; N];
        tail.copy_from_slice(&self.bytes[end - N..end]);
        Ok(tail)
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Tags and mvcc behind each packed cell.
#[derive(Debug)]
pub(crate) struct PackedTrailer {
    layout: CellLayout,
    dictionary: Option<TagDictionary>,
}

impl PackedTrailer {
    pub(crate) fn new(layout: CellLayout, tags_compressed: bool) -> Self {
        let dictionary = (layout.has_tags && tags_compressed).then(TagDictionary::default);
        Self { layout, dictionary }
    }

    /// Begins a new block.
    pub(crate) fn clear(&mut self) {
        if let Some(dictionary) = &mut self.dictionary {
            dictionary.clear();
        }
    }

    pub(crate) fn append(&mut self, out: &mut Vec<u8>, cell: &CellRef<'_>) {
        if self.layout.has_tags {
            write_varint(out, cell.tags().len());
            match &mut self.dictionary {
                Some(dictionary) => dictionary.write_tags(out, cell.tags()),
                None => out.extend_from_slice(cell.tags()),
            }
        }
        if self.layout.has_mvcc {
            write_vlong(out, cell.sequence_id() as i64);
        }
    }

    /// Reads tags and mvcc and appends them in the plain form.
    pub(crate) fn read(&mut self, input: &mut Input<'_>, out: &mut DecodedCells) -> Parsed<()> {
        if self.layout.has_tags {
            let length = input.varint()?;
            ensure(length <= u16::MAX as usize, "tags are too long")?;
            out.push(&(length as u16).to_be_bytes())?;
            match &mut self.dictionary {
                Some(dictionary) => dictionary.read_tags(input, length, out)?,
                None => out.push(input.take(length)?)?,
            }
        }
        if self.layout.has_mvcc {
            out.push(input.raw_vlong()?)?;
        }
        Ok(())
    }
}
