//! `InclusiveStopFilter`: rows up to and including a last one.

use std::cmp::Ordering;
use std::fmt;

use super::{Filter, Kind, by_row};
use crate::bytes::to_string_binary;
use crate::cell::CellRef;
use crate::direction::Direction;
use crate::error::Result;
use crate::filter::argument::{Arguments, only_quoted};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};

/// Rows up to and including `stop_row`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InclusiveStopFilter {
    /// The last row.
    pub stop_row: Vec<u8>,
}

impl Filter {
    /// Rows up to and including `stop_row` (`InclusiveStopFilter`).
    pub fn inclusive_stop(stop_row: impl Into<Vec<u8>>) -> Self {
        Self::InclusiveStop(InclusiveStopFilter { stop_row: stop_row.into() })
    }
}

impl Kind for InclusiveStopFilter {
    fn evaluator(&self, make: &mut Evaluators) -> Box<dyn Evaluate> {
        let (stop_row, direction) = (self.stop_row.clone(), make.direction());
        Box::new(Evaluator { stop_row, direction, is_done: false })
    }
}

impl fmt::Display for InclusiveStopFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InclusiveStopFilter {}", to_string_binary(&self.stop_row))
    }
}

impl InclusiveStopFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        Ok(Filter::inclusive_stop(only_quoted(arguments)?))
    }
}

#[derive(Debug)]
struct Evaluator {
    stop_row: Vec<u8>,
    direction: Direction,
    is_done: bool,
}

impl Evaluate for Evaluator {
    fn filter_all_remaining(&self) -> bool {
        self.is_done
    }

    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if !self.is_done {
            let ordering = row.cmp(self.stop_row.as_slice());
            self.is_done = self.direction.apply(ordering) == Ordering::Greater;
        }
        Ok(self.is_done)
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(by_row(self.is_done))
    }
}
