//! Cells outside messages.
//!
//! `KeyValueCodec` is cells back to back, without header or count:
//!
//! ```text
//! u32 length │ u32 key length │ u32 value length │ key │ value      (│ u16 tags length │ tags)
//! ```
//!
//! Tags are written only by `KeyValueCodecWithTags`, for cells that have some. Key and value are
//! the same bytes as in memory and in files.

mod compressor;

pub use compressor::Compressor;

use bytes::Bytes;
use hblite_model::cell::{KEY_VALUE_HEADER_SIZE, SharedBlock, key};
use hblite_model::{CellRef, Error, Result};

const PACKAGE: &str = "org.apache.hadoop.hbase.codec.";
const LENGTH_SIZE: usize = 4;
const TAGS_LENGTH_SIZE: usize = 2;

/// The format of cells in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// `KeyValueCodec`: without tags.
    KeyValue,
    /// `KeyValueCodecWithTags`.
    KeyValueWithTags,
}

impl Codec {
    /// The codec with the name of this Java class.
    pub fn from_class_name(name: &str) -> Option<Self> {
        match name.strip_prefix(PACKAGE)? {
            "KeyValueCodec" => Some(Self::KeyValue),
            "KeyValueCodecWithTags" => Some(Self::KeyValueWithTags),
            _ => None,
        }
    }

    /// The tags that are sent with the cell.
    #[inline]
    fn tags<'c>(self, cell: &CellRef<'c>) -> &'c [u8] {
        match self {
            Self::KeyValue => b"",
            Self::KeyValueWithTags => cell.tags(),
        }
    }

    /// Bytes of a cell in a block.
    #[inline]
    pub fn size_of(self, cell: &CellRef<'_>) -> usize {
        let tags = self.tags(cell).len();
        let tags_size = if tags == 0 { 0 } else { TAGS_LENGTH_SIZE + tags };
        LENGTH_SIZE + cell.serialized_size() + tags_size
    }

    /// Appends a cell to a block.
    #[inline]
    pub fn push(self, block: &mut Vec<u8>, cell: &CellRef<'_>) {
        let tags = self.tags(cell);
        let length = self.size_of(cell) - LENGTH_SIZE;
        let (key, value) = (cell.key(), cell.value());
        block.reserve(LENGTH_SIZE + length);
        block.extend_from_slice(&(length as u32).to_be_bytes());
        block.extend_from_slice(&(key.len() as u32).to_be_bytes());
        block.extend_from_slice(&(value.len() as u32).to_be_bytes());
        block.extend_from_slice(key);
        block.extend_from_slice(value);
        if !tags.is_empty() {
            block.extend_from_slice(&(tags.len() as u16).to_be_bytes());
            block.extend_from_slice(tags);
        }
    }
}

/// Reads the cells of a block one after another.
#[derive(Debug, Clone)]
pub struct CellReader<'a> {
    block: &'a [u8],
    rest: &'a [u8],
    /// The block, if what is read may stay in it.
    shared: Option<SharedBlock>,
}

impl<'a> CellReader<'a> {
    /// A reader of this block.
    pub fn new(block: &'a [u8]) -> Self {
        Self { block, rest: block, shared: None }
    }

    /// A reader of this block. Rows that are made of its cells stay in it, and keep it in memory.
    pub fn sharing(block: &'a Bytes) -> Self {
        Self { shared: Some(SharedBlock::new(block.clone())), ..Self::new(block) }
    }

    /// What rows share with the block.
    pub(crate) fn shared(&self) -> Option<&SharedBlock> {
        self.shared.as_ref()
    }

    /// The next cell, borrowed from the block.
    ///
    /// # Errors
    /// `DoNotRetryIo` if there is no cell, or an invalid one.
    pub fn next_cell(&mut self) -> Result<CellRef<'a>> {
        let (cell, rest) = split_cell(self.rest).ok_or_else(|| {
            Error::do_not_retry("the cell block ends too early or has no cell where one should be")
        })?;
        self.rest = rest;
        Ok(cell)
    }

    /// The next cell, and the offset of its key length in the block.
    ///
    /// # Errors
    /// As [`CellReader::next_cell`].
    pub(crate) fn next_cell_and_offset(&mut self) -> Result<(usize, CellRef<'a>)> {
        let offset = self.block.len() - self.rest.len() + LENGTH_SIZE;
        Ok((offset, self.next_cell()?))
    }

    /// Skips cells.
    ///
    /// # Errors
    /// As [`CellReader::next_cell`].
    pub fn skip(&mut self, count: usize) -> Result<()> {
        (0..count).try_for_each(|_| self.next_cell().map(drop))
    }
}

fn split_cell(bytes: &[u8]) -> Option<(CellRef<'_>, &[u8])> {
    let (length, rest) = split_u32(bytes)?;
    let (cell, rest) = rest.split_at_checked(length)?;
    let (key_length, cell) = split_u32(cell)?;
    let (value_length, cell) = split_u32(cell)?;
    debug_assert_eq!(KEY_VALUE_HEADER_SIZE, 2 * LENGTH_SIZE);
    let (flat_key, cell) = cell.split_at_checked(key_length)?;
    let (value, tags) = cell.split_at_checked(value_length)?;
    let tags = match tags.split_first_chunk::<TAGS_LENGTH_SIZE>() {
        Some((length, tags)) => tags.get(..usize::from(u16::from_be_bytes(*length)))?,
        None if tags.is_empty() => tags,
        None => return None,
    };
    key::is_well_formed(flat_key).then(|| (CellRef::new(flat_key, value, tags, 0), rest))
}

fn split_u32(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<LENGTH_SIZE>()?;
    Some((u32::from_be_bytes(*number) as usize, rest))
}

#[cfg(test)]
mod tests {
    use hblite_model::CellBuffer;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cell_has_hbases_bytes() {
        let mut cells = CellBuffer::new();
        cells.push_parts(b"r1", b"f", b"q", 1000, 4, b"v1");
        let mut block = Vec::new();
        Codec::KeyValue.push(&mut block, &cells.get(0).unwrap());
        let expected = b"\0\0\0\x1a\0\0\0\x10\0\0\0\x02\0\x02r1\x01fq\0\0\0\0\0\0\x03\xe8\x04v1";
        assert_eq!(block, expected);
        let mut reader = CellReader::new(&block);
        assert_eq!(reader.next_cell().unwrap(), cells.get(0).unwrap());
        assert!(reader.next_cell().is_err());
    }

    #[test]
    fn tags_travel_only_with_their_codec() {
        let flat = key::build(b"r", b"f", b"q", 7, 4);
        let cell = CellRef::new(&flat, b"v", b"\0\x02\x08x", 0);
        for (codec, tags) in [(Codec::KeyValue, &b""[..]), (Codec::KeyValueWithTags, cell.tags())] {
            let mut block = Vec::new();
            codec.push(&mut block, &cell);
            assert_eq!(CellReader::new(&block).next_cell().unwrap().tags(), tags);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_cells_or_refused(bytes: Vec<u8>, at: usize, byte: u8) {
            let mut reader = CellReader::new(&bytes);
            while reader.next_cell().is_ok() {}
            let mut cells = CellBuffer::new();
            cells.push_parts(b"row", b"f", b"qualifier", 1000, 4, b"value");
            let mut block = Vec::new();
            Codec::KeyValue.push(&mut block, &cells.get(0).unwrap());
            let at = at % block.len();
            block[at] = byte;
            let _ = CellReader::new(&block).next_cell();
        }
    }
}
