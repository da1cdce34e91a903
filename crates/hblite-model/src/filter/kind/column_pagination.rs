//! `ColumnPaginationFilter`: a page of the columns of each row.

use std::fmt;

use super::{Filter, Kind, not_negative};
use crate::bytes::to_string_binary;
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, expect_count, int};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode, first_on_column};

/// A page of the columns of each row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnPaginationFilter {
    /// Most columns per row, at least 0.
    pub limit: i32,
    /// Where the page begins.
    pub offset: ColumnOffset,
}

impl Filter {
    /// `limit` columns of each row after the first `offset` (`ColumnPaginationFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if `limit` or `offset` is negative.
    pub fn column_pagination(limit: i32, offset: i32) -> Result<Self> {
        not_negative("limit must be positive", limit)?;
        not_negative("offset must be positive", offset)?;
        let offset = ColumnOffset::Count(offset);
        Ok(Self::ColumnPagination(ColumnPaginationFilter { limit, offset }))
    }

    /// `limit` columns of each row, starting at `qualifier` (`ColumnPaginationFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if `limit` is negative.
    pub fn column_pagination_from(limit: i32, qualifier: impl Into<Vec<u8>>) -> Result<Self> {
        not_negative("limit must be positive", limit)?;
        let offset = ColumnOffset::Qualifier(qualifier.into());
        Ok(Self::ColumnPagination(ColumnPaginationFilter { limit, offset }))
    }
}

impl Kind for ColumnPaginationFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        match &self.offset {
            ColumnOffset::Count(count) => Box::new(PageByCount::new(self.limit, *count)),
            ColumnOffset::Qualifier(qualifier) => Box::new(PageByQualifier {
                limit: self.limit,
                qualifier: qualifier.clone(),
                count: 0,
            }),
        }
    }

    fn forgets_passed_cells(&self) -> bool {
        matches!(self.offset, ColumnOffset::Qualifier(_))
    }
}

impl fmt::Display for ColumnPaginationFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.limit;
        match &self.offset {
            ColumnOffset::Count(count) => write!(f, "ColumnPaginationFilter ({limit}, {count})"),
            ColumnOffset::Qualifier(bytes) => {
                write!(f, "ColumnPaginationFilter({limit}, {})", to_string_binary(bytes))
            }
        }
    }
}

impl ColumnPaginationFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        expect_count(arguments, &[2])?;
        Filter::column_pagination(int(&arguments[0])?, int(&arguments[1])?)
    }
}

/// Where a [`ColumnPaginationFilter`] begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnOffset {
    /// After this many columns of the row, across families.
    Count(i32),
    /// At the first column whose qualifier is not smaller.
    Qualifier(Vec<u8>),
}

/// With a number as offset.
#[derive(Debug)]
struct PageByCount {
    offset: i32,
    /// Columns of the row that are skipped or taken. Wraps like Java's `int`, so a large offset and
    /// a large limit together return nothing.
    end: i32,
    count: i32,
}

impl PageByCount {
    fn new(limit: i32, offset: i32) -> Self {
        Self { offset, end: offset.wrapping_add(limit), count: 0 }
    }
}

impl Evaluate for PageByCount {
    fn reset(&mut self) {
        self.count = 0;
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.count >= self.end {
            return Ok(ReturnCode::NextRow);
        }
        let is_before = self.count < self.offset;
        self.count += 1;
        Ok(if is_before { ReturnCode::NextColumn } else { ReturnCode::IncludeAndNextColumn })
    }
}

/// With a qualifier as offset.
#[derive(Debug)]
struct PageByQualifier {
    limit: i32,
    qualifier: Vec<u8>,
    count: i32,
}

impl Evaluate for PageByQualifier {
    fn reset(&mut self) {
        self.count = 0;
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.count >= self.limit {
            return Ok(ReturnCode::NextRow);
        }
        if self.count == 0 && cell.qualifier() < self.qualifier.as_slice() {
            return Ok(ReturnCode::SeekNextUsingHint);
        }
        self.count += 1;
        Ok(ReturnCode::IncludeAndNextColumn)
    }

    fn next_cell_hint(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        Some(first_on_column(key, &self.qualifier))
    }
}
