//! `QualifierFilter`: cells whose qualifier satisfies a comparison.

use std::fmt;

use super::{Filter, Kind};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, comparison};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};
use crate::filter::text::value_text;
use crate::filter::{Comparator, CompareOperator};

/// Cells whose qualifier satisfies a comparison.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct QualifierFilter {
    /// How the qualifier must compare with `comparator`.
    pub operator: CompareOperator,
    /// What the qualifier is compared with.
    pub comparator: Comparator,
}

impl Filter {
    /// Cells whose qualifier satisfies the comparison (`QualifierFilter`).
    pub fn qualifier(operator: CompareOperator, comparator: Comparator) -> Self {
        Self::Qualifier(QualifierFilter { operator, comparator })
    }
}

impl Kind for QualifierFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(self.clone())
    }

    fn judges_cells_alone(&self) -> bool {
        true
    }
}

impl fmt::Display for QualifierFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operator, value) = (self.operator, value_text(&self.comparator));
        write!(f, "QualifierFilter ({operator}, {value})")
    }
}

impl QualifierFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        comparison(arguments).map(|(o, c)| Filter::qualifier(o, c))
    }
}

impl Evaluate for QualifierFilter {
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let passes = self.comparator.passes(self.operator, cell.qualifier())?;
        Ok(if passes { ReturnCode::Include } else { ReturnCode::Skip })
    }
}
