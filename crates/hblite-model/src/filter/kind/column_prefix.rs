//! `ColumnPrefixFilter`: cells whose qualifier begins with a prefix.

use std::cmp::Ordering;
use std::fmt;

use super::{Filter, Kind};
use crate::bytes::to_string_binary;
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, only_quoted};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode, first_on_column};

/// Cells whose qualifier begins with `prefix`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnPrefixFilter {
    /// The bytes.
    pub prefix: Vec<u8>,
}

impl Filter {
    /// Cells whose qualifier starts with `prefix` (`ColumnPrefixFilter`).
    pub fn column_prefix(prefix: impl Into<Vec<u8>>) -> Self {
        Self::ColumnPrefix(ColumnPrefixFilter { prefix: prefix.into() })
    }
}

impl Kind for ColumnPrefixFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(self.clone())
    }

    fn is_hinting(&self) -> bool {
        true
    }

    fn forgets_passed_cells(&self) -> bool {
        true
    }
}

impl fmt::Display for ColumnPrefixFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ColumnPrefixFilter {}", to_string_binary(&self.prefix))
    }
}

impl ColumnPrefixFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        Ok(Filter::column_prefix(only_quoted(arguments)?))
    }
}

impl Evaluate for ColumnPrefixFilter {
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let qualifier = cell.qualifier();
        let length = qualifier.len().min(self.prefix.len());
        Ok(match qualifier[..length].cmp(&self.prefix[..length]) {
            Ordering::Less => ReturnCode::SeekNextUsingHint,
            Ordering::Equal if length < self.prefix.len() => ReturnCode::SeekNextUsingHint,
            Ordering::Equal => ReturnCode::Include,
            Ordering::Greater => ReturnCode::NextRow,
        })
    }

    fn next_cell_hint(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        Some(first_on_column(key, &self.prefix))
    }
}
