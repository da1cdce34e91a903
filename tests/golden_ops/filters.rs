//! Recorded filters and comparators as hblite's.

use hblite::filter::{
    BigDecimal, BitwiseOperator, Comparator, Filter, FuzzyKey, ListOperator, RegexEngine,
    RegexFlags, RegexString, RowRange, SingleColumnTest, parse_filter,
};
use hblite::{Error, Result};
use serde_json::Value;

use super::arguments::{byte_lists, bytes, compare_operator, text};

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn int(value: &Value) -> i32 {
    value.as_i64().and_then(|number| i32::try_from(number).ok()).unwrap_or(0)
}

fn optional_bytes(value: &Value) -> Option<Vec<u8>> {
    (!value.is_null()).then(|| bytes(value))
}

pub(crate) fn filter(value: &Value) -> Result<Filter> {
    let comparator = || comparator(&value["comparator"]);
    let operator = || compare_operator(&value["cmp"]);
    Ok(match value["type"].as_str().unwrap_or("") {
        "RowFilter" => Filter::row(operator()?, comparator()?),
        "FamilyFilter" => Filter::family(operator()?, comparator()?),
        "QualifierFilter" => Filter::qualifier(operator()?, comparator()?),
        "ValueFilter" => Filter::value(operator()?, comparator()?),
        "ColumnValueFilter" => {
            Filter::column_value(bytes(&value["f"]), bytes(&value["q"]), operator()?, comparator()?)
        }
        "SingleColumnValueFilter" => Filter::single_column_value(single_column(value)?),
        "SingleColumnValueExcludeFilter" => {
            Filter::single_column_value_exclude(single_column(value)?)
        }
        "DependentColumnFilter" => dependent_column(value)?,
        "PrefixFilter" => Filter::prefix(bytes(&value["prefix"])),
        "ColumnPrefixFilter" => Filter::column_prefix(bytes(&value["prefix"])),
        "MultipleColumnPrefixFilter" => {
            Filter::multiple_column_prefix(byte_lists(&value["prefixes"]))?
        }
        "ColumnRangeFilter" => Filter::column_range(
            optional_bytes(&value["min"]),
            value["min_inclusive"] == true,
            optional_bytes(&value["max"]),
            value["max_inclusive"] == true,
        ),
        "ColumnPaginationFilter" => match &value["offset"] {
            Value::String(_) => {
                Filter::column_pagination_from(int(&value["limit"]), bytes(&value["offset"]))?
            }
            offset => Filter::column_pagination(int(&value["limit"]), int(offset))?,
        },
        "ColumnCountGetFilter" => Filter::column_count_get(int(&value["limit"]))?,
        "PageFilter" => Filter::page(value["size"].as_i64().unwrap_or(0))?,
        "InclusiveStopFilter" => Filter::inclusive_stop(bytes(&value["stop"])),
        "KeyOnlyFilter" => Filter::key_only(value["len_as_val"] == true),
        "FirstKeyOnlyFilter" => Filter::first_key_only(),
        "FirstKeyValueMatchingQualifiersFilter" => {
            Filter::first_key_value_matching_qualifiers(byte_lists(&value["qualifiers"]))
        }
        "TimestampsFilter" => {
            let timestamps: Vec<i64> =
                list(&value["timestamps"]).iter().filter_map(Value::as_i64).collect();
            Filter::timestamps(timestamps, value["can_hint"] == true)?
        }
        "RandomRowFilter" => Filter::random_row(value["chance"].as_f64().unwrap_or(0.0) as f32),
        "SkipFilter" => Filter::skip(filter(&value["filter"])?),
        "WhileMatchFilter" => Filter::while_match(filter(&value["filter"])?),
        "FilterList" => {
            let filters: Result<Vec<Filter>> = list(&value["filters"]).iter().map(filter).collect();
            let operator = match value["operator"].as_str() {
                Some("MUST_PASS_ONE") => ListOperator::MustPassOne,
                _ => ListOperator::MustPassAll,
            };
            Filter::list(operator, filters?)
        }
        "parse" => parse_filter(text(&value["text"])).map_err(Error::from)?,
        _ => return row_set_filter(value),
    })
}

fn row_set_filter(value: &Value) -> Result<Filter> {
    match value["type"].as_str().unwrap_or("") {
        "FuzzyRowFilter" => {
            let key = |pair: &Value| FuzzyKey { key: bytes(&pair[0]), mask: bytes(&pair[1]) };
            Filter::fuzzy_row(list(&value["keys"]).iter().map(key).collect())
        }
        "MultiRowRangeFilter" if value.get("prefixes").is_some() => {
            Filter::multi_row_prefix(byte_lists(&value["prefixes"]))
        }
        "MultiRowRangeFilter" => {
            let range = |range: &Value| {
                RowRange::new(
                    bytes(&range[0]),
                    range[1] == true,
                    bytes(&range[2]),
                    range[3] == true,
                )
            };
            Filter::multi_row_range(list(&value["ranges"]).iter().map(range).collect())
        }
        other => panic!("unknown filter {other}"),
    }
}

fn single_column(value: &Value) -> Result<SingleColumnTest> {
    let (operator, comparator) =
        (compare_operator(&value["cmp"])?, comparator(&value["comparator"])?);
    let test = SingleColumnTest::new(bytes(&value["f"]), bytes(&value["q"]), operator, comparator);
    Ok(test
        .with_filter_if_missing(value["filter_if_missing"] == true)
        .with_latest_version_only(value["latest_version_only"] != false))
}

fn dependent_column(value: &Value) -> Result<Filter> {
    let (family, qualifier) = (bytes(&value["f"]), bytes(&value["q"]));
    let drop = value["drop"] == true;
    if value["comparator"].is_null() {
        return Ok(Filter::dependent_column(family, qualifier, drop));
    }
    let (operator, comparator) =
        (compare_operator(&value["cmp"])?, comparator(&value["comparator"])?);
    Ok(Filter::dependent_column_value(family, qualifier, drop, operator, comparator))
}

fn comparator(value: &Value) -> Result<Comparator> {
    let content = || bytes(&value["value"]);
    Ok(match value["type"].as_str().unwrap_or("") {
        "BinaryComparator" => Comparator::binary(content()),
        "BinaryPrefixComparator" => Comparator::binary_prefix(content()),
        "BinaryComponentComparator" => Comparator::BinaryComponent {
            value: content(),
            offset: usize::try_from(int(&value["offset"])).unwrap_or(0),
        },
        "BitComparator" => {
            let operator = match value["bitop"].as_str() {
                Some("AND") => BitwiseOperator::And,
                Some("OR") => BitwiseOperator::Or,
                _ => BitwiseOperator::Xor,
            };
            Comparator::Bit { value: content(), operator }
        }
        "LongComparator" => Comparator::Long(value["value"].as_i64().unwrap_or(0)),
        "BigDecimalComparator" => Comparator::BigDecimal(
            text(&value["value"])
                .parse::<BigDecimal>()
                .map_err(|_| Error::illegal_argument("not a number"))?,
        ),
        "NullComparator" => Comparator::Null,
        "SubstringComparator" => Comparator::substring(&text(&value["value"])),
        "RegexStringComparator" => {
            let engine = match value["engine"].as_str() {
                Some("JONI") => RegexEngine::Joni,
                _ => RegexEngine::Java,
            };
            let flags = match &value["flags"] {
                Value::Null => RegexFlags::DOTALL,
                flags => RegexFlags(int(flags)),
            };
            Comparator::Regex(RegexString::new(&text(&value["value"]), flags, engine)?)
        }
        other => panic!("unknown comparator {other}"),
    })
}
