//! `SkipFilter`: rows in which every cell passes the inner filter.

use std::fmt;

use super::{Filter, Kind};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::state::{CellValue, Evaluate, Evaluators, ReturnCode};

/// Rows in which every cell passes the inner filter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SkipFilter {
    /// The inner filter.
    pub filter: Box<Filter>,
}

impl Filter {
    /// Rows in which every cell passes `filter` (`SkipFilter`).
    pub fn skip(filter: Self) -> Self {
        Self::Skip(SkipFilter { filter: Box::new(filter) })
    }
}

impl Kind for SkipFilter {
    fn evaluator(&self, make: &mut Evaluators) -> Box<dyn Evaluate> {
        // HBase passes the direction to lists only: a wrapped filter always assumes a forward scan.
        Box::new(Evaluator { inner: make.forward(&self.filter), rejected: false })
    }

    fn has_filter_row(&self) -> bool {
        true
    }

    fn is_family_essential(&self, family: &[u8]) -> bool {
        self.filter.is_family_essential(family)
    }
}

impl fmt::Display for SkipFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SkipFilter {}", self.filter)
    }
}

/// Passes on cells only: the inner filter sees no row keys and gives no hints.
#[derive(Debug)]
struct Evaluator {
    inner: Box<dyn Evaluate>,
    rejected: bool,
}

impl Evaluate for Evaluator {
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
