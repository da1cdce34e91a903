//! Cells: the layout, the order and the ways to hold them.
//!
//! A cell consists of the bytes of HBase's `KeyValue`, from the memstore to the disk and the wire:
//!
//! ```text
//! i32 key length | i32 value length | flat key (see `key`) | value
//! ```
//!
//! It also has tags (a sequence of `u16 length | u8 type | value`) and a sequence id, the position
//! of its write in the region's history. [`CellRef`] borrows a cell from wherever it is stored,
//! [`Cell`] owns one, [`CellBuffer`] holds many contiguously, and the memory of [`SharedCells`] is
//! shared with other rows.

pub mod key;

mod buffer;
mod cell_type;
mod comparator;
mod shared;
mod tag;

pub use buffer::{CellBuffer, CellBufferIter};
pub use cell_type::CellType;
pub use comparator::{CellComparator, compare_columns, compare_versions, compare_without_row};
pub use shared::{SharedBlock, SharedCells};
pub use tag::{Tag, TagIter, TagType, push_tag};

use std::fmt;

use crate::bytes::to_string_binary;
use crate::error::{Error, Result};

/// "Use the time of the write": `HConstants.LATEST_TIMESTAMP`.
pub const LATEST_TIMESTAMP: i64 = i64::MAX;

/// Bytes of the two length fields before a serialized cell.
pub const KEY_VALUE_HEADER_SIZE: usize = 8;
/// Bytes of the object in which HBase keeps a cell (`KeyValue.FIXED_OVERHEAD`).
const HEAP_OVERHEAD: usize = 32;

/// Maximum size of key and value together, in bytes. A larger cell does not fit in a block of a
/// file.
pub const CELL_SIZE_MAX: usize = 1 << 29;

/// Refuses a cell that no file could hold, before it is built: key and value in bytes.
///
/// # Errors
/// `IllegalArgument`: `KeyValue size too large`.
pub fn check_size(key_length: usize, value_length: usize) -> Result<()> {
    if key_length.saturating_add(value_length) > CELL_SIZE_MAX {
        return Err(Error::illegal_argument("KeyValue size too large"));
    }
    Ok(())
}

/// A borrowed cell.
///
/// The key and the value may be anywhere in memory. Where they are contiguous (in memory, and in
/// files without encoding), creating the reference copies nothing.
#[derive(Clone, Copy)]
pub struct CellRef<'a> {
    key: &'a [u8],
    value: &'a [u8],
    tags: &'a [u8],
    sequence_id: u64,
}

impl<'a> CellRef<'a> {
    /// A cell from its parts. `key` must be well-formed ([`key::is_well_formed`]).
    #[inline]
    pub fn new(key: &'a [u8], value: &'a [u8], tags: &'a [u8], sequence_id: u64) -> Self {
        debug_assert!(key::is_well_formed(key), "malformed key {key:?}");
        Self { key, value, tags, sequence_id }
    }

    /// The flat key.
    #[inline]
    pub fn key(&self) -> &'a [u8] {
        self.key
    }

    /// The row.
    #[inline]
    pub fn row(&self) -> &'a [u8] {
        key::row(self.key)
    }

    /// The family.
    #[inline]
    pub fn family(&self) -> &'a [u8] {
        key::family(self.key)
    }

    /// The qualifier.
    #[inline]
    pub fn qualifier(&self) -> &'a [u8] {
        key::qualifier(self.key)
    }

    /// The timestamp in milliseconds.
    #[inline]
    pub fn timestamp(&self) -> i64 {
        key::timestamp(self.key)
    }

    /// The type code.
    #[inline]
    pub fn type_code(&self) -> u8 {
        key::type_code(self.key)
    }

    /// The type, or `None` if no stored cell has this code.
    #[inline]
    pub fn cell_type(&self) -> Option<CellType> {
        CellType::from_code(self.type_code())
    }

    /// Whether this is a delete marker.
    #[inline]
    pub fn is_delete(&self) -> bool {
        CellType::is_delete_code(self.type_code())
    }

    /// The value.
    #[inline]
    pub fn value(&self) -> &'a [u8] {
        self.value
    }

    /// The serialized tags, empty if there are none.
    #[inline]
    pub fn tags(&self) -> &'a [u8] {
        self.tags
    }

    /// The sequence id, 0 if unknown.
    #[inline]
    pub fn sequence_id(&self) -> u64 {
        self.sequence_id
    }

    /// Length of the serialized cell without tags and sequence id.
    #[inline]
    pub fn serialized_size(&self) -> usize {
        KEY_VALUE_HEADER_SIZE + self.key.len() + self.value.len()
    }

    /// The bytes that HBase counts for the cell against the size limit of a response: those of the
    /// cell and of the Java object that holds it.
    #[inline]
    pub fn heap_size(&self) -> usize {
        HEAP_OVERHEAD + self.serialized_size()
    }

    /// Replaces the sequence id.
    #[inline]
    pub fn with_sequence_id(self, sequence_id: u64) -> Self {
        Self { sequence_id, ..self }
    }

    /// Replaces the tags.
    #[inline]
    pub fn with_tags(self, tags: &'a [u8]) -> Self {
        Self { tags, ..self }
    }

    /// A copy that owns its bytes.
    pub fn to_cell(&self) -> Cell {
        Cell::from_ref(self)
    }
}

/// Equal key, value and tags; sequence ids are not compared.
impl PartialEq for CellRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.value == other.value && self.tags == other.tags
    }
}

impl Eq for CellRef<'_> {}

impl fmt::Debug for CellRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// As HBase's `KeyValue.toString`: `row/family:qualifier/timestamp/type/vlen=n/seqid=n`.
impl fmt::Display for CellRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = to_string_binary(self.row());
        let family = to_string_binary(self.family());
        let qualifier = to_string_binary(self.qualifier());
        write!(f, "{row}/{family}:{qualifier}/{}/", self.timestamp())?;
        match (self.cell_type(), self.type_code()) {
            (Some(cell_type), _) => write!(f, "{cell_type}")?,
            (None, CellType::MINIMUM) => f.write_str("Minimum")?,
            (None, CellType::MAXIMUM) => f.write_str("Maximum")?,
            (None, code) => write!(f, "{code}")?,
        }
        write!(f, "/vlen={}/seqid={}", self.value.len(), self.sequence_id)
    }
}

/// A cell that owns its bytes.
#[derive(Clone)]
pub struct Cell {
    /// Key, value and tags, contiguous.
    bytes: Box<[u8]>,
    key_length: u32,
    value_length: u32,
    sequence_id: u64,
}

impl Cell {
    /// A cell from its parts, without tags.
    ///
    /// # Panics
    /// If row or family are too long for their length fields; see [`key::write`].
    pub fn new(
        row: &[u8],
        family: &[u8],
        qualifier: &[u8],
        timestamp: i64,
        cell_type: CellType,
        value: &[u8],
    ) -> Self {
        let key = key::build(row, family, qualifier, timestamp, cell_type.code());
        CellRef::new(&key, value, b"", 0).to_cell()
    }

    /// A copy of `cell`.
    pub fn from_ref(cell: &CellRef<'_>) -> Self {
        let size = cell.key.len() + cell.value.len() + cell.tags.len();
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(cell.key);
        bytes.extend_from_slice(cell.value);
        bytes.extend_from_slice(cell.tags);
        Self {
            bytes: bytes.into_boxed_slice(),
            key_length: cell.key.len() as u32,
            value_length: cell.value.len() as u32,
            sequence_id: cell.sequence_id,
        }
    }

    /// The cell, borrowed.
    #[inline]
    pub fn as_ref(&self) -> CellRef<'_> {
        let (key, rest) = self.bytes.split_at(self.key_length as usize);
        let (value, tags) = rest.split_at(self.value_length as usize);
        CellRef { key, value, tags, sequence_id: self.sequence_id }
    }

    /// The row.
    pub fn row(&self) -> &[u8] {
        self.as_ref().row()
    }

    /// The family.
    pub fn family(&self) -> &[u8] {
        self.as_ref().family()
    }

    /// The qualifier.
    pub fn qualifier(&self) -> &[u8] {
        self.as_ref().qualifier()
    }

    /// The timestamp in milliseconds.
    pub fn timestamp(&self) -> i64 {
        self.as_ref().timestamp()
    }

    /// The type, or `None` if no stored cell has this code.
    pub fn cell_type(&self) -> Option<CellType> {
        self.as_ref().cell_type()
    }

    /// The value.
    pub fn value(&self) -> &[u8] {
        self.as_ref().value()
    }

    /// The serialized tags, empty if there are none.
    pub fn tags(&self) -> &[u8] {
        self.as_ref().tags()
    }

    /// The sequence id, 0 if unknown.
    pub fn sequence_id(&self) -> u64 {
        self.sequence_id
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Cell {}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_ref(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_and_value_together_have_a_limit() {
        assert!(check_size(12, CELL_SIZE_MAX - 12).is_ok());
        assert!(check_size(13, CELL_SIZE_MAX - 12).is_err());
        assert!(check_size(12, usize::MAX).is_err());
    }
}
