//! Filters of scanners in JSON: one object for each, with some of the fields of all filters. Bytes
//! are Base64.

use hblite::filter::{
    BitwiseOperator, Comparator, CompareOperator, Filter, FuzzyKey, ListOperator, RowRange,
    SingleColumnTest,
};
use hblite::{Error, Result};
use serde::Deserialize;

use super::cell_set::base64_text;
use super::scalar::Scalar;
use crate::java;

/// The fields of all filters.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct FilterModel {
    #[serde(rename = "type")]
    kind: Scalar<String>,
    op: Scalar<String>,
    comparator: Option<ComparatorModel>,
    value: Scalar<String>,
    filters: Option<Vec<FilterModel>>,
    limit: Scalar<i32>,
    offset: Scalar<i32>,
    family: Scalar<String>,
    qualifier: Scalar<String>,
    if_missing: Scalar<bool>,
    latest_version: Scalar<bool>,
    min_column: Scalar<String>,
    min_column_inclusive: Scalar<bool>,
    max_column: Scalar<String>,
    max_column_inclusive: Scalar<bool>,
    drop_dependent_column: Scalar<bool>,
    chance: Scalar<f32>,
    prefixes: Option<Vec<Scalar<String>>>,
    ranges: Option<Vec<RangeModel>>,
    timestamps: Option<Vec<Scalar<i64>>>,
    fuzzy_keys: Option<Vec<FuzzyKeyModel>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ComparatorModel {
    #[serde(rename = "type")]
    kind: Scalar<String>,
    value: Scalar<String>,
    op: Scalar<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct RangeModel {
    #[serde(deserialize_with = "base64_text")]
    start_row: Option<Vec<u8>>,
    start_row_inclusive: Scalar<bool>,
    #[serde(deserialize_with = "base64_text")]
    stop_row: Option<Vec<u8>>,
    stop_row_inclusive: Scalar<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FuzzyKeyModel {
    #[serde(deserialize_with = "base64_text")]
    key: Option<Vec<u8>>,
    #[serde(deserialize_with = "base64_text")]
    mask: Option<Vec<u8>>,
}

/// The filter that `text` describes.
///
/// # Errors
/// `IllegalArgument` for a text that is not a filter, or for an invalid filter.
pub(crate) fn build(text: &str) -> Result<Filter> {
    let model: FilterModel = serde_json::from_str(text).map_err(|error| {
        Error::illegal_argument(format!("the filter is not valid JSON of a filter: {error}"))
    })?;
    let filter = model.build()?;
    filter.check_count()?;
    Ok(filter)
}

/// A field that the filter needs.
fn needed<T>(field: Option<T>, name: &str) -> Result<T> {
    field.ok_or_else(|| Error::illegal_argument(format!("the filter has no {name}")))
}

fn bytes(field: Option<&String>, name: &str) -> Result<Vec<u8>> {
    decode(needed(field, name)?, name)
}

fn decode(text: &str, name: &str) -> Result<Vec<u8>> {
    let bytes = java::decode_base64(text);
    bytes.ok_or_else(|| Error::illegal_argument(format!("the filter's {name} is not Base64")))
}

impl ComparatorModel {
    fn build(&self) -> Result<Comparator> {
        let value = || bytes(self.value.0.as_ref(), "comparator value");
        let text = || needed(self.value.0.as_deref(), "comparator value");
        Ok(match needed(self.kind.0.as_deref(), "comparator type")? {
            "BinaryComparator" => Comparator::binary(value()?),
            "BinaryPrefixComparator" => Comparator::binary_prefix(value()?),
            "BitComparator" => {
                let operator = match needed(self.op.0.as_deref(), "comparator op")? {
                    "AND" => BitwiseOperator::And,
                    "OR" => BitwiseOperator::Or,
                    "XOR" => BitwiseOperator::Xor,
                    other => return Err(unknown("bitwise operator", other)),
                };
                Comparator::Bit { value: value()?, operator }
            }
            "NullComparator" => Comparator::Null,
            "RegexStringComparator" => Comparator::regex(text()?)?,
            "SubstringComparator" => Comparator::substring(text()?),
            other => return Err(unknown("comparator", other)),
        })
    }
}

fn unknown(what: &str, name: &str) -> Error {
    Error::illegal_argument(format!("there is no {what} called {name}"))
}

impl FilterModel {
    fn build(&self) -> Result<Filter> {
        Ok(match needed(self.kind.0.as_deref(), "type")? {
            "ColumnCountGetFilter" => Filter::column_count_get(needed(self.limit.0, "limit")?)?,
            "ColumnPaginationFilter" => Filter::column_pagination(
                needed(self.limit.0, "limit")?,
                needed(self.offset.0, "offset")?,
            )?,
            "ColumnPrefixFilter" => Filter::column_prefix(self.value()?),
            "ColumnRangeFilter" => Filter::column_range(
                Some(bytes(self.min_column.0.as_ref(), "minColumn")?),
                needed(self.min_column_inclusive.0, "minColumnInclusive")?,
                Some(bytes(self.max_column.0.as_ref(), "maxColumn")?),
                needed(self.max_column_inclusive.0, "maxColumnInclusive")?,
            ),
            "DependentColumnFilter" => Filter::dependent_column_value(
                bytes(self.family.0.as_ref(), "family")?,
                self.qualifier()?,
                needed(self.drop_dependent_column.0, "dropDependentColumn")?,
                self.operator()?,
                self.comparator()?,
            ),
            "FamilyFilter" => Filter::family(self.operator()?, self.comparator()?),
            "FilterList" => self.list()?,
            "FirstKeyOnlyFilter" => Filter::first_key_only(),
            "InclusiveStopFilter" => Filter::inclusive_stop(self.value()?),
            "KeyOnlyFilter" => Filter::key_only(false),
            "MultipleColumnPrefixFilter" => {
                let prefixes = needed(self.prefixes.as_ref(), "prefixes")?;
                let prefixes = prefixes.iter().map(|prefix| bytes(prefix.0.as_ref(), "prefixes"));
                Filter::multiple_column_prefix(prefixes.collect::<Result<Vec<_>>>()?)?
            }
            "MultiRowRangeFilter" => self.ranges()?,
            "PageFilter" => {
                let size = needed(self.value.0.as_deref(), "value")?;
                let size = size.parse().map_err(|_| unknown("page size", size))?;
                Filter::page(size)?
            }
            "PrefixFilter" => Filter::prefix(self.value()?),
            "QualifierFilter" => Filter::qualifier(self.operator()?, self.comparator()?),
            "RandomRowFilter" => Filter::random_row(needed(self.chance.0, "chance")?),
            "RowFilter" => Filter::row(self.operator()?, self.comparator()?),
            "SingleColumnValueExcludeFilter" => Filter::single_column_value_exclude(self.test()?),
            "SingleColumnValueFilter" => Filter::single_column_value(self.test()?),
            "SkipFilter" => Filter::skip(self.only()?),
            "TimestampsFilter" => {
                let timestamps = needed(self.timestamps.as_ref(), "timestamps")?;
                let timestamps = timestamps.iter().map(|time| needed(time.0, "timestamps"));
                Filter::timestamps(timestamps.collect::<Result<Vec<_>>>()?, false)?
            }
            "ValueFilter" => Filter::value(self.operator()?, self.comparator()?),
            "WhileMatchFilter" => Filter::while_match(self.only()?),
            "FuzzyRowFilter" => self.fuzzy_row()?,
            other => return Err(unknown("filter", other)),
        })
    }

    fn value(&self) -> Result<Vec<u8>> {
        bytes(self.value.0.as_ref(), "value")
    }

    fn operator(&self) -> Result<CompareOperator> {
        let name = needed(self.op.0.as_deref(), "op")?;
        CompareOperator::from_name(name).ok_or_else(|| unknown("operator", name))
    }

    fn comparator(&self) -> Result<Comparator> {
        needed(self.comparator.as_ref(), "comparator")?.build()
    }

    /// Without a qualifier, HBase takes the empty one.
    fn qualifier(&self) -> Result<Vec<u8>> {
        self.qualifier.0.as_ref().map_or(Ok(Vec::new()), |text| decode(text, "qualifier"))
    }

    fn test(&self) -> Result<SingleColumnTest> {
        let family = bytes(self.family.0.as_ref(), "family")?;
        let (operator, comparator) = (self.operator()?, self.comparator()?);
        let test = SingleColumnTest::new(family, self.qualifier()?, operator, comparator);
        Ok(test
            .with_filter_if_missing(self.if_missing.0.unwrap_or(false))
            .with_latest_version_only(self.latest_version.0.unwrap_or(true)))
    }

    fn list(&self) -> Result<Filter> {
        let filters = needed(self.filters.as_ref(), "filters")?.iter().map(Self::build);
        let filters = filters.collect::<Result<_>>()?;
        let operator = match needed(self.op.0.as_deref(), "op")? {
            "MUST_PASS_ALL" => ListOperator::MustPassAll,
            "MUST_PASS_ONE" => ListOperator::MustPassOne,
            other => return Err(unknown("operator", other)),
        };
        Ok(Filter::list(operator, filters))
    }

    /// The first filter within this one.
    fn only(&self) -> Result<Filter> {
        let filters = needed(self.filters.as_ref(), "filters")?;
        needed(filters.first(), "filters")?.build()
    }

    fn ranges(&self) -> Result<Filter> {
        let ranges = needed(self.ranges.as_ref(), "ranges")?.iter().map(|range| {
            RowRange::new(
                range.start_row.clone().unwrap_or_default(),
                range.start_row_inclusive.0.unwrap_or(true),
                range.stop_row.clone().unwrap_or_default(),
                range.stop_row_inclusive.0.unwrap_or(false),
            )
        });
        Filter::multi_row_range(ranges.collect())
    }

    fn fuzzy_row(&self) -> Result<Filter> {
        let keys = needed(self.fuzzy_keys.as_ref(), "fuzzyKeys")?.iter().map(|pair| {
            let key = needed(pair.key.clone(), "key")?;
            Ok(FuzzyKey { key, mask: needed(pair.mask.clone(), "mask")? })
        });
        Filter::fuzzy_row(keys.collect::<Result<_>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_built_from_json() {
        let comparator = r#"{"type":"BinaryComparator","value":"djE="}"#;
        let value = format!(r#"{{"type":"ValueFilter","op":"EQUAL","comparator":{comparator}}}"#);
        let expected = Filter::value(CompareOperator::Equal, Comparator::binary("v1"));
        assert_eq!(build(&value).unwrap(), expected);
        let list = format!(
            r#"{{"type":"FilterList","op":"MUST_PASS_ONE","filters":[{value},{}]}}"#,
            r#"{"type":"KeyOnlyFilter"}"#
        );
        let filters = vec![expected, Filter::key_only(false)];
        assert_eq!(build(&list).unwrap(), Filter::list(ListOperator::MustPassOne, filters));
    }

    #[test]
    fn scalars_may_have_another_type() {
        for (text, expected) in [
            (r#"{"type":"ColumnCountGetFilter","limit":"1"}"#, Filter::column_count_get(1)),
            (r#"{"type":"TimestampsFilter","timestamps":[1.0,"2"]}"#, {
                Filter::timestamps(vec![1, 2], false)
            }),
            (r#"{"type":"PageFilter","value":3}"#, Filter::page(3)),
            (r#"{"type":"RandomRowFilter","chance":"1"}"#, Ok(Filter::random_row(1.0))),
        ] {
            assert_eq!(build(text).unwrap(), expected.unwrap(), "{text}");
        }
    }

    #[test]
    fn malformed_filters_are_refused() {
        let deep = format!("{}1{}", r#"{"filters":["#.repeat(1000), "]}".repeat(1000));
        let bad = [
            "",
            "{}",
            "[]",
            r#"{"type":"Nope"}"#,
            r#"{"type":"PageFilter"}"#,
            r#"{"type":"PageFilter","value":"x"}"#,
            r#"{"type":"PrefixFilter","value":"?"}"#,
            r#"{"type":"SkipFilter","filters":[]}"#,
            r#"{"type":"KeyOnlyFilter","other":1}"#,
            &deep,
        ];
        for text in bad {
            assert!(build(text).is_err(), "{text}");
        }
    }
}
