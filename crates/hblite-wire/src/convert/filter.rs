//! Filters by class name and serialized form.

use bytes::Bytes;
use hblite_model::filter::{
    Comparator, CompareOperator, Filter, FuzzyKey, ListOperator, RowRange, SingleColumnTest,
};
use hblite_model::{Error, Exception, Result};

use super::comparator::{PACKAGE, class_not_found, comparator, compare_operator};
use super::no_such;
use crate::frame::decode;
use crate::pb;

/// The filter in a message.
///
/// # Errors
/// `DoNotRetryIo` for an unknown class, invalid bytes, or too deep nesting; errors of its
/// constructor.
pub fn filter(message: &pb::Filter) -> Result<Filter> {
    at_depth(message, 0).map_err(|error| match error.exception() {
        Exception::DoNotRetryIo => error,
        _ => Error::do_not_retry(error.to_java_string()).with_source(error),
    })
}

fn at_depth(message: &pb::Filter, depth: usize) -> Result<Filter> {
    if depth > Filter::DEPTH_MAX {
        let max = Filter::DEPTH_MAX;
        return Err(Error::do_not_retry(format!("filters are nested deeper than {max}")));
    }
    let bytes = message.serialized_filter.clone().unwrap_or_default();
    let simple = message.name.strip_prefix(PACKAGE).unwrap_or_default();
    if let Some(filter) = of_columns(simple, &bytes)? {
        return Ok(filter);
    }
    if let Some(filter) = of_rows(simple, &bytes)? {
        return Ok(filter);
    }
    let inner = |bytes: Bytes| at_depth(&decode::<pb::FilterOfFilter>(bytes)?.filter, depth + 1);
    match simple {
        "SkipFilter" => inner(bytes).map(Filter::skip),
        "WhileMatchFilter" => inner(bytes).map(Filter::while_match),
        "FilterWrapper" => inner(bytes),
        "FilterList" | "FilterListWithAND" | "FilterListWithOR" => list(bytes, depth),
        _ => Err(class_not_found(&message.name)),
    }
}

fn list(bytes: Bytes, depth: usize) -> Result<Filter> {
    let message: pb::FilterList = decode(bytes)?;
    let operator = match message.operator {
        1 => ListOperator::MustPassAll,
        2 => ListOperator::MustPassOne,
        other => return Err(no_such("operator of a filter list", other)),
    };
    // Checked before any of them is parsed. The scan counts the filters of nested lists, too.
    if message.filters.len() > Filter::COUNT_MAX {
        return Err(Filter::too_many());
    }
    let filters = message.filters.iter().map(|filter| at_depth(filter, depth + 1));
    Ok(Filter::list(operator, filters.collect::<Result<_>>()?))
}

/// Operator and comparator of a compare filter.
fn comparison(message: pb::CompareFilter) -> Result<(CompareOperator, Option<Comparator>)> {
    let comparator = message.comparator.as_ref().map(comparator).transpose()?;
    Ok((compare_operator(message.compare_op)?, comparator))
}

fn wrapped_comparison(bytes: &Bytes) -> Result<(CompareOperator, Comparator)> {
    let message: pb::WrappedCompareFilter = decode(bytes.clone())?;
    let (operator, comparator) = comparison(message.compare_filter)?;
    let missing = || Error::do_not_retry("a compare filter without a comparator");
    Ok((operator, comparator.ok_or_else(missing)?))
}

fn single_column_test(message: pb::SingleColumnValueFilter) -> Result<SingleColumnTest> {
    let test = SingleColumnTest::new(
        message.column_family.unwrap_or_default(),
        message.column_qualifier.unwrap_or_default(),
        compare_operator(message.compare_op)?,
        comparator(&message.comparator)?,
    );
    Ok(test
        .with_filter_if_missing(message.filter_if_missing.unwrap_or(false))
        .with_latest_version_only(message.latest_version_only.unwrap_or(false)))
}

/// Filters of families, qualifiers, values and timestamps.
fn of_columns(simple: &str, bytes: &Bytes) -> Result<Option<Filter>> {
    let bytes = bytes.clone();
    Ok(Some(match simple {
        "ColumnCountGetFilter" => {
            Filter::column_count_get(decode::<pb::ColumnCountGetFilter>(bytes)?.limit)?
        }
        "ColumnPaginationFilter" => {
            let message: pb::ColumnPaginationFilter = decode(bytes)?;
            match message.column_offset {
                Some(from) => Filter::column_pagination_from(message.limit, from)?,
                None => Filter::column_pagination(message.limit, message.offset.unwrap_or(0))?,
            }
        }
        "ColumnPrefixFilter" => {
            Filter::column_prefix(decode::<pb::ColumnPrefixFilter>(bytes)?.prefix)
        }
        "ColumnRangeFilter" => {
            let message: pb::ColumnRangeFilter = decode(bytes)?;
            Filter::column_range(
                message.min_column.map(Into::into),
                message.min_column_inclusive.unwrap_or(false),
                message.max_column.map(Into::into),
                message.max_column_inclusive.unwrap_or(false),
            )
        }
        "ColumnValueFilter" => {
            let message: pb::ColumnValueFilter = decode(bytes)?;
            let operator = compare_operator(message.compare_op)?;
            let comparator = comparator(&message.comparator)?;
            Filter::column_value(message.family, message.qualifier, operator, comparator)
        }
        "DependentColumnFilter" => dependent_column(decode(bytes)?)?,
        "FamilyFilter" => wrapped_comparison(&bytes).map(|(o, c)| Filter::family(o, c))?,
        "QualifierFilter" => wrapped_comparison(&bytes).map(|(o, c)| Filter::qualifier(o, c))?,
        "ValueFilter" => wrapped_comparison(&bytes).map(|(o, c)| Filter::value(o, c))?,
        "FirstKeyOnlyFilter" => Filter::first_key_only(),
        "FirstKeyValueMatchingQualifiersFilter" => {
            let message: pb::FirstKeyValueMatchingQualifiersFilter = decode(bytes)?;
            Filter::first_key_value_matching_qualifiers(message.qualifiers)
        }
        "KeyOnlyFilter" => Filter::key_only(decode::<pb::KeyOnlyFilter>(bytes)?.len_as_val),
        "MultipleColumnPrefixFilter" => {
            let message: pb::MultipleColumnPrefixFilter = decode(bytes)?;
            Filter::multiple_column_prefix(message.sorted_prefixes)?
        }
        "SingleColumnValueFilter" => {
            Filter::single_column_value(single_column_test(decode(bytes)?)?)
        }
        "SingleColumnValueExcludeFilter" => {
            let message: pb::SingleColumnValueExcludeFilter = decode(bytes)?;
            let test = single_column_test(message.single_column_value_filter)?;
            Filter::single_column_value_exclude(test)
        }
        "TimestampsFilter" => {
            let message: pb::TimestampsFilter = decode(bytes)?;
            Filter::timestamps(message.timestamps, message.can_hint.unwrap_or(false))?
        }
        _ => return Ok(None),
    }))
}

fn dependent_column(message: pb::DependentColumnFilter) -> Result<Filter> {
    let (operator, comparator) = comparison(message.compare_filter)?;
    let family = message.column_family.unwrap_or_default();
    let qualifier = message.column_qualifier.unwrap_or_default();
    let drops = message.drop_dependent_column.unwrap_or(false);
    Ok(match comparator {
        Some(comparator) => {
            Filter::dependent_column_value(family, qualifier, drops, operator, comparator)
        }
        None => Filter::dependent_column(family, qualifier, drops),
    })
}

/// Filters of rows.
fn of_rows(simple: &str, bytes: &Bytes) -> Result<Option<Filter>> {
    let bytes = bytes.clone();
    Ok(Some(match simple {
        "RowFilter" => wrapped_comparison(&bytes).map(|(o, c)| Filter::row(o, c))?,
        "FuzzyRowFilter" => fuzzy_row(decode(bytes)?)?,
        "InclusiveStopFilter" => {
            let message: pb::InclusiveStopFilter = decode(bytes)?;
            Filter::inclusive_stop(message.stop_row_key.unwrap_or_default())
        }
        "MultiRowRangeFilter" => {
            let message: pb::MultiRowRangeFilter = decode(bytes)?;
            let ranges = message.row_range_list.into_iter().map(|range| {
                RowRange::new(
                    range.start_row.unwrap_or_default(),
                    range.start_row_inclusive.unwrap_or(false),
                    range.stop_row.unwrap_or_default(),
                    range.stop_row_inclusive.unwrap_or(false),
                )
            });
            Filter::multi_row_range(ranges.collect())?
        }
        "PageFilter" => Filter::page(decode::<pb::PageFilter>(bytes)?.page_size)?,
        "PrefixFilter" => {
            Filter::prefix(decode::<pb::PrefixFilter>(bytes)?.prefix.unwrap_or_default())
        }
        "RandomRowFilter" => Filter::random_row(decode::<pb::RandomRowFilter>(bytes)?.chance),
        _ => return Ok(None),
    }))
}

/// Masks are sent raw (0 fixed, 1 free) or as Java has prepared them: fixed is 0xff, and free is 2,
/// or 0 from the oldest clients. Clients 1.4 to 2.3 send 2 without saying so. As HBase does, a mask
/// that is not prepared is prepared here, and then all bytes but their last two bits count
/// (`FuzzyRowFilter.preprocessMask`, `idempotentMaskShift`).
fn fuzzy_row(message: pb::FuzzyRowFilter) -> Result<Filter> {
    let free: u8 = if message.is_mask_v2.unwrap_or(false) { 2 } else { 0 };
    let keys = message.fuzzy_keys_data.into_iter().map(|pair| {
        let is_prepared = pair.mask.iter().all(|byte| *byte == 0xff || *byte == free);
        let prepared = |byte: u8| match byte {
            0 if !is_prepared => 0xff,
            1 if !is_prepared => free,
            other => other,
        };
        let is_free = |byte: u8| prepared(byte) >> 2 == 0;
        let mask = pair.mask.iter().map(|byte| u8::from(is_free(*byte))).collect();
        FuzzyKey { key: pair.key.to_vec(), mask }
    });
    Filter::fuzzy_row(keys.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fuzzy_row_without_a_free_byte_is_one_row() {
        let key = |mask: [u8; 2]| FuzzyKey { key: b"ab".to_vec(), mask: mask.to_vec() };
        for mask in [[0, 0], [0, 1], [1, 1]] {
            let fuzzy = Filter::fuzzy_row(vec![key(mask)]).unwrap();
            let message = super::super::filter_message(&fuzzy).unwrap();
            assert_eq!(filter(&message).unwrap(), fuzzy, "{mask:?}");
        }
    }

    fn message(name: &str, message: &impl prost::Message) -> pb::Filter {
        let serialized_filter = Some(message.encode_to_vec().into());
        pb::Filter { name: format!("{PACKAGE}{name}"), serialized_filter }
    }

    #[test]
    fn filters_are_those_of_their_class() {
        let prefix = pb::PrefixFilter { prefix: Some("r".into()) };
        assert_eq!(filter(&message("PrefixFilter", &prefix)).unwrap(), Filter::prefix("r"));
        let list = pb::FilterList {
            operator: 2,
            filters: vec![
                message("PrefixFilter", &prefix),
                message(
                    "WhileMatchFilter",
                    &pb::FilterOfFilter {
                        filter: message("PageFilter", &pb::PageFilter { page_size: 3 }),
                    },
                ),
            ],
        };
        let page = Filter::while_match(Filter::page(3).unwrap());
        let expected = Filter::list(ListOperator::MustPassOne, vec![Filter::prefix("r"), page]);
        assert_eq!(filter(&message("FilterList", &list)).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let unknown = pb::Filter { name: "my.Filter".to_owned(), serialized_filter: None };
        let error = filter(&unknown).unwrap_err();
        assert_eq!(error.message(), "java.lang.ClassNotFoundException: my.Filter");
        let page = pb::PageFilter { page_size: -1 };
        let error = filter(&message("PageFilter", &page)).unwrap_err();
        assert!(error.message().contains("must be positive -1"), "{error}");
        let mut deep = message("PrefixFilter", &pb::PrefixFilter { prefix: None });
        for _ in 0..=Filter::DEPTH_MAX {
            deep = message("SkipFilter", &pb::FilterOfFilter { filter: deep });
        }
        assert!(filter(&deep).is_err());
        let page = message("PageFilter", &pb::PageFilter { page_size: 1 });
        let wide = pb::FilterList { operator: 1, filters: vec![page; Filter::COUNT_MAX + 1] };
        let error = filter(&message("FilterList", &wide)).unwrap_err();
        assert!(error.message().contains("more than 100000 filters"), "{error}");
    }

    #[test]
    fn masks_come_in_three_kinds() {
        let kinds: [(&[u8], Option<bool>); 5] = [
            (&[0xff, 0], None),
            (&[0xff, 2], Some(true)),
            (&[0, 1], None),
            (&[0xff, 2], None),
            (&[0, 2], None),
        ];
        for (mask, is_mask_v2) in kinds {
            let pair = pb::BytesBytesPairOfFuzzyRow {
                key: b"ab".to_vec().into(),
                mask: mask.to_vec().into(),
            };
            let fuzzy = pb::FuzzyRowFilter { fuzzy_keys_data: vec![pair], is_mask_v2 };
            let expected = FuzzyKey { key: b"ab".to_vec(), mask: vec![0, 1] };
            let expected = Filter::fuzzy_row(vec![expected]).unwrap();
            assert_eq!(filter(&message("FuzzyRowFilter", &fuzzy)).unwrap(), expected, "{mask:?}");
        }
    }
}
