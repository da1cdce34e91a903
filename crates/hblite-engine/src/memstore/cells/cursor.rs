//! A position among sorted cells, movable in both directions.
//!
//! Over a skip list, the cursor reads keys in batches, first few and then more. So a lookup stays
//! cheap, and a long scan pays for one search in [`BATCH_SIZE_MAX`] cells. Cells that arrive in the
//! range of a batch after it was read are missed. Those are writes that had not completed when the
//! batch was read, so no read point of this cursor covers them.
//!
//! Threads: a cursor belongs to one thread at a time; the underlying cells may grow meanwhile.

use std::ops::Bound;
use std::sync::Arc;

use hblite_model::cell::CellRef;

use super::key::SegmentKey;
use super::{CellArray, CellList, SearchKey};

/// Keys read after a seek.
const BATCH_SIZE_MIN: usize = 2;
/// How many cells ahead a scan of an array prefetches.
const PREFETCH_DISTANCE: usize = 12;
/// Keys read at once in a long scan.
const BATCH_SIZE_MAX: usize = 64;

/// A position in a [`CellList`] or [`CellArray`], at a cell or at none.
///
/// A new cursor is at none. Moving off either end leaves it at none, and then only seeks move it
/// back to one.
pub(in super::super) enum CellCursor {
    /// Over a list that may grow.
    List(ListCursor),
    /// Over an array.
    Array(ArrayCursor),
}

impl CellCursor {
    /// A cursor over `list`.
    pub(in super::super) fn over_list(list: Arc<CellList>) -> Self {
        Self::List(ListCursor {
            list,
            search_key: SearchKey::default(),
            batch: Vec::new(),
            at: 0,
            batch_size: BATCH_SIZE_MIN,
        })
    }

    /// A cursor over `array`.
    pub(in super::super) fn over_array(array: Arc<CellArray>) -> Self {
        let at = array.len();
        Self::Array(ArrayCursor { array, search_key: SearchKey::default(), at })
    }

    /// Moves to the first cell with a key of `key` or greater.
    pub(in super::super) fn seek(&mut self, key: &[u8]) {
        match self {
            Self::List(cursor) => cursor.seek(key),
            Self::Array(cursor) => cursor.at = cursor.lower_bound(key),
        }
    }

    /// Moves to the last cell with a key less than `key`.
    pub(in super::super) fn seek_before(&mut self, key: &[u8]) {
        match self {
            Self::List(cursor) => cursor.seek_before(key),
            Self::Array(cursor) => {
                cursor.at = cursor.lower_bound(key);
                cursor.prev();
            }
        }
    }

    /// Moves to the first cell.
    pub(in super::super) fn seek_first(&mut self) {
        match self {
            Self::List(cursor) => cursor.read_forward(Bound::Unbounded, BATCH_SIZE_MIN),
            Self::Array(cursor) => cursor.at = 0,
        }
    }

    /// Moves to the last cell.
    pub(in super::super) fn seek_last(&mut self) {
        match self {
            Self::List(cursor) => cursor.read_backward(Bound::Unbounded, BATCH_SIZE_MIN),
            Self::Array(cursor) => {
                cursor.at = cursor.array.len();
                cursor.prev();
            }
        }
    }

    /// Moves to the next cell.
    #[inline]
    pub(in super::super) fn next(&mut self) {
        match self {
            Self::List(cursor) => cursor.next(),
            Self::Array(cursor) => cursor.next(),
        }
    }

    /// Moves to the previous cell.
    #[inline]
    pub(in super::super) fn prev(&mut self) {
        match self {
            Self::List(cursor) => cursor.prev(),
            Self::Array(cursor) if cursor.at < cursor.array.len() => cursor.prev(),
            Self::Array(_) => {}
        }
    }

    /// The cell at the cursor.
    #[inline]
    pub(in super::super) fn current(&self) -> Option<CellRef<'_>> {
        match self {
            Self::List(cursor) => cursor.batch.get(cursor.at).map(|key| key.cell.cell()),
            Self::Array(cursor) => cursor.array.get(cursor.at),
        }
    }

    /// The sequence id of the cell at the cursor.
    #[inline]
    pub(in super::super) fn sequence_id(&self) -> Option<u64> {
        match self {
            Self::List(cursor) => cursor.batch.get(cursor.at).map(|key| key.cell.sequence_id()),
            Self::Array(cursor) => cursor.array.sequence_id(cursor.at),
        }
    }
}

/// A position in a skip list.
pub(in super::super) struct ListCursor {
    list: Arc<CellList>,
    search_key: SearchKey,
    /// Successive keys of the list, ascending; empty if the cursor is at no cell.
    batch: Vec<SegmentKey>,
    /// Index of the current cell in `batch`.
    at: usize,
    /// Size of the last batch.
    batch_size: usize,
}

impl ListCursor {
    fn seek(&mut self, key: &[u8]) {
        let mut search_key = std::mem::take(&mut self.search_key);
        let list = Arc::clone(&self.list);
        search_key.lend(&list.order, key, |target| match self.index_in_batch(target) {
            Some(index) => self.at = index,
            None => self.read_forward(Bound::Included(target), BATCH_SIZE_MIN),
        });
        self.search_key = search_key;
    }

    fn seek_before(&mut self, key: &[u8]) {
        let mut search_key = std::mem::take(&mut self.search_key);
        let list = Arc::clone(&self.list);
        search_key.lend(&list.order, key, |target| {
            match self.index_in_batch(target) {
                Some(index) => self.at = index - 1,
                // A reverse scan seeks here for each row, so batches grow as with `prev`.
                None => self.read_backward(Bound::Excluded(target), self.next_batch_size()),
            }
        });
        self.search_key = search_key;
    }

    /// The index of the first key not less than `target`, if the batch contains it: never 0.
    fn index_in_batch(&self, target: &SegmentKey) -> Option<usize> {
        let (first, last) = (self.batch.first()?, self.batch.last()?);
        (first < target && target <= last).then(|| self.batch.partition_point(|key| key < target))
    }

    #[inline]
    fn next(&mut self) {
        if self.at + 1 < self.batch.len() {
            self.at += 1;
        } else if let Some(last) = self.batch.last().copied() {
            self.read_forward(Bound::Excluded(&last), self.next_batch_size());
        }
    }

    #[inline]
    fn prev(&mut self) {
        if self.at > 0 {
            self.at -= 1;
        } else if let Some(first) = self.batch.first().copied() {
            self.read_backward(Bound::Excluded(&first), self.next_batch_size());
        }
    }

    fn next_batch_size(&self) -> usize {
        (self.batch_size * 4).min(BATCH_SIZE_MAX)
    }

    /// Replaces the batch by the keys from `from` on and moves to the first.
    fn read_forward(&mut self, from: Bound<&SegmentKey>, batch_size: usize) {
        self.list.read_forward(from, batch_size, &mut self.batch);
        self.batch_size = batch_size;
        self.at = 0;
    }

    /// Replaces the batch by the keys up to `from` and moves to the last.
    fn read_backward(&mut self, from: Bound<&SegmentKey>, batch_size: usize) {
        self.list.read_backward(from, batch_size, &mut self.batch);
        self.batch_size = batch_size;
        self.at = self.batch.len().saturating_sub(1);
    }
}

/// A position in an array.
pub(in super::super) struct ArrayCursor {
    array: Arc<CellArray>,
    search_key: SearchKey,
    /// Index of the current cell; the length of the array if there is none.
    at: usize,
}

impl ArrayCursor {
    fn lower_bound(&mut self, key: &[u8]) -> usize {
        let (array, near) = (&self.array, self.at);
        self.search_key.lend(array.order(), key, |target| array.lower_bound(target, near))
    }

    #[inline]
    fn next(&mut self) {
        self.at = (self.at + 1).min(self.array.len());
        self.array.prefetch(self.at + PREFETCH_DISTANCE);
    }

    /// Moves one back, and from the first cell to none. The end counts as after the last cell.
    #[inline]
    fn prev(&mut self) {
        self.at = self.at.checked_sub(1).unwrap_or(self.array.len());
        self.array.prefetch(self.at.wrapping_sub(PREFETCH_DISTANCE));
    }
}
