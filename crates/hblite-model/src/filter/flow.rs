//! Filters that control the scan or change cells: pages, wrappers, first cells, keys only.

use super::state::{CellValue, Evaluate, ReturnCode};
use crate::cell::CellRef;
use crate::error::Result;

/// `PageFilter`.
#[derive(Debug)]
pub(super) struct Page {
    size: i64,
    rows_accepted: i64,
}

impl Page {
    pub(super) fn new(size: i64) -> Self {
        Self { size, rows_accepted: 0 }
    }
}

impl Evaluate for Page {
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

/// `KeyOnlyFilter`.
#[derive(Debug)]
pub(super) struct KeyOnly {
    length_as_value: bool,
}

impl KeyOnly {
    pub(super) fn new(length_as_value: bool) -> Self {
        Self { length_as_value }
    }
}

impl Evaluate for KeyOnly {
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(ReturnCode::Include)
    }

    fn transform(&self, value: CellValue, original_length: usize) -> CellValue {
        if self.length_as_value { value.into_length(original_length) } else { CellValue::Empty }
    }
}

/// `FirstKeyOnlyFilter` and `FirstKeyValueMatchingQualifiersFilter`.
#[derive(Debug)]
pub(super) struct FirstKey {
    /// The qualifiers that end the row; `None`: any.
    qualifiers: Option<Vec<Vec<u8>>>,
    was_found: bool,
}

impl FirstKey {
    pub(super) fn any() -> Self {
        Self { qualifiers: None, was_found: false }
    }

    pub(super) fn matching(qualifiers: Vec<Vec<u8>>) -> Self {
        Self { qualifiers: Some(qualifiers), was_found: false }
    }
}

impl Evaluate for FirstKey {
    fn reset(&mut self) {
        self.was_found = false;
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.was_found {
            return Ok(ReturnCode::NextRow);
        }
        self.was_found = match &self.qualifiers {
            None => true,
            Some(all) => all.binary_search_by(|q| q.as_slice().cmp(cell.qualifier())).is_ok(),
        };
        Ok(ReturnCode::Include)
    }
}

/// `SkipFilter`.
///
/// Passes on cells only: the inner filter sees no row keys and gives no hints.
#[derive(Debug)]
pub(super) struct Skip {
    inner: Box<dyn Evaluate>,
    rejected: bool,
}

impl Skip {
    pub(super) fn new(inner: Box<dyn Evaluate>) -> Self {
        Self { inner, rejected: false }
    }
}

impl Evaluate for Skip {
    fn reset(&mut self) {
        self.inner.reset();
        self.rejected = false;
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let code = self.inner.filter_cell(cell)?;
        self.rejected |= code != ReturnCode::Include;
        Ok(code)
    }

    fn transform(&self, value: CellValue, original_length: usize) -> CellValue {
        self.inner.transform(value, original_length)
    }

    fn filter_row(&mut self) -> bool {
        self.rejected
    }
}

/// `WhileMatchFilter`.
#[derive(Debug)]
pub(super) struct WhileMatch {
    inner: Box<dyn Evaluate>,
    is_over: bool,
}

impl WhileMatch {
    pub(super) fn new(inner: Box<dyn Evaluate>) -> Self {
        Self { inner, is_over: false }
    }
}

impl Evaluate for WhileMatch {
    fn reset(&mut self) {
        self.inner.reset();
    }

    fn filter_all_remaining(&self) -> bool {
        self.is_over || self.inner.filter_all_remaining()
    }

    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if self.filter_all_remaining() {
            return Ok(true);
        }
        let rejected = self.inner.filter_row_key(row)?;
        self.is_over |= rejected;
        Ok(rejected)
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let code = self.inner.filter_cell(cell)?;
        self.is_over |= code != ReturnCode::Include;
        Ok(code)
    }

    fn transform(&self, value: CellValue, original_length: usize) -> CellValue {
        self.inner.transform(value, original_length)
    }

    fn filter_row(&mut self) -> bool {
        let rejected = self.inner.filter_row();
        self.is_over |= rejected;
        rejected
    }
}
