//! The key of the skip list and of sorted arrays: where a cell is, and a prefix of its row.
//!
//! Order: cell order of the table, then sequence id descending, then repeat descending. The
//!        prefix decides nearly every comparison without touching the cell. Cache misses are what
//!        random inserts and lookups spend their time on.
//!
//! A prefix is the 8 bytes after the part that (nearly) all rows of the region share. That part is
//! only a hint, because rows without it are mapped below or above all others: for every hint,
//! `prefix(a) < prefix(b)` implies `a < b`. Equal prefixes decide nothing; short rows are padded
//! with zeros.

use std::cmp::Ordering;

use hblite_model::bytes;
use hblite_model::cell::{CellComparator, compare_versions, key};

use super::arena::CellPointer;

/// Where a cell is, with the prefix of its row.
#[derive(Clone, Copy)]
pub(super) struct SegmentKey {
    pub(super) prefix: u64,
    pub(super) cell: CellPointer,
}

impl Ord for SegmentKey {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match self.prefix.cmp(&other.prefix) {
            Ordering::Equal => compare_cells(self.cell, other.cell),
            unequal => unequal,
        }
    }
}

/// Compares in full what the prefixes could not decide: most often versions of one column.
fn compare_cells(left: CellPointer, right: CellPointer) -> Ordering {
    let (left_key, right_key) = (left.key(), right.key());
    let keys = match key::without_version(left_key) == key::without_version(right_key) {
        true => compare_versions(left_key, right_key),
        false => left.comparator().compare_keys(left_key, right_key),
    };
    keys.then_with(|| right.sequence_id().cmp(&left.sequence_id()))
        .then_with(|| right.repeat().cmp(&left.repeat()))
}

impl PartialOrd for SegmentKey {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SegmentKey {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SegmentKey {}

/// How the rows of a segment are ordered, and their expected common prefix.
#[derive(Debug, Clone)]
pub(super) struct RowOrder {
    comparator: CellComparator,
    /// The prefix of most rows; empty if unknown.
    shared: Box<[u8]>,
}

impl RowOrder {
    /// `shared` is a hint: it changes speed, never order.
    pub(super) fn new(comparator: CellComparator, shared: &[u8]) -> Self {
        Self { comparator, shared: shared.into() }
    }

    pub(super) fn comparator(&self) -> CellComparator {
        self.comparator
    }

    /// The prefix of `row`. Rows of hbase:meta are not in byte order, so all have the same prefix.
    #[inline]
    pub(super) fn prefix(&self, row: &[u8]) -> u64 {
        if self.comparator == CellComparator::Meta {
            return 0;
        }
        match bytes::strip_prefix(row, &self.shared) {
            Some(rest) => key::row_prefix(rest),
            None if row < &*self.shared => 0,
            None => u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_never_contradict_the_order_of_rows() {
        let mut rows: Vec<Vec<u8>> = vec![vec![], vec![0], vec![0; 9], vec![0xff; 12]];
        for head in [&b"user"[..], b"use", b"uses", b"usf", b"a", b"\xff\xff"] {
            for tail in [&b""[..], b"\0", b"0", b"00000000", b"000000001", b"\xff\xff"] {
                rows.push([head, tail].concat());
            }
        }
        for shared in [&b""[..], b"user", b"user00000000", b"\0", b"\xff"] {
            let order = RowOrder::new(CellComparator::Default, shared);
            for left in &rows {
                for right in &rows {
                    match order.prefix(left).cmp(&order.prefix(right)) {
                        Ordering::Equal => {}
                        decided => assert_eq!(decided, left.cmp(right), "{left:?} {right:?}"),
                    }
                }
            }
        }
        assert_eq!(RowOrder::new(CellComparator::Meta, b"").prefix(b"t,,1"), 0);
    }

    #[test]
    fn the_prefix_follows_the_shared_part() {
        let order = RowOrder::new(CellComparator::Default, b"user");
        assert_eq!(order.prefix(b"user12345678x"), u64::from_be_bytes(*b"12345678"));
        assert_eq!(order.prefix(b"user1"), u64::from_be_bytes(*b"1\0\0\0\0\0\0\0"));
        assert_eq!((order.prefix(b"us"), order.prefix(b"v")), (0, u64::MAX));
    }
}
