//! What is kept of a block in a mapped file when there is no memory for the places of all cells.
//!
//! A get then walks over a few cells from a mark instead of over the whole block. A block has at
//! most 32 marks, whatever its cells, so this takes about as much memory as the block's entry in
//! the index and, like the entry, is always kept.
//!
//! Invariant: the block was verified, and its cells checked, when the marks were made.

use std::ops::Range;

use hblite_model::{CellComparator, CellRef};

use crate::data_block::BlockCells;
use crate::encoding::cells::CellLayout;
use crate::error::{Parsed, collect};
use crate::row_marks::RowMarks;

/// Marks of one block.
const MARKS_MAX: usize = 32;
/// Cells from one mark to the next, at least.
const STEP_MIN: usize = 8;

/// Marks of some cells of a block, and where these cells are.
#[derive(Debug)]
pub(crate) struct SparseMarks {
    /// The place of the cells in the file.
    range: Range<u64>,
    marks: RowMarks,
    /// Where the marked cells begin.
    offsets: Box<[u32]>,
}

impl SparseMarks {
    /// The marks of a block whose rows are ordered as bytes, with its cells at `range` in the file.
    ///
    /// # Errors
    /// No memory for them.
    pub(crate) fn of(cells: BlockCells<'_>, range: Range<u64>) -> Parsed<Self> {
        let step = cells.len().div_ceil(MARKS_MAX).max(STEP_MIN);
        let marks = RowMarks::every(step, cells.len(), |cell| cells.key(cell))?;
        let offsets = collect((0..cells.len()).step_by(step).map(|cell| cells.offset(cell)))?;
        Ok(Self { range, marks, offsets })
    }

    /// The place of the cells in the file.
    pub(crate) fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Lends the cells from the first whose key is not below `key`, in order, to `visit` until it
    /// returns false; returns false if it did. `bytes` are those at [`Self::range`].
    ///
    /// # Errors
    /// The bytes have changed since the marks were made.
    pub(crate) fn visit_from(
        &self,
        bytes: &[u8],
        layout: CellLayout,
        key: &[u8],
        mut visit: impl FnMut(&CellRef<'_>) -> bool,
    ) -> Parsed<bool> {
        let mut at = self.start(bytes, key)?;
        let mut is_below = true;
        while at < bytes.len() {
            let end = layout.check(bytes, at)?;
            is_below = is_below
                && CellComparator::Default.compare_keys(CellLayout::key(bytes, at), key).is_lt();
            if !is_below && !visit(&layout.cell(bytes, at)) {
                return Ok(false);
            }
            at = end;
        }
        Ok(true)
    }

    /// Where a marked cell begins that is not after the first cell not below `key`.
    fn start(&self, bytes: &[u8], key: &[u8]) -> Parsed<usize> {
        let last_below = match self.marks.last_below(key) {
            Some(last_below) => last_below,
            None => self.last_below_by_key(bytes, key)?,
        };
        Ok(self.offsets[last_below.unwrap_or(0)] as usize)
    }

    /// The last marked cell that is below `key`.
    fn last_below_by_key(&self, bytes: &[u8], key: &[u8]) -> Parsed<Option<usize>> {
        let (mut low, mut high) = (0, self.offsets.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let marked = CellLayout::checked_key(bytes, self.offsets[middle] as usize)?;
            if CellComparator::Default.compare_keys(marked, key).is_lt() {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low.checked_sub(1))
    }
}
