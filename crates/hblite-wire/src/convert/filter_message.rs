//! Filters as messages: the inverse of `filter`.

use bytes::Bytes;
use hblite_model::Result;
use hblite_model::filter::{
    ColumnOffset, ColumnPaginationFilter, ColumnRangeFilter, ColumnValueFilter, Comparator,
    CompareOperator, DependentColumnFilter, Filter, FilterList, FuzzyRowFilter, ListOperator,
    MultiRowRangeFilter, SingleColumnTest,
};
use prost::Message;

use super::comparator::{PACKAGE, comparator_message, operator_number};
use crate::pb;

/// The filter as a message.
///
/// # Errors
/// `UnsupportedOperation` for a filter without a form on the wire.
pub fn filter_message(filter: &Filter) -> Result<pb::Filter> {
    let content = content(filter)?.into();
    let name = format!("{PACKAGE}{}", filter.class_name());
    Ok(pb::Filter { name, serialized_filter: Some(content) })
}

fn content(filter: &Filter) -> Result<Vec<u8>> {
    Ok(match filter {
        Filter::ColumnCountGet(filter) => {
            pb::ColumnCountGetFilter { limit: filter.limit }.encode_to_vec()
        }
        Filter::ColumnPagination(filter) => column_pagination(filter).encode_to_vec(),
        Filter::ColumnPrefix(filter) => {
            pb::ColumnPrefixFilter { prefix: bytes(&filter.prefix) }.encode_to_vec()
        }
        Filter::ColumnRange(filter) => column_range(filter).encode_to_vec(),
        Filter::ColumnValue(filter) => column_value(filter)?.encode_to_vec(),
        Filter::DependentColumn(filter) => dependent_column(filter)?.encode_to_vec(),
        Filter::Row(filter) => comparison(filter.operator, &filter.comparator)?,
        Filter::Family(filter) => comparison(filter.operator, &filter.comparator)?,
        Filter::Qualifier(filter) => comparison(filter.operator, &filter.comparator)?,
        Filter::Value(filter) => comparison(filter.operator, &filter.comparator)?,
        Filter::FirstKeyOnly(_) => Vec::new(),
        Filter::FirstKeyValueMatchingQualifiers(filter) => {
            let qualifiers = filter.qualifiers.iter().map(|qualifier| bytes(qualifier)).collect();
            pb::FirstKeyValueMatchingQualifiersFilter { qualifiers }.encode_to_vec()
        }
        Filter::FuzzyRow(filter) => fuzzy_row(filter).encode_to_vec(),
        Filter::InclusiveStop(filter) => {
            let stop_row_key = Some(bytes(&filter.stop_row));
            pb::InclusiveStopFilter { stop_row_key }.encode_to_vec()
        }
        Filter::KeyOnly(filter) => {
            pb::KeyOnlyFilter { len_as_val: filter.length_as_value }.encode_to_vec()
        }
        Filter::MultiRowRange(filter) => multi_row_range(filter).encode_to_vec(),
        Filter::MultipleColumnPrefix(filter) => {
            let sorted_prefixes = filter.prefixes.iter().map(|prefix| bytes(prefix)).collect();
            pb::MultipleColumnPrefixFilter { sorted_prefixes }.encode_to_vec()
        }
        Filter::Page(filter) => pb::PageFilter { page_size: filter.size }.encode_to_vec(),
        Filter::Prefix(filter) => {
            pb::PrefixFilter { prefix: Some(bytes(&filter.prefix)) }.encode_to_vec()
        }
        Filter::RandomRow(filter) => pb::RandomRowFilter { chance: filter.chance }.encode_to_vec(),
        Filter::SingleColumnValue(filter) => single_column_test(&filter.test)?.encode_to_vec(),
        Filter::SingleColumnValueExclude(filter) => {
            let single_column_value_filter = single_column_test(&filter.test)?;
            pb::SingleColumnValueExcludeFilter { single_column_value_filter }.encode_to_vec()
        }
        Filter::Timestamps(filter) => {
            let (timestamps, can_hint) = (filter.timestamps.clone(), Some(filter.can_hint));
            pb::TimestampsFilter { timestamps, can_hint }.encode_to_vec()
        }
        Filter::Skip(skip) => wrapper(&skip.filter)?,
        Filter::WhileMatch(filter) => wrapper(&filter.filter)?,
        Filter::List(filters) => list(filters)?,
    })
}

fn bytes(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

fn comparison(operator: CompareOperator, comparator: &Comparator) -> Result<Vec<u8>> {
    let comparator = Some(comparator_message(comparator)?);
    let compare_filter = pb::CompareFilter { compare_op: operator_number(operator), comparator };
    Ok(pb::WrappedCompareFilter { compare_filter }.encode_to_vec())
}

fn column_pagination(filter: &ColumnPaginationFilter) -> pb::ColumnPaginationFilter {
    let (offset, column_offset) = match &filter.offset {
        ColumnOffset::Count(count) => (Some(*count), None),
        ColumnOffset::Qualifier(from) => (None, Some(from.clone().into())),
    };
    pb::ColumnPaginationFilter { limit: filter.limit, offset, column_offset }
}

fn column_range(filter: &ColumnRangeFilter) -> pb::ColumnRangeFilter {
    pb::ColumnRangeFilter {
        min_column: filter.min.as_deref().map(bytes),
        min_column_inclusive: Some(filter.min_inclusive),
        max_column: filter.max.as_deref().map(bytes),
        max_column_inclusive: Some(filter.max_inclusive),
    }
}

fn column_value(filter: &ColumnValueFilter) -> Result<pb::ColumnValueFilter> {
    Ok(pb::ColumnValueFilter {
        family: bytes(&filter.family),
        qualifier: bytes(&filter.qualifier),
        compare_op: operator_number(filter.operator),
        comparator: comparator_message(&filter.comparator)?,
    })
}

fn dependent_column(filter: &DependentColumnFilter) -> Result<pb::DependentColumnFilter> {
    Ok(pb::DependentColumnFilter {
        compare_filter: pb::CompareFilter {
            compare_op: operator_number(filter.operator),
            comparator: filter.comparator.as_ref().map(comparator_message).transpose()?,
        },
        column_family: Some(bytes(&filter.family)),
        column_qualifier: Some(bytes(&filter.qualifier)),
        drop_dependent_column: Some(filter.drop_dependent_column),
    })
}

fn single_column_test(test: &SingleColumnTest) -> Result<pb::SingleColumnValueFilter> {
    Ok(pb::SingleColumnValueFilter {
        column_family: Some(bytes(&test.family)),
        column_qualifier: Some(bytes(&test.qualifier)),
        compare_op: operator_number(test.operator),
        comparator: comparator_message(&test.comparator)?,
        filter_if_missing: Some(test.filter_if_missing),
        latest_version_only: Some(test.latest_version_only),
    })
}

/// Masks are sent as Java's client of 2.6 prepares them: fixed is 0xff, and free is 2.
fn fuzzy_row(filter: &FuzzyRowFilter) -> pb::FuzzyRowFilter {
    // Servers read raw masks (0 and 1) as those of older clients, and then find too little.
    let prepared = |byte: &u8| match *byte {
        0 => 0xff,
        1 => 2,
        other => other,
    };
    let mask = |mask: &[u8]| mask.iter().map(prepared).collect();
    let pair = |key: &hblite_model::filter::FuzzyKey| pb::BytesBytesPairOfFuzzyRow {
        key: bytes(&key.key),
        mask: mask(&key.mask),
    };
    let fuzzy_keys_data = filter.keys.iter().map(pair).collect();
    pb::FuzzyRowFilter { fuzzy_keys_data, is_mask_v2: Some(true) }
}

fn multi_row_range(filter: &MultiRowRangeFilter) -> pb::MultiRowRangeFilter {
    let ranges = filter.ranges.iter().map(|range| pb::RowRange {
        start_row: Some(bytes(&range.start)),
        start_row_inclusive: Some(range.start_inclusive),
        stop_row: Some(bytes(&range.stop)),
        stop_row_inclusive: Some(range.stop_inclusive),
    });
    pb::MultiRowRangeFilter { row_range_list: ranges.collect() }
}

fn wrapper(filter: &Filter) -> Result<Vec<u8>> {
    Ok(pb::FilterOfFilter { filter: filter_message(filter)? }.encode_to_vec())
}

fn list(list: &FilterList) -> Result<Vec<u8>> {
    let operator = match list.operator {
        ListOperator::MustPassAll => 1,
        ListOperator::MustPassOne => 2,
    };
    let filters = list.filters.iter().map(filter_message).collect::<Result<_>>()?;
    Ok(pb::FilterList { operator, filters }.encode_to_vec())
}
