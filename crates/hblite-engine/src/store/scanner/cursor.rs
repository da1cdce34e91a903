//! Where a store's scan is, and how it moves on.

use hblite_model::Result;
use hblite_model::cell::{CellRef, CellType, key};

use crate::store::key_value_heap::KeyValueHeap;
use crate::store::key_value_scanner::{KeyValueScanner, write_row_edge};

/// Cells that are stepped over before a seek is cheaper. HBase compares with the key of the next
/// block instead; a step costs some nanoseconds, a seek some hundred.
const STEPS_MAX: usize = 16;

/// The merged sources and the row that is being read.
pub(super) struct StoreCursor<S> {
    pub(super) heap: KeyValueHeap<S>,
    /// The row that is being read, if there is one.
    pub(super) row: Vec<u8>,
    pub(super) has_row: bool,
    /// Cells that were looked at or stepped over.
    pub(super) cells_examined: u64,
    /// Where seek keys are built.
    key: Vec<u8>,
}

impl<S: KeyValueScanner> StoreCursor<S> {
    pub(super) fn new(heap: KeyValueHeap<S>) -> Self {
        Self {
            heap,
            row: Vec::new(),
            has_row: false,
            cells_examined: 0,
            key: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn current(&self) -> Option<CellRef<'_>> {
        self.heap.current()
    }

    /// Whether `cell` belongs to the row that is being read.
    #[inline]
    pub(super) fn is_in_row(&self, cell: &CellRef<'_>) -> bool {
        self.has_row && self.row == cell.row()
    }

    /// Makes the row of the current cell the one that is being read; false if it was already.
    #[inline]
    pub(super) fn enter_row(&mut self) -> bool {
        let Some(cell) = self.heap.current() else {
            return false;
        };
        if self.has_row && self.row == cell.row() {
            return false;
        }
        self.row.clear();
        self.row.extend_from_slice(cell.row());
        self.has_row = true;
        true
    }

    #[inline]
    pub(super) fn step(&mut self) -> Result<()> {
        self.heap.next()
    }

    /// Goes to the next row.
    pub(super) fn go_to_next_row(&mut self) -> Result<()> {
        self.has_row = false;
        for _ in 0..STEPS_MAX {
            self.heap.next()?;
            if self
                .heap
                .current()
                .is_none_or(|cell| cell.row() != self.row)
            {
                return Ok(());
            }
            self.cells_examined += 1;
        }
        self.heap.pass_row(&self.row).map(drop)
    }

    /// Goes to the column `hint`, or behind the current column if there is no hint; at least one
    /// cell on.
    pub(super) fn go_to_next_column(&mut self, hint: Option<&[u8]>) -> Result<()> {
        let Some(cell) = self.heap.current() else {
            return Ok(());
        };
        self.key.clear();
        if cell.qualifier().is_empty() {
            return self.go_behind_equal_keys();
        }
        let (timestamp, type_code) = match hint {
            Some(_) => (i64::MAX, CellType::MAXIMUM),
            None => (i64::MIN, CellType::MINIMUM),
        };
        let qualifier = hint.unwrap_or(cell.qualifier());
        key::write(
            &mut self.key,
            cell.row(),
            cell.family(),
            qualifier,
            timestamp,
            type_code,
        );
        for _ in 0..STEPS_MAX {
            self.heap.next()?;
            let is_there = match (self.heap.current(), hint) {
                (None, _) => true,
                (Some(_), Some(_)) => !self.heap.is_before(&self.key),
                (Some(cell), None) => {
                    key::without_version(cell.key()) != key::without_version(&self.key)
                }
            };
            if is_there {
                return Ok(());
            }
            self.cells_examined += 1;
        }
        self.heap.reseek(&self.key).map(drop)
    }

    /// Markers of the family lie between the versions of the empty qualifier, and are needed for
    /// the columns behind it: only what repeats the current key is passed by.
    fn go_behind_equal_keys(&mut self) -> Result<()> {
        if let Some(cell) = self.heap.current() {
            self.key.extend_from_slice(cell.key());
        }
        loop {
            self.heap.next()?;
            if self
                .heap
                .current()
                .is_none_or(|cell| cell.key() != self.key)
            {
                return Ok(());
            }
            self.cells_examined += 1;
        }
    }

    /// Goes where a filter says, or one cell on. In reverse a hint inside the row is not followed.
    pub(super) fn go_to_hint(&mut self, hint: Option<&[u8]>) -> Result<()> {
        let has_moved = match hint {
            Some(key) if self.heap.is_hint_followed(key) => self.heap.reseek(key)?,
            _ => false,
        };
        if has_moved { Ok(()) } else { self.heap.next() }
    }

    /// Goes beyond `row`.
    pub(super) fn pass_row(&mut self, row: &[u8]) -> Result<()> {
        self.has_row = false;
        self.heap.pass_row(row).map(drop)
    }

    /// Goes forward to `row` or the first row behind it.
    pub(super) fn go_to_row(&mut self, row: &[u8]) -> Result<()> {
        write_row_edge(&mut self.key, row, true);
        self.heap.reseek(&self.key).map(drop)
    }
}
