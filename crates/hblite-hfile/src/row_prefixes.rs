//! Numbers that stand for sorted rows in a search.
//!
//! For each row there is a number made of the eight bytes after the prefix that all rows share. The
//! numbers are contiguous, so that a search touches little memory; it looks at the rows only where
//! numbers are equal.

use hblite_model::bytes;
use hblite_model::cell::key;

use crate::error::{Parsed, collect};

/// The numbers of some rows.
#[derive(Debug, Default)]
pub(crate) struct RowPrefixes {
    /// The prefix of all rows.
    shared: Box<[u8]>,
    /// The eight bytes of each row after it, zero-padded.
    numbers: Box<[u64]>,
}

impl RowPrefixes {
    /// The numbers of `count` rows that are sorted as bytes. If a damaged file has them in another
    /// order, searches find anything.
    pub(crate) fn of<'r>(count: usize, row: impl Fn(usize) -> &'r [u8]) -> Parsed<Self> {
        let Some(last) = count.checked_sub(1) else { return Ok(Self::default()) };
        let shared = bytes::common_prefix_length(row(0), row(last));
        // The rows in between are shorter only in a damaged file.
        let number = |index| key::row_prefix(row(index).get(shared..).unwrap_or_default());
        let numbers = collect((0..count).map(number))?;
        Ok(Self { shared: Box::from(&row(0)[..shared]), numbers })
    }

    /// The range of rows that the numbers do not compare with `row`: those before it are smaller,
    /// and those after it greater.
    #[inline]
    pub(crate) fn candidates(&self, row: &[u8]) -> (usize, usize) {
        let Some(rest) = bytes::strip_prefix(row, &self.shared) else {
            let all = if row > &*self.shared { self.numbers.len() } else { 0 };
            return (all, all);
        };
        let number = key::row_prefix(rest);
        let low = self.numbers.partition_point(|other| *other < number);
        let equal = self.numbers[low..].partition_point(|other| *other == number);
        (low, low + equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_before_the_candidates_are_smaller_and_those_after_them_greater() {
        let sets: [&[&str]; 5] = [
            &[],
            &["a"],
            &["", "\0", "\0\0", "b"],
            &["user1", "user1\0", "user10", "user1000000000", "user10000000001", "user2"],
            &["abcdefgh1", "abcdefgh2", "abcdefgh2z"],
        ];
        let asked = ["", "\0", "a", "abcdefgh", "abcdefgh2", "b", "user1", "user10", "user3", "z"];
        for rows in sets {
            let prefixes = RowPrefixes::of(rows.len(), |index| rows[index].as_bytes()).unwrap();
            for row in asked {
                let (low, high) = prefixes.candidates(row.as_bytes());
                assert!(rows[..low].iter().all(|other| *other < row), "{row:?} in {rows:?}");
                assert!(rows[high..].iter().all(|other| *other > row), "{row:?} in {rows:?}");
            }
        }
    }
}
