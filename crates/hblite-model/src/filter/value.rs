//! Filters on values, and filters that select rows by one column.

use std::collections::HashSet;

use super::state::{Evaluate, ReturnCode};
use super::{Comparator, CompareOperator, SingleColumnTest};
use crate::cell::{CellBuffer, CellRef};
use crate::error::Result;

/// A column as filters name it.
#[derive(Debug)]
struct Column {
    family: Vec<u8>,
    qualifier: Vec<u8>,
}

impl Column {
    fn new((family, qualifier): (&[u8], &[u8])) -> Self {
        Self { family: family.to_vec(), qualifier: qualifier.to_vec() }
    }

    /// Whether `cell` is of this column.
    #[inline]
    fn holds(&self, cell: &CellRef<'_>) -> bool {
        is_of_column(cell, &self.family, &self.qualifier)
    }
}

#[inline]
fn is_of_column(cell: &CellRef<'_>, family: &[u8], qualifier: &[u8]) -> bool {
    cell.qualifier() == qualifier && cell.family() == family
}

/// Keeps the cells for which `keep` is true; copies nothing if it keeps all of them.
fn keep_cells(cells: &mut CellBuffer, keep: impl Fn(&CellRef<'_>) -> bool) {
    if !cells.iter().all(|cell| keep(&cell)) {
        cells.retain(|_, cell| keep(&cell));
    }
}

/// `ValueFilter`.
#[derive(Debug)]
pub(super) struct Value {
    operator: CompareOperator,
    comparator: Comparator,
}

impl Value {
    pub(super) fn new(operator: CompareOperator, comparator: Comparator) -> Self {
        Self { operator, comparator }
    }
}

impl Evaluate for Value {
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let passes = self.comparator.passes(self.operator, cell.value())?;
        Ok(if passes { ReturnCode::Include } else { ReturnCode::Skip })
    }
}

/// `ColumnValueFilter`.
#[derive(Debug)]
pub(super) struct ColumnValue {
    column: Column,
    operator: CompareOperator,
    comparator: Comparator,
    was_found: bool,
}

impl ColumnValue {
    pub(super) fn new(
        column: (&[u8], &[u8]),
        operator: CompareOperator,
        comparator: Comparator,
    ) -> Self {
        Self { column: Column::new(column), operator, comparator, was_found: false }
    }
}

impl Evaluate for ColumnValue {
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

/// `SingleColumnValueFilter` and `SingleColumnValueExcludeFilter`.
#[derive(Debug)]
pub(super) struct SingleColumnValue {
    test: SingleColumnTest,
    /// Whether the cells of the column are removed from the row.
    excludes: bool,
    was_found: bool,
    was_matched: bool,
}

impl SingleColumnValue {
    pub(super) fn new(test: SingleColumnTest, excludes: bool) -> Self {
        Self { test, excludes, was_found: false, was_matched: false }
    }
}

impl Evaluate for SingleColumnValue {
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
        // Without a test, unlike the compare filters, this one fails.
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

/// `DependentColumnFilter`.
#[derive(Debug)]
pub(super) struct DependentColumn {
    column: Column,
    drop_dependent_column: bool,
    test: Option<(CompareOperator, Comparator)>,
    /// Timestamps of the column's cells in this row.
    timestamps: HashSet<i64>,
}

impl DependentColumn {
    pub(super) fn new(
        column: (&[u8], &[u8]),
        drop_dependent_column: bool,
        test: Option<(CompareOperator, Comparator)>,
    ) -> Self {
        let timestamps = HashSet::new();
        Self { column: Column::new(column), drop_dependent_column, test, timestamps }
    }
}

impl Evaluate for DependentColumn {
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
