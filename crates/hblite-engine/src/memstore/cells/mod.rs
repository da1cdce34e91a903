//! Sorted cells in memory: a growing skip list, or the sorted array built from it.
//!
//! This module is the boundary of the memstore's `unsafe` code, all of which is in `arena`.
//! Code outside sees no pointers, so it cannot outlive what they point to. Inside, its invariant 3
//! is kept as follows:
//!
//! 1. [`CellList`], [`CellArray`] and [`CellCursor`] keep pointers only together with an `Arc` of
//!    the arena (the cursor: of the list or array) that they come from.
//! 2. They lend cells for as long as they are borrowed themselves.
//! 3. A search key never leaves the closure that it is lent to, nor enters a list.
//!
//! No key of the skip list is ever replaced or removed: replacing would hide the key from readers
//! for a moment, and a list that never removes leaves nothing to reclaim later.

mod arena;
mod array;
mod cursor;
mod key;
mod skip_list;

pub use arena::ChunkPool;
pub(super) use array::CellArray;
pub(super) use cursor::CellCursor;

use std::ops::Bound;
use std::sync::Arc;

use hblite_model::cell::{CellComparator, CellRef};

use arena::{Arena, CHUNK_SIZE_MIN, CellPointer};
use key::{RowOrder, SegmentKey};
use skip_list::SkipList;
pub(super) use skip_list::{InsertGuard, begin_inserts};

/// Cells in a skip list. Any number of threads insert and read at once, without waiting for each
/// other.
pub(super) struct CellList {
    order: RowOrder,
    list: SkipList<SegmentKey>,
    arena: Arc<Arena>,
}

impl CellList {
    /// An empty list. `shared_row_prefix` is the expected prefix of most rows: a good guess doubles
    /// the speed, a bad one does no harm.
    pub(super) fn new(
        comparator: CellComparator,
        shared_row_prefix: &[u8],
        chunks: Arc<ChunkPool>,
    ) -> Self {
        Self {
            order: RowOrder::new(comparator, shared_row_prefix),
            list: SkipList::new(),
            arena: Arc::new(Arena::new(chunks, CHUNK_SIZE_MIN)),
        }
    }

    /// Number of cells; approximate during inserts.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Heap bytes, including the list itself.
    pub(super) fn heap_size(&self) -> usize {
        size_of::<Self>()
            + size_of::<Arena>()
            + self.list.heap_size()
            + self.arena.allocated_bytes()
    }

    /// Brings the memory for the next cell into the processor's cache.
    pub(super) fn prefetch_free(&self) {
        self.arena.prefetch_free();
    }

    /// Inserts a copy of `cell` and returns the number of heap bytes that the list grew by.
    ///
    /// Of cells with the same key and sequence id (the same column twice in one put) all are kept,
    /// and the last inserted sorts first.
    pub(super) fn insert(&self, cell: &CellRef<'_>, guard: &InsertGuard) -> usize {
        let prefix = self.order.prefix(cell.row());
        let (mut stored, mut grown) = self.arena.store(cell, self.order.comparator());
        loop {
            let key = SegmentKey { prefix, cell: stored.pointer() };
            let (is_inserted, more) = self.list.insert(key, guard);
            grown += more;
            if is_inserted {
                return grown;
            }
            stored.set_repeat(u32::MAX);
            let highest = SegmentKey { prefix, cell: stored.pointer() };
            let mut repeat = 0;
            let next = |present: SegmentKey| repeat = present.cell.repeat() + 1;
            self.list.read_forward(Bound::Included(&highest), 1, next);
            stored.set_repeat(repeat);
        }
    }

    /// The cells now in the list, as an array that shares the list's arena.
    pub(super) fn to_array(&self) -> CellArray {
        let mut keys = Vec::with_capacity(self.len());
        self.list.read_forward(Bound::Unbounded, usize::MAX, |key| keys.push(key));
        CellArray::new(self.order.clone(), keys, Arc::clone(&self.arena))
    }

    /// Replaces `batch` by up to `count` keys, ascending from `from`.
    fn read_forward(&self, from: Bound<&SegmentKey>, count: usize, batch: &mut Vec<SegmentKey>) {
        batch.clear();
        self.list.read_forward(from, count, |key| {
            key.cell.prefetch();
            batch.push(key);
        });
    }

    /// Replaces `batch` by up to `count` keys, ascending, of which the last is the one before
    /// `from`. The list is linked forward only, so every key takes a search.
    fn read_backward(&self, from: Bound<&SegmentKey>, count: usize, batch: &mut Vec<SegmentKey>) {
        batch.clear();
        self.list.read_backward(from, count, |key| {
            key.cell.prefetch();
            batch.push(key);
        });
        batch.reverse();
    }
}

/// The buffer for search keys, kept for reuse.
#[derive(Default)]
struct SearchKey(Vec<u8>);

impl SearchKey {
    /// Lends `look_up` a key that sorts before every cell with the flat key `key` and after all
    /// smaller ones.
    fn lend<R>(
        &mut self,
        order: &RowOrder,
        key: &[u8],
        look_up: impl FnOnce(&SegmentKey) -> R,
    ) -> R {
        let cell = CellRef::new(key, &[], &[], u64::MAX);
        arena::write_search_key(&mut self.0, &cell, order.comparator());
        let cell_pointer = CellPointer::to_search_key(&self.0);
        look_up(&SegmentKey { prefix: order.prefix(cell.row()), cell: cell_pointer })
    }
}
