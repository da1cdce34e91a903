//! What PREFIX, DIFF and FAST_DIFF have in common.
//!
//! Each of them writes a cell as its difference from the previous one, then
//!
//! ```text
//! [varint tags length | tags] [vlong mvcc]
//! ```
//!
//! The writer ensures that the cells of a block belong to one family.

use hblite_model::CellRef;
use hblite_model::bytes::common_prefix_length;
use hblite_model::cell::key;

use super::cells::CellLayout;
use super::decoded::DecodedCells;
use super::tag_dictionary::TagDictionary;
use crate::error::{Damage, Parsed, ensure};
use crate::input::{Input, write_varint, write_vlong};

/// An encoding that writes cells as differences: what its file adds to the registry.
pub(crate) struct Packed {
    pub(super) packer: fn() -> Box<dyn CellPacker>,
    /// Decodes all cells of a block.
    pub(super) decode: fn(&mut Input<'_>, PackedTrailer, &mut DecodedCells) -> Parsed<()>,
}

/// Writes cells as differences; remembers the previous cell.
pub(crate) trait CellPacker: std::fmt::Debug + Send {
    /// Appends a cell without tags and mvcc.
    fn append(&mut self, out: &mut Vec<u8>, cell: &CellRef<'_>);

    /// Begins a new block.
    fn clear(&mut self);
}

/// How many bytes of `key` are taken from `previous`, not counting timestamp and type: everything
/// up to the end of the qualifier only if both have the same column.
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

/// Appends the parts of row and qualifier that are not common; the family is omitted.
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
        .key_length()
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

/// Tags and mvcc after each packed cell.
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
