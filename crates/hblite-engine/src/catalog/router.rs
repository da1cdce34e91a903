//! Finds the region that holds a row.
//!
//! The regions of a table in order of their start keys, as one immutable value: a split or merge
//! creates a new one. Start keys are searched by their first 8 bytes, which are adjacent in memory;
//! whole keys are compared only if those are equal. Nothing is allocated.
//!
//! Threads: any; immutable.

use std::sync::Arc;

use hblite_model::cell::key;

use crate::invariants::ARE_CHECKED;
use crate::region::Region;

/// Something that a router routes to.
pub(crate) trait KeyRange {
    /// The first row, empty for the first region.
    fn start_key(&self) -> &[u8];

    /// Whether this row is in the range.
    fn contains_row(&self, row: &[u8]) -> bool;
}

impl KeyRange for Region {
    #[inline]
    fn start_key(&self) -> &[u8] {
        self.info().start_key()
    }

    #[inline]
    fn contains_row(&self, row: &[u8]) -> bool {
        self.info().contains_row(row)
    }
}

/// Regions by row.
#[derive(Debug)]
pub(crate) struct Router<R = Region> {
    /// The first 8 bytes of each start key, padded with zeros, as a big-endian number.
    prefixes: Box<[u64]>,
    regions: Box<[Arc<R>]>,
}

impl<R: KeyRange> Router<R> {
    /// A router over these regions, in any order.
    pub(crate) fn new(mut regions: Vec<Arc<R>>) -> Self {
        regions.sort_by(|left, right| left.start_key().cmp(right.start_key()));
        let prefixes: Box<[u64]> =
            regions.iter().map(|region| key::row_prefix(region.start_key())).collect();
        if ARE_CHECKED {
            assert!(prefixes.is_sorted(), "prefixes have the order of the start keys");
        }
        Self { prefixes, regions: regions.into_boxed_slice() }
    }

    /// The regions in order.
    pub(crate) fn regions(&self) -> &[Arc<R>] {
        &self.regions
    }

    /// The region that holds `row`; `None` if there is a hole.
    #[inline]
    pub(crate) fn find(&self, row: &[u8]) -> Option<&Arc<R>> {
        let region = self.regions.get(self.count_up_to(row).checked_sub(1)?)?;
        region.contains_row(row).then_some(region)
    }

    /// The last region with rows before `row`; the last of all if `row` is empty.
    pub(crate) fn find_before(&self, row: &[u8]) -> Option<&Arc<R>> {
        if row.is_empty() {
            return self.regions.last();
        }
        let count = self.regions.partition_point(|region| region.start_key() < row);
        self.regions.get(count.checked_sub(1)?)
    }

    /// How many regions start at `row` or before it.
    #[inline]
    fn count_up_to(&self, row: &[u8]) -> usize {
        if self.regions.len() == 1 {
            return 1;
        }
        let wanted = key::row_prefix(row);
        // A smaller prefix means a smaller key; equal prefixes decide nothing.
        let smaller = self.prefixes.partition_point(|prefix| *prefix < wanted);
        let alike = self.prefixes[smaller..].partition_point(|prefix| *prefix == wanted);
        let alike = &self.regions[smaller..smaller + alike];
        smaller + alike.partition_point(|region| region.start_key() <= row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Range(Vec<u8>, Vec<u8>);

    impl KeyRange for Range {
        fn start_key(&self) -> &[u8] {
            &self.0
        }

        fn contains_row(&self, row: &[u8]) -> bool {
            row >= self.0.as_slice() && (self.1.is_empty() || row < self.1.as_slice())
        }
    }

    fn router(splits: &[&[u8]]) -> Router<Range> {
        let starts = std::iter::once(&b""[..]).chain(splits.iter().copied());
        let ends = splits.iter().copied().chain(std::iter::once(&b""[..]));
        let ranges: Vec<Arc<Range>> =
            starts.zip(ends).map(|(s, e)| Arc::new(Range(s.to_vec(), e.to_vec()))).collect();
        Router::new(ranges.into_iter().rev().collect())
    }

    /// Compared with a linear search, for rows around every boundary.
    #[test]
    fn finds_what_a_walk_finds() {
        let all: [&[&[u8]]; 5] = [
            &[],
            &[b"m"],
            &[b"\x00", b"\x00\x00", b"a", b"aaaaaaaa", b"aaaaaaaa\x00", b"aaaaaaaab", b"b"],
            &[b"user0001", b"user00010", b"user0002", b"user00020", b"\xff\xff"],
            &[b"\xff\xff\xff\xff\xff\xff\xff\xff", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff"],
        ];
        for splits in all {
            let router = router(splits);
            let mut rows: Vec<Vec<u8>> = vec![Vec::new(), b"zz".to_vec(), vec![0xff; 20]];
            for split in splits {
                rows.push(split.to_vec());
                rows.push([split, &b"\x00"[..]].concat());
                rows.push(split[..split.len() - 1].to_vec());
            }
            for row in rows {
                let walked = router.regions().iter().find(|range| range.contains_row(&row));
                let found = router.find(&row);
                assert_eq!(found.map(|r| &r.0), walked.map(|r| &r.0), "row {row:?}");
                let before = router
                    .regions()
                    .iter()
                    .rev()
                    .find(|range| row.is_empty() || range.start_key() < row.as_slice());
                let found = router.find_before(&row);
                assert_eq!(found.map(|r| &r.0), before.map(|r| &r.0), "before {row:?}");
            }
        }
    }

    #[test]
    fn a_hole_has_no_region() {
        let ranges = [Range(b"".to_vec(), b"c".to_vec()), Range(b"f".to_vec(), b"".to_vec())];
        let router = Router::new(ranges.into_iter().map(Arc::new).collect());
        assert!(router.find(b"d").is_none());
        assert!(router.find(b"b").is_some() && router.find(b"f").is_some());
        let empty = Router::<Range>::new(Vec::new());
        assert!(empty.find(b"a").is_none() && empty.find_before(b"").is_none());
    }
}
