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

    /// The first row after it, empty for the last region.
    fn end_key(&self) -> &[u8];

    /// Whether this row is in the range.
    fn contains_row(&self, row: &[u8]) -> bool;
}

impl KeyRange for Region {
    #[inline]
    fn start_key(&self) -> &[u8] {
        self.info().start_key()
    }

    #[inline]
    fn end_key(&self) -> &[u8] {
        self.info().end_key()
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
    /// The same of each end key; the highest number where there is none.
    end_prefixes: Box<[u64]>,
    regions: Box<[Arc<R>]>,
}

impl<R: KeyRange> Router<R> {
    /// A router over these regions, in any order.
    pub(crate) fn new(mut regions: Vec<Arc<R>>) -> Self {
        regions.sort_by(|left, right| left.start_key().cmp(right.start_key()));
        let prefixes: Box<[u64]> =
            regions.iter().map(|region| key::row_prefix(region.start_key())).collect();
        let end_prefix = |region: &Arc<R>| match region.end_key() {
            b"" => u64::MAX,
            end => key::row_prefix(end),
        };
        let end_prefixes = regions.iter().map(end_prefix).collect();
        if ARE_CHECKED {
            assert!(prefixes.is_sorted(), "prefixes have the order of the start keys");
        }
        Self { prefixes, end_prefixes, regions: regions.into_boxed_slice() }
    }

    /// The regions in order.
    pub(crate) fn regions(&self) -> &[Arc<R>] {
        &self.regions
    }

    /// The region that holds `row`; `None` if there is a hole.
    #[inline]
    pub(crate) fn find(&self, row: &[u8]) -> Option<&Arc<R>> {
        self.position(row).map(|at| &self.regions[at])
    }

    /// The region that holds the first of `items`, whose rows ascend, and how many it holds of
    /// them. `None` if there is a hole.
    pub(crate) fn find_run<T>(
        &self,
        items: &[T],
        row: impl Fn(&T) -> &[u8],
    ) -> Option<(&R, usize)> {
        let (first, others) = items.split_first()?;
        let at = self.position(row(first))?;
        let is_held = |item: &T| self.ends_after(at, row(item));
        // In most batches either all regions have one row or one region has them all.
        let count = match others.first().is_some_and(is_held) {
            true => others.partition_point(is_held),
            false => 0,
        };
        Some((&self.regions[at], 1 + count))
    }

    /// The index of the region that holds `row`.
    #[inline]
    fn position(&self, row: &[u8]) -> Option<usize> {
        let at = self.count_up_to(row).checked_sub(1)?;
        // A region alone is not searched for.
        let is_inside = match self.regions.len() {
            1 => self.regions[0].contains_row(row),
            _ => self.ends_after(at, row),
        };
        is_inside.then_some(at)
    }

    /// Whether the region at this index ends after `row`. Its key is seldom read: in a table of
    /// many regions it is in no cache.
    #[inline]
    fn ends_after(&self, at: usize, row: &[u8]) -> bool {
        key::row_prefix(row) < self.end_prefixes[at] || {
            let end = self.regions[at].end_key();
            end.is_empty() || row < end
        }
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

        fn end_key(&self) -> &[u8] {
            &self.1
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
            for row in rows.clone() {
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
            rows.sort_unstable();
            for from in 0..rows.len() {
                let (region, count) = router.find_run(&rows[from..], |row| row).unwrap();
                let held = rows[from..].iter().filter(|row| region.contains_row(row)).count();
                assert_eq!(count, held, "from row {:?}", rows[from]);
            }
        }
    }

    #[test]
    fn a_hole_has_no_region() {
        let ranges = [Range(b"".to_vec(), b"c".to_vec()), Range(b"f".to_vec(), b"".to_vec())];
        let router = Router::new(ranges.into_iter().map(Arc::new).collect());
        assert!(router.find(b"d").is_none());
        assert!(router.find(b"b").is_some() && router.find(b"f").is_some());
        let run = |rows: &[&[u8]]| router.find_run(rows, |row| row).map(|(_, count)| count);
        assert_eq!(run(&[b"a", b"b", b"d", b"f"]), Some(2));
        assert_eq!((run(&[b"d", b"f"]), run(&[b"f", b"x"])), (None, Some(2)));
        let empty = Router::<Range>::new(Vec::new());
        assert!(empty.find(b"a").is_none() && empty.find_before(b"").is_none());
    }
}
