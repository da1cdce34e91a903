//! Filters on family, qualifier and timestamp, and filters that count columns.

use std::cmp::Ordering;

use super::state::{Evaluate, ReturnCode, first_on_column};
use super::{Comparator, CompareOperator};
use crate::cell::{CellRef, CellType, key};
use crate::error::Result;

/// `FamilyFilter`.
#[derive(Debug)]
pub(super) struct Family {
    operator: CompareOperator,
    comparator: Comparator,
}

impl Family {
    pub(super) fn new(operator: CompareOperator, comparator: Comparator) -> Self {
        Self { operator, comparator }
    }
}

impl Evaluate for Family {
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let family = cell.family();
        if !family.is_empty() && !self.comparator.passes(self.operator, family)? {
            return Ok(ReturnCode::NextRow);
        }
        Ok(ReturnCode::Include)
    }
}

/// `QualifierFilter`.
#[derive(Debug)]
pub(super) struct Qualifier {
    operator: CompareOperator,
    comparator: Comparator,
}

impl Qualifier {
    pub(super) fn new(operator: CompareOperator, comparator: Comparator) -> Self {
        Self { operator, comparator }
    }
}

impl Evaluate for Qualifier {
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let passes = self.comparator.passes(self.operator, cell.qualifier())?;
        Ok(if passes { ReturnCode::Include } else { ReturnCode::Skip })
    }
}

/// `ColumnPrefixFilter`.
#[derive(Debug)]
pub(super) struct ColumnPrefix {
    prefix: Vec<u8>,
}

impl ColumnPrefix {
    pub(super) fn new(prefix: Vec<u8>) -> Self {
        Self { prefix }
    }
}

impl Evaluate for ColumnPrefix {
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

/// `MultipleColumnPrefixFilter`.
#[derive(Debug)]
pub(super) struct MultipleColumnPrefix {
    /// Ascending and distinct.
    prefixes: Vec<Vec<u8>>,
    /// Index of the prefix to seek to.
    hint: usize,
}

impl MultipleColumnPrefix {
    pub(super) fn new(prefixes: Vec<Vec<u8>>) -> Self {
        Self { prefixes, hint: 0 }
    }
}

impl Evaluate for MultipleColumnPrefix {
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.prefixes.is_empty() {
            return Ok(ReturnCode::Include);
        }
        let qualifier = cell.qualifier();
        let following = self.prefixes.partition_point(|prefix| prefix.as_slice() <= qualifier);
        // Only the greatest prefix that is not greater is tested: with the prefixes "a" and "ab",
        // the qualifier "abc" matches "ab", and "ac" matches neither. As in HBase.
        if following > 0 && qualifier.starts_with(&self.prefixes[following - 1]) {
            return Ok(ReturnCode::Include);
        }
        if following == self.prefixes.len() {
            return Ok(ReturnCode::NextRow);
        }
        self.hint = following;
        Ok(ReturnCode::SeekNextUsingHint)
    }

    fn next_cell_hint(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        self.prefixes.get(self.hint).map(|prefix| first_on_column(key, prefix))
    }
}

/// `ColumnRangeFilter`.
#[derive(Debug)]
pub(super) struct ColumnRange {
    pub(super) min: Option<Vec<u8>>,
    pub(super) min_inclusive: bool,
    pub(super) max: Option<Vec<u8>>,
    pub(super) max_inclusive: bool,
}

impl Evaluate for ColumnRange {
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

/// `ColumnPaginationFilter` with a number as offset.
#[derive(Debug)]
pub(super) struct ColumnPage {
    offset: i32,
    /// Columns of the row that are skipped or taken. Wraps like Java's `int`, so a large offset and
    /// a large limit together return nothing.
    end: i32,
    count: i32,
}

impl ColumnPage {
    pub(super) fn new(limit: i32, offset: i32) -> Self {
        Self { offset, end: offset.wrapping_add(limit), count: 0 }
    }
}

impl Evaluate for ColumnPage {
    fn reset(&mut self) {
        self.count = 0;
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.count >= self.end {
            return Ok(ReturnCode::NextRow);
        }
        let is_before = self.count < self.offset;
        self.count += 1;
        Ok(if is_before { ReturnCode::NextColumn } else { ReturnCode::IncludeAndNextColumn })
    }
}

/// `ColumnPaginationFilter` with a qualifier as offset.
#[derive(Debug)]
pub(super) struct ColumnPageFrom {
    limit: i32,
    qualifier: Vec<u8>,
    count: i32,
}

impl ColumnPageFrom {
    pub(super) fn new(limit: i32, qualifier: Vec<u8>) -> Self {
        Self { limit, qualifier, count: 0 }
    }
}

impl Evaluate for ColumnPageFrom {
    fn reset(&mut self) {
        self.count = 0;
    }

    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.count >= self.limit {
            return Ok(ReturnCode::NextRow);
        }
        if self.count == 0 && cell.qualifier() < self.qualifier.as_slice() {
            return Ok(ReturnCode::SeekNextUsingHint);
        }
        self.count += 1;
        Ok(ReturnCode::IncludeAndNextColumn)
    }

    fn next_cell_hint(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        Some(first_on_column(key, &self.qualifier))
    }
}

/// `ColumnCountGetFilter`.
#[derive(Debug)]
pub(super) struct ColumnCountGet {
    limit: i32,
    count: i64,
}

impl ColumnCountGet {
    pub(super) fn new(limit: i32) -> Self {
        Self { limit, count: 0 }
    }
}

impl Evaluate for ColumnCountGet {
    fn reset(&mut self) {
        self.count = 0;
    }

    fn filter_all_remaining(&self) -> bool {
        self.count > i64::from(self.limit)
    }

    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        self.count += 1;
        Ok(if self.filter_all_remaining() {
            ReturnCode::NextColumn
        } else {
            ReturnCode::IncludeAndNextColumn
        })
    }
}

/// `TimestampsFilter`.
#[derive(Debug)]
pub(super) struct Timestamps {
    /// Ascending and distinct.
    timestamps: Vec<i64>,
    can_hint: bool,
}

impl Timestamps {
    pub(super) fn new(timestamps: Vec<i64>, can_hint: bool) -> Self {
        Self { timestamps, can_hint }
    }
}

impl Evaluate for Timestamps {
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
