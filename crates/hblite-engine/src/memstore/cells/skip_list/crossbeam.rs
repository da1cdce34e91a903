//! The sorted list as the skip list of crossbeam-skiplist.
//!
//! Its nodes are reclaimed with the list, so an epoch is pinned only because its interface asks for
//! one. It has no access to its nodes, so a finger saves nothing, and a walk is at its end at once.

use std::cell::Cell;
use std::ops::Bound;
use std::sync::Arc;

use crossbeam_epoch as epoch;
use crossbeam_skiplist as crossbeam;

use super::super::arena::ChunkPool;
use super::SortedList;

/// Heap bytes of a node without its key: the reference count and two links (the average) are 24
/// bytes, to which allocators add 0 to 13 for rounding and headers.
const NODE_OVERHEAD: usize = 32;

/// Keys in order.
pub(in super::super) struct SkipList<K>(crossbeam::SkipList<K, ()>);

impl<K> SkipList<K> {
    /// Heap bytes of a node.
    const NODE_SIZE: usize = size_of::<K>() + NODE_OVERHEAD;
}

impl<K: Copy + Ord + Send + Sync + 'static> SortedList<K> for SkipList<K> {
    type Finger = epoch::Guard;
    type Walk = ();

    fn new(_: Arc<ChunkPool>) -> Self {
        Self(crossbeam::SkipList::new(epoch::default_collector().clone()))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn heap_size(&self) -> usize {
        self.len() * Self::NODE_SIZE
    }

    fn finger(&self) -> epoch::Guard {
        epoch::pin()
    }

    fn insert(&self, key: K, guard: &mut epoch::Guard) -> (bool, usize) {
        let is_new = Cell::new(true);
        let keep_present = |(): &()| {
            is_new.set(false);
            false
        };
        self.0.compare_insert(key, (), keep_present, guard).release(guard);
        (is_new.get(), if is_new.get() { Self::NODE_SIZE } else { 0 })
    }

    fn walk(&self) {}

    fn step((): &mut (), _: impl Fn(&K) -> bool) -> bool {
        false
    }

    fn read_forward(&self, from: Bound<&K>, count: usize, mut visit: impl FnMut(K)) {
        let guard = &epoch::pin();
        let mut entry = self.0.lower_bound(from, guard);
        for _ in 0..count {
            let Some(found) = entry else { break };
            visit(*found.key());
            entry = found.next();
        }
    }

    fn read_backward(&self, from: Bound<&K>, count: usize, mut visit: impl FnMut(K)) {
        let guard = &epoch::pin();
        let mut entry = self.0.upper_bound(from, guard);
        for _ in 0..count {
            let Some(found) = entry else { break };
            visit(*found.key());
            entry = found.prev();
        }
    }
}
