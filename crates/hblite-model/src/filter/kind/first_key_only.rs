//! `FirstKeyOnlyFilter`: the first cell of each row.

use std::fmt;

use super::{Filter, Kind};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, expect_count};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};

/// The first cell of each row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FirstKeyOnlyFilter {}

impl Filter {
    /// The first cell of each row (`FirstKeyOnlyFilter`).
    pub fn first_key_only() -> Self {
        Self::FirstKeyOnly(FirstKeyOnlyFilter {})
    }
}

impl Kind for FirstKeyOnlyFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(Evaluator::any())
    }
}

impl fmt::Display for FirstKeyOnlyFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FirstKeyOnlyFilter")
    }
}

impl FirstKeyOnlyFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        expect_count(arguments, &[0])?;
        Ok(Filter::first_key_only())
    }
}

/// Ends each row with its first cell, or with the first that has one of the qualifiers.
#[derive(Debug)]
pub(super) struct Evaluator {
    /// The qualifiers that end the row; `None`: any.
    qualifiers: Option<Vec<Vec<u8>>>,
    was_found: bool,
}

impl Evaluator {
    pub(super) fn any() -> Self {
        Self { qualifiers: None, was_found: false }
    }

    pub(super) fn matching(qualifiers: Vec<Vec<u8>>) -> Self {
        Self { qualifiers: Some(qualifiers), was_found: false }
    }
}

impl Evaluate for Evaluator {
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
