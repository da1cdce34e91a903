//! The list that keeps the keys of a memstore in order while it grows.
//!
//! [`SortedList`] says what it does. There are two, of which a build has one:
//!
//! - `crossbeam`: the skip list of the package crossbeam-skiplist, whose nodes come from the
//!   allocator.
//! - `arena_list`, with the feature `arena-skip-list`: a skip list of our own, whose nodes are in
//!   an arena. It is faster where memory is in no cache of the processor (docs/performance.md).
//!
//! The tests run on both.

#[cfg(any(feature = "arena-skip-list", test))]
mod arena_list;
#[cfg(any(not(feature = "arena-skip-list"), test))]
mod crossbeam;
#[cfg(any(feature = "arena-skip-list", test))]
mod nodes;

#[cfg(feature = "arena-skip-list")]
pub(super) use arena_list::SkipList;
#[cfg(not(feature = "arena-skip-list"))]
pub(super) use crossbeam::SkipList;

use std::ops::Bound;
use std::sync::Arc;

use super::arena::ChunkPool;

/// Keys in order. Any number of threads insert and read at once, without waiting for each other.
///
/// Keys are neither removed nor replaced. A read finds each key whose insert ended before the read
/// began, and may find others.
pub(super) trait SortedList<K>: Sized {
    /// Where the last key of a series of inserts belongs. It is used on the list that it comes
    /// from, while that is alive.
    type Finger;
    /// A search that stops before each node that it has to read. It is used while its list is
    /// alive.
    type Walk;

    /// An empty list. Nodes in an arena use chunks from `chunks`.
    fn new(chunks: Arc<ChunkPool>) -> Self;

    /// Number of keys; approximate during inserts.
    fn len(&self) -> usize;

    /// Heap bytes, without the list's own size.
    fn heap_size(&self) -> usize;

    /// Where the first of several inserts begins.
    fn finger(&self) -> Self::Finger;

    /// Inserts a key unless it is there already. Returns whether it was inserted, and how many heap
    /// bytes the list grew by. Keys that come in order may need no search.
    fn insert(&self, key: K, finger: &mut Self::Finger) -> (bool, usize);

    /// Begins a search of where a key is going to be inserted.
    fn walk(&self) -> Self::Walk;

    /// Reads one node, and lets the processor fetch the next. False at the end. `is_before` says
    /// which keys are less than the one to be inserted.
    fn step(walk: &mut Self::Walk, is_before: impl Fn(&K) -> bool) -> bool;

    /// Passes up to `count` keys to `visit`, ascending from `from`.
    fn read_forward(&self, from: Bound<&K>, count: usize, visit: impl FnMut(K));

    /// Passes up to `count` keys to `visit`, descending from `from`. Every key takes a search.
    fn read_backward(&self, from: Bound<&K>, count: usize, visit: impl FnMut(K));
}

#[cfg(all(test, loom))]
mod interleavings;
#[cfg(all(test, not(loom)))]
mod tests;
