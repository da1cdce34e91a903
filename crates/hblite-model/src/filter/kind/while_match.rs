//! `WhileMatchFilter`: ends the scan of a region at the first row or cell that the inner filter
//! rejects.

use std::fmt;

use super::{Filter, Kind};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::state::{CellValue, Evaluate, Evaluators, ReturnCode};

/// Ends the scan of a region at the first row or cell that the inner filter rejects.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WhileMatchFilter {
    /// The inner filter.
    pub filter: Box<Filter>,
}

impl Filter {
    /// Ends a region's scan as soon as `filter` rejects something (`WhileMatchFilter`).
    pub fn while_match(filter: Self) -> Self {
        Self::WhileMatch(WhileMatchFilter { filter: Box::new(filter) })
    }
}

impl Kind for WhileMatchFilter {
    fn evaluator(&self, make: &mut Evaluators) -> Box<dyn Evaluate> {
        // HBase passes the direction to lists only: a wrapped filter always assumes a forward scan.
        Box::new(Evaluator { inner: make.forward(&self.filter), is_over: false })
    }

    fn has_filter_row(&self) -> bool {
        true
    }

    fn is_family_essential(&self, family: &[u8]) -> bool {
        self.filter.is_family_essential(family)
    }
}

impl fmt::Display for WhileMatchFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WhileMatchFilter {}", self.filter)
    }
}

#[derive(Debug)]
struct Evaluator {
    inner: Box<dyn Evaluate>,
    is_over: bool,
}

impl Evaluate for Evaluator {
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
