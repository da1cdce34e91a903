//! `ColumnCountGetFilter`: the first columns of a row; meant for Gets.

use std::fmt;

use super::{Filter, Kind, not_negative};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, expect_count, int};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};

/// The first columns of a row; meant for Gets.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnCountGetFilter {
    /// Most columns, at least 0.
    pub limit: i32,
}

impl Filter {
    /// The first `limit` columns of a row (`ColumnCountGetFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if `limit` is negative.
    pub fn column_count_get(limit: i32) -> Result<Self> {
        not_negative("limit be positive", limit)?;
        Ok(Self::ColumnCountGet(ColumnCountGetFilter { limit }))
    }
}

impl Kind for ColumnCountGetFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(Evaluator { limit: self.limit, count: 0 })
    }
}

impl fmt::Display for ColumnCountGetFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ColumnCountGetFilter {}", self.limit)
    }
}

impl ColumnCountGetFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        expect_count(arguments, &[1])?;
        Filter::column_count_get(int(&arguments[0])?)
    }
}

#[derive(Debug)]
struct Evaluator {
    limit: i32,
    count: i64,
}

impl Evaluate for Evaluator {
    fn reset(&mut self) {
        self.count = 0;
    }

    fn filter_all_remaining(&self) -> bool {
        self.count > i64::from(self.limit)
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        self.count += 1;
        Ok(if self.filter_all_remaining() {
            ReturnCode::NextColumn
        } else {
            ReturnCode::IncludeAndNextColumn
        })
    }
}
