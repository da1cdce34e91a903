//! `ColumnRangeFilter`: cells whose qualifier lies in a range.

use std::cmp::Ordering;
use std::fmt;

use super::{Filter, Kind};
use crate::cell::CellRef;
use crate::error::Result;
use crate::filter::argument::{Arguments, boolean, expect_count, unquote};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode, first_on_column};
use crate::filter::text::end_text;

/// Cells whose qualifier lies in a range.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnRangeFilter {
    /// Lower end; `None` is open.
    pub min: Option<Vec<u8>>,
    /// Whether the lower end belongs to the range.
    pub min_inclusive: bool,
    /// Upper end; `None` is open.
    pub max: Option<Vec<u8>>,
    /// Whether the upper end belongs to the range.
    pub max_inclusive: bool,
}

impl Filter {
    /// Cells whose qualifier is in the range; `None` leaves an end open (`ColumnRangeFilter`).
    pub fn column_range(
        min: Option<Vec<u8>>,
        min_inclusive: bool,
        max: Option<Vec<u8>>,
        max_inclusive: bool,
    ) -> Self {
        Self::ColumnRange(ColumnRangeFilter { min, min_inclusive, max, max_inclusive })
    }
}

impl Kind for ColumnRangeFilter {
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

impl fmt::Display for ColumnRangeFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = if self.min_inclusive { '[' } else { '(' };
        let close = if self.max_inclusive { ']' } else { ')' };
        let (min, max) = (end_text(self.min.as_deref()), end_text(self.max.as_deref()));
        write!(f, "ColumnRangeFilter {open}{min}, {max}{close}")
    }
}

impl ColumnRangeFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        expect_count(arguments, &[4])?;
        let end = |argument: &[u8]| unquote(argument).map(|end| (!end.is_empty()).then_some(end));
        let (min, min_inclusive) = (end(&arguments[0])?, boolean(&arguments[1])?);
        let (max, max_inclusive) = (end(&arguments[2])?, boolean(&arguments[3])?);
        Ok(Filter::column_range(min, min_inclusive, max, max_inclusive))
    }
}

impl Evaluate for ColumnRangeFilter {
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let qualifier = cell.qualifier();
        if let Some(min) = &self.min {
            match qualifier.cmp(min.as_slice()) {
                Ordering::Less => return Ok(ReturnCode::SeekNextUsingHint),
                Ordering::Equal if !self.min_inclusive => return Ok(ReturnCode::NextColumn),
                _ => {}
            }
        }
        let is_past = self.max.as_ref().is_some_and(|max| match qualifier.cmp(max.as_slice()) {
            Ordering::Less => false,
            Ordering::Equal => !self.max_inclusive,
            Ordering::Greater => true,
        });
        Ok(if is_past { ReturnCode::NextRow } else { ReturnCode::Include })
    }

    fn next_cell_hint(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        self.min.as_ref().map(|min| first_on_column(key, min))
    }
}
