//! Filters: what a Get or Scan returns, beyond the selection of rows, columns, versions and times.
//!
//! There are two sides. A [`Filter`] is a description: immutable, comparable, safe to share.
//! Clients build it, it is sent over the wire, and the filter language produces it
//! ([`parse_filter`]). A [`FilterState`] is the same filter at work in one region scanner: it sees
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
//! Surprising behaviour of a filter is intentional: the answers, including the odd ones, are those
//! of Apache HBase 2.6 (package `org.apache.hadoop.hbase.filter`).

mod big_decimal;
mod column;
mod comparator;
mod construct;
mod display;
mod flow;
mod fuzzy;
mod list;
mod parse;
mod ranges;
mod regex;
mod row;
mod row_range;
mod state;
mod value;

#[cfg(test)]
mod tests;

pub use big_decimal::BigDecimal;
pub use comparator::{BitwiseOperator, Comparator, CompareOperator};
pub use parse::{ParseFilterError, parse_filter, supported_filters};
pub use regex::{RegexEngine, RegexFlags, RegexString};
pub use row_range::RowRange;
pub use state::{CellValue, FilterState, HintsInRow, ReturnCode, RowVerdict};

/// Whether all or one of the filters of a list must pass (`FilterList.Operator`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListOperator {
    /// `MUST_PASS_ALL`: AND.
    MustPassAll,
    /// `MUST_PASS_ONE`: OR.
    MustPassOne,
}

/// Where a [`Filter::ColumnPagination`] begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnOffset {
    /// After this many columns of the row, across families.
    Count(i32),
    /// At the first column whose qualifier is not smaller.
    Qualifier(Vec<u8>),
}

/// A key pattern of a [`Filter::FuzzyRow`]. Key and mask have the same length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzyKey {
    /// The bytes that a row must have.
    pub key: Vec<u8>,
    /// For each byte of the key: 0 if the row must have it, 1 if any byte matches.
    pub mask: Vec<u8>,
}

/// A filter and its settings; a variant is named after the HBase class, without the suffix
/// `Filter`.
///
/// Use the constructors ([`Filter::prefix`] and so on), which check as the Java constructors do.
/// Outside this crate variants can be matched but not built.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    /// Rows whose key satisfies `operator` with `comparator`.
    #[non_exhaustive]
    Row {
        /// How row and comparator must compare.
        operator: CompareOperator,
        /// What the row is compared with.
        comparator: Comparator,
    },
    /// Cells whose family satisfies `operator` with `comparator`.
    #[non_exhaustive]
    Family {
        /// How family and comparator must compare.
        operator: CompareOperator,
        /// What the family is compared with.
        comparator: Comparator,
    },
    /// Cells whose qualifier satisfies `operator` with `comparator`.
    #[non_exhaustive]
    Qualifier {
        /// How qualifier and comparator must compare.
        operator: CompareOperator,
        /// What the qualifier is compared with.
        comparator: Comparator,
    },
    /// Cells whose value satisfies `operator` with `comparator`.
    #[non_exhaustive]
    Value {
        /// How value and comparator must compare.
        operator: CompareOperator,
        /// What the value is compared with.
        comparator: Comparator,
    },
    /// Cells of one column, if their value passes; no other cells.
    #[non_exhaustive]
    ColumnValue {
        /// Family of the column.
        family: Vec<u8>,
        /// Qualifier of the column.
        qualifier: Vec<u8>,
        /// How value and comparator must compare.
        operator: CompareOperator,
        /// What the value is compared with.
        comparator: Comparator,
    },
    /// Whole rows, selected by the value of one column.
    #[non_exhaustive]
    SingleColumnValue {
        /// The column and its test.
        test: SingleColumnTest,
    },
    /// As [`Filter::SingleColumnValue`], without the tested column in the answer.
    #[non_exhaustive]
    SingleColumnValueExclude {
        /// The column and its test.
        test: SingleColumnTest,
    },
    /// Cells with the timestamp of some cell of one column (whose value may be tested too).
    #[non_exhaustive]
    DependentColumn {
        /// Family of the reference column.
        family: Vec<u8>,
        /// Qualifier of the reference column.
        qualifier: Vec<u8>,
        /// Whether the reference column itself is omitted.
        drop_dependent_column: bool,
        /// How value and comparator must compare.
        operator: CompareOperator,
        /// What the value is compared with; `None` for no comparison.
        comparator: Option<Comparator>,
    },
    /// Rows that start with `prefix`.
    #[non_exhaustive]
    Prefix {
        /// The bytes.
        prefix: Vec<u8>,
    },
    /// Cells whose qualifier starts with `prefix`.
    #[non_exhaustive]
    ColumnPrefix {
        /// The bytes.
        prefix: Vec<u8>,
    },
    /// Cells whose qualifier starts with one of the prefixes.
    #[non_exhaustive]
    MultipleColumnPrefix {
        /// The prefixes, ascending and distinct.
        prefixes: Vec<Vec<u8>>,
    },
    /// Cells whose qualifier is in a range.
    #[non_exhaustive]
    ColumnRange {
        /// Lower end; `None` is open.
        min: Option<Vec<u8>>,
        /// Whether the lower end belongs to the range.
        min_inclusive: bool,
        /// Upper end; `None` is open.
        max: Option<Vec<u8>>,
        /// Whether the upper end belongs to the range.
        max_inclusive: bool,
    },
    /// A page of the columns of each row.
    #[non_exhaustive]
    ColumnPagination {
        /// Maximum number of columns per row, at least 0.
        limit: i32,
        /// Where the page begins.
        offset: ColumnOffset,
    },
    /// The first columns of a row; meant for Gets.
    #[non_exhaustive]
    ColumnCountGet {
        /// Maximum number of columns, at least 0.
        limit: i32,
    },
    /// The first rows of each region.
    #[non_exhaustive]
    Page {
        /// Maximum number of rows per region, at least 0.
        size: i64,
    },
    /// Rows up to and including `stop_row`.
    #[non_exhaustive]
    InclusiveStop {
        /// The last row.
        stop_row: Vec<u8>,
    },
    /// Cells without their values.
    #[non_exhaustive]
    KeyOnly {
        /// Whether the value becomes its length (4 bytes, big-endian) rather than empty.
        length_as_value: bool,
    },
    /// The first cell of each row.
    #[non_exhaustive]
    FirstKeyOnly {},
    /// The cells of each row up to and including the first with one of the qualifiers.
    #[non_exhaustive]
    FirstKeyValueMatchingQualifiers {
        /// The qualifiers, ascending and distinct.
        qualifiers: Vec<Vec<u8>>,
    },
    /// Rows that match one of the patterns, byte by byte.
    #[non_exhaustive]
    FuzzyRow {
        /// The patterns, at least one.
        keys: Vec<FuzzyKey>,
    },
    /// Rows in one of the ranges.
    #[non_exhaustive]
    MultiRowRange {
        /// The ranges, sorted and merged.
        ranges: Vec<RowRange>,
    },
    /// Cells with one of the timestamps.
    #[non_exhaustive]
    Timestamps {
        /// Milliseconds, ascending and distinct.
        timestamps: Vec<i64>,
        /// Whether the scan may seek over timestamps (and then miss delete markers there).
        can_hint: bool,
    },
    /// A random selection of rows.
    #[non_exhaustive]
    RandomRow {
        /// Share of the rows: below 0 none, above 1 all.
        chance: f32,
    },
    /// Rows in which every cell passes the inner filter.
    #[non_exhaustive]
    Skip {
        /// The inner filter.
        filter: Box<Filter>,
    },
    /// Ends the scan of a region as soon as the inner filter rejects something.
    #[non_exhaustive]
    WhileMatch {
        /// The inner filter.
        filter: Box<Filter>,
    },
    /// Several filters as one (`FilterList`).
    #[non_exhaustive]
    List {
        /// Whether all or one must pass.
        operator: ListOperator,
        /// The filters, called in this order.
        filters: Vec<Filter>,
    },
}

/// The column that a [`Filter::SingleColumnValue`] tests, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleColumnTest {
    /// Family of the column.
    pub family: Vec<u8>,
    /// Qualifier of the column.
    pub qualifier: Vec<u8>,
    /// How value and comparator must compare.
    pub operator: CompareOperator,
    /// What the value is compared with.
    pub comparator: Comparator,
    /// Whether rows without the column are rejected. Default: they pass.
    pub filter_if_missing: bool,
    /// Whether only the newest version is tested (default), or any version may pass.
    pub latest_version_only: bool,
}

impl SingleColumnTest {
    /// A test of this column; rows without it pass, and only the newest version is tested.
    pub fn new(
        family: impl Into<Vec<u8>>,
        qualifier: impl Into<Vec<u8>>,
        operator: CompareOperator,
        comparator: Comparator,
    ) -> Self {
        Self {
            family: family.into(),
            qualifier: qualifier.into(),
            operator,
            comparator,
            filter_if_missing: false,
            latest_version_only: true,
        }
    }

    /// The same test, with rows that lack the column rejected or not.
    pub fn with_filter_if_missing(self, filter_if_missing: bool) -> Self {
        Self { filter_if_missing, ..self }
    }

    /// The same test, of only the newest version or of any.
    pub fn with_latest_version_only(self, latest_version_only: bool) -> Self {
        Self { latest_version_only, ..self }
    }
}

impl Filter {
    /// Maximum nesting depth of filters, in text and on the wire.
    pub const DEPTH_MAX: usize = 128;

    /// The simple name of the HBase class.
    pub fn class_name(&self) -> &'static str {
        match self {
            Self::Row { .. } => "RowFilter",
            Self::Family { .. } => "FamilyFilter",
            Self::Qualifier { .. } => "QualifierFilter",
            Self::Value { .. } => "ValueFilter",
            Self::ColumnValue { .. } => "ColumnValueFilter",
            Self::SingleColumnValue { .. } => "SingleColumnValueFilter",
            Self::SingleColumnValueExclude { .. } => "SingleColumnValueExcludeFilter",
            Self::DependentColumn { .. } => "DependentColumnFilter",
            Self::Prefix { .. } => "PrefixFilter",
            Self::ColumnPrefix { .. } => "ColumnPrefixFilter",
            Self::MultipleColumnPrefix { .. } => "MultipleColumnPrefixFilter",
            Self::ColumnRange { .. } => "ColumnRangeFilter",
            Self::ColumnPagination { .. } => "ColumnPaginationFilter",
            Self::ColumnCountGet { .. } => "ColumnCountGetFilter",
            Self::Page { .. } => "PageFilter",
            Self::InclusiveStop { .. } => "InclusiveStopFilter",
            Self::KeyOnly { .. } => "KeyOnlyFilter",
            Self::FirstKeyOnly { .. } => "FirstKeyOnlyFilter",
            Self::FirstKeyValueMatchingQualifiers { .. } => "FirstKeyValueMatchingQualifiersFilter",
            Self::FuzzyRow { .. } => "FuzzyRowFilter",
            Self::MultiRowRange { .. } => "MultiRowRangeFilter",
            Self::Timestamps { .. } => "TimestampsFilter",
            Self::RandomRow { .. } => "RandomRowFilter",
            Self::Skip { .. } => "SkipFilter",
            Self::WhileMatch { .. } => "WhileMatchFilter",
            Self::List { .. } => "FilterList",
        }
    }

    /// Whether the filter selects whole rows, so that no part of a row may be returned before all
    /// of it was read (`Filter.hasFilterRow`). Such a filter cannot be combined with a batch limit.
    pub fn has_filter_row(&self) -> bool {
        match self {
            Self::SingleColumnValue { .. }
            | Self::SingleColumnValueExclude { .. }
            | Self::DependentColumn { .. }
            | Self::Page { .. }
            | Self::RandomRow { .. }
            | Self::Skip { .. }
            | Self::WhileMatch { .. } => true,
            Self::List { filters, .. } => filters.iter().any(Self::has_filter_row),
            _ => false,
        }
    }

    /// Whether the cells of `family` are needed to decide on a row (`Filter.isFamilyEssential`);
    /// the others may be loaded after a row has passed.
    pub fn is_family_essential(&self, family: &[u8]) -> bool {
        match self {
            Self::ColumnValue { family: essential, .. } => family == essential.as_slice(),
            Self::SingleColumnValue { test } | Self::SingleColumnValueExclude { test } => {
                !test.filter_if_missing || family == test.family.as_slice()
            }
            Self::Skip { filter } | Self::WhileMatch { filter } => {
                filter.is_family_essential(family)
            }
            Self::List { filters, .. } => {
                filters.is_empty() || filters.iter().any(|f| f.is_family_essential(family))
            }
            _ => true,
        }
    }

    /// Whether cells skipped on the way to a hint leave no trace: the filter's answers for them,
    /// and for those after the hint, do not depend on having seen them.
    pub(crate) fn forgets_passed_cells(&self) -> bool {
        matches!(
            self,
            Self::ColumnPrefix { .. }
                | Self::MultipleColumnPrefix { .. }
                | Self::ColumnRange { .. }
                | Self::ColumnPagination { offset: ColumnOffset::Qualifier(_), .. }
        )
    }

    /// Whether HBase counts this among the filters that seek (`HintingFilter`): an AND list calls
    /// them even after another filter has rejected a cell.
    pub(crate) fn is_hinting(&self) -> bool {
        matches!(
            self,
            Self::ColumnPrefix { .. }
                | Self::MultipleColumnPrefix { .. }
                | Self::ColumnRange { .. }
                | Self::Timestamps { .. }
                | Self::FuzzyRow { .. }
                | Self::MultiRowRange { .. }
        )
    }
}
