//! Cells that share their memory with other rows.
//!
//! An answer to a scan has thousands of rows in one block. Their cells stay in it, so that a row
//! costs neither a copy nor an allocation. The block is released with the last of its rows.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::buffer::{CellBufferIter, Span, TAGS_LENGTH_SIZE};
use super::{CellBuffer, CellRef};

/// Immutable bytes with several owners; cheap to clone.
#[derive(Clone)]
pub struct SharedBlock(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl SharedBlock {
    /// Shares `bytes`, which must stay as they are.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(Arc::new(bytes))
    }

    fn bytes(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl fmt::Debug for SharedBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedBlock({} bytes)", self.bytes().len())
    }
}

/// Cells of one row inside a [`SharedBlock`], each in this format:
///
/// ```text
/// u32 key length │ u32 value length │ key │ value      (│ u16 tags length │ tags)
/// ```
#[derive(Debug, Clone)]
pub struct SharedCells {
    block: SharedBlock,
    /// One inline: a row of one column has no memory of its own.
    spans: SmallVec<[Span; 1]>,
}

impl SharedCells {
    /// No cells yet.
    pub fn new(block: SharedBlock) -> Self {
        Self { block, spans: SmallVec::new() }
    }

    /// Adds `cell`, which is at `start` of the block.
    ///
    /// # Panics
    /// If the block ends before the cell does, or the cell's tags are longer than 65,535 bytes.
    pub fn push(&mut self, start: usize, cell: &CellRef<'_>) {
        let (bytes, tags) = (self.block.bytes(), cell.tags().len());
        let tags_size = if tags == 0 { 0 } else { TAGS_LENGTH_SIZE + tags };
        let size = cell.serialized_size() + tags_size;
        let is_inside = start <= bytes.len() && size <= bytes.len() - start;
        assert!(is_inside, "the cell is not in the block");
        let span = Span::of(start, cell);
        debug_assert_eq!(span.resolve(bytes), *cell, "another cell is there");
        self.spans.push(span);
    }

    /// Bytes of all cells: their `KeyValue`s and tags.
    pub fn size_bytes(&self) -> usize {
        self.iter().map(|cell| cell.serialized_size() + cell.tags().len()).sum()
    }

    /// The cells in order.
    pub fn iter(&self) -> CellBufferIter<'_> {
        CellBufferIter::new(self.block.bytes(), &self.spans)
    }

    /// A copy of the cells, which no longer needs the block.
    pub fn to_buffer(&self) -> CellBuffer {
        let mut buffer = CellBuffer::new();
        self.iter().for_each(|cell| buffer.push(&cell));
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer() -> CellBuffer {
        let mut buffer = CellBuffer::new();
        buffer.push_parts(b"r", b"f", b"q1", 7, 4, b"v1");
        buffer.push_parts(b"r", b"f", b"q2", 7, 4, b"");
        buffer
    }

    #[test]
    fn cells_stay_where_they_are() {
        let owned = buffer();
        // The last cell has no tags, and here no field for their length.
        let bytes = owned.as_bytes()[..owned.as_bytes().len() - 2].to_vec();
        let second = bytes.len() - owned.get(1).unwrap().serialized_size();
        let address = bytes.as_ptr_range();
        let mut shared = SharedCells::new(SharedBlock::new(bytes));
        shared.push(0, &owned.get(0).unwrap());
        shared.push(second, &owned.get(1).unwrap());
        assert!(shared.iter().eq(owned.iter()) && shared.to_buffer() == owned);
        assert_eq!(shared.size_bytes(), owned.size_bytes());
        assert!(shared.iter().all(|cell| address.contains(&cell.key().as_ptr())));
    }

    #[test]
    #[should_panic(expected = "the cell is not in the block")]
    fn a_cell_beyond_the_block_is_refused() {
        let owned = buffer();
        let mut shared = SharedCells::new(SharedBlock::new(owned.as_bytes().to_vec()));
        shared.push(owned.as_bytes().len() - 3, &owned.get(1).unwrap());
    }
}
