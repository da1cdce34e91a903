//! `TimestampsFilter`: cells with one of the timestamps.

use std::fmt;

use super::{Filter, Kind, not_negative};
use crate::cell::{CellRef, CellType, key};
use crate::error::Result;
use crate::filter::argument::{Arguments, long};
use crate::filter::state::{Evaluate, Evaluators, ReturnCode};
use crate::filter::text::write_counted;

/// Cells with one of the timestamps.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TimestampsFilter {
    /// Milliseconds, ascending and distinct.
    pub timestamps: Vec<i64>,
    /// Whether the scan may seek over timestamps (and then miss delete markers there).
    pub can_hint: bool,
}

impl Filter {
    /// Cells with one of the timestamps (`TimestampsFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if a timestamp is negative.
    pub fn timestamps(timestamps: impl Into<Vec<i64>>, can_hint: bool) -> Result<Self> {
        let mut timestamps = timestamps.into();
        for timestamp in &timestamps {
            not_negative("must be positive", *timestamp)?;
        }
        timestamps.sort_unstable();
        timestamps.dedup();
        Ok(Self::Timestamps(TimestampsFilter { timestamps, can_hint }))
    }
}

impl Kind for TimestampsFilter {
    fn evaluator(&self, _: &mut Evaluators) -> Box<dyn Evaluate> {
        Box::new(self.clone())
    }

    fn is_hinting(&self) -> bool {
        true
    }
}

impl fmt::Display for TimestampsFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timestamps = self.timestamps.iter().map(i64::to_string);
        write_counted(f, "TimestampsFilter", timestamps)?;
        write!(f, " canHint: [{}]", self.can_hint)
    }
}

impl TimestampsFilter {
    pub(super) fn parse(arguments: Arguments<'_>) -> Result<Filter> {
        let timestamps: Vec<_> =
            arguments.iter().map(|argument| long(argument)).collect::<Result<_>>()?;
        Filter::timestamps(timestamps, false)
    }
}

impl Evaluate for TimestampsFilter {
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let timestamp = cell.timestamp();
        if self.timestamps.binary_search(&timestamp).is_ok() {
            return Ok(ReturnCode::Include);
        }
        let oldest = self.timestamps.first().copied().unwrap_or(i64::MAX);
        Ok(if timestamp < oldest {
            ReturnCode::NextColumn
        } else if self.can_hint {
            ReturnCode::SeekNextUsingHint
        } else {
            ReturnCode::Skip
        })
    }

    fn next_cell_hint(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        if !self.can_hint {
            return None;
        }
        let older = self.timestamps.partition_point(|t| *t < key::timestamp(key));
        let (row, family, qualifier) = (key::row(key), key::family(key), key::qualifier(key));
        Some(match older.checked_sub(1).map(|index| self.timestamps[index]) {
            Some(next) => key::build(row, family, qualifier, next, CellType::MAXIMUM),
            None => key::last_on_column(row, family, qualifier),
        })
    }
}
