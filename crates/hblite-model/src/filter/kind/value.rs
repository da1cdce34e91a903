//! `ValueFilter`: cells whose value satisfies a comparison.

use std::fmt;

use super::{Filter, Kind};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, comparison};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};
use crate::filter::text::value_text;
use crate::filter::{Comparator, CompareOperator};

/// Cells whose value satisfies a comparison.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ValueFilter {
    /// How the value must compare with `comparator`.
    pub operator: CompareOperator,
    /// What the value is compared with.
    pub comparator: Comparator,
}

impl Filter {
    /// Cells whose value satisfies the comparison (`ValueFilter`).
    pub fn value(operator: CompareOperator, comparator: Comparator) -> Self {
        Self::Value(ValueFilter { operator, comparator })
    }
}

impl Kind for ValueFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(self.clone())
    }

    fn judges_cells_alone(&self) -> bool {
        true
    }
}

impl fmt::Display for ValueFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operator, value) = (self.operator, value_text(&self.comparator));
        write!(f, "ValueFilter ({operator}, {value})")
    }
}

impl ValueFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        comparison(arguments).map(|(o, c)| Filter::value(o, c))
    }
}

impl Evaluate for ValueFilter {
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let passes = self.comparator.passes(self.operator, cell.value())?;
        Ok(if passes { ReturnCode::Include } else { ReturnCode::Skip })
    }
}
