//! A position in an HFile, moved by key or cell by cell in either direction.
//!
//! Invariants: a scanner is at a cell or at none. It is at none initially, after a move that found
//! no cell, and after an error.
//!
//! Cost: a seek is two binary searches, one over index keys, one over the cells of a block. Where
//! the places of a block's cells are not in memory, it walks over a part of the block (see
//! `block_part`). A step examines no key. The bytes of [`HFileScanner::current`] are those of the
//! mapped file, or of the decoded block.
//!
//! Keys that are sought must be well-formed flat keys
//! ([`hblite_model::cell::key::is_well_formed`]). Threads: one owner; any number of
//! scanners share a reader.

use std::sync::Arc;

use hblite_model::cell::key;
use hblite_model::{CellRef, Direction, Result};

use crate::data_block::{BlockCells, BlockUse, DataBlock};
use crate::index::{DataBlockPosition, DataIndex};
use crate::read_ahead::ReadAhead;
use crate::reader::HFileReader;
use crate::sparse_marks::PartSize;

/// What a scanner has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanStats {
    /// Cells that it was positioned at.
    pub cells_read: u64,
    /// Data blocks that it entered.
    pub blocks_read: u64,
}

/// A cursor over the cells of a file.
#[derive(Debug)]
pub struct HFileScanner {
    reader: Arc<HFileReader>,
    current: Option<Current>,
    /// Where the scanner was before it stepped into the block of `current`, and in which direction
    /// it did: at each border of blocks, a reverse scan steps back and forth.
    left: Option<(Direction, Current)>,
    stats: ScanStats,
    block_use: BlockUse,
    ahead: ReadAhead,
    part_size: PartSize,
}

/// The cell that a scanner is at.
#[derive(Debug)]
struct Current {
    /// The block, or a part of it.
    block: Arc<DataBlock>,
    position: DataBlockPosition,
    /// Below the number of cells in `block`.
    cell: usize,
}

impl Current {
    /// The cell at which `direction` enters the block.
    #[inline]
    fn at_edge(block: Arc<DataBlock>, position: DataBlockPosition, direction: Direction) -> Self {
        let cell = if direction.is_reverse() { block.len() - 1 } else { 0 };
        Self { block, position, cell }
    }
}

impl HFileScanner {
    /// A scanner that is at no cell.
    pub fn new(reader: Arc<HFileReader>) -> Self {
        let (stats, block_use) = (ScanStats::default(), BlockUse::Keep);
        Self {
            reader,
            current: None,
            left: None,
            stats,
            block_use,
            ahead: ReadAhead::default(),
            part_size: PartSize::default(),
        }
    }

    /// The same, with another use of the blocks that it reads than [`BlockUse::Keep`].
    #[must_use]
    pub fn with_block_use(mut self, block_use: BlockUse) -> Self {
        self.block_use = block_use;
        self
    }

    /// The file that is scanned.
    pub fn reader(&self) -> &Arc<HFileReader> {
        &self.reader
    }

    /// What was read so far.
    pub fn stats(&self) -> ScanStats {
        self.stats
    }

    /// The cell that the scanner is at.
    #[inline(always)]
    pub fn current(&self) -> Option<CellRef<'_>> {
        let current = self.current.as_ref()?;
        Some(current.block.cell(current.cell))
    }

    /// The flat key of [`Self::current`], without reading the rest of the cell.
    #[inline(always)]
    pub fn current_key(&self) -> Option<&[u8]> {
        let current = self.current.as_ref()?;
        Some(current.block.key(current.cell))
    }

    /// The block that the scanner is in, or a part of it, and the place of [`Self::current`] there.
    #[inline]
    pub fn block(&self) -> Option<(BlockCells<'_>, usize)> {
        let current = self.current.as_ref()?;
        Some((current.block.all(), current.cell))
    }

    /// Whether it is in a part of a block.
    #[cfg(test)]
    pub(crate) fn is_in_part(&self) -> bool {
        self.current.as_ref().is_some_and(|current| current.block.is_part())
    }

    /// Moves to the cell at this place in the block, after a loop that read `cells_read` cells of
    /// [`Self::block`]. A scanner that is at no cell stays there.
    ///
    /// # Panics
    /// If the block has no such cell.
    #[inline]
    pub fn move_in_block(&mut self, cell: usize, cells_read: u64) {
        if let Some(current) = &mut self.current {
            assert!(cell < current.block.len(), "a scanner is at a cell of its block");
            current.cell = cell;
            self.stats.cells_read += cells_read;
        }
    }

    /// Moves to the first cell; false if there is none.
    ///
    /// # Errors
    /// `Corrupt`, here and in all other moves: a block that is needed is damaged.
    pub fn seek_first(&mut self) -> Result<bool> {
        self.move_with(|blocks| blocks.enter(blocks.index.first(), Direction::Forward).map(Some))
    }

    /// Moves to the last cell; false if there is none.
    ///
    /// # Errors
    /// As [`Self::seek_first`].
    pub fn seek_last(&mut self) -> Result<bool> {
        self.move_with(|blocks| {
            let position = blocks.index.last(blocks.reader.file())?;
            blocks.enter(position, Direction::Reverse).map(Some)
        })
    }

    /// Moves to the first cell whose key is `key` or greater; false if there is none.
    ///
    /// # Errors
    /// As [`Self::seek_first`].
    pub fn seek(&mut self, key: &[u8]) -> Result<bool> {
        self.move_with(|blocks| {
            let Some(position) = blocks.index.locate(blocks.reader.file(), key)? else {
                return blocks.enter(blocks.index.first(), Direction::Forward).map(Some);
            };
            let comparator = blocks.reader.comparator();
            let mut current = blocks.enter_near(position, key, Direction::Forward)?;
            current.cell = current.block.lower_bound(comparator, key);
            if current.cell == current.block.len() && current.block.is_part() {
                current = blocks.enter(position, Direction::Forward)?;
                current.cell = current.block.lower_bound(comparator, key);
            }
            if current.cell < current.block.len() {
                return Ok(Some(current));
            }
            blocks.step_on(&current, Direction::Forward)
        })
    }

    /// Moves to the last cell whose key is less than `key`; false if there is none.
    ///
    /// # Errors
    /// As [`Self::seek_first`].
    pub fn seek_before(&mut self, key: &[u8]) -> Result<bool> {
        self.move_with(|blocks| {
            let Some(position) = blocks.index.locate(blocks.reader.file(), key)? else {
                return Ok(None);
            };
            let comparator = blocks.reader.comparator();
            let mut current = blocks.enter_near(position, key, Direction::Reverse)?;
            let mut bound = current.block.lower_bound(comparator, key);
            if current.block.is_part() && (bound == 0 || bound == current.block.len()) {
                current = blocks.enter(position, Direction::Reverse)?;
                bound = current.block.lower_bound(comparator, key);
            }
            match bound.checked_sub(1) {
                Some(cell) => {
                    current.cell = cell;
                    Ok(Some(current))
                }
                // An index key may lie before its block's first cell.
                None => blocks.step_on(&current, Direction::Reverse),
            }
        })
    }

    /// Moves forward to the first cell whose key is `key` or greater; stays if the scanner is at or
    /// after it. Cheaper than [`Self::seek`] if the cell is near. False if there is none.
    ///
    /// # Errors
    /// As [`Self::seek_first`].
    pub fn reseek(&mut self, key: &[u8]) -> Result<bool> {
        let comparator = self.reader.comparator();
        let Some(current) = &mut self.current else {
            return self.seek(key);
        };
        let cell = current.block.lower_bound_near(comparator, key, current.cell);
        if cell < current.block.len() {
            self.stats.cells_read += u64::from(cell != current.cell);
            current.cell = cell;
            return Ok(true);
        }
        let left = self.current.take();
        let is_in_next_block = self.move_with(|blocks| {
            let Some(current) = left else { return Ok(None) };
            let Some(mut next) = blocks.step_on(&current, Direction::Forward)? else {
                return Ok(None);
            };
            next.cell = next.block.lower_bound_near(comparator, key, 0);
            Ok((next.cell < next.block.len()).then_some(next))
        })?;
        if is_in_next_block { Ok(true) } else { self.seek(key) }
    }

    /// Moves to the next cell; false (and at no cell) after the last one.
    ///
    /// # Errors
    /// As [`Self::seek_first`].
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "a lending cursor cannot be an Iterator")]
    pub fn next(&mut self) -> Result<bool> {
        match &mut self.current {
            Some(current) if current.cell + 1 < current.block.len() => {
                current.cell += 1;
                self.stats.cells_read += 1;
                Ok(true)
            }
            _ => self.step_to_neighbor(Direction::Forward),
        }
    }

    /// Moves to the previous cell; false (and at no cell) before the first one.
    ///
    /// # Errors
    /// As [`Self::seek_first`].
    #[inline]
    pub fn prev(&mut self) -> Result<bool> {
        match &mut self.current {
            Some(current) if current.cell > 0 => {
                current.cell -= 1;
                self.stats.cells_read += 1;
                Ok(true)
            }
            _ => self.step_to_neighbor(Direction::Reverse),
        }
    }

    /// Moves back to the first cell of the row and returns by how many cells; `None`, without
    /// moving, if that would be more than `cells_max` or the row may begin in the previous block.
    #[inline]
    pub fn step_to_row_start(&mut self, cells_max: usize) -> Option<usize> {
        let current = self.current.as_mut()?;
        let row = key::row(current.block.key(current.cell));
        let lowest = current.cell.saturating_sub(cells_max);
        let before = (lowest..current.cell)
            .rev()
            .find(|cell| !key::is_same_row(key::row(current.block.key(*cell)), row))?;
        let steps = current.cell - before - 1;
        self.stats.cells_read += steps as u64 + 1;
        current.cell = before + 1;
        Some(steps)
    }

    #[cold]
    fn step_to_neighbor(&mut self, direction: Direction) -> Result<bool> {
        let Some(left) = self.current.take() else { return Ok(false) };
        match self.left.take() {
            Some((stepped, current)) if stepped != direction => {
                let Current { block, position, .. } = current;
                self.current = Some(Current::at_edge(block, position, direction));
                self.stats.cells_read += 1;
            }
            _ => {
                self.move_with(|blocks| blocks.step_on(&left, direction))?;
            }
        }
        self.left = Some((direction, left));
        Ok(self.current.is_some())
    }

    /// Moves to the position that `find` returns, or to no cell if it fails.
    #[inline]
    fn move_with(
        &mut self,
        find: impl FnOnce(&mut Blocks<'_>) -> Result<Option<Current>>,
    ) -> Result<bool> {
        let Self { reader, current, left, stats, block_use, ahead, part_size } = self;
        (*current, *left) = (None, None);
        let Some(index) = reader.index() else {
            return Ok(false);
        };
        let mut blocks =
            Blocks { reader, index, block_use: *block_use, ahead, part_size, entered: 0 };
        let found = find(&mut blocks);
        stats.blocks_read += blocks.entered;
        *current = found?;
        assert!(
            current.as_ref().is_none_or(|current| current.cell < current.block.len()),
            "a scanner is at a cell of its block"
        );
        stats.cells_read += u64::from(current.is_some());
        Ok(current.is_some())
    }
}

/// The data blocks of a nonempty file.
struct Blocks<'a> {
    reader: &'a HFileReader,
    index: &'a DataIndex,
    block_use: BlockUse,
    ahead: &'a mut ReadAhead,
    part_size: &'a mut PartSize,
    entered: u64,
}

impl Blocks<'_> {
    /// The cell at which `direction` enters the block at `position`: its first or its last.
    #[inline]
    fn enter(&mut self, position: DataBlockPosition, direction: Direction) -> Result<Current> {
        let block = self.reader.data_block(self.index, position, self.block_use)?;
        self.entered += 1;
        Ok(Current::at_edge(block, position, direction))
    }

    /// The same, but perhaps only a part of the block: one that most likely has the first cell not
    /// below `key`, and the one before if `direction` is reverse.
    #[inline]
    fn enter_near(
        &mut self,
        position: DataBlockPosition,
        key: &[u8],
        direction: Direction,
    ) -> Result<Current> {
        let Self { reader, index, block_use, .. } = *self;
        let block = reader.block_near(index, position, block_use, key, direction)?;
        *self.part_size = PartSize::default();
        self.entered += 1;
        Ok(Current::at_edge(block, position, direction))
    }

    /// The next cell in `direction` after those of the block, or part of one, of `current`.
    fn step_on(&mut self, current: &Current, direction: Direction) -> Result<Option<Current>> {
        let Self { reader, index, block_use, .. } = *self;
        let (file, last, position) = (reader.file(), &*current.block, current.position);
        if last.is_part() {
            self.part_size.grow();
            let size = *self.part_size;
            let part = reader.part_beyond(index, position, block_use, last, size, direction)?;
            if let Some(part) = part {
                return Ok(Some(Current::at_edge(part, position, direction)));
            }
        }
        let neighbor = match direction {
            Direction::Forward => index.next(file, position)?,
            Direction::Reverse => index.previous(file, position)?,
        };
        let Some(position) = neighbor else { return Ok(None) };
        let (offset, size, _) = index.block(file, position)?;
        if self.ahead.step(offset) {
            let block = offset..offset.saturating_add(u64::from(size));
            self.ahead.advance(file, block, direction);
        }
        let block = match last.is_part() {
            true => reader.block_after(index, position, block_use, *self.part_size, direction)?,
            false => reader.data_block(index, position, block_use)?,
        };
        self.entered += 1;
        Ok(Some(Current::at_edge(block, position, direction)))
    }
}
