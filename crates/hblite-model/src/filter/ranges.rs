//! `MultiRowRangeFilter`: rows in one of many ranges, found by seeking from range to range.
//!
//! The ranges are in scan order and are searched by the end that the scan reaches first: forward
//! their start, in reverse their stop. In this search an open end is the empty row, even where it
//! means the end of the table: in reverse, a range without stop is searched as if it ended first.

use std::cmp::Ordering;

use super::RowRange;
use super::state::{Evaluate, ReturnCode, first_on_row};
use crate::cell::CellRef;
use crate::direction::Direction;
use crate::error::{Error, Exception, Result};

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

/// `MultiRowRangeFilter`.
#[derive(Debug)]
pub(super) struct MultiRowRange {
    /// In scan order.
    ranges: Vec<RowRange>,
    direction: Direction,
    is_done: bool,
    has_begun: bool,
    current: usize,
    /// The answer for the cells of this row; `None` before the first row.
    code: Option<ReturnCode>,
}

impl MultiRowRange {
    pub(super) fn new(mut ranges: Vec<RowRange>, direction: Direction) -> Self {
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
    /// ranges can be out of order (see [`super::row_range`]), and then the steps decide.
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

impl Evaluate for MultiRowRange {
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
