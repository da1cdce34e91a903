//! `ColumnValueFilter`: the cells of one column, if their value passes.

use std::fmt;

use super::{Column, Filter, Kind};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, expect_count, operator_and_comparator, unquote};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};
use crate::filter::text::write_column;
use crate::filter::{Comparator, CompareOperator};

/// Cells of one column, if their value passes; no other cells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnValueFilter {
    /// Family of the column.
    pub family: Vec<u8>,
    /// Qualifier of the column.
    pub qualifier: Vec<u8>,
    /// How the value must compare with `comparator`.
    pub operator: CompareOperator,
    /// What the value is compared with.
    pub comparator: Comparator,
}

impl Filter {
    /// Cells of one column whose value satisfies the comparison (`ColumnValueFilter`).
    pub fn column_value(
        family: impl Into<Vec<u8>>,
        qualifier: impl Into<Vec<u8>>,
        operator: CompareOperator,
        comparator: Comparator,
    ) -> Self {
        let (family, qualifier) = (family.into(), qualifier.into());
        Self::ColumnValue(ColumnValueFilter { family, qualifier, operator, comparator })
    }
}

impl Kind for ColumnValueFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        let column = (self.family.as_slice(), self.qualifier.as_slice());
        Box::new(Evaluator::new(column, self.operator, self.comparator.clone()))
    }

    fn is_family_essential(&self, family: &[u8]) -> bool {
        family == self.family.as_slice()
    }
}

impl fmt::Display for ColumnValueFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = (self.family.as_slice(), self.qualifier.as_slice());
        write_column(f, "ColumnValueFilter", column, self.operator, &self.comparator)
    }
}

impl ColumnValueFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        expect_count(arguments, &[4])?;
        let (family, qualifier) = (unquote(&arguments[0])?, unquote(&arguments[1])?);
        let (operator, comparator) = operator_and_comparator(&arguments[2], &arguments[3])?;
        Ok(Filter::column_value(family, qualifier, operator, comparator))
    }
}

#[derive(Debug)]
struct Evaluator {
    column: Column,
    operator: CompareOperator,
    comparator: Comparator,
    was_found: bool,
}

impl Evaluator {
    fn new(column: (&[u8], &[u8]), operator: CompareOperator, comparator: Comparator) -> Self {
        Self { column: Column::new(column), operator, comparator, was_found: false }
    }
}

impl Evaluate for Evaluator {
    fn reset(&mut self) {
        self.was_found = false;
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if !self.column.holds(cell) {
            return Ok(if self.was_found { ReturnCode::NextRow } else { ReturnCode::NextColumn });
        }
        self.was_found = true;
        let passes = self.comparator.passes(self.operator, cell.value())?;
        Ok(if passes { ReturnCode::Include } else { ReturnCode::Skip })
    }
}
