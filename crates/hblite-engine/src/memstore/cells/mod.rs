//! Sorted cells in memory: a growing skip list, or the sorted array built from it.
//!
//! This module is the boundary of the memstore's `unsafe` code, all of which is in `arena`. Code
//! outside sees no pointers, so it cannot outlive what they point to. Inside, invariant 3 of the
//! arena is kept as follows:
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

pub use arena::ChunkPool;
pub(super) use array::CellArray;
pub(super) use cursor::CellCursor;

use std::ops::Bound;
use std::sync::Arc;

use crossbeam_epoch as epoch;
use crossbeam_skiplist::SkipList;
use hblite_model::cell::{CellComparator, CellRef};

use arena::{Arena, CellPointer};
use key::{RowOrder, SegmentKey};

/// Heap bytes of a skip list node: key, reference count and two links (the average) are 40 bytes,
/// to which allocators add 0 to 13 for rounding and headers.
const NODE_SIZE: usize = 48;

/// Cells in a skip list. Any number of threads insert and read at once, without waiting for each
/// other.
pub(super) struct CellList {
    order: RowOrder,
    list: SkipList<SegmentKey, ()>,
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
            list: SkipList::new(epoch::default_collector().clone()),
            arena: Arc::new(Arena::new(chunks)),
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
            + self.len() * NODE_SIZE
            + self.arena.allocated_bytes()
    }

    /// Inserts a copy of `cell` and returns the number of heap bytes that the list grew by. Any
    /// `guard` will do.
    ///
    /// Of cells with the same key and sequence id (the same column twice in one put) all are kept,
    /// and the last inserted sorts first.
    pub(super) fn insert(&self, cell: &CellRef<'_>, guard: &epoch::Guard) -> usize {
        let prefix = self.order.prefix(cell.row());
        let (mut stored, grown) = self.arena.store(cell, self.order.comparator());
        loop {
            let key = SegmentKey { prefix, cell: stored.pointer() };
            let entry = self.list.get_or_insert(key, (), guard);
            let is_inserted = entry.key().cell.is_same(stored.pointer());
            entry.release(guard);
            if is_inserted {
                return NODE_SIZE + grown;
            }
            stored.set_repeat(u32::MAX);
            let highest = SegmentKey { prefix, cell: stored.pointer() };
            let present = self.list.lower_bound(Bound::Included(&highest), guard);
            stored.set_repeat(present.map_or(0, |entry| entry.key().cell.repeat() + 1));
        }
    }

    /// The cells now in the list, as an array that shares the list's arena.
    pub(super) fn to_array(&self) -> CellArray {
        let guard = &epoch::pin();
        let mut keys = Vec::with_capacity(self.len());
        keys.extend(self.list.iter(guard).map(|entry| *entry.key()));
        CellArray::new(self.order.clone(), keys, Arc::clone(&self.arena))
    }

    /// Replaces `batch` by up to `count` keys, ascending from `from`.
    fn read_forward(&self, from: Bound<&SegmentKey>, count: usize, batch: &mut Vec<SegmentKey>) {
        batch.clear();
        let guard = &epoch::pin();
        let mut entry = self.list.lower_bound(from, guard);
        for _ in 0..count {
            let Some(found) = entry else { break };
            found.key().cell.prefetch();
            batch.push(*found.key());
            entry = found.next();
        }
    }

    /// Replaces `batch` by up to `count` keys, ascending, of which the last is the one before
    /// `from`. The list is linked forward only, so every key takes a search.
    fn read_backward(&self, from: Bound<&SegmentKey>, count: usize, batch: &mut Vec<SegmentKey>) {
        batch.clear();
        let guard = &epoch::pin();
        let mut entry = self.list.upper_bound(from, guard);
        for _ in 0..count {
            let Some(found) = entry else { break };
            found.key().cell.prefetch();
            batch.push(*found.key());
            entry = found.prev();
        }
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
