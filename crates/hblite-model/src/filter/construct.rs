//! The constructors of filters; each refuses what its Java class refuses, with the same message.

use super::row_range::{self, RowRange};
use super::{
    ColumnOffset, Comparator, CompareOperator, Filter, FuzzyKey, ListOperator, SingleColumnTest,
};
use crate::bytes::{next_after_prefix, to_string_binary};
use crate::error::{Error, Result};

impl Filter {
    /// Rows whose key satisfies the comparison (`RowFilter`).
    pub fn row(operator: CompareOperator, comparator: Comparator) -> Self {
        Self::Row { operator, comparator }
    }

    /// Cells whose family satisfies the comparison (`FamilyFilter`).
    pub fn family(operator: CompareOperator, comparator: Comparator) -> Self {
        Self::Family { operator, comparator }
    }

    /// Cells whose qualifier satisfies the comparison (`QualifierFilter`).
    pub fn qualifier(operator: CompareOperator, comparator: Comparator) -> Self {
        Self::Qualifier { operator, comparator }
    }

    /// Cells whose value satisfies the comparison (`ValueFilter`).
    pub fn value(operator: CompareOperator, comparator: Comparator) -> Self {
        Self::Value { operator, comparator }
    }

    /// Cells of one column whose value satisfies the comparison (`ColumnValueFilter`).
    pub fn column_value(
        family: impl Into<Vec<u8>>,
        qualifier: impl Into<Vec<u8>>,
        operator: CompareOperator,
        comparator: Comparator,
    ) -> Self {
        Self::ColumnValue {
            family: family.into(),
            qualifier: qualifier.into(),
            operator,
            comparator,
        }
    }

    /// Rows that pass `test` (`SingleColumnValueFilter`).
    pub fn single_column_value(test: SingleColumnTest) -> Self {
        Self::SingleColumnValue { test }
    }

    /// Rows that pass `test`, without its column (`SingleColumnValueExcludeFilter`).
    pub fn single_column_value_exclude(test: SingleColumnTest) -> Self {
        Self::SingleColumnValueExclude { test }
    }

    /// Cells whose timestamp also occurs in the column (`DependentColumnFilter`).
    pub fn dependent_column(
        family: impl Into<Vec<u8>>,
        qualifier: impl Into<Vec<u8>>,
        drop_dependent_column: bool,
    ) -> Self {
        Self::DependentColumn {
            family: family.into(),
            qualifier: qualifier.into(),
            drop_dependent_column,
            operator: CompareOperator::NoOp,
            comparator: None,
        }
    }

    /// As [`Filter::dependent_column`], with only the cells of the column whose value satisfies the
    /// comparison.
    pub fn dependent_column_value(
        family: impl Into<Vec<u8>>,
        qualifier: impl Into<Vec<u8>>,
        drop_dependent_column: bool,
        operator: CompareOperator,
        comparator: Comparator,
    ) -> Self {
        Self::DependentColumn {
            family: family.into(),
            qualifier: qualifier.into(),
            drop_dependent_column,
            operator,
            comparator: Some(comparator),
        }
    }

    /// Rows that start with `prefix` (`PrefixFilter`).
    pub fn prefix(prefix: impl Into<Vec<u8>>) -> Self {
        Self::Prefix { prefix: prefix.into() }
    }

    /// Cells whose qualifier starts with `prefix` (`ColumnPrefixFilter`).
    pub fn column_prefix(prefix: impl Into<Vec<u8>>) -> Self {
        Self::ColumnPrefix { prefix: prefix.into() }
    }

    /// Cells whose qualifier starts with one of these (`MultipleColumnPrefixFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if a prefix is repeated.
    pub fn multiple_column_prefix<P: Into<Vec<u8>>>(
        prefixes: impl IntoIterator<Item = P>,
    ) -> Result<Self> {
        let mut prefixes: Vec<Vec<u8>> = prefixes.into_iter().map(Into::into).collect();
        prefixes.sort_unstable();
        if prefixes.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Error::illegal_argument("prefixes must be distinct"));
        }
        Ok(Self::MultipleColumnPrefix { prefixes })
    }

    /// Cells whose qualifier is in the range; `None` leaves an end open (`ColumnRangeFilter`).
    pub fn column_range(
        min: Option<Vec<u8>>,
        min_inclusive: bool,
        max: Option<Vec<u8>>,
        max_inclusive: bool,
    ) -> Self {
        Self::ColumnRange { min, min_inclusive, max, max_inclusive }
    }

    /// `limit` columns of each row after the first `offset` (`ColumnPaginationFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if `limit` or `offset` is negative.
    pub fn column_pagination(limit: i32, offset: i32) -> Result<Self> {
        not_negative("limit must be positive", limit)?;
        not_negative("offset must be positive", offset)?;
        Ok(Self::ColumnPagination { limit, offset: ColumnOffset::Count(offset) })
    }

    /// `limit` columns of each row, starting at `qualifier` (`ColumnPaginationFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if `limit` is negative.
    pub fn column_pagination_from(limit: i32, qualifier: impl Into<Vec<u8>>) -> Result<Self> {
        not_negative("limit must be positive", limit)?;
        Ok(Self::ColumnPagination { limit, offset: ColumnOffset::Qualifier(qualifier.into()) })
    }

    /// The first `limit` columns of a row (`ColumnCountGetFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if `limit` is negative.
    pub fn column_count_get(limit: i32) -> Result<Self> {
        not_negative("limit be positive", limit)?;
        Ok(Self::ColumnCountGet { limit })
    }

    /// The first `size` rows of each region (`PageFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if `size` is negative.
    pub fn page(size: i64) -> Result<Self> {
        not_negative("must be positive", size)?;
        Ok(Self::Page { size })
    }

    /// Rows up to and including `stop_row` (`InclusiveStopFilter`).
    pub fn inclusive_stop(stop_row: impl Into<Vec<u8>>) -> Self {
        Self::InclusiveStop { stop_row: stop_row.into() }
    }

    /// Cells without values, or with the values' lengths in their place (`KeyOnlyFilter`).
    pub fn key_only(length_as_value: bool) -> Self {
        Self::KeyOnly { length_as_value }
    }

    /// The first cell of each row (`FirstKeyOnlyFilter`).
    pub fn first_key_only() -> Self {
        Self::FirstKeyOnly {}
    }

    /// The cells up to the first with one of the qualifiers
    /// (`FirstKeyValueMatchingQualifiersFilter`).
    pub fn first_key_value_matching_qualifiers<Q: Into<Vec<u8>>>(
        qualifiers: impl IntoIterator<Item = Q>,
    ) -> Self {
        let mut qualifiers: Vec<Vec<u8>> = qualifiers.into_iter().map(Into::into).collect();
        qualifiers.sort_unstable();
        qualifiers.dedup();
        Self::FirstKeyValueMatchingQualifiers { qualifiers }
    }

    /// Rows that match one of the patterns (`FuzzyRowFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if there is no pattern, or if a mask and its key differ in
    /// length.
    pub fn fuzzy_row(keys: Vec<FuzzyKey>) -> Result<Self> {
        for FuzzyKey { key, mask } in &keys {
            if key.len() != mask.len() {
                let (key, mask) = (to_string_binary(key), to_string_binary(mask));
                let message = format!("Fuzzy pair lengths do not match: {{{key},{mask}}}");
                return Err(Error::illegal_argument(message));
            }
        }
        if keys.is_empty() {
            // Java's message comes from a queue that cannot be empty, and is null.
            return Err(Error::illegal_argument(""));
        }
        Ok(Self::FuzzyRow { keys })
    }

    /// Rows in one of the ranges, which may overlap (`MultiRowRangeFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if there is no range, or one that cannot contain a row.
    pub fn multi_row_range(ranges: Vec<RowRange>) -> Result<Self> {
        Ok(Self::MultiRowRange { ranges: row_range::sort_and_merge(ranges)? })
    }

    /// Rows that start with one of the prefixes (`MultiRowRangeFilter`).
    ///
    /// # Errors
    /// `IllegalArgumentException` if there is no prefix.
    pub fn multi_row_prefix<P: Into<Vec<u8>>>(
        prefixes: impl IntoIterator<Item = P>,
    ) -> Result<Self> {
        let range = |prefix: P| {
            let start = prefix.into();
            let stop = next_after_prefix(&start);
            RowRange::new(start, true, stop, false)
        };
        Self::multi_row_range(prefixes.into_iter().map(range).collect())
    }

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
        Ok(Self::Timestamps { timestamps, can_hint })
    }

    /// Each row with this probability (`RandomRowFilter`).
    pub fn random_row(chance: f32) -> Self {
        Self::RandomRow { chance }
    }

    /// Rows in which every cell passes `filter` (`SkipFilter`).
    pub fn skip(filter: Self) -> Self {
        Self::Skip { filter: Box::new(filter) }
    }

    /// Ends a region's scan as soon as `filter` rejects something (`WhileMatchFilter`).
    pub fn while_match(filter: Self) -> Self {
        Self::WhileMatch { filter: Box::new(filter) }
    }

    /// All or one of the filters (`FilterList`). An empty list passes everything.
    pub fn list(operator: ListOperator, filters: Vec<Self>) -> Self {
        Self::List { operator, filters }
    }
}

/// Refuses a negative number with the message of Guava's `Preconditions`.
fn not_negative(message: &str, number: impl Into<i64>) -> Result<()> {
    let number = number.into();
    if number < 0 {
        return Err(Error::illegal_argument(format!("{message} {number}")));
    }
    Ok(())
}
