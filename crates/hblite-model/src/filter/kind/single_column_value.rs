//! `SingleColumnValueFilter`: whole rows, judged by the value of one column.

use std::fmt;

use super::{Filter, Kind, is_of_column, keep_cells};
use crate::cell::{CellBuffer, CellRef};
use crate::error::Result;
use crate::filter::argument::{Arguments, boolean, expect_count, operator_and_comparator, unquote};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};
use crate::filter::text::write_column;
use crate::filter::{Comparator, CompareOperator};

/// Whole rows, judged by the value of one column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SingleColumnValueFilter {
    /// The column and its test.
    pub test: SingleColumnTest,
}

impl Filter {
    /// Rows that pass `test` (`SingleColumnValueFilter`).
    pub fn single_column_value(test: SingleColumnTest) -> Self {
        Self::SingleColumnValue(SingleColumnValueFilter { test })
    }
}

impl Kind for SingleColumnValueFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(Evaluator::new(self.test.clone(), false))
    }

    fn has_filter_row(&self) -> bool {
        true
    }

    fn is_family_essential(&self, family: &[u8]) -> bool {
        self.test.is_family_essential(family)
    }
}

impl fmt::Display for SingleColumnValueFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.test.write(f, "SingleColumnValueFilter")
    }
}

impl SingleColumnValueFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        SingleColumnTest::parse(arguments).map(Filter::single_column_value)
    }
}

/// The column that a [`SingleColumnValueFilter`] tests, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleColumnTest {
    /// Family of the column.
    pub family: Vec<u8>,
    /// Qualifier of the column.
    pub qualifier: Vec<u8>,
    /// How the value must compare with `comparator`.
    pub operator: CompareOperator,
    /// What the value is compared with.
    pub comparator: Comparator,
    /// Whether rows without the column are rejected. Default: they pass.
    pub filter_if_missing: bool,
    /// Whether only the newest version is tested (default), or any version may pass.
    pub latest_version_only: bool,
}

impl SingleColumnTest {
    /// A test of this column; rows without it pass, and only the newest version is tested.
    pub fn new(
        family: impl Into<Vec<u8>>,
        qualifier: impl Into<Vec<u8>>,
        operator: CompareOperator,
        comparator: Comparator,
    ) -> Self {
        Self {
            family: family.into(),
            qualifier: qualifier.into(),
            operator,
            comparator,
            filter_if_missing: false,
            latest_version_only: true,
        }
    }

    /// Sets whether rows without the column are rejected.
    pub fn with_filter_if_missing(self, filter_if_missing: bool) -> Self {
        Self { filter_if_missing, ..self }
    }

    /// Sets whether only the newest version is tested, or any version may pass.
    pub fn with_latest_version_only(self, latest_version_only: bool) -> Self {
        Self { latest_version_only, ..self }
    }

    pub(super) fn is_family_essential(&self, family: &[u8]) -> bool {
        !self.filter_if_missing || family == self.family.as_slice()
    }

    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        let column = (self.family.as_slice(), self.qualifier.as_slice());
        write_column(f, name, column, self.operator, &self.comparator)
    }

    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Self> {
        expect_count(arguments, &[4, 6])?;
        let (family, qualifier) = (unquote(&arguments[0])?, unquote(&arguments[1])?);
        let (operator, comparator) = operator_and_comparator(&arguments[2], &arguments[3])?;
        let test = SingleColumnTest::new(family, qualifier, operator, comparator);
        match arguments.get(4..6) {
            Some([if_missing, latest_only]) => Ok(test
                .with_filter_if_missing(boolean(if_missing)?)
                .with_latest_version_only(boolean(latest_only)?)),
            _ => Ok(test),
        }
    }
}

#[derive(Debug)]
pub(super) struct Evaluator {
    test: SingleColumnTest,
    /// Whether the cells of the column are removed from the row.
    excludes: bool,
    was_found: bool,
    was_matched: bool,
}

impl Evaluator {
    pub(super) fn new(test: SingleColumnTest, excludes: bool) -> Self {
        Self { test, excludes, was_found: false, was_matched: false }
    }
}

impl Evaluate for Evaluator {
    fn reset(&mut self) {
        self.was_found = false;
        self.was_matched = false;
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.was_matched {
            return Ok(ReturnCode::Include);
        }
        if self.test.latest_version_only && self.was_found {
            return Ok(ReturnCode::NextRow);
        }
        if !is_of_column(cell, &self.test.family, &self.test.qualifier) {
            return Ok(ReturnCode::Include);
        }
        self.was_found = true;
        let ordering = self.test.comparator.compare(cell.value())?;
        // Unlike the compare filters, this one fails for NO_OP.
        if self.test.operator.accepts(ordering)? {
            self.was_matched = true;
            return Ok(ReturnCode::Include);
        }
        Ok(if self.test.latest_version_only { ReturnCode::NextRow } else { ReturnCode::Include })
    }

    fn filter_row_cells(&mut self, cells: &mut CellBuffer) {
        if self.excludes {
            let (family, qualifier) = (&self.test.family, &self.test.qualifier);
            keep_cells(cells, |cell| !is_of_column(cell, family, qualifier));
        }
    }

    fn filter_row(&mut self) -> bool {
        if self.was_found { !self.was_matched } else { self.test.filter_if_missing }
    }
}
