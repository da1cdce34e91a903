//! Filters: what a Get or Scan lets through beyond rows, columns, versions and times.
//!
//! Two sides. A [`Filter`] is a description: immutable, comparable, safe to share; it is what a
//! client builds, what travels, and what the filter language ([`parse_filter`]) gives. A
//! [`FilterState`] is the same filter at work in one region scanner: it sees rows and cells in
//! scan order and remembers what it must.
//!
//! The order in which a region scanner asks, for each row:
//!
//! ```text
//! filter_all_remaining ── true: the scan of this region is over
//! filter_row_key       ── true: the row is skipped unread
//! filter_cell*         ── per cell: include, skip, or seek; next_cell_hint says where to
//! transform_cell*      ── per included cell
//! filter_row_cells     ── only if has_filter_row: cells of the whole row may still go
//! filter_row           ── true: the row goes after all
//! reset                ── before the next row
//! ```
//!
//! What is not obvious in a filter here is on purpose: the answers, also the odd ones, are those
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
    /// After so many columns of the row, across families.
    Count(i32),
    /// At the first column whose qualifier is not less.
    Qualifier(Vec<u8>),
}

/// A key pattern of a [`Filter::FuzzyRow`]. Key and mask are equally long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzyKey {
    /// The bytes that a row must have.
    pub key: Vec<u8>,
    /// Per byte of the key: 0, the row must have it; 1, any byte will do.
    pub mask: Vec<u8>,
}

/// A filter and its settings; a variant is the HBase class of that name followed by `Filter`.
///
/// Made by the constructors ([`Filter::prefix`] and so on), which check as the Java constructors
/// do; outside this crate variants can be matched but not built.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    /// Rows whose key compares with `comparator` as `operator` says.
    #[non_exhaustive]
    Row {
        /// How row and comparator must compare.
        operator: CompareOperator,
        /// What the row is compared with.
        comparator: Comparator,
    },
    /// Cells whose family compares with `comparator` as `operator` says.
    #[non_exhaustive]
    Family {
        /// How family and comparator must compare.
        operator: CompareOperator,
        /// What the family is compared with.
        comparator: Comparator,
    },
    /// Cells whose qualifier compares with `comparator` as `operator` says.
    #[non_exhaustive]
    Qualifier {
        /// How qualifier and comparator must compare.
        operator: CompareOperator,
        /// What the qualifier is compared with.
        comparator: Comparator,
    },
    /// Cells whose value compares with `comparator` as `operator` says.
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
    /// Whole rows, judged by the value of one column.
    #[non_exhaustive]
    SingleColumnValue {
        /// The column and its test.
        test: SingleColumnTest,
    },
    /// As [`Filter::SingleColumnValue`], without the judged column in the answer.
    #[non_exhaustive]
    SingleColumnValueExclude {
        /// The column and its test.
        test: SingleColumnTest,
    },
    /// Cells that have the timestamp of some cell of one column (its value may be tested too).
    #[non_exhaustive]
    DependentColumn {
        /// Family of the reference column.
        family: Vec<u8>,
        /// Qualifier of the reference column.
        qualifier: Vec<u8>,
        /// Whether the reference column itself is left out.
        drop_dependent_column: bool,
        /// How value and comparator must compare.
        operator: CompareOperator,
        /// What the value is compared with; `None`: it is not.
        comparator: Option<Comparator>,
    },
    /// Rows that begin with `prefix`.
    #[non_exhaustive]
    Prefix {
        /// The bytes.
        prefix: Vec<u8>,
    },
    /// Cells whose qualifier begins with `prefix`.
    #[non_exhaustive]
    ColumnPrefix {
        /// The bytes.
        prefix: Vec<u8>,
    },
    /// Cells whose qualifier begins with one of the prefixes.
    #[non_exhaustive]
    MultipleColumnPrefix {
        /// The prefixes, ascending and distinct.
        prefixes: Vec<Vec<u8>>,
    },
    /// Cells whose qualifier lies in a range.
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
        /// Most columns per row, at least 0.
        limit: i32,
        /// Where the page begins.
        offset: ColumnOffset,
    },
    /// The first columns of a row; meant for Gets.
    #[non_exhaustive]
    ColumnCountGet {
        /// Most columns, at least 0.
        limit: i32,
    },
    /// The first rows of each region.
    #[non_exhaustive]
    Page {
        /// Most rows per region, at least 0.
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
    /// A random part of the rows.
    #[non_exhaustive]
    RandomRow {
        /// Share of the rows: below 0 none, above 1 all.
        chance: f32,
    },
    /// Rows of which every cell passes the inner filter.
    #[non_exhaustive]
    Skip {
        /// The inner filter.
        filter: Box<Filter>,
    },
    /// Ends the scan of a region at the first thing that the inner filter rejects.
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
        /// The filters, asked in this order.
        filters: Vec<Filter>,
    },
}

/// The column that a [`Filter::SingleColumnValue`] looks at, and how it judges.
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
    /// Whether only the newest version is judged (default), or any may pass.
    pub latest_version_only: bool,
}

impl SingleColumnTest {
    /// A test of this column; rows without it pass, only the newest version is judged.
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

    /// The same test that rejects rows without the column, or not.
    pub fn with_filter_if_missing(self, filter_if_missing: bool) -> Self {
        Self { filter_if_missing, ..self }
    }

    /// The same test that judges the newest version only, or any.
    pub fn with_latest_version_only(self, latest_version_only: bool) -> Self {
        Self { latest_version_only, ..self }
    }
}

impl Filter {
    /// Deepest nesting of filters in filters that is accepted from text or from the wire.
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

    /// Whether rows are judged as a whole, so that no part of a row may be returned before all
    /// of it was read (`Filter.hasFilterRow`). Such a filter cannot go with a batch limit.
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

    /// Whether the cells of `family` are needed to judge a row (`Filter.isFamilyEssential`);
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

    /// Whether cells that are passed by on the way to a hint leave no trace: the filter would say
    /// the same of each of them, and of those behind the hint, had it seen them or not.
    pub(crate) fn forgets_passed_cells(&self) -> bool {
        matches!(
            self,
            Self::ColumnPrefix { .. }
                | Self::MultipleColumnPrefix { .. }
                | Self::ColumnRange { .. }
                | Self::ColumnPagination { offset: ColumnOffset::Qualifier(_), .. }
        )
    }

    /// Whether HBase counts this among the filters that seek (`HintingFilter`): an AND list asks
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
