//! Data block encodings.
//!
//! ```text
//! NONE                    cells (magic DATABLK*)
//! ROW_INDEX_V1            u16 7 | cells | row index
//! PREFIX, DIFF, FAST_DIFF u16 2, 3, 4 | i32 size of the cells without encoding | encoded cells
//! ```
//!
//! [`decode`] turns any of them into plain cells ([`cells`]), over which scanners iterate;
//! [`BlockEncoder`] is the inverse. Every block is independent. A new encoding is a file, a line in
//! [`scheme`], and a line in the table of [`DataBlockEncoding`].
//!
//! Memory: a decoded block is never larger than the size that it announces, and grows only with
//! cells that are really there.

pub(crate) mod cells;

mod decoded;
mod diff;
mod fast_diff;
mod packed;
mod prefix;
mod row_index;
mod tag_dictionary;

use std::ops::Range;

use hblite_model::{CellRef, DataBlockEncoding};

use crate::block::{BlockType, PAYLOAD_SIZE_MAX};
use crate::error::{Damage, Parsed, ensure};
use crate::input::Input;
use cells::CellLayout;
use decoded::DecodedCells;
use packed::{CellPacker, Packed, PackedTrailer};
use row_index::RowIndexEncoder;

/// Bytes of the encoding's id.
const ID_SIZE: usize = 2;
/// Bytes of the id and of the size without encoding.
const PACKED_HEADER_SIZE: usize = ID_SIZE + 4;

/// How an encoding lays out a block.
enum Scheme {
    Plain,
    RowIndex,
    Packed(&'static Packed),
}

/// The registry of encodings: a file each, and a line here. Names and numbers are in the table of
/// [`DataBlockEncoding`].
fn scheme(encoding: DataBlockEncoding) -> Scheme {
    match encoding {
        DataBlockEncoding::None => Scheme::Plain,
        DataBlockEncoding::RowIndexV1 => Scheme::RowIndex,
        DataBlockEncoding::Prefix => Scheme::Packed(&prefix::PACKED),
        DataBlockEncoding::Diff => Scheme::Packed(&diff::PACKED),
        DataBlockEncoding::FastDiff => Scheme::Packed(&fast_diff::PACKED),
    }
}

/// The type of data blocks with this encoding.
pub(crate) fn block_type(encoding: DataBlockEncoding) -> BlockType {
    match scheme(encoding) {
        Scheme::Plain => BlockType::Data,
        Scheme::RowIndex | Scheme::Packed(_) => BlockType::EncodedData,
    }
}

/// Whether the payload contains the plain cells unchanged.
pub(crate) fn is_in_place(encoding: DataBlockEncoding) -> bool {
    match scheme(encoding) {
        Scheme::Plain | Scheme::RowIndex => true,
        Scheme::Packed(_) => false,
    }
}

/// The plain cells of an encoded block.
#[derive(Debug)]
pub(crate) enum PlainCells {
    /// They are in the payload.
    InPlace(Range<usize>),
    Decoded(Vec<u8>),
}

/// The plain cells in the payload of a data block.
pub(crate) fn decode(
    encoding: DataBlockEncoding,
    layout: CellLayout,
    tags_compressed: bool,
    payload: &[u8],
) -> Parsed<PlainCells> {
    let packed = match scheme(encoding) {
        Scheme::Plain => return Ok(PlainCells::InPlace(0..payload.len())),
        Scheme::RowIndex => {
            check_id(encoding, &mut Input::new(payload))?;
            let cells = row_index::cells(&payload[ID_SIZE..])?;
            return Ok(PlainCells::InPlace(ID_SIZE + cells.start..ID_SIZE + cells.end));
        }
        Scheme::Packed(packed) => packed,
    };
    let mut input = Input::new(payload);
    check_id(encoding, &mut input)?;
    let size = input.length()?;
    ensure(size <= PAYLOAD_SIZE_MAX, "encoded block announces too many bytes")?;
    let mut out = DecodedCells::new(size, payload.len())?;
    (packed.decode)(&mut input, PackedTrailer::new(layout, tags_compressed), &mut out)?;
    let cells = out.finish();
    ensure(cells.len() == size, "encoded block does not decode to the size it announces")?;
    Ok(PlainCells::Decoded(cells))
}

fn check_id(encoding: DataBlockEncoding, input: &mut Input<'_>) -> Parsed<()> {
    let found = input.u16()?;
    if found == encoding.number() {
        return Ok(());
    }
    Err(Damage::new(format!("encoding id {found} in a file with {encoding}")))
}

/// Whether the row index in a payload matches its `cells`.
pub(crate) fn has_right_row_index<'a>(
    layout: CellLayout,
    cells: impl Iterator<Item = CellRef<'a>>,
    payload: &[u8],
) -> bool {
    let (mut index, mut at, mut expected) = (RowIndexEncoder::default(), 0, Vec::new());
    for cell in cells {
        index.note(&cell, at);
        at += layout.size(&cell);
    }
    index.finish(at, &mut expected);
    payload.get(ID_SIZE + at..) == Some(expected.as_slice())
}

/// What one encoding remembers about the block so far.
#[derive(Debug)]
enum State {
    Plain,
    RowIndex(RowIndexEncoder),
    Packed(Box<dyn CellPacker>),
}

/// Collects the cells of one data block after another.
#[derive(Debug)]
pub(crate) struct BlockEncoder {
    encoding: DataBlockEncoding,
    layout: CellLayout,
    trailer: PackedTrailer,
    state: State,
    payload: Vec<u8>,
    unencoded_size: usize,
    encoded_size: usize,
}

impl BlockEncoder {
    pub(crate) fn new(
        encoding: DataBlockEncoding,
        layout: CellLayout,
        compress_tags: bool,
        block_size: usize,
    ) -> Self {
        let state = match scheme(encoding) {
            Scheme::Plain => State::Plain,
            Scheme::RowIndex => State::RowIndex(RowIndexEncoder::default()),
            Scheme::Packed(packed) => State::Packed((packed.packer)()),
        };
        Self {
            encoding,
            layout,
            trailer: PackedTrailer::new(layout, compress_tags),
            state,
            payload: Vec::with_capacity(block_size.min(1 << 20) + 4096),
            unencoded_size: 0,
            encoded_size: 0,
        }
    }

    /// Whether the open block has no cell.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.unencoded_size == 0
    }

    /// Whether encoded or unencoded cells have reached `block_size`.
    #[inline]
    pub(crate) fn is_full(&self, block_size: usize) -> bool {
        self.encoded_size >= block_size || self.unencoded_size >= block_size
    }

    /// Bytes of the open block's cells without encoding.
    pub(crate) fn unencoded_size(&self) -> usize {
        self.unencoded_size
    }

    /// Adds a cell to the open block.
    #[inline]
    pub(crate) fn append(&mut self, cell: &CellRef<'_>) {
        if let State::Plain = self.state {
            self.layout.append(&mut self.payload, cell);
            self.unencoded_size = self.payload.len();
            self.encoded_size = self.unencoded_size;
            return;
        }
        self.append_encoded(cell);
    }

    fn append_encoded(&mut self, cell: &CellRef<'_>) {
        if self.is_empty() {
            self.payload.extend_from_slice(&self.encoding.number().to_be_bytes());
            if let State::Packed(_) = self.state {
                self.payload.extend_from_slice(&[0; PACKED_HEADER_SIZE - ID_SIZE]);
            }
        }
        let size = self.layout.size(cell);
        match &mut self.state {
            State::Plain => {}
            State::RowIndex(index) => {
                self.encoded_size += size + index.note(cell, self.unencoded_size);
                self.layout.append(&mut self.payload, cell);
            }
            State::Packed(packer) => {
                let before = self.payload.len();
                packer.append(&mut self.payload, cell);
                self.trailer.append(&mut self.payload, cell);
                self.encoded_size += self.payload.len() - before;
            }
        }
        self.unencoded_size += size;
    }

    /// Completes the payload of the open block; call [`Self::clear`] after it was written.
    pub(crate) fn finish(&mut self) -> &[u8] {
        match &self.state {
            State::Plain => {}
            State::RowIndex(index) => index.finish(self.unencoded_size, &mut self.payload),
            State::Packed(_) => {
                let size = (self.unencoded_size as u32).to_be_bytes();
                self.payload[ID_SIZE..PACKED_HEADER_SIZE].copy_from_slice(&size);
            }
        }
        &self.payload
    }

    /// Opens the next block.
    pub(crate) fn clear(&mut self) {
        self.payload.clear();
        self.unencoded_size = 0;
        self.encoded_size = 0;
        match &mut self.state {
            State::Plain => {}
            State::RowIndex(index) => index.clear(),
            State::Packed(packer) => packer.clear(),
        }
        self.trailer.clear();
    }
}
