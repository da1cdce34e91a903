//! `MultiRowRangeFilter`: rows in one of many ranges, found by seeking from range to range.
//!
//! The ranges are in scan order and are searched by the end that the scan reaches first: forward
//! their start, in reverse their stop. In this search an open end is the empty row, even where it
//! means the end of the table: in reverse, a range without stop is searched as if it ended first.

use std::cmp::Ordering;
use std::fmt;

use super::{Filter, Kind};
use crate::bytes::next_after_prefix;
use crate::cell::CellRef;
use crate::direction::Direction;
use crate::error::{Error, Exception, Result};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode, first_on_row};
use crate::filter::{RowRange, row_range};

/// Rows in one of the ranges.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MultiRowRangeFilter {
    /// The ranges, sorted and merged.
    pub ranges: Vec<RowRange>,
}

impl Filter {
    /// Rows in one of the ranges, which may overlap (`MultiRowRangeFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if there is no range, or one that cannot contain a row.
    pub fn multi_row_range(ranges: Vec<RowRange>) -> Result<Self> {
        let ranges = row_range::sort_and_merge(ranges)?;
        Ok(Self::MultiRowRange(MultiRowRangeFilter { ranges }))
    }

    /// Rows that start with one of the prefixes (`MultiRowRangeFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if there is no prefix.
    pub fn multi_row_prefix<P: Into<Vec<u8>>>(
        prefixes: impl IntoIterator<Item = P>,
    ) -> Result<Self> {
        let range = |prefix: P| {
            let start = prefix.into();
            let stop = next_after_prefix(&start);
            RowRange::new(start, true, stop, false)
        };
        Self::multi_row_range(prefixes.into_iter().map(range).collect())
    }
}

impl Kind for MultiRowRangeFilter {
    fn evaluator(&self, make: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(Evaluator::new(self.ranges.clone(), make.direction()))
    }

    fn is_hinting(&self) -> bool {
        true
    }
}

impl fmt::Display for MultiRowRangeFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MultiRowRangeFilter")
    }
}

/// The result of the search for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// The scan has not reached the first range.
    BeforeFirst,
    /// The range that contains the row, or the next one.
    Range(usize),
    /// The range whose near end is the row, excluded.
    ExcludedEnd(usize),
}

#[derive(Debug)]
struct Evaluator {
    /// In scan order.
    ranges: Vec<RowRange>,
    direction: Direction,
    is_done: bool,
    has_begun: bool,
    current: usize,
    /// The answer for the cells of this row; `None` before the first row.
    code: Option<ReturnCode>,
}

impl Evaluator {
    fn new(mut ranges: Vec<RowRange>, direction: Direction) -> Self {
        if direction.is_reverse() {
            ranges.reverse();
        }
        let (is_done, has_begun, current, code) = (false, false, 0, None);
        Self { ranges, direction, is_done, has_begun, current, code }
    }

    /// The end that the scan reaches first.
    fn near_end<'a>(&self, range: &'a RowRange) -> (&'a [u8], bool) {
        if self.direction.is_reverse() {
            (&range.stop, range.stop_inclusive)
        } else {
            (&range.start, range.start_inclusive)
        }
    }

    /// Binary search by near ends. The steps are those of `Collections.binarySearch`: merged
    /// ranges can be out of order (see [`crate::filter::row_range`]), and then the steps decide.
    fn search(&self, row: &[u8]) -> std::result::Result<usize, usize> {
        let (mut low, mut end) = (0, self.ranges.len());
        while low < end {
            let middle = (low + end - 1) / 2;
            let (near_end, _) = self.near_end(&self.ranges[middle]);
            match self.direction.apply(near_end.cmp(row)) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => end = middle,
                Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    fn find(&mut self, row: &[u8]) -> Found {
        match self.search(row) {
            Ok(index) if self.near_end(&self.ranges[index]).1 => Found::Range(index),
            Ok(index) => Found::ExcludedEnd(index),
            Err(0) if !self.ranges[0].contains(row) => Found::BeforeFirst,
            Err(next) if next > 0 && self.ranges[next - 1].contains(row) => Found::Range(next - 1),
            Err(next) => {
                self.has_begun = true;
                Found::Range(next)
            }
        }
    }
}

impl Evaluate for Evaluator {
    fn filter_all_remaining(&self) -> bool {
        self.is_done
    }

    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if self.is_done {
            return Ok(true);
        }
        if self.has_begun && self.ranges[self.current].contains(row) {
            self.code = Some(ReturnCode::Include);
            return Ok(false);
        }
        let found = self.find(row);
        self.current = match found {
            Found::BeforeFirst => 0,
            Found::Range(index) | Found::ExcludedEnd(index) => index,
        };
        // The row passes here and is rejected cell by cell, so that the scan can seek past it.
        self.code = Some(if self.current >= self.ranges.len() {
            self.is_done = true;
            ReturnCode::NextRow
        } else if matches!(found, Found::ExcludedEnd(_)) {
            ReturnCode::NextRow
        } else {
            let is_inside = if self.has_begun {
                self.ranges[self.current].contains(row)
            } else {
                found != Found::BeforeFirst
            };
            self.has_begun = true;
            if is_inside { ReturnCode::Include } else { ReturnCode::SeekNextUsingHint }
        });
        Ok(false)
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        // Inside a SkipFilter no row key arrives; HBase fails with a NullPointerException.
        self.code.ok_or_else(|| {
            Error::new(
                Exception::NullPointer,
                "MultiRowRangeFilter was shown a cell before its row",
            )
        })
    }

    fn next_cell_hint(&mut self, _key: &[u8]) -> Option<Vec<u8>> {
        self.ranges.get(self.current).map(|range| first_on_row(self.near_end(range).0))
    }
}
