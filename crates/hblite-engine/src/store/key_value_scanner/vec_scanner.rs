//! A source over cells in a vector, for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite_model::cell::{Cell, CellComparator, CellRef};
use hblite_model::{Error, Result};

use super::KeyValueScanner;

/// Moves over sorted cells and counts its moves.
pub(crate) struct VecScanner {
    cells: Arc<Vec<Cell>>,
    at: Option<usize>,
    read_point: u64,
    /// Steps and seeks, shared with the test.
    pub(crate) moves: Arc<AtomicU64>,
    /// After this many moves the next one fails.
    pub(crate) fails_after: Option<u64>,
}

impl VecScanner {
    /// A scanner over `cells`, which it sorts.
    pub(crate) fn new(mut cells: Vec<Cell>, read_point: u64) -> Self {
        cells.sort_by(|left, right| {
            CellComparator::Default.compare(&left.as_ref(), &right.as_ref())
        });
        let moves = Arc::default();
        Self { cells: Arc::new(cells), at: None, read_point, moves, fails_after: None }
    }

    fn lower_bound(&self, key: &[u8]) -> usize {
        let comparator = CellComparator::Default;
        self.cells.partition_point(|cell| comparator.compare_keys(cell.as_ref().key(), key).is_lt())
    }

    fn move_to(&mut self, at: Option<usize>, is_forward: bool) -> Result<bool> {
        let moves = self.moves.fetch_add(1, Ordering::Relaxed);
        if self.fails_after.is_some_and(|limit| moves >= limit) {
            return Err(Error::do_not_retry("injected"));
        }
        let mut at = at;
        while let Some(cell) = at.and_then(|index| self.cells.get(index)) {
            if cell.sequence_id() <= self.read_point {
                break;
            }
            at = if is_forward { at.map(|i| i + 1) } else { at.and_then(|i| i.checked_sub(1)) };
        }
        self.at = at.filter(|index| *index < self.cells.len());
        Ok(self.at.is_some())
    }
}

impl KeyValueScanner for VecScanner {
    fn current(&self) -> Option<CellRef<'_>> {
        self.at.map(|index| self.cells[index].as_ref())
    }

    fn next(&mut self) -> Result<bool> {
        self.move_to(self.at.map(|index| index + 1), true)
    }

    fn prev(&mut self) -> Result<bool> {
        self.move_to(self.at.and_then(|index| index.checked_sub(1)), false)
    }

    fn seek(&mut self, key: &[u8]) -> Result<bool> {
        self.move_to(Some(self.lower_bound(key)), true)
    }

    fn reseek(&mut self, key: &[u8]) -> Result<bool> {
        let current = self.current().expect("a reseek begins at a cell");
        let order = CellComparator::Default.compare_keys(current.key(), key);
        assert!(order.is_le(), "a reseek goes forward");
        self.seek(key)
    }

    fn seek_before(&mut self, key: &[u8]) -> Result<bool> {
        self.move_to(self.lower_bound(key).checked_sub(1), false)
    }

    fn seek_first(&mut self) -> Result<bool> {
        self.move_to(Some(0), true)
    }

    fn seek_last(&mut self) -> Result<bool> {
        self.move_to(self.cells.len().checked_sub(1), false)
    }
}
