//! Filters: what a Get or Scan returns, beyond the selection of rows, columns, versions and times.
//!
//! `kind/` has one file per filter, and the registry of all filters.
//!
//! There are two sides. A [`Filter`] is a description: immutable, comparable, safe to share.
//! Clients build it, it is sent over the wire, and the filter language produces it
//! ([`parse_filter`]). A [`FilterState`] is the same filter running in one region scanner: it sees
//! rows and cells in scan order and keeps the state it needs.
//!
//! A region scanner calls these methods for each row, in this order:
//!
//! ```text
//! filter_all_remaining ── true: the scan of this region is over
//! filter_row_key       ── true: the row is skipped unread
//! filter_cell*         ── per cell: include, skip, or seek; next_cell_hint says where to
//! transform_cell*      ── per included cell
//! filter_row_cells     ── only if has_filter_row: may still remove cells of the whole row
//! filter_row           ── true: the row is rejected after all
//! reset                ── before the next row
//! ```
//!
//! Surprising behavior of a filter is intentional: the answers, including the odd ones, are those
//! of Apache HBase 2.6 (package `org.apache.hadoop.hbase.filter`).

mod argument;
mod big_decimal;
mod comparator;
mod kind;
mod list;
mod parse;
mod regex;
mod row_range;
mod state;
mod text;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::error::{Error, Result};

pub use big_decimal::BigDecimal;
pub use comparator::{BitwiseOperator, Comparator, CompareOperator};
pub use kind::{
    ColumnCountGetFilter, ColumnOffset, ColumnPaginationFilter, ColumnPrefixFilter,
    ColumnRangeFilter, ColumnValueFilter, DependentColumnFilter, FamilyFilter, Filter, FilterList,
    FirstKeyOnlyFilter, FirstKeyValueMatchingQualifiersFilter, FuzzyKey, FuzzyRowFilter,
    InclusiveStopFilter, KeyOnlyFilter, ListOperator, MultiRowRangeFilter,
    MultipleColumnPrefixFilter, PageFilter, PrefixFilter, QualifierFilter, RandomRowFilter,
    RowFilter, SingleColumnTest, SingleColumnValueExcludeFilter, SingleColumnValueFilter,
    SkipFilter, TimestampsFilter, ValueFilter, WhileMatchFilter,
};
pub use parse::{ParseFilterError, parse_filter, supported_filters};
pub use regex::{RegexEngine, RegexFlags, RegexString};
pub use row_range::RowRange;
pub use state::{CellValue, FilterState, HintsInRow, ReturnCode, RowVerdict};

impl Filter {
    /// Maximum nesting depth of filters, in text and on the wire.
    pub const DEPTH_MAX: usize = 128;

    /// Maximum number of filters of a get or scan, including nested ones: each cell is shown to all
    /// of them.
    pub const COUNT_MAX: usize = 100_000;

    /// Refuses a filter that contains more than [`Filter::COUNT_MAX`] filters, itself included.
    ///
    /// # Errors
    /// `DoNotRetryIo`.
    pub fn check_count(&self) -> Result<()> {
        let mut count = 0;
        let mut left = vec![std::slice::from_ref(self)];
        while let Some(filters) = left.pop() {
            count += filters.len();
            if count > Self::COUNT_MAX {
                return Err(Self::too_many());
            }
            left.extend(filters.iter().filter_map(|filter| match filter {
                Self::Skip(skip) => Some(std::slice::from_ref(skip.filter.as_ref())),
                Self::WhileMatch(inner) => Some(std::slice::from_ref(inner.filter.as_ref())),
                Self::List(list) => Some(list.filters.as_slice()),
                _ => None,
            }));
        }
        Ok(())
    }

    /// The error for more filters than [`Filter::COUNT_MAX`].
    pub fn too_many() -> Error {
        let max = Self::COUNT_MAX;
        Error::do_not_retry(format!(
            "a filter has more than {max} filters within it: send several requests, or a \
             MultiRowRangeFilter or FuzzyRowFilter for many rows"
        ))
    }

    /// Whether the filter selects whole rows, so that no part of a row may be returned before all
    /// of it has been read (`Filter.hasFilterRow`). It cannot be combined with a batch limit.
    pub fn has_filter_row(&self) -> bool {
        self.kind().has_filter_row()
    }

    /// Whether the cells of `family` are needed to decide on a row (`Filter.isFamilyEssential`);
    /// the others may be loaded after a row has passed.
    pub fn is_family_essential(&self, family: &[u8]) -> bool {
        self.kind().is_family_essential(family)
    }

    /// Whether cells skipped on the way to a hint leave no trace: the filter's answers for them,
    /// and for those after the hint, do not depend on having seen them.
    pub(crate) fn forgets_passed_cells(&self) -> bool {
        self.kind().forgets_passed_cells()
    }

    /// Whether it includes or skips cells, each by what is in it, and does nothing else.
    pub(crate) fn judges_cells_alone(&self) -> bool {
        self.kind().judges_cells_alone()
    }

    /// Whether HBase counts this among the filters that seek (`HintingFilter`): an AND list calls
    /// them even after another filter has rejected a cell.
    pub(crate) fn is_hinting(&self) -> bool {
        self.kind().is_hinting()
    }
}

/// The text that Java prints (`toString`).
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}
