//! A data block in memory: plain cells and their offsets.
//!
//! Searching and stepping never fail, because [`DataBlock::new`] has checked every length. Scanners
//! and caches share a block by `Arc`, one per block: a count per file would be contended.

use std::ops::Range;

use hblite_model::{CellComparator, CellRef};

use crate::block::Payload;
use crate::encoding::cells::{CellLayout, CellOffsets};
use crate::error::Parsed;
use crate::row_marks::RowMarks;

/// How a data block is read, and whether it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockUse {
    /// It stays in memory for later readers.
    Keep,
    /// Where its cells begin stays in memory if the cells are used in place, in a mapped file;
    /// otherwise as [`Self::Pass`]. For gets from families without a block cache.
    KeepIndex,
    /// It comes from memory if it is there; otherwise it is read and not kept. For families without
    /// a block cache, and for readers that read everything once.
    Pass,
    /// It is read from the file and verified, even if that was done before, and is not kept. For
    /// compactions and other readers that copy what they read.
    Verify,
}

/// The cells of one data block, in order. For loops over many of them: what all cells have in
/// common is looked up once.
#[derive(Debug, Clone, Copy)]
pub struct BlockCells<'a> {
    bytes: &'a [u8],
    offsets: &'a CellOffsets,
    layout: CellLayout,
}

impl<'a> BlockCells<'a> {
    /// Number of cells, never 0.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "no block is empty")]
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// The cell at `index`.
    ///
    /// # Panics
    /// If `index` is not below the number of cells.
    #[inline(always)]
    pub fn cell(&self, index: usize) -> CellRef<'a> {
        self.layout.cell(self.bytes, self.offsets.get(index))
    }

    /// The bytes from the cell at `index` on, which are not looked at; `None` if there are not that
    /// many cells.
    #[inline(always)]
    pub fn bytes_from(&self, index: usize) -> Option<&'a [u8]> {
        (index < self.len()).then(|| &self.bytes[self.offsets.get(index)..])
    }

    /// Where the cell at `index` begins in the block.
    pub(crate) fn offset(&self, index: usize) -> u32 {
        u32::try_from(self.offsets.get(index)).expect("offsets have at most four bytes")
    }

    /// The lengths, key and value of the cell at `index`, contiguous.
    ///
    /// # Panics
    /// As [`Self::cell`].
    #[inline(always)]
    pub fn serialized(&self, index: usize) -> &'a [u8] {
        CellLayout::serialized(self.bytes, self.offsets.get(index))
    }

    /// The flat key of the cell at `index`.
    ///
    /// # Panics
    /// As [`Self::cell`].
    #[inline(always)]
    pub fn key(&self, index: usize) -> &'a [u8] {
        CellLayout::key(self.bytes, self.offsets.get(index))
    }
}

/// Reads a byte of each line of memory, all at once as far as the processor can: a walk from cell
/// to cell would wait for one after the other.
fn request(bytes: &[u8]) {
    const LINE: usize = 64;
    std::hint::black_box(bytes.iter().step_by(LINE).fold(0, |sum: u8, byte| sum ^ byte));
}

/// Plain cells, at least one: those of a block, or of a part of it.
#[derive(Debug)]
pub(crate) struct DataBlock {
    cells: Payload,
    offsets: CellOffsets,
    layout: CellLayout,
    /// Empty in a part, if the block has few cells, or if rows are not ordered as bytes.
    marks: RowMarks,
    is_part: bool,
}

impl DataBlock {
    /// Checks the lengths in all cells, which must be in the order of `comparator`.
    pub(crate) fn new(
        cells: Payload,
        layout: CellLayout,
        comparator: CellComparator,
    ) -> Parsed<Self> {
        let offsets = CellOffsets::of(&cells, layout)?;
        let key = |cell| CellLayout::key(&cells, offsets.get(cell));
        let marks = match comparator {
            CellComparator::Default => RowMarks::of(offsets.len(), key)?,
            CellComparator::Meta => RowMarks::default(),
        };
        assert!(offsets.len() > 0, "a data block has a cell");
        Ok(Self { cells, offsets, layout, marks, is_part: false })
    }

    /// Checks the lengths in cells that are some of a block's, used in place.
    pub(crate) fn part(cells: Payload, layout: CellLayout) -> Parsed<Self> {
        request(&cells);
        let offsets = CellOffsets::of(&cells, layout)?;
        Ok(Self { cells, offsets, layout, marks: RowMarks::default(), is_part: true })
    }

    /// Whether these may not be all cells of their block.
    #[inline]
    pub(crate) fn is_part(&self) -> bool {
        self.is_part
    }

    /// Number of cells, never 0.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// The cell at `index`.
    #[inline(always)]
    pub(crate) fn cell(&self, index: usize) -> CellRef<'_> {
        self.layout.cell(&self.cells, self.offsets.get(index))
    }

    /// The flat key of the cell at `index`.
    #[inline(always)]
    pub(crate) fn key(&self, index: usize) -> &[u8] {
        CellLayout::key(&self.cells, self.offsets.get(index))
    }

    /// All cells, for loops over many of them.
    #[inline]
    pub(crate) fn all(&self) -> BlockCells<'_> {
        BlockCells { bytes: &self.cells, offsets: &self.offsets, layout: self.layout }
    }

    /// The first cell whose key is not below `key`; the number of cells if there is none.
    #[inline]
    pub(crate) fn lower_bound(&self, comparator: CellComparator, key: &[u8]) -> usize {
        let marked = self.marks.narrow(self.len(), key, |cell| self.key(cell));
        let range = marked.unwrap_or(0..self.len());
        self.lower_bound_in(comparator, key, range.start, range.end)
    }

    /// Like [`Self::lower_bound`], from `start` on, for keys that are probably near it.
    pub(crate) fn lower_bound_near(
        &self,
        comparator: CellComparator,
        key: &[u8],
        start: usize,
    ) -> usize {
        let (mut low, mut step) = (start, 1);
        loop {
            let probe = low + step - 1;
            if probe >= self.len() {
                return self.lower_bound_in(comparator, key, low, self.len());
            }
            if comparator.compare_keys(self.key(probe), key).is_ge() {
                return self.lower_bound_in(comparator, key, low, probe);
            }
            low = probe + 1;
            step *= 2;
        }
    }

    #[inline]
    fn lower_bound_in(
        &self,
        comparator: CellComparator,
        key: &[u8],
        mut low: usize,
        mut high: usize,
    ) -> usize {
        let cells: &[u8] = &self.cells;
        while low < high {
            let middle = low + (high - low) / 2;
            let other = CellLayout::key(cells, self.offsets.get(middle));
            if comparator.compare_keys(other, key).is_lt() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The place of the cells in the file, if they are used in place.
    pub(crate) fn range(&self) -> Range<u64> {
        self.cells.range()
    }

    /// Bytes of memory that the block keeps.
    pub(crate) fn heap_size(&self) -> usize {
        self.cells.heap_size() + self.offsets_size()
    }

    /// Bytes of memory for the offsets and marks.
    pub(crate) fn offsets_size(&self) -> usize {
        self.offsets.heap_size() + self.marks.heap_size()
    }
}
