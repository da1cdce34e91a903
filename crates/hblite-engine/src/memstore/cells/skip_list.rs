//! The list that keeps the keys of a memstore in order while it grows: the skip list of
//! crossbeam-skiplist.
//!
//! Any number of threads insert and read at once, without waiting for each other. Keys are neither
//! removed nor replaced. A read finds each key whose insert ended before the read began, and may
//! find others. Nodes are freed with the list, so an epoch is pinned only because the interface
//! requires one.

use std::cell::Cell;
use std::ops::Bound;

use crossbeam_epoch as epoch;
use crossbeam_skiplist as crossbeam;

/// Heap bytes of a node without its key: the reference count and two links (the average) are 24
/// bytes, to which allocators add 0 to 13 for rounding and headers.
const NODE_OVERHEAD: usize = 32;

/// Keys in order.
pub(super) struct SkipList<K>(crossbeam::SkipList<K, ()>);

/// What a series of inserts needs.
pub(in super::super) type InsertGuard = epoch::Guard;

impl<K: Copy + Ord + Send + Sync + 'static> SkipList<K> {
    /// Heap bytes of a node.
    const NODE_SIZE: usize = size_of::<K>() + NODE_OVERHEAD;

    /// An empty list.
    pub(super) fn new() -> Self {
        Self(crossbeam::SkipList::new(epoch::default_collector().clone()))
    }

    /// Number of keys; approximate during inserts.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Heap bytes, without the list's own size.
    pub(super) fn heap_size(&self) -> usize {
        self.len() * Self::NODE_SIZE
    }

    /// Inserts a key unless it is there already. Returns whether it was inserted, and how many heap
    /// bytes the list grew by.
    pub(super) fn insert(&self, key: K, guard: &InsertGuard) -> (bool, usize) {
        let is_new = Cell::new(true);
        let keep_present = |(): &()| {
            is_new.set(false);
            false
        };
        self.0.compare_insert(key, (), keep_present, guard).release(guard);
        (is_new.get(), if is_new.get() { Self::NODE_SIZE } else { 0 })
    }

    /// Passes up to `count` keys to `visit`, ascending from `from`.
    pub(super) fn read_forward(&self, from: Bound<&K>, count: usize, mut visit: impl FnMut(K)) {
        let guard = &epoch::pin();
        let mut entry = self.0.lower_bound(from, guard);
        for _ in 0..count {
            let Some(found) = entry else { break };
            visit(*found.key());
            entry = found.next();
        }
    }

    /// Passes up to `count` keys to `visit`, descending from `from`. Every key takes a search.
    pub(super) fn read_backward(&self, from: Bound<&K>, count: usize, mut visit: impl FnMut(K)) {
        let guard = &epoch::pin();
        let mut entry = self.0.upper_bound(from, guard);
        for _ in 0..count {
            let Some(found) = entry else { break };
            visit(*found.key());
            entry = found.prev();
        }
    }
}

/// Begins a series of inserts.
pub(in super::super) fn begin_inserts() -> InsertGuard {
    epoch::pin()
}

// Crossbeam-epoch breaks the rules of Stacked Borrows, which Miri enforces.
#[cfg(not(miri))]
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    /// Numbers without order, all different.
    fn numbers(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn forward(list: &SkipList<u64>, from: Bound<&u64>, count: usize) -> Vec<u64> {
        let mut keys = Vec::new();
        list.read_forward(from, count, |key| keys.push(key));
        keys
    }

    fn backward(list: &SkipList<u64>, from: Bound<&u64>, count: usize) -> Vec<u64> {
        let mut keys = Vec::new();
        list.read_backward(from, count, |key| keys.push(key));
        keys
    }

    fn check(list: &SkipList<u64>, mut expected: Vec<u64>) {
        expected.sort_unstable();
        assert_eq!(list.len(), expected.len());
        assert_eq!(forward(list, Bound::Unbounded, usize::MAX), expected);
        expected.reverse();
        assert_eq!(backward(list, Bound::Unbounded, usize::MAX), expected);
    }

    #[test]
    fn keys_are_in_order_however_they_come() {
        let count = 5_000;
        let mut ascending: Vec<u64> = numbers(count).collect();
        ascending.sort_unstable();
        let descending: Vec<u64> = ascending.iter().rev().copied().collect();
        let mut pieces: Vec<u64> = numbers(count).collect();
        pieces.chunks_mut(100).for_each(<[u64]>::sort_unstable);
        for keys in [numbers(count).collect(), ascending, descending, pieces] {
            for inserts_per_guard in [1, 7, usize::MAX] {
                let list = SkipList::new();
                let mut grown = list.heap_size();
                for some in keys.chunks(inserts_per_guard.min(keys.len())) {
                    let guard = begin_inserts();
                    for key in some {
                        let (is_inserted, more) = list.insert(*key, &guard);
                        assert!(is_inserted);
                        grown += more;
                        assert_eq!(list.insert(*key, &guard), (false, 0));
                    }
                }
                assert_eq!(grown, list.heap_size());
                check(&list, keys.clone());
            }
        }
    }

    #[test]
    fn a_key_that_is_present_does_not_mislead_the_next() {
        let list = SkipList::new();
        for key in [50, 40, 30] {
            list.insert(key, &begin_inserts());
        }
        let guard = begin_inserts();
        for (key, is_new) in [(10, true), (50, false), (20, true), (60, true), (45, true)] {
            assert_eq!(list.insert(key, &guard).0, is_new, "{key}");
        }
        check(&list, vec![10, 20, 30, 40, 45, 50, 60]);
    }

    #[test]
    fn the_neighbors_of_any_key_are_found() {
        let list = SkipList::new();
        let guard = begin_inserts();
        assert_eq!(forward(&list, Bound::Unbounded, 1), []);
        assert_eq!(backward(&list, Bound::Unbounded, 1), []);
        let count = 1_000;
        for key in 0..count {
            list.insert(10 * (key * 7 % count), &guard);
        }
        let last = 10 * (count - 1);
        let from = |first: u64| (first..=last).step_by(10).take(2).collect::<Vec<_>>();
        let down_from = |first: u64| [Some(first), first.checked_sub(10)].into_iter().flatten();
        for key in 0..last + 20 {
            let (up, down) = (key.next_multiple_of(10), (key / 10 * 10).min(last));
            let next = if key.is_multiple_of(10) { key + 10 } else { up };
            let previous =
                if key <= last { key.div_ceil(10).checked_sub(1) } else { Some(last / 10) };
            let previous: Vec<u64> =
                previous.map(|tens| down_from(10 * tens)).into_iter().flatten().collect();
            assert_eq!(forward(&list, Bound::Included(&key), 2), from(up), "from {key}");
            assert_eq!(forward(&list, Bound::Excluded(&key), 2), from(next), "after {key}");
            assert!(
                backward(&list, Bound::Included(&key), 2).into_iter().eq(down_from(down)),
                "to {key}"
            );
            assert_eq!(backward(&list, Bound::Excluded(&key), 2), previous, "before {key}");
        }
    }

    #[test]
    fn threads_insert_the_same_and_different_keys_at_once() {
        let list = SkipList::new();
        let count = 20_000;
        let insert = |thread: u64| {
            let guard = begin_inserts();
            // Half of the keys are common to two threads.
            let keys = numbers(count).skip((thread * count / 4) as usize).take(count as usize / 2);
            let mut keys: Vec<u64> = keys.collect();
            keys.chunks_mut(50).for_each(<[u64]>::sort_unstable);
            keys.into_iter().filter(|key| list.insert(*key, &guard).0).count()
        };
        let inserted: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|at| scope.spawn(move || insert(at))).collect();
            threads.into_iter().map(|thread| thread.join().expect("it ends")).sum()
        });
        assert_eq!(inserted as u64, count);
        check(&list, numbers(count).collect());
    }

    #[test]
    fn a_thread_finds_what_another_has_inserted() {
        let list = SkipList::new();
        let count = 20_000;
        let inserted = AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let guard = begin_inserts();
                for (key, done) in numbers(count).zip(1..) {
                    list.insert(key, &guard);
                    inserted.store(done, Ordering::Release);
                }
            });
            loop {
                let done = inserted.load(Ordering::Acquire);
                let newest: Vec<u64> =
                    numbers(done).skip(done.saturating_sub(10) as usize).collect();
                for key in newest {
                    assert_eq!(forward(&list, Bound::Included(&key), 1), [key]);
                    assert_eq!(backward(&list, Bound::Included(&key), 1), [key]);
                }
                if done == count {
                    break;
                }
            }
        });
    }
}
