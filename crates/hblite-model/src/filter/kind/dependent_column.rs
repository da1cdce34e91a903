//! `DependentColumnFilter`: cells that have the timestamp of some cell of a reference column.

use std::collections::HashSet;
use std::fmt;

use super::{Column, Filter, Kind, keep_cells};
use crate::bytes::to_string_binary;
use crate::cell::{CellBuffer, CellRef};
use crate::error::Result;
use crate::filter::argument::{
    Arguments, boolean, comparator, compare_operator, expect_count, unquote,
};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};
use crate::filter::text::value_text;
use crate::filter::{Comparator, CompareOperator};

/// Cells that have the timestamp of some cell of one column (its value may be tested too).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DependentColumnFilter {
    /// Family of the reference column.
    pub family: Vec<u8>,
    /// Qualifier of the reference column.
    pub qualifier: Vec<u8>,
    /// Whether the reference column itself is left out.
    pub drop_dependent_column: bool,
    /// How the value must compare with `comparator`.
    pub operator: CompareOperator,
    /// What the value is compared with; `None` if it is not tested.
    pub comparator: Option<Comparator>,
}

impl Filter {
    /// Cells whose timestamp also occurs in the column (`DependentColumnFilter`).
    pub fn dependent_column(
        family: impl Into<Vec<u8>>,
        qualifier: impl Into<Vec<u8>>,
        drop_dependent_column: bool,
    ) -> Self {
        Self::DependentColumn(DependentColumnFilter {
            family: family.into(),
            qualifier: qualifier.into(),
            drop_dependent_column,
            operator: CompareOperator::NoOp,
            comparator: None,
        })
    }

    /// As [`Filter::dependent_column`], with only the cells of the column whose value satisfies the
    /// comparison.
    pub fn dependent_column_value(
        family: impl Into<Vec<u8>>,
        qualifier: impl Into<Vec<u8>>,
        drop_dependent_column: bool,
        operator: CompareOperator,
        comparator: Comparator,
    ) -> Self {
        Self::DependentColumn(DependentColumnFilter {
            family: family.into(),
            qualifier: qualifier.into(),
            drop_dependent_column,
            operator,
            comparator: Some(comparator),
        })
    }
}

impl Kind for DependentColumnFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        let test = self.comparator.clone().map(|comparator| (self.operator, comparator));
        let column = (self.family.as_slice(), self.qualifier.as_slice());
        Box::new(Evaluator::new(column, self.drop_dependent_column, test))
    }

    fn has_filter_row(&self) -> bool {
        true
    }
}

impl fmt::Display for DependentColumnFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (family, qualifier) =
            (to_string_binary(&self.family), to_string_binary(&self.qualifier));
        let value = self.comparator.as_ref().map_or("null".to_owned(), value_text);
        let (drop, operator) = (self.drop_dependent_column, self.operator);
        write!(f, "DependentColumnFilter ({family}, {qualifier}, {drop}, {operator}, {value})")
    }
}

impl DependentColumnFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        expect_count(arguments, &[2, 3, 5])?;
        let (family, qualifier) = (unquote(&arguments[0])?, unquote(&arguments[1])?);
        let drop = arguments.get(2).map_or(Ok(false), |drop| boolean(drop))?;
        Ok(match arguments.get(3..5) {
            Some([operator, argument]) => {
                let (operator, comparator) = (compare_operator(operator)?, comparator(argument)?);
                Filter::dependent_column_value(family, qualifier, drop, operator, comparator)
            }
            _ => Filter::dependent_column(family, qualifier, drop),
        })
    }
}

#[derive(Debug)]
struct Evaluator {
    column: Column,
    drop_dependent_column: bool,
    test: Option<(CompareOperator, Comparator)>,
    /// Timestamps of the column's cells in this row.
    timestamps: HashSet<i64>,
}

impl Evaluator {
    fn new(
        column: (&[u8], &[u8]),
        drop_dependent_column: bool,
        test: Option<(CompareOperator, Comparator)>,
    ) -> Self {
        let timestamps = HashSet::new();
        Self { column: Column::new(column), drop_dependent_column, test, timestamps }
    }
}

impl Evaluate for Evaluator {
    fn reset(&mut self) {
        self.timestamps.clear();
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if !self.column.holds(cell) {
            return Ok(ReturnCode::Include);
        }
        if let Some((operator, comparator)) = &self.test
            && !comparator.passes(*operator, cell.value())?
        {
            return Ok(ReturnCode::Skip);
        }
        self.timestamps.insert(cell.timestamp());
        let drop = self.drop_dependent_column;
        Ok(if drop { ReturnCode::Skip } else { ReturnCode::Include })
    }

    fn filter_row_cells(&mut self, cells: &mut CellBuffer) {
        keep_cells(cells, |cell| self.timestamps.contains(&cell.timestamp()));
    }
}
