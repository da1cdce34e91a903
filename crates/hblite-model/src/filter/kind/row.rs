//! `RowFilter`: rows whose key satisfies a comparison.

use std::fmt;

use super::{Filter, Kind, by_row};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, comparison};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};
use crate::filter::text::value_text;
use crate::filter::{Comparator, CompareOperator};

/// Rows whose key satisfies a comparison.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RowFilter {
    /// How the row must compare with `comparator`.
    pub operator: CompareOperator,
    /// What the row is compared with.
    pub comparator: Comparator,
}

impl Filter {
    /// Rows whose key satisfies the comparison (`RowFilter`).
    pub fn row(operator: CompareOperator, comparator: Comparator) -> Self {
        Self::Row(RowFilter { operator, comparator })
    }
}

impl Kind for RowFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        let (operator, comparator) = (self.operator, self.comparator.clone());
        Box::new(Evaluator { operator, comparator, rejected: false })
    }
}

impl fmt::Display for RowFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operator, value) = (self.operator, value_text(&self.comparator));
        write!(f, "RowFilter ({operator}, {value})")
    }
}

impl RowFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        comparison(arguments).map(|(o, c)| Filter::row(o, c))
    }
}

#[derive(Debug)]
struct Evaluator {
    operator: CompareOperator,
    comparator: Comparator,
    rejected: bool,
}

impl Evaluate for Evaluator {
    fn reset(&mut self) {
        self.rejected = false;
    }

    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if !self.comparator.passes(self.operator, row)? {
            self.rejected = true;
        }
        Ok(self.rejected)
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(by_row(self.rejected))
    }

    fn filter_row(&mut self) -> bool {
        self.rejected
    }
}
