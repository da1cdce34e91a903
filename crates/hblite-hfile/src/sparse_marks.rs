//! What is kept about a block in a mapped file when there is no memory for the places of all cells.
//!
//! A get then walks over a few cells from a mark instead of over the whole block, and a scan over
//! parts of it (see `block_part`). The file is divided into places: of 2 KiB for blocks of 64 KiB,
//! and in proportion for other block sizes. The first cell that begins in a place is marked, so a
//! block has at most 65 marks. This takes about as much memory as the block's entry in the index
//! and, like the entry, is always kept.
//!
//! In blocks of less than 256 KiB, a place is within a page of memory. The cells from a mark to the
//! next begin in the same place, so most gets read one page from the disk.
//!
//! Invariant: the block was verified, and its cells checked, when the marks were made.

use std::ops::Range;

use hblite_model::{CellComparator, CellRef, Direction};

use crate::data_block::BlockCells;
use crate::encoding::cells::CellLayout;
use crate::error::{Parsed, collect, reserve_exact};
use crate::row_marks::RowMarks;

/// A block that is not small has as many bytes as this many places, or up to twice as many.
const PLACES_MIN: usize = 32;
/// Bytes of the smallest places.
const PLACE_SIZE_MIN: u64 = 1 << 10;
/// The block may begin within a place.
const MARKS_MAX: usize = 2 * PLACES_MIN + 1;

/// Bytes of the first part of a scan: a page, or some 30 small cells.
const SIZE_MIN: usize = 4 << 10;

/// How many bytes the next part of a scan should have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartSize(usize);

impl Default for PartSize {
    fn default() -> Self {
        Self(SIZE_MIN)
    }
}

impl PartSize {
    /// Notes that a scan reads on.
    pub(crate) fn grow(&mut self) {
        self.0 = self.0.saturating_mul(2);
    }

    /// Whether a range of this many bytes is read whole.
    pub(crate) fn is_enough_for(self, bytes: usize) -> bool {
        bytes <= self.0.saturating_add(self.0 / 2)
    }

    pub(crate) fn bytes(self) -> usize {
        self.0
    }
}

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
        let marked = firsts_of_places(cells, &range)?;
        let marks =
            RowMarks::of_cells(marked.iter().copied(), cells.len(), |cell| cells.key(cell))?;
        let offsets = collect(marked.iter().map(|cell| cells.offset(*cell)))?;
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

    /// The bytes from a mark to another, about `size` of them or up to the end of the block, that
    /// most likely have the first cell not below `key`. No cell before them is one.
    ///
    /// # Errors
    /// As [`Self::visit_from`].
    pub(crate) fn part_from(
        &self,
        bytes: &[u8],
        key: &[u8],
        size: PartSize,
    ) -> Parsed<Range<usize>> {
        let start = self.start(bytes, key)?;
        Ok(self.part_beyond(bytes, start..start, size, Direction::Forward))
    }

    /// The bytes from a mark to another, about `size` of them or from the start of the block on,
    /// that most likely have the last cell below `key` and the one after it.
    ///
    /// # Errors
    /// As [`Self::visit_from`].
    pub(crate) fn part_until(
        &self,
        bytes: &[u8],
        key: &[u8],
        size: PartSize,
    ) -> Parsed<Range<usize>> {
        // The first cell not below the key is in the next place if that cell is marked.
        let end = match self.offsets.get(self.last_below(bytes, key)? + 2) {
            Some(end) => *end as usize,
            None => bytes.len(),
        };
        Ok(self.part_beyond(bytes, end..end, size, Direction::Reverse))
    }

    /// The bytes that come after `part` in `direction`, up to a mark, about `size` of them or all
    /// that are left. `part` is from a mark to another or to the end of the block.
    pub(crate) fn part_beyond(
        &self,
        bytes: &[u8],
        part: Range<usize>,
        size: PartSize,
        direction: Direction,
    ) -> Range<usize> {
        let is_before = |at: usize| move |offset: &u32| (*offset as usize) < at;
        match direction {
            Direction::Forward if size.is_enough_for(bytes.len() - part.end) => {
                part.end..bytes.len()
            }
            Direction::Reverse if size.is_enough_for(part.start) => 0..part.start,
            Direction::Forward => {
                let last = self.offsets.partition_point(is_before(part.end + size.bytes()));
                part.end..self.offsets.get(last).map_or(bytes.len(), |end| *end as usize)
            }
            Direction::Reverse => {
                let after = part.start - size.bytes() + 1;
                let first = self.offsets.partition_point(is_before(after)).saturating_sub(1);
                self.offsets[first] as usize..part.start
            }
        }
    }

    /// Where a marked cell begins that is not after the first cell not below `key`.
    fn start(&self, bytes: &[u8], key: &[u8]) -> Parsed<usize> {
        Ok(self.offsets[self.last_below(bytes, key)?] as usize)
    }

    /// The last mark whose cell is certainly below `key`; the first mark if there is none.
    fn last_below(&self, bytes: &[u8], key: &[u8]) -> Parsed<usize> {
        let last_below = match self.marks.last_below(key) {
            Some(last_below) => last_below,
            None => self.last_below_by_key(bytes, key)?,
        };
        Ok(last_below.unwrap_or(0))
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

/// The first cell of each place of the file in which a cell of the block begins.
fn firsts_of_places(cells: BlockCells<'_>, range: &Range<u64>) -> Parsed<Vec<usize>> {
    let share = (range.end - range.start) / PLACES_MIN as u64;
    // A power of two, as is the size of a page.
    let place_size = 1 << share.max(PLACE_SIZE_MIN).ilog2();
    let place = |cell| (range.start + u64::from(cells.offset(cell))) / place_size;
    let is_first = |cell: &usize| *cell == 0 || place(*cell) != place(cell - 1);
    let mut firsts = Vec::new();
    reserve_exact(&mut firsts, cells.len().min(MARKS_MAX))?;
    firsts.extend((0..cells.len()).filter(is_first));
    assert!(firsts.len() <= MARKS_MAX, "a block has {} marks", firsts.len());
    Ok(firsts)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use hblite_env::MemFileSystem;
    use hblite_model::{Cell, CellType};

    use crate::data_block::BlockUse;
    use crate::{BlockCache, HFileReader, HFileWriter, HFileWriterOptions, StoreFileInfo};

    /// The places in the file of the marked cells, and of all cells, of a file's second block.
    fn places(value_size: usize, block_size: usize) -> (Vec<u64>, Vec<u64>) {
        let (fs, path) = (MemFileSystem::new(), Path::new("f"));
        let options = HFileWriterOptions { block_size, ..HFileWriterOptions::default() };
        let mut writer = HFileWriter::create(&fs, path, options).unwrap();
        for row in 0..3 * block_size / value_size {
            let (row, value) = (format!("r{row:06}"), vec![0; value_size]);
            let cell = Cell::new(row.as_bytes(), b"f", b"q", 5, CellType::Put, &value);
            writer.append(&cell.as_ref()).unwrap();
        }
        writer.finish(&StoreFileInfo::default()).unwrap();
        let cache = Arc::new(BlockCache::new(0));
        let reader = HFileReader::open_mapped(&fs, path, Some(cache)).unwrap();
        let index = reader.index().unwrap();
        let second = index.next(reader.file(), index.first()).unwrap().unwrap();
        let block = reader.data_block(index, second, BlockUse::Keep).unwrap();
        let (_, _, state) = index.block(reader.file(), second).unwrap();
        let sparse = state.sparse.get().unwrap();
        let place = |offset: u32| sparse.range.start + u64::from(offset);
        let marked = sparse.offsets.iter().map(|offset| place(*offset)).collect();
        let all = (0..block.len()).map(|cell| place(block.all().offset(cell))).collect();
        (marked, all)
    }

    #[test]
    fn cells_from_a_mark_to_the_next_begin_in_the_same_place() {
        for (value_size, block_size, distance) in [
            (100, 64 << 10, 2 << 10),
            (1, 64 << 10, 2 << 10),
            (100, 4 << 10, 1 << 10),
            (100, 16 << 10, 1 << 10),
            (5_000, 64 << 10, 2 << 10),
            (100, 1 << 20, 32 << 10),
        ] {
            let (marked, all) = places(value_size, block_size);
            assert_eq!(marked[0], all[0]);
            assert!(marked.is_sorted_by(|left, right| left / distance < right / distance));
            assert!(marked.len() < 64, "{}", marked.len());
            for cell in all {
                let mark = marked[marked.partition_point(|mark| *mark <= cell) - 1];
                assert_eq!(mark / distance, cell / distance, "{value_size} {block_size}");
            }
        }
    }
}
