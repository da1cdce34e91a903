//! `FamilyFilter`: cells whose family satisfies a comparison.

use std::fmt;

use super::{Filter, Kind};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, comparison};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};
use crate::filter::text::value_text;
use crate::filter::{Comparator, CompareOperator};

/// Cells whose family satisfies a comparison.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FamilyFilter {
    /// How the family must compare with `comparator`.
    pub operator: CompareOperator,
    /// What the family is compared with.
    pub comparator: Comparator,
}

impl Filter {
    /// Cells whose family satisfies the comparison (`FamilyFilter`).
    pub fn family(operator: CompareOperator, comparator: Comparator) -> Self {
        Self::Family(FamilyFilter { operator, comparator })
    }
}

impl Kind for FamilyFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(self.clone())
    }
}

impl fmt::Display for FamilyFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operator, value) = (self.operator, value_text(&self.comparator));
        write!(f, "FamilyFilter ({operator}, {value})")
    }
}

impl FamilyFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        comparison(arguments).map(|(o, c)| Filter::family(o, c))
    }
}

impl Evaluate for FamilyFilter {
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let family = cell.family();
        if !family.is_empty() && !self.comparator.passes(self.operator, family)? {
            return Ok(ReturnCode::NextRow);
        }
        Ok(ReturnCode::Include)
    }
}
