//! Row ranges and how HBase merges them (`MultiRowRangeFilter.RowRange`, `sortAndMerge`).

#[cfg(doc)]
use super::Filter;
use crate::error::{Error, Result};

/// A range of rows; an empty start or stop is an open end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowRange {
    /// The lower end.
    pub start: Vec<u8>,
    /// Whether the lower end belongs to the range.
    pub start_inclusive: bool,
    /// The upper end.
    pub stop: Vec<u8>,
    /// Whether the upper end belongs to the range.
    pub stop_inclusive: bool,
}

impl RowRange {
    /// The range with these ends. It may be empty; [`Filter::multi_row_range`] checks.
    pub fn new(
        start: impl Into<Vec<u8>>,
        start_inclusive: bool,
        stop: impl Into<Vec<u8>>,
        stop_inclusive: bool,
    ) -> Self {
        Self { start: start.into(), start_inclusive, stop: stop.into(), stop_inclusive }
    }

    /// Whether the range contains `row`.
    pub fn contains(&self, row: &[u8]) -> bool {
        let (start, stop) = (self.start.as_slice(), self.stop.as_slice());
        let is_after_start = if self.start_inclusive { row >= start } else { row > start };
        let is_before_stop = if self.stop_inclusive { row <= stop } else { row < stop };
        is_after_start && (stop.is_empty() || is_before_stop)
    }

    /// Whether HBase accepts the range. It accepts `(b, b]`, which is empty.
    pub fn is_valid(&self) -> bool {
        self.start.is_empty()
            || self.stop.is_empty()
            || self.start < self.stop
            || (self.start == self.stop && self.stop_inclusive)
    }

    /// Whether the two overlap or touch, given that `next` starts no earlier and this range has a
    /// stop.
    fn reaches(&self, next: &Self) -> bool {
        self.stop > next.start
            || (self.stop == next.start && (self.stop_inclusive || next.start_inclusive))
    }

    fn ends_nowhere(&self) -> bool {
        self.stop.is_empty()
    }

    /// The range from the start of this one to the stop of `other`.
    fn until_stop_of(&self, other: &Self) -> Self {
        Self { stop: other.stop.clone(), stop_inclusive: other.stop_inclusive, ..self.clone() }
    }
}

/// Sorts ranges and merges those that touch, step by step as HBase does.
///
/// Two of HBase's quirks are visible. If a range lies within one that was already extended, and its
/// stop is inclusive, the stop of the extended one becomes inclusive. And a last range with an open
/// end that touches no other is added twice, out of order. The search in
/// [`super::kind::MultiRowRangeFilter`]'s evaluator has to handle that.
///
/// # Errors
/// `IllegalArgumentException` for no ranges, or naming all invalid ones.
pub(super) fn sort_and_merge(mut ranges: Vec<RowRange>) -> Result<Vec<RowRange>> {
    ranges.sort_by(|left, right| left.start.cmp(&right.start));
    let Some(first) = ranges.first() else {
        return Err(Error::illegal_argument("No ranges found."));
    };
    if ranges.len() == 1 {
        return if first.is_valid() { Ok(ranges) } else { Err(invalid(&[first])) };
    }
    let (last, merged, wrong) = (first.clone(), Vec::new(), Vec::new());
    let mut merge = Merge { ranges: &ranges, at: 1, last, merged, wrong };
    merge.check(first);
    while merge.at < ranges.len() && !merge.step() {
        merge.at += 1;
    }
    // After an early end, the last range is checked again, and named twice.
    for range in ranges.get(merge.at..).unwrap_or_default() {
        merge.check(range);
    }
    if !merge.wrong.is_empty() {
        return Err(invalid(&merge.wrong));
    }
    if merge.merged.is_empty() {
        return Err(Error::illegal_argument("No valid ranges found."));
    }
    Ok(merge.merged)
}

/// A merge in progress over two or more ranges.
struct Merge<'a> {
    /// Sorted by start.
    ranges: &'a [RowRange],
    /// Index of the current range.
    at: usize,
    /// The merged range so far.
    last: RowRange,
    merged: Vec<RowRange>,
    wrong: Vec<&'a RowRange>,
}

impl<'a> Merge<'a> {
    fn check(&mut self, range: &'a RowRange) {
        if !range.is_valid() {
            self.wrong.push(range);
        }
    }

    /// The range at `at`, checked.
    fn take(&mut self) -> &'a RowRange {
        let range = &self.ranges[self.at];
        self.check(range);
        range
    }

    fn is_at_end(&self) -> bool {
        self.at + 1 == self.ranges.len()
    }

    /// Adds the range at `at`, and all that follow without a gap. Returns true if the merged range
    /// covers all that are left.
    fn step(&mut self) -> bool {
        let range = self.take();
        if self.last.ends_nowhere() {
            self.merged.push(self.last.clone());
            return true;
        }
        if !self.last.reaches(range) {
            self.begin_next(range);
            return false;
        }
        if range.ends_nowhere() {
            self.merged.push(self.last.until_stop_of(range));
            return true;
        }
        if self.last.stop >= range.stop {
            self.last.stop_inclusive |= self.last.stop == range.stop && range.stop_inclusive;
            if self.is_at_end() {
                self.merged.push(self.last.clone());
            }
            return false;
        }
        self.last = self.last.until_stop_of(range);
        if self.is_at_end() {
            self.merged.push(self.last.clone());
            return true;
        }
        self.at += 1;
        self.grow()
    }

    /// Adds ranges to one that was already extended.
    fn grow(&mut self) -> bool {
        let mut range = self.take();
        while self.last.reaches(range) && !range.ends_nowhere() {
            if self.last.stop >= range.stop {
                self.last.stop_inclusive |= range.stop_inclusive;
            } else {
                self.last = self.last.until_stop_of(range);
            }
            self.at += 1;
            if self.at == self.ranges.len() {
                break;
            }
            range = self.take();
        }
        if range.ends_nowhere() {
            if self.last.reaches(range) {
                self.merged.push(self.last.until_stop_of(range));
                return true;
            }
            self.merged.push(self.last.clone());
            self.merged.push(range.clone());
        }
        self.begin_next(range);
        false
    }

    /// Closes the last range and continues with one that does not touch it.
    fn begin_next(&mut self, range: &RowRange) {
        self.merged.push(std::mem::replace(&mut self.last, range.clone()));
        if self.is_at_end() {
            self.merged.push(range.clone());
        }
    }
}

fn invalid(ranges: &[&RowRange]) -> Error {
    // The misspelling is HBase's.
    let mut message = format!("{} invaild ranges.\n", ranges.len());
    for range in ranges {
        let start = String::from_utf8_lossy(&range.start);
        let stop = String::from_utf8_lossy(&range.stop);
        message.push_str(&format!("Invalid range: start row => {start}, stop row => {stop}\n"));
    }
    Error::illegal_argument(message)
}
