//! `PageFilter`: the first rows of each region.

use std::fmt;

use super::{Filter, Kind, not_negative};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, expect_count, long};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};

/// The first rows of each region.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PageFilter {
    /// Most rows per region, at least 0.
    pub size: i64,
}

impl Filter {
    /// The first `size` rows of each region (`PageFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if `size` is negative.
    pub fn page(size: i64) -> Result<Self> {
        not_negative("must be positive", size)?;
        Ok(Self::Page(PageFilter { size }))
    }
}

impl Kind for PageFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(Evaluator { size: self.size, rows_accepted: 0 })
    }

    fn has_filter_row(&self) -> bool {
        true
    }
}

impl fmt::Display for PageFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageFilter {}", self.size)
    }
}

impl PageFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        expect_count(arguments, &[1])?;
        Filter::page(long(&arguments[0])?)
    }
}

#[derive(Debug)]
struct Evaluator {
    size: i64,
    rows_accepted: i64,
}

impl Evaluate for Evaluator {
    fn filter_all_remaining(&self) -> bool {
        self.rows_accepted >= self.size
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(ReturnCode::Include)
    }

    fn filter_row(&mut self) -> bool {
        self.rows_accepted += 1;
        self.rows_accepted > self.size
    }
}
