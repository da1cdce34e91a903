//! The sorted list as a skip list with its nodes in an arena: each node is on level 0, and half of
//! the nodes of a level are on the one above (William Pugh, "Skip Lists", 1990).
//!
//! The nodes of a list are close together (see `nodes`), so that a search in one of many lists
//! needs few pages, and an insert does not call the allocator.
//!
//! Invariants:
//! 1. On each level the keys ascend, and no two are equal.
//! 2. A node is linked on level 0 first, then upwards; so the levels above 0 only save time.
//!
//! Threads: any number insert and read at once. An insert that meets another one in the same gap
//! looks for its place again; no thread waits.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::super::arena::{Arena, ChunkPool};
use super::SortedList;
use super::nodes::{LEVELS_MAX, Linked, Nodes, Place};

/// Bytes of the first chunk for nodes, which are smaller than cells.
const NODE_CHUNK_SIZE_MIN: usize = 1 << 10;

/// Keys in order.
pub(in super::super) struct SkipList<K: Copy + Ord + Send + Sync> {
    nodes: Nodes<K>,
    /// Levels that may have nodes.
    height: AtomicUsize,
    /// The state of the random numbers for the heights of nodes.
    random: AtomicU32,
    length: AtomicUsize,
}

/// Where the last key of a thread belongs, whether it was inserted or present: the gap on each
/// level. The next key, if it is greater, is looked for from there.
pub(in super::super) struct Finger<K> {
    /// The place in front of the list that it is used on.
    head: Place<K>,
    last: Option<K>,
    height: usize,
    gaps: [Gap<K>; LEVELS_MAX],
}

/// A search that stops before each node that it has to read.
pub(in super::super) struct Walk<K> {
    place: Place<K>,
}

/// Neighbors on a level.
#[derive(Clone, Copy)]
struct Gap<K> {
    before: Place<K>,
    after: Option<Linked<K>>,
}

impl<K: Copy + Ord + Send + Sync> Gap<K> {
    /// Whether `key` belongs here, if it is not too small.
    fn reaches(&self, key: &K) -> bool {
        self.after.is_none_or(|after| *key <= after.key)
    }

    /// Moves on to where `key` belongs, which is not before this gap.
    fn advance(&mut self, key: &K) {
        self.after = self.before.next();
        while let Some(after) = self.after.filter(|after| after.key < *key) {
            self.before = after.place();
            self.after = self.before.next();
        }
    }
}

impl<K: Copy + Ord + Send + Sync> SortedList<K> for SkipList<K> {
    type Finger = Finger<K>;
    type Walk = Walk<K>;

    fn new(chunks: Arc<ChunkPool>) -> Self {
        Self {
            nodes: Nodes::new(Arena::new(chunks, NODE_CHUNK_SIZE_MIN)),
            height: AtomicUsize::new(1),
            random: AtomicU32::new(0x9e37_79b9),
            length: AtomicUsize::new(0),
        }
    }

    fn len(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    fn heap_size(&self) -> usize {
        self.nodes.heap_size()
    }

    fn finger(&self) -> Finger<K> {
        let gap = |level| Gap { before: self.nodes.head(level), after: None };
        Finger { head: self.nodes.head(0), last: None, height: 0, gaps: std::array::from_fn(gap) }
    }

    fn insert(&self, key: K, finger: &mut Finger<K>) -> (bool, usize) {
        self.insert_node(key, self.random_height(), finger)
    }

    fn walk(&self) -> Walk<K> {
        self.nodes.prefetch_free();
        let place = self.top();
        place.prefetch_next();
        Walk { place }
    }

    #[inline]
    fn step(walk: &mut Walk<K>, is_before: impl Fn(&K) -> bool) -> bool {
        match walk.place.next() {
            Some(next) if is_before(&next.key) => walk.place = next.place(),
            next => loop {
                let Some(below) = walk.place.below() else { return false };
                walk.place = below;
                if !below.leads_to(next) {
                    break;
                }
            },
        }
        walk.place.prefetch_next();
        true
    }

    fn read_forward(&self, from: Bound<&K>, count: usize, mut visit: impl FnMut(K)) {
        let (_, mut entry) = match from {
            Bound::Included(from) => self.find(|key| key < from),
            Bound::Excluded(from) => self.find(|key| key <= from),
            Bound::Unbounded => self.find(|_| false),
        };
        for _ in 0..count {
            let Some(found) = entry else { break };
            visit(found.key);
            entry = found.place().next();
        }
    }

    fn read_backward(&self, from: Bound<&K>, count: usize, mut visit: impl FnMut(K)) {
        let (mut entry, _) = match from {
            Bound::Included(from) => self.find(|key| key <= from),
            Bound::Excluded(from) => self.find(|key| key < from),
            Bound::Unbounded => self.find(|_| true),
        };
        for _ in 0..count {
            let Some(found) = entry else { break };
            visit(found);
            (entry, _) = self.find(|key| *key < found);
        }
    }
}

impl<K: Copy + Ord + Send + Sync> SkipList<K> {
    /// In front of the first node on the highest level.
    fn top(&self) -> Place<K> {
        self.nodes.head(self.height.load(Ordering::Relaxed) - 1)
    }

    /// [`SortedList::insert`] with a node of `height` levels, of which the list has as many.
    pub(super) fn insert_node(
        &self,
        key: K,
        height: usize,
        finger: &mut Finger<K>,
    ) -> (bool, usize) {
        assert!(finger.head.is_same(self.nodes.head(0)), "a finger is used on its own list");
        self.seek(&key, finger);
        let is_present = |finger: &Finger<K>| finger.gaps[0].after.is_some_and(|a| a.key == key);
        if is_present(finger) {
            return (false, 0);
        }
        let (node, grown) = self.nodes.add(key, height);
        for level in 0..height {
            while !node.link(finger.gaps[level].before, finger.gaps[level].after) {
                // Another thread has inserted here.
                finger.gaps[level].advance(&key);
                if level == 0 && is_present(finger) {
                    return (false, grown);
                }
            }
            finger.gaps[level].before = node.place(level);
        }
        self.length.fetch_add(1, Ordering::Relaxed);
        (true, grown)
    }

    /// The last key for which `is_before`, and the first for which it is not. It must be true for
    /// all keys up to some point.
    #[inline]
    fn find(&self, is_before: impl Fn(&K) -> bool) -> (Option<K>, Option<Linked<K>>) {
        let mut place = self.top();
        let (mut before, mut after): (_, Option<Linked<K>>) = (None, None);
        loop {
            let next = place.next();
            let is_after = |next: &Linked<K>| after.is_some_and(|after| after.is_same_node(next));
            match next.filter(|next| !is_after(next) && is_before(&next.key)) {
                Some(next) => {
                    before = Some(next.key);
                    place = next.place();
                }
                None => {
                    after = next;
                    let Some(below) = place.below() else { return (before, after) };
                    place = below;
                }
            }
        }
    }

    /// Moves the finger to the gaps where `key` belongs, on all levels.
    fn seek(&self, key: &K, finger: &mut Finger<K>) {
        let height = self.height.load(Ordering::Relaxed);
        let last = finger.last.replace(*key);
        let follows = last.is_some_and(|last| last < *key) && finger.height == height;
        let level = if follows {
            // Gaps widen from level to level; the first that is wide enough is where to go down.
            let reached = finger.gaps[..height].iter().position(|gap| gap.reaches(key));
            if reached == Some(0) {
                return;
            }
            reached.unwrap_or(height) - 1
        } else {
            finger.height = height;
            finger.gaps[height - 1].before = self.nodes.head(height - 1);
            height - 1
        };
        finger.gaps[level].advance(key);
        for level in (0..level).rev() {
            let above = finger.gaps[level + 1];
            let Some(below) = above.before.below() else { return };
            finger.gaps[level].before = below;
            finger.gaps[level].advance(key);
        }
    }

    /// The height of the next node: at most one level more than there are.
    fn random_height(&self) -> usize {
        // Xorshift. Two threads that read the same state get the same height, which does no harm.
        let mut random = self.random.load(Ordering::Relaxed);
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        self.random.store(random, Ordering::Relaxed);
        let height = self.height.load(Ordering::Relaxed);
        let wanted = 1 + random.trailing_zeros() as usize;
        if wanted <= height || height == LEVELS_MAX {
            return wanted.min(height);
        }
        self.raise(height + 1);
        height + 1
    }

    /// Makes the list at least `height` levels high.
    pub(super) fn raise(&self, height: usize) {
        self.height.fetch_max(height, Ordering::Relaxed);
    }

    /// The keys on a level.
    #[cfg(test)]
    pub(super) fn keys_on(&self, level: usize) -> Vec<K> {
        let first = self.nodes.head(level).next();
        std::iter::successors(first, |at| at.place().next()).map(|at| at.key).collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn list_of(count: u64) -> SkipList<u64> {
        let list = SkipList::new(Arc::default());
        let mut finger = list.finger();
        let keys = (0..count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        keys.for_each(|key| assert!(list.insert(key, &mut finger).0));
        list
    }

    #[test]
    fn each_level_has_about_half_of_the_nodes_below() {
        let (nodes, levels) = if cfg!(miri) { (1_000, 2) } else { (20_000, 6) };
        let list = list_of(nodes);
        for level in 0..levels {
            let (lower, upper) = (list.keys_on(level).len(), list.keys_on(level + 1).len());
            assert!((lower / 3..lower * 2 / 3).contains(&upper), "{upper} of {lower}");
        }
        assert!((6..=20).contains(&list.height.load(Ordering::Relaxed)));
    }

    #[test]
    fn each_level_has_keys_of_the_one_below_in_order() {
        let list = list_of(if cfg!(miri) { 200 } else { 5_000 });
        let mut below = list.keys_on(0);
        assert_eq!(below.len(), list.len());
        for level in 0..list.height.load(Ordering::Relaxed) {
            let keys = list.keys_on(level);
            assert!(keys.is_sorted_by(|left, right| left < right), "level {level}");
            assert!(keys.iter().all(|key| below.binary_search(key).is_ok()), "level {level}");
            below = keys;
        }
    }
}
