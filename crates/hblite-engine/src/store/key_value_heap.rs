//! Merges sorted sources into one sorted stream of cells.
//!
//! Order:     row, family, qualifier, newest timestamp, type. With `Direction::Reverse` the rows
//!            descend while the cells of one row keep this order.
//! Ties:      of two equal keys the higher sequence id leaves first, and of two with the same
//!            sequence id that of the newer source, so the later put wins.
//! Invariant: the current source is never inside the heap; the common case, next cell from the
//!            same source, costs one comparison and no heap move.
//! Ranks:     each source's place in the order is also known by the first 16 bytes of its row, as
//!            a number. Whole keys are compared only where ranks are equal.
//! Threads:   not shared; each scan owns its heap.

use std::cmp::Ordering;

use hblite_hfile::BlockCells;
use hblite_model::cell::{CellComparator, CellRef, compare_without_row, key};
use hblite_model::{Direction, Result};

use super::key_value_scanner::{BlockPlace, DirectedScanner, KeyValueScanner};
use crate::invariants::ARE_CHECKED;
use crate::row_rank::row_rank_in;

/// A merge of sources (HBase's `KeyValueHeap` and `ReversedKeyValueHeap`).
pub(crate) struct KeyValueHeap<S> {
    /// The newest first.
    scanners: Vec<DirectedScanner<S>>,
    /// Binary heap of the scanners that are at a cell, without the current one.
    heap: Vec<Ranked>,
    /// The scanner with the first cell; if there is none, `NONE`.
    current: usize,
    comparator: CellComparator,
    direction: Direction,
}

/// A scanner that is at a cell, and the rank of its row: lower ranks come first.
#[derive(Clone, Copy)]
struct Ranked {
    rank: u128,
    index: usize,
}

/// No scanner has this index.
const NONE: usize = usize::MAX;

impl<S: KeyValueScanner> KeyValueHeap<S> {
    /// A merge of `sources`, the newest first, from `start_row` on (see
    /// [`DirectedScanner::seek_start`]).
    pub(crate) fn new(
        sources: Vec<S>,
        comparator: CellComparator,
        direction: Direction,
        start_row: &[u8],
        is_start_inclusive: bool,
    ) -> Result<Self> {
        let directed = sources
            .into_iter()
            .map(|source| DirectedScanner::new(source, direction, comparator))
            .collect();
        let mut heap =
            Self { scanners: directed, heap: Vec::new(), current: NONE, comparator, direction };
        for index in 0..heap.scanners.len() {
            if !heap.scanners[index].seek_start(start_row, is_start_inclusive)? {
                continue;
            }
            heap.add(index);
        }
        if heap.current != NONE {
            heap.settle(true);
        }
        heap.check();
        Ok(heap)
    }

    /// The first cell.
    #[inline(always)]
    pub(crate) fn current(&self) -> Option<CellRef<'_>> {
        self.scanners.get(self.current)?.current()
    }

    /// The key of the first cell.
    #[inline(always)]
    pub(crate) fn current_key(&self) -> Option<&[u8]> {
        self.scanners.get(self.current)?.current_key()
    }

    /// The direction of the scan.
    #[inline]
    pub(crate) fn direction(&self) -> Direction {
        self.direction
    }

    /// Whether there is a cell left.
    #[inline]
    pub(crate) fn is_at_cell(&self) -> bool {
        self.current != NONE
    }

    /// Moves to the next cell.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<()> {
        if let Some(scanner) = self.scanners.get_mut(self.current) {
            let found = scanner.advance()?;
            self.settle(found);
            self.check();
        }
        Ok(())
    }

    /// The block of the first cell, if only that cell's source has cells left.
    #[inline]
    pub(crate) fn block(&self) -> Option<BlockPlace<'_>> {
        if self.heap.is_empty() { self.scanners.get(self.current)?.block() } else { None }
    }

    /// Moves to another cell of that block; see [`DirectedScanner::move_in_block`].
    pub(crate) fn move_in_block(&mut self, at: usize, row: (usize, usize), cells_read: u64) {
        if let Some(scanner) = self.scanners.get_mut(self.current) {
            scanner.move_in_block(at, row, cells_read);
        }
    }

    /// The order of the cells.
    pub(crate) fn comparator(&self) -> CellComparator {
        self.comparator
    }

    /// Whether more than one source is at a cell.
    #[inline]
    pub(crate) fn has_several(&self) -> bool {
        !self.heap.is_empty()
    }

    /// Each source that is at a cell, with its block and its place there (see
    /// [`KeyValueScanner::block`]). Lower numbers are newer sources.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (usize, Option<(BlockCells<'_>, usize)>)> {
        self.at_cells().map(|source| {
            let place = self.scanners[source].block();
            (source, place.map(|place| (place.cells, place.at)))
        })
    }

    /// Moves sources to other cells of their blocks: the number of each, the cell, and how many
    /// cells were read. These are all sources that are at a cell.
    pub(crate) fn move_in_blocks(&mut self, moves: &[(usize, usize, usize)]) {
        assert_eq!(moves.len(), self.at_cells().count(), "all sources move");
        self.current = NONE;
        self.heap.clear();
        for (source, at, cells_read) in moves {
            self.scanners[*source].move_in_block(*at, (0, 0), *cells_read as u64);
            self.add(*source);
        }
        self.settle(true);
        self.check();
    }

    /// The sources that are at a cell.
    fn at_cells(&self) -> impl Iterator<Item = usize> {
        let current = (self.current != NONE).then_some(self.current);
        current.into_iter().chain(self.heap.iter().map(|entry| entry.index))
    }

    /// Adds a source that is at a cell. [`Self::settle`] must follow.
    fn add(&mut self, index: usize) {
        if self.current == NONE {
            self.current = index;
        } else {
            self.heap.push(self.rank(index));
            self.sift_up(self.heap.len() - 1);
        }
    }

    /// Moves to the first cell that is not before `key` in the direction. False, and nothing
    /// moves, if the current cell is not before it.
    pub(crate) fn reseek(&mut self, key: &[u8]) -> Result<bool> {
        self.move_while(|heap, current| heap.is_before(current, key), |scanner| scanner.reseek(key))
    }

    /// Moves to the first cell of the next row. False, and nothing moves, if the current cell is
    /// beyond `row`.
    pub(crate) fn pass_row(&mut self, row: &[u8]) -> Result<bool> {
        self.move_while(
            |heap, current| !heap.compare_rows(key::row(current), row).is_gt(),
            |scanner| scanner.pass_row(row),
        )
    }

    /// Whether `key` belongs to the row of the first cell.
    pub(crate) fn is_in_current_row(&self, key: &[u8]) -> bool {
        self.current_key()
            .is_some_and(|current| self.compare_rows(key::row(key), key::row(current)).is_eq())
    }

    /// Moves each scanner whose cell is too early. Every move goes forward, so this terminates.
    fn move_while(
        &mut self,
        is_early: impl Fn(&Self, &[u8]) -> bool,
        mut move_on: impl FnMut(&mut DirectedScanner<S>) -> Result<bool>,
    ) -> Result<bool> {
        let mut has_moved = false;
        while let Some(current) = self.current_key()
            && is_early(self, current)
        {
            let found = move_on(&mut self.scanners[self.current])?;
            self.settle(found);
            has_moved = true;
        }
        self.check();
        Ok(has_moved)
    }

    /// Whether key `left` comes before key `right` in the direction.
    #[inline]
    pub(crate) fn is_before(&self, left: &[u8], right: &[u8]) -> bool {
        let rows = self.compare_rows(key::row(left), key::row(right));
        rows.then_with(|| compare_without_row(left, right)).is_lt()
    }

    /// Which of two rows comes first in the direction.
    #[inline]
    fn compare_rows(&self, left: &[u8], right: &[u8]) -> Ordering {
        self.direction.apply(self.comparator.compare_rows(left, right))
    }

    /// Finds the scanner that is first now that the current one has moved.
    #[inline]
    fn settle(&mut self, is_at_cell: bool) {
        if !is_at_cell {
            self.current = self.pop();
        } else if let Some(&top) = self.heap.first() {
            let moved = self.rank(self.current);
            if self.is_first(top, moved) {
                self.heap[0] = moved;
                self.current = top.index;
                self.sift_down(0);
            }
        }
    }

    /// Checks the invariants from the head of this file.
    #[inline]
    fn check(&self) {
        if ARE_CHECKED {
            let is_in_heap = |index| self.heap.iter().any(|entry| entry.index == index);
            assert!(!is_in_heap(self.current), "the current source is not in the heap");
            assert!(self.current != NONE || self.heap.is_empty(), "a source with cells is current");
            for (at, entry) in self.heap.iter().enumerate() {
                assert_eq!(entry.rank, self.rank(entry.index).rank, "ranks are those of the rows");
                let before = at
                    .checked_sub(1)
                    .map_or_else(|| self.rank(self.current), |child| self.heap[child / 2]);
                assert!(!self.is_first(*entry, before), "no source comes before its parent");
            }
        }
    }

    /// The rank of the row at which the scanner is.
    #[inline]
    fn rank(&self, index: usize) -> Ranked {
        let row = self.scanners[index].current_key().map(key::row);
        let rank = row_rank_in(self.comparator, row.unwrap_or_default());
        Ranked { rank: if self.direction.is_reverse() { !rank } else { rank }, index }
    }

    /// Whether the cell of scanner `left` comes before that of scanner `right`.
    #[inline]
    fn is_first(&self, left: Ranked, right: Ranked) -> bool {
        if left.rank != right.rank {
            return left.rank < right.rank;
        }
        let (left, right) = (left.index, right.index);
        if left < right {
            self.scanners[left].is_before_older(&self.scanners[right])
        } else {
            !self.scanners[right].is_before_older(&self.scanners[left])
        }
    }

    fn pop(&mut self) -> usize {
        if self.heap.is_empty() {
            return NONE;
        }
        let top = self.heap.swap_remove(0);
        self.sift_down(0);
        top.index
    }

    fn sift_up(&mut self, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if !self.is_first(self.heap[at], self.heap[parent]) {
                break;
            }
            self.heap.swap(at, parent);
            at = parent;
        }
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            if left >= self.heap.len() {
                break;
            }
            let has_right = right < self.heap.len();
            let child = if has_right && self.is_first(self.heap[right], self.heap[left]) {
                right
            } else {
                left
            };
            if !self.is_first(self.heap[child], self.heap[at]) {
                break;
            }
            self.heap.swap(at, child);
            at = child;
        }
    }
}
