//! Checks every cell, found through the index.

use hblite_model::cell::{TagIter, key};
use hblite_model::{CellRef, DataBlockEncoding};

use super::blocks::{Blocks, Place};
use super::filters::Filters;
use super::{Checked, DefectKind};
use crate::block::BlockType;
use crate::data_block::{BlockUse, DataBlock};
use crate::encoding;
use crate::index::{DataBlockPosition, DataIndex};
use crate::reader::HFileReader;
use crate::statistics::Statistics;

/// Bytes of a serialized tag without its value: length and type.
const TAG_FIXED_SIZE: usize = 3;

/// Figures about the cells of a file.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) cells: u64,
    pub(super) statistics: Statistics,
    /// Empty without cells.
    pub(super) last_key: Vec<u8>,
}

/// Checks the index, all cells, and whether the Bloom filters have them.
pub(super) fn check(reader: &HFileReader, blocks: &Blocks) -> Checked<Seen> {
    let mut walk = Walk {
        reader,
        filters: Filters::new(reader),
        seen: Seen { cells: 0, statistics: Statistics::new(), last_key: Vec::new() },
    };
    let mut places = blocks.data().iter();
    let mut mid_keys = MidKeys::new(blocks.data().len());
    if let Some(index) = reader.index() {
        let mut position = Some(index.first());
        while let Some(at) = position {
            walk.enter(index, at, places.next(), &mut mid_keys)?;
            position = index.next(reader.file(), at)?;
        }
    }
    if let Some((offset, _)) = places.next() {
        let message = || "no index entry points at this data block".to_owned();
        check_index(reader, false, *offset, message)?;
    }
    walk.finish(blocks, &mid_keys)
}

fn check_index(
    reader: &HFileReader,
    condition: bool,
    offset: u64,
    message: impl FnOnce() -> String,
) -> Checked<()> {
    super::check(reader, condition, DefectKind::Index, offset, message)
}

/// The index keys that may be the mid-key: of a root without leaves, and of one with.
struct MidKeys {
    blocks: usize,
    block: usize,
    of_root: Vec<u8>,
    of_leaves: Vec<u8>,
}

impl MidKeys {
    fn new(blocks: usize) -> Self {
        Self { blocks, block: 0, of_root: Vec::new(), of_leaves: Vec::new() }
    }

    fn note(&mut self, key: &[u8]) {
        if self.block == self.blocks / 2 {
            self.of_root = key.to_vec();
        }
        if self.block == self.blocks.saturating_sub(1) / 2 {
            self.of_leaves = key.to_vec();
        }
        self.block += 1;
    }
}

struct Walk<'a> {
    reader: &'a HFileReader,
    filters: Filters<'a>,
    seen: Seen,
}

impl Walk<'_> {
    fn enter(
        &mut self,
        index: &DataIndex,
        position: DataBlockPosition,
        place: Option<&Place>,
        mid_keys: &mut MidKeys,
    ) -> Checked<()> {
        let (reader, file) = (self.reader, self.reader.file());
        let (offset, size, _) = index.block(file, position)?;
        check_index(reader, place == Some(&(offset, size)), offset, || match place {
            Some((offset, size)) => {
                format!("the next data block is the one of {size} bytes at {offset}")
            }
            None => "no data block is left for this entry".to_owned(),
        })?;
        let block = reader.data_block(index, position, BlockUse::Verify)?;
        let index_key = index.key(file, position)?;
        mid_keys.note(index_key);
        self.check_index_key(index_key, block.key(0), offset)?;
        for cell in 0..block.len() {
            self.check_cell(&block.cell(cell), cell, offset)?;
        }
        if reader.encoding() == DataBlockEncoding::RowIndexV1 {
            self.check_row_index(&block, (offset, size))?;
        }
        Ok(())
    }

    /// Checks that the index key is between the last key of the previous block and the first of its
    /// own.
    fn check_index_key(&self, index_key: &[u8], first_key: &[u8], offset: u64) -> Checked<()> {
        let comparator = self.reader.comparator();
        let last_key = &self.seen.last_key;
        let is_in_place = if self.seen.cells == 0 {
            index_key == first_key
        } else {
            comparator.compare_keys(last_key, index_key).is_lt()
                && comparator.compare_keys(index_key, first_key).is_le()
        };
        check_index(self.reader, is_in_place, offset, || {
            let key = CellRef::new(index_key, b"", b"", 0);
            format!("index key {key} does not separate this block from the previous one")
        })
    }

    fn check_cell(&mut self, cell: &CellRef<'_>, number: usize, offset: u64) -> Checked<()> {
        let comparator = self.reader.comparator();
        let last_key = &self.seen.last_key;
        let check_cell = |condition: bool, what: &str| {
            super::check(self.reader, condition, DefectKind::Cells, offset, || {
                format!("cell {number} of the block {what}: {cell}")
            })
        };
        let is_in_order =
            self.seen.cells == 0 || comparator.compare_keys(last_key, cell.key()).is_le();
        check_cell(is_in_order, "is smaller than the previous one")?;
        check_cell(cell.cell_type().is_some(), "has a type that no cell has")?;
        let tags: usize = TagIter::new(cell.tags()).map(|t| TAG_FIXED_SIZE + t.value.len()).sum();
        check_cell(tags == cell.tags().len(), "has malformed tags")?;
        let is_new_column = self.seen.cells == 0
            || key::without_version(last_key) != key::without_version(cell.key());
        self.filters.check(cell, is_new_column, offset)?;
        self.seen.cells += 1;
        self.seen.statistics.add(cell);
        self.seen.last_key.clear();
        self.seen.last_key.extend_from_slice(cell.key());
        Ok(())
    }

    /// Checks the row index of a block, which HBase's reader uses and hblite's does not.
    fn check_row_index(&self, block: &DataBlock, (offset, size): Place) -> Checked<()> {
        let expected = [BlockType::EncodedData];
        let (_, payload) = self.reader.file().reread(offset, &expected, Some(size))?;
        let cells = (0..block.len()).map(|cell| block.cell(cell));
        let is_right = encoding::has_right_row_index(self.reader.layout(), cells, &payload);
        super::check(self.reader, is_right, DefectKind::Cells, offset, || {
            "the row index of the block does not point at its rows".to_owned()
        })
    }

    fn finish(self, blocks: &Blocks, mid_keys: &MidKeys) -> Checked<Seen> {
        let (reader, end) = (self.reader, self.reader.file().end());
        let (found, cells) = (reader.entries(), self.seen.cells);
        super::check(reader, found == cells, DefectKind::Trailer, end, || {
            format!("trailer gives {found} cells, but there are {cells}")
        })?;
        let leaves = blocks.of(BlockType::LeafIndex).len();
        let expected = if leaves == 0 { &mid_keys.of_root } else { &mid_keys.of_leaves };
        let mid_key = reader.mid_key()?;
        let is_mid_key = mid_key.as_ref().is_none_or(|key| key == expected);
        let root = reader.trailer().load_on_open_data_offset;
        check_index(reader, is_mid_key, root, || {
            "the mid-key is not the key of the block in the middle".to_owned()
        })?;
        self.filters.finish()?;
        Ok(self.seen)
    }
}
