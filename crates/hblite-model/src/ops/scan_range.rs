//! The rows that a scan reads: from a start row to a stop row, of those with a prefix.
//!
//! A reversed scan begins at its greatest row. The prefix applies in both directions, in whatever
//! order the three were set.

use std::ops::Bound;

use crate::bytes::{next_after_prefix, to_string_binary};
use crate::cell::key::ROW_LENGTH_MAX;
use crate::direction::Direction;
use crate::error::{Error, Result};

/// Start row, stop row and prefix, as they were set.
#[derive(Debug, Clone)]
pub(super) struct ScanRange {
    start_row: Vec<u8>,
    is_start_inclusive: bool,
    stop_row: Vec<u8>,
    is_stop_inclusive: bool,
    /// Empty for none.
    prefix: Vec<u8>,
    /// The least row after all with the prefix, empty if there is none.
    prefix_end: Vec<u8>,
}

impl Default for ScanRange {
    fn default() -> Self {
        Self {
            start_row: Vec::new(),
            is_start_inclusive: true,
            stop_row: Vec::new(),
            is_stop_inclusive: false,
            prefix: Vec::new(),
            prefix_end: Vec::new(),
        }
    }
}

/// The row of a bound, and whether it is included; `unbounded` is returned for a bound without a
/// row, which is then empty.
fn row_of(bound: Bound<impl AsRef<[u8]>>, unbounded: bool) -> (Vec<u8>, bool) {
    match bound {
        Bound::Included(row) => (row.as_ref().to_vec(), true),
        Bound::Excluded(row) => (row.as_ref().to_vec(), false),
        Bound::Unbounded => (Vec::new(), unbounded),
    }
}

impl ScanRange {
    /// One row.
    pub(super) fn of_row(row: &[u8]) -> Self {
        Self {
            start_row: row.to_vec(),
            stop_row: row.to_vec(),
            is_stop_inclusive: true,
            ..Self::default()
        }
    }

    pub(super) fn set_start(&mut self, start: Bound<impl AsRef<[u8]>>) {
        (self.start_row, self.is_start_inclusive) = row_of(start, true);
    }

    pub(super) fn set_stop(&mut self, stop: Bound<impl AsRef<[u8]>>) {
        (self.stop_row, self.is_stop_inclusive) = row_of(stop, false);
    }

    pub(super) fn set_prefix(&mut self, prefix: &[u8]) {
        self.prefix = prefix.to_vec();
        self.prefix_end = next_after_prefix(prefix);
    }

    /// The row where a scan in this direction begins, empty for its first, and whether it is
    /// included.
    #[inline]
    pub(super) fn start(&self, direction: Direction) -> (&[u8], bool) {
        match self.prefix.is_empty() {
            true => (&self.start_row, self.is_start_inclusive),
            false => self.start_of_prefix(direction),
        }
    }

    fn start_of_prefix(&self, direction: Direction) -> (&[u8], bool) {
        let row = self.start_row.as_slice();
        match direction {
            Direction::Forward if row < self.prefix.as_slice() => (&self.prefix, true),
            Direction::Reverse if self.ends_prefix(row) => {
                (&self.prefix_end, self.prefix_end.is_empty())
            }
            _ => (row, self.is_start_inclusive),
        }
    }

    /// The row where a scan in this direction ends, empty for its last, and whether it is included.
    #[inline]
    pub(super) fn stop(&self, direction: Direction) -> (&[u8], bool) {
        match self.prefix.is_empty() {
            true => (&self.stop_row, self.is_stop_inclusive),
            false => self.stop_of_prefix(direction),
        }
    }

    fn stop_of_prefix(&self, direction: Direction) -> (&[u8], bool) {
        let row = self.stop_row.as_slice();
        match direction {
            Direction::Forward if self.ends_prefix(row) => (&self.prefix_end, false),
            Direction::Reverse if row < self.prefix.as_slice() => (&self.prefix, true),
            _ => (row, self.is_stop_inclusive),
        }
    }

    /// Whether all rows with the prefix are before `row`, or it is not a limit.
    fn ends_prefix(&self, row: &[u8]) -> bool {
        row.is_empty() || self.is_after_prefix(row)
    }

    fn is_after_prefix(&self, row: &[u8]) -> bool {
        !self.prefix_end.is_empty() && row >= self.prefix_end.as_slice()
    }

    /// Whether the start or stop row leaves out all rows with the prefix.
    fn contradicts_prefix(&self, direction: Direction) -> bool {
        let (lower, upper) = match direction {
            Direction::Forward => (&self.start_row, &self.stop_row),
            Direction::Reverse => (&self.stop_row, &self.start_row),
        };
        // Without the row that is the prefix itself, nothing is left, as on the page after it.
        self.is_after_prefix(lower) || (!upper.is_empty() && *upper < self.prefix)
    }

    /// # Errors
    /// `IllegalArgument` for long rows, and for start and stop rows without any row of the prefix.
    pub(super) fn check(&self, direction: Direction) -> Result<()> {
        for (name, row) in [("startRow", &self.start_row), ("stopRow", &self.stop_row)] {
            if row.len() > ROW_LENGTH_MAX {
                return Err(Error::illegal_argument(format!(
                    "{name}'s length must be less than or equal to 32767 to meet the criteria \
                     for a row key."
                )));
            }
        }
        if !self.prefix.is_empty() && self.contradicts_prefix(direction) {
            return Err(Error::illegal_argument(format!(
                "no row with the prefix {} is between the start row {} and the stop row {}",
                to_string_binary(&self.prefix),
                to_string_binary(&self.start_row),
                to_string_binary(&self.stop_row)
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Exception, Scan};

    /// Start row, stop row, and whether each is included.
    type Rows<'a> = (&'a [u8], bool, &'a [u8], bool);

    fn rows(scan: &Scan) -> Rows<'_> {
        let (start, stop) = (scan.start_row(), scan.stop_row());
        (start, scan.is_start_inclusive(), stop, scan.is_stop_inclusive())
    }

    #[test]
    fn a_prefix_limits_both_directions_in_any_order_of_the_calls() {
        type Call = fn(Scan) -> Scan;
        let prefix: Call = |scan| scan.with_prefix("b");
        let reversed: Call = |scan| scan.with_reversed(true);
        let after: Call = |scan| scan.with_start_row_exclusive("b5");
        let until: Call = |scan| scan.with_stop_row_inclusive("b7");
        let wide: Call = |scan| scan.with_start_row("a").with_stop_row("x");
        let wide_reversed: Call = |scan| scan.with_start_row("x").with_stop_row("a");
        let last: Call = |scan| scan.with_prefix([0xff]);
        let cases: [(&[Call], Rows<'_>); 9] = [
            (&[prefix], (b"b", true, b"c", false)),
            (&[prefix, after], (b"b5", false, b"c", false)),
            (&[prefix, after, until], (b"b5", false, b"b7", true)),
            (&[prefix, wide], (b"b", true, b"c", false)),
            (&[prefix, reversed], (b"c", false, b"b", true)),
            (&[prefix, reversed, after], (b"b5", false, b"b", true)),
            (&[prefix, reversed, wide_reversed], (b"c", false, b"b", true)),
            (&[last, reversed], (b"", true, b"\xff", true)),
            (&[last], (b"\xff", true, b"", false)),
        ];
        for (calls, expected) in cases {
            let there = calls.iter().fold(Scan::new(), |scan, call| call(scan));
            let back = calls.iter().rev().fold(Scan::new(), |scan, call| call(scan));
            assert_eq!(rows(&there), expected);
            assert_eq!(rows(&back), expected);
            assert!(there.check().is_ok(), "{expected:?}");
        }
        let all = Scan::new().with_prefix("").with_reversed(true);
        assert_eq!(rows(&all), (&b""[..], true, &b""[..], false));
    }

    #[test]
    fn rows_that_contradict_the_prefix_are_an_error() {
        let scan = || Scan::new().with_prefix("b");
        for scan in [
            scan().with_start_row("c"),
            scan().with_stop_row("a"),
            scan().with_reversed(true).with_start_row("a"),
            scan().with_reversed(true).with_stop_row("c"),
        ] {
            let error = scan.check().unwrap_err();
            assert_eq!(error.exception(), Exception::IllegalArgument);
            assert!(error.message().contains("prefix b"), "{error}");
        }
        assert!(scan().with_stop_row("b").check().is_ok());
        assert!(scan().with_reversed(true).with_start_row_exclusive("b").check().is_ok());
    }
}
