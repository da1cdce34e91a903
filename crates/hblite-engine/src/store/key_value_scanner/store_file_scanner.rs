//! A store file as a source of cells.
//!
//! For a reference to a half, only the cells of that half are visible. Cells that the read point
//! does not cover are skipped; most files have none, and then nothing is compared. All cells of a
//! bulk-loaded file have the sequence id of the load. Values that HBase keeps elsewhere are read.

use std::sync::Arc;

use hblite_hfile::{BlockCells, BlockUse, HFileScanner};
use hblite_model::cell::{CellRef, key};
use hblite_model::{CellComparator, Result};

use super::mob_values::MobValues;
use super::{KeyValueScanner, WALK_CELLS_MAX, WalkedBack, walk_back_by_steps};
use crate::store::store_file::{Half, StoreFile};

/// A position in a store file (HBase's `StoreFileScanner`, with `HalfStoreFileReader`).
pub(crate) struct StoreFileScanner {
    scanner: HFileScanner,
    comparator: CellComparator,
    /// The part of the file that is visible; `None`: all of it.
    bounds: Option<Box<Bounds>>,
    /// Cells with a greater sequence id are not visible; `None`: all are.
    read_point: Option<u64>,
    /// How cells differ from those in the file; `None`: not at all.
    changes: Option<Box<Changes>>,
    /// The file's scanner is at a cell beyond the bounds.
    is_outside: bool,
}

/// How the cells of a source differ from those in its file.
struct Changes {
    /// The sequence id of all cells of a bulk-loaded file.
    loaded_id: Option<u64>,
    /// The values of the cells that refer to other files.
    values: Option<MobValues>,
}

impl Changes {
    fn new(file: &StoreFile) -> Option<Box<Self>> {
        let values = || file.mob_files().map(|files| MobValues::new(files, file.path().into()));
        let changes = Self { loaded_id: file.loaded_id(), values: values() };
        (changes.loaded_id.is_some() || changes.values.is_some()).then(|| Box::new(changes))
    }

    fn apply<'a>(&'a self, cell: CellRef<'a>) -> CellRef<'a> {
        let cell = self.loaded_id.map_or(cell, |id| cell.with_sequence_id(id));
        self.values.as_ref().map_or(cell, |values| values.apply(cell))
    }
}

/// The bounds of half a file.
struct Bounds {
    /// The half begins with the first cell of this key or greater.
    first: Option<Vec<u8>>,
    /// The half ends before the first cell of this key or greater.
    end: Option<Vec<u8>>,
}

impl Bounds {
    fn new(half: &Half) -> Self {
        match half {
            Half::Top(row) => Self { first: Some(key::first_on_row(row)), end: None },
            Half::Bottom(row) => Self { first: None, end: Some(key::first_on_row(row)) },
        }
    }

    fn contains(&self, row: &[u8], comparator: CellComparator) -> bool {
        let is_before = |bound: &Vec<u8>| comparator.compare_rows(row, key::row(bound)).is_lt();
        !self.first.as_ref().is_some_and(is_before) && self.end.as_ref().is_none_or(is_before)
    }
}

impl StoreFile {
    /// Reads the file, or the half that this reference covers.
    pub(crate) fn scanner(&self, read_point: u64) -> StoreFileScanner {
        StoreFileScanner::new(self, read_point)
    }

    /// Reads every value that is in another file (see `store::mob`).
    ///
    /// # Errors
    /// `CorruptHFile` at the first one that cannot be read, `Io`.
    pub(crate) fn verify_values(&self) -> Result<()> {
        if self.mob_files().is_none() {
            return Ok(());
        }
        let mut scanner = self.scanner(u64::MAX).with_block_use(BlockUse::Verify);
        let mut is_at_cell = scanner.seek_first()?;
        while is_at_cell {
            is_at_cell = scanner.next()?;
        }
        Ok(())
    }
}

impl StoreFileScanner {
    /// A scanner of the cells that `read_point` covers, at no cell yet.
    pub(crate) fn new(file: &StoreFile, read_point: u64) -> Self {
        let reader = file.reader();
        Self {
            comparator: reader.comparator(),
            bounds: file.half().map(|half| Box::new(Bounds::new(half))),
            read_point: (file.cell_sequence_id_max() > read_point).then_some(read_point),
            changes: Changes::new(file),
            scanner: HFileScanner::new(Arc::clone(reader)),
            is_outside: false,
        }
    }

    /// The same, with another use of the blocks that it reads than [`BlockUse::Keep`].
    #[must_use]
    pub(crate) fn with_block_use(self, block_use: BlockUse) -> Self {
        Self { scanner: self.scanner.with_block_use(block_use), ..self }
    }

    /// Moves on until the cell is visible, and checks whether it is within the bounds.
    #[inline]
    fn settle(&mut self, found: bool, is_forward: bool) -> Result<bool> {
        if self.shows_all() {
            return Ok(found);
        }
        self.settle_slowly(found, is_forward)
    }

    fn settle_slowly(&mut self, mut found: bool, is_forward: bool) -> Result<bool> {
        if let Some(read_point) = self.read_point {
            let loaded_id = self.changes.as_ref().and_then(|changes| changes.loaded_id);
            let id = |cell: CellRef<'_>| loaded_id.unwrap_or(cell.sequence_id());
            while found && self.scanner.current().is_some_and(|cell| id(cell) > read_point) {
                found = if is_forward { self.scanner.next()? } else { self.scanner.prev()? };
            }
        }
        self.is_outside = match (&self.bounds, self.scanner.current()) {
            (Some(bounds), Some(cell)) => !bounds.contains(cell.row(), self.comparator),
            _ => false,
        };
        let is_at_cell = found && !self.is_outside;
        if is_at_cell
            && let Some(values) = self.changes.as_mut().and_then(|changes| changes.values.as_mut())
            && let Some(cell) = self.scanner.current()
        {
            values.read(&cell)?;
        }
        Ok(is_at_cell)
    }

    /// Whether the source shows every cell of the file, unchanged except for the sequence id.
    #[inline]
    fn shows_all(&self) -> bool {
        let has_values = || self.changes.as_ref().is_some_and(|changes| changes.values.is_some());
        self.read_point.is_none() && self.bounds.is_none() && !has_values()
    }
}

impl KeyValueScanner for StoreFileScanner {
    #[inline(always)]
    fn current(&self) -> Option<CellRef<'_>> {
        if self.is_outside {
            return None;
        }
        let cell = self.scanner.current()?;
        Some(match &self.changes {
            None => cell,
            Some(changes) => changes.apply(cell),
        })
    }

    #[inline(always)]
    fn current_key(&self) -> Option<&[u8]> {
        if self.is_outside { None } else { self.scanner.current_key() }
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        let found = self.scanner.next()?;
        self.settle(found, true)
    }

    #[inline]
    fn prev(&mut self) -> Result<bool> {
        let found = self.scanner.prev()?;
        self.settle(found, false)
    }

    fn seek(&mut self, key: &[u8]) -> Result<bool> {
        let first = self.bounds.as_ref().and_then(|bounds| bounds.first.as_deref());
        let found = match first {
            Some(first) if self.comparator.compare_keys(key, first).is_lt() => {
                self.scanner.seek(first)?
            }
            _ => self.scanner.seek(key)?,
        };
        self.settle(found, true)
    }

    fn reseek(&mut self, key: &[u8]) -> Result<bool> {
        let found = self.scanner.reseek(key)?;
        self.settle(found, true)
    }

    fn seek_before(&mut self, key: &[u8]) -> Result<bool> {
        let end = self.bounds.as_ref().and_then(|bounds| bounds.end.as_deref());
        let found = match end {
            Some(end) if self.comparator.compare_keys(end, key).is_lt() => {
                self.scanner.seek_before(end)?
            }
            _ => self.scanner.seek_before(key)?,
        };
        self.settle(found, false)
    }

    fn seek_first(&mut self) -> Result<bool> {
        let found = match self.bounds.as_ref().and_then(|bounds| bounds.first.as_deref()) {
            Some(first) => self.scanner.seek(first)?,
            None => self.scanner.seek_first()?,
        };
        self.settle(found, true)
    }

    fn walk_back(&mut self, cells: usize, row: &mut Vec<u8>) -> Result<WalkedBack> {
        if !self.shows_all() {
            return walk_back_by_steps(self, cells, row);
        }
        for _ in 0..cells {
            if !self.scanner.prev()? {
                return Ok(WalkedBack::NoRow);
            }
        }
        match self.scanner.step_to_row_start(WALK_CELLS_MAX) {
            Some(after) => Ok(WalkedBack::AtStart { after }),
            None => walk_back_by_steps(self, 0, row),
        }
    }

    #[inline]
    fn block(&self) -> Option<(BlockCells<'_>, usize)> {
        if self.changes.is_none() && self.shows_all() { self.scanner.block() } else { None }
    }

    fn move_in_block(&mut self, cell: usize, cells_read: u64) {
        self.scanner.move_in_block(cell, cells_read);
    }

    fn seek_last(&mut self) -> Result<bool> {
        let found = match self.bounds.as_ref().and_then(|bounds| bounds.end.as_deref()) {
            Some(end) => self.scanner.seek_before(end)?,
            None => self.scanner.seek_last()?,
        };
        self.settle(found, false)
    }
}
