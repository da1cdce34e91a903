//! `PrefixFilter`: rows that begin with a prefix.

use std::cmp::Ordering;
use std::fmt;

use super::{Filter, Kind, by_row};
use crate::bytes::to_string_binary;
use crate::cell::CellRef;
use crate::direction::Direction;
use crate::error::Result;
use crate::filter::argument::{Arguments, only_quoted};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};

/// Rows that begin with `prefix`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PrefixFilter {
    /// The bytes.
    pub prefix: Vec<u8>,
}

impl Filter {
    /// Rows that start with `prefix` (`PrefixFilter`).
    pub fn prefix(prefix: impl Into<Vec<u8>>) -> Self {
        Self::Prefix(PrefixFilter { prefix: prefix.into() })
    }
}

impl Kind for PrefixFilter {
    fn evaluator(&self, make: &mut Evaluators) -> Box<dyn Evaluate> {
        let (prefix, direction) = (self.prefix.clone(), make.direction());
        Box::new(Evaluator { prefix, direction, is_past: false, rejected: true })
    }
}

impl fmt::Display for PrefixFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrefixFilter {}", to_string_binary(&self.prefix))
    }
}

impl PrefixFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        Ok(Filter::prefix(only_quoted(arguments)?))
    }
}

#[derive(Debug)]
struct Evaluator {
    prefix: Vec<u8>,
    direction: Direction,
    /// Whether rows from here on are past the prefix.
    is_past: bool,
    /// True until a row has passed: without a call of `filter_row_key` no row does.
    rejected: bool,
}

impl Evaluate for Evaluator {
    fn reset(&mut self) {
        self.rejected = true;
    }

    fn filter_all_remaining(&self) -> bool {
        self.is_past
    }

    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        // A row shorter than the prefix proves nothing, so the scan continues after it.
        let Some(head) = row.get(..self.prefix.len()).filter(|_| !self.is_past) else {
            return Ok(true);
        };
        let ordering = head.cmp(self.prefix.as_slice());
        if self.direction.apply(ordering) == Ordering::Greater {
            self.is_past = true;
        }
        self.rejected = ordering != Ordering::Equal;
        Ok(self.rejected)
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(by_row(self.rejected))
    }

    fn filter_row(&mut self) -> bool {
        self.rejected
    }
}
