//! `KeyOnlyFilter`: cells without their values.

use std::fmt;

use super::{Filter, Kind};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, boolean, expect_count};
use crate::filter::state::{CellValue, Evaluate, Evaluators, ReturnCode};

/// Cells without their values.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KeyOnlyFilter {
    /// Whether the value becomes its length (4 bytes, big-endian) rather than empty.
    pub length_as_value: bool,
}

impl Filter {
    /// Cells without values, or with the values' lengths in their place (`KeyOnlyFilter`).
    pub fn key_only(length_as_value: bool) -> Self {
        Self::KeyOnly(KeyOnlyFilter { length_as_value })
    }
}

impl Kind for KeyOnlyFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(self.clone())
    }
}

impl fmt::Display for KeyOnlyFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyOnlyFilter")
    }
}

impl KeyOnlyFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        expect_count(arguments, &[0, 1])?;
        let length_as_value = arguments.first().map_or(Ok(false), |argument| boolean(argument))?;
        Ok(Filter::key_only(length_as_value))
    }
}

impl Evaluate for KeyOnlyFilter {
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(ReturnCode::Include)
    }

    fn transform(&self, value: CellValue, original_length: usize) -> CellValue {
        if self.length_as_value { value.into_length(original_length) } else { CellValue::Empty }
    }
}
