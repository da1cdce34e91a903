//! A position in an HFile, moved by key or cell by cell in either direction.
//!
//! Invariants: a scanner stands on a cell or nowhere; nowhere is where it begins, and where a move
//! puts it that found no cell. After an error it stands nowhere.
//!
//! Cost: a seek is two binary searches, one over index keys, one over the cells of a block. A step
//! looks at no key. The bytes of [`HFileScanner::current`] are those of the mapped file, or of the
//! decoded block.
//!
//! Threads: one owner; any number of scanners share a reader.

use std::sync::Arc;

use hblite_model::{CellRef, Direction, Result};

use crate::data_block::DataBlock;
use crate::index::{DataBlockPosition, DataIndex};
use crate::reader::HFileReader;

/// What a scanner has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanStats {
    /// Cells that it stood on.
    pub cells_read: u64,
    /// Data blocks that it entered.
    pub blocks_read: u64,
}

/// A cursor over the cells of a file.
#[derive(Debug)]
pub struct HFileScanner {
    reader: Arc<HFileReader>,
    current: Option<Current>,
    stats: ScanStats,
    keep_blocks: bool,
}

/// The cell that a scanner stands on.
#[derive(Debug)]
struct Current {
    block: DataBlock,
    position: DataBlockPosition,
    /// Below the number of cells in the block.
    cell: usize,
}

impl HFileScanner {
    /// A scanner that stands nowhere.
    pub fn new(reader: Arc<HFileReader>) -> Self {
        Self { reader, current: None, stats: ScanStats::default(), keep_blocks: true }
    }

    /// The same, but blocks that it decodes are not put into the block cache: for compactions,
    /// which read everything once.
    #[must_use]
    pub fn without_caching(mut self) -> Self {
        self.keep_blocks = false;
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

    /// The cell that the scanner stands on.
    #[inline]
    pub fn current(&self) -> Option<CellRef<'_>> {
        self.current.as_ref().map(|current| current.block.cell(current.cell))
    }

    /// The flat key of [`Self::current`], without looking at the rest of the cell.
    #[inline]
    pub fn current_key(&self) -> Option<&[u8]> {
        self.current.as_ref().map(|current| current.block.key(current.cell))
    }

    /// Moves to the first cell; false if there is none.
    ///
    /// # Errors
    /// `Corrupt`, here and in all other moves: a block that is needed is damaged.
    pub fn seek_first(&mut self) -> Result<bool> {
        self.move_with(|scanner, index| {
            let position = index.first();
            Ok(Some(scanner.enter(index, position, Direction::Forward)?))
        })
    }

    /// Moves to the last cell; false if there is none.
    ///
    /// # Errors
    /// As [`Self::seek_first`].
    pub fn seek_last(&mut self) -> Result<bool> {
        self.move_with(|scanner, index| {
            let position = index.last(scanner.reader.file())?;
            Ok(Some(scanner.enter(index, position, Direction::Reverse)?))
        })
    }

    /// Moves to the first cell whose key is `key` or greater; false if there is none.
    ///
    /// # Errors
    /// As [`Self::seek_first`].
    pub fn seek(&mut self, key: &[u8]) -> Result<bool> {
        self.move_with(|scanner, index| {
            let reader = scanner.reader.clone();
            let Some(position) = index.locate(reader.file(), key)? else {
                return Ok(Some(scanner.enter(index, index.first(), Direction::Forward)?));
            };
            let mut current = scanner.enter(index, position, Direction::Forward)?;
            current.cell = current.block.lower_bound(reader.comparator(), key, 0);
            if current.cell < current.block.len() {
                return Ok(Some(current));
            }
            scanner.enter_neighbour(index, position, Direction::Forward)
        })
    }

    /// Moves to the last cell whose key is less than `key`; false if there is none.
    ///
    /// # Errors
    /// As [`Self::seek_first`].
    pub fn seek_before(&mut self, key: &[u8]) -> Result<bool> {
        self.move_with(|scanner, index| {
            let reader = scanner.reader.clone();
            let Some(position) = index.locate(reader.file(), key)? else {
                return Ok(None);
            };
            let mut current = scanner.enter(index, position, Direction::Forward)?;
            match current.block.lower_bound(reader.comparator(), key, 0).checked_sub(1) {
                Some(cell) => {
                    current.cell = cell;
                    Ok(Some(current))
                }
                // An index key may lie before its block's first cell.
                None => scanner.enter_neighbour(index, position, Direction::Reverse),
            }
        })
    }

    /// Moves forward to the first cell whose key is `key` or greater; stays if the scanner stands
    /// on or behind it. Cheaper than [`Self::seek`] when the cell is near. False if there is none.
    ///
    /// # Errors
    /// As [`Self::seek_first`].
    pub fn reseek(&mut self, key: &[u8]) -> Result<bool> {
        let comparator = self.reader.comparator();
        let Some(current) = &mut self.current else {
            return self.seek(key);
        };
        let block = &current.block;
        let cell = block.lower_bound_near(comparator, key, current.cell);
        if cell < block.len() {
            if cell != current.cell {
                current.cell = cell;
                self.stats.cells_read += 1;
            }
            return Ok(true);
        }
        let position = current.position;
        self.move_with(|scanner, index| {
            let Some(mut next) = scanner.enter_neighbour(index, position, Direction::Forward)?
            else {
                return Ok(None);
            };
            let last = next.block.key(next.block.len() - 1);
            if comparator.compare_keys(last, key).is_lt() {
                return Ok(None);
            }
            next.cell = next.block.lower_bound_near(comparator, key, 0);
            Ok(Some(next))
        })
        .and_then(|found| if found { Ok(true) } else { self.seek(key) })
    }

    /// Moves to the next cell; false (and nowhere) after the last one.
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
            _ => self.step_to_neighbour(Direction::Forward),
        }
    }

    /// Moves to the cell before; false (and nowhere) before the first one.
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
            _ => self.step_to_neighbour(Direction::Reverse),
        }
    }

    #[cold]
    fn step_to_neighbour(&mut self, direction: Direction) -> Result<bool> {
        let Some(position) = self.current.as_ref().map(|current| current.position) else {
            return Ok(false);
        };
        self.move_with(|scanner, index| scanner.enter_neighbour(index, position, direction))
    }

    /// Stands where `find` says, which is nowhere if it fails.
    #[inline]
    fn move_with(
        &mut self,
        find: impl FnOnce(&mut Self, &DataIndex) -> Result<Option<Current>>,
    ) -> Result<bool> {
        self.current = None;
        let reader = self.reader.clone();
        let Some(index) = reader.index() else {
            return Ok(false);
        };
        self.current = find(self, index)?;
        self.stats.cells_read += u64::from(self.current.is_some());
        Ok(self.current.is_some())
    }

    /// The end of a block at which `direction` enters it.
    #[inline]
    fn enter(
        &mut self,
        index: &DataIndex,
        position: DataBlockPosition,
        direction: Direction,
    ) -> Result<Current> {
        let block = self.reader.data_block(index, position, self.keep_blocks)?;
        self.stats.blocks_read += 1;
        let cell = if direction.is_reverse() { block.len() - 1 } else { 0 };
        Ok(Current { block, position, cell })
    }

    fn enter_neighbour(
        &mut self,
        index: &DataIndex,
        position: DataBlockPosition,
        direction: Direction,
    ) -> Result<Option<Current>> {
        let file = self.reader.file();
        let neighbour = match direction {
            Direction::Forward => index.next(file, position)?,
            Direction::Reverse => index.previous(file, position)?,
        };
        neighbour.map(|position| self.enter(index, position, direction)).transpose()
    }
}
