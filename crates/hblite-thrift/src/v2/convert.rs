//! Operations from the structs of Thrift 2.

use hblite_model::filter::{CompareOperator, Filter, parse_filter};
use hblite_model::{
    Append, Delete, Durability, Error, Get, Increment, LATEST_TIMESTAMP, Put, Result, RowMutations,
    Scan, TimeRange,
};
use hblite_wire::convert;
use hblite_wire::pb;
use prost::Message as _;

use crate::attributes::time_to_live_ms;
use crate::scanners::check_scan;
use crate::store::check_row;

use super::types::{
    TAppend, TColumn, TDelete, TGet, TIncrement, TPut, TRowMutations, TScan, TTimeRange,
};

/// `TDurability`.
const DURABILITIES: [Durability; 5] = [
    Durability::UseDefault,
    Durability::SkipWal,
    Durability::AsyncWal,
    Durability::SyncWal,
    Durability::FsyncWal,
];
/// `TCompareOp`.
const COMPARE_OPERATORS: [CompareOperator; 7] = [
    CompareOperator::Less,
    CompareOperator::LessOrEqual,
    CompareOperator::Equal,
    CompareOperator::NotEqual,
    CompareOperator::GreaterOrEqual,
    CompareOperator::Greater,
    CompareOperator::NoOp,
];

fn by_number<T: Copy>(all: &[T], number: i32) -> Option<T> {
    usize::try_from(number).ok().and_then(|number| all.get(number)).copied()
}

/// The durability with this number; `UseDefault` for an unknown one.
pub(super) fn durability(number: Option<i32>) -> Durability {
    number.and_then(|number| by_number(&DURABILITIES, number)).unwrap_or(Durability::UseDefault)
}

/// The number of a durability.
pub(super) fn durability_number(durability: Durability) -> Option<i32> {
    let position = DURABILITIES.iter().position(|known| *known == durability);
    position.and_then(|number| i32::try_from(number).ok())
}

/// The operator with this number; `None` for an unknown one.
pub(super) fn compare_operator(number: i32) -> Option<CompareOperator> {
    by_number(&COMPARE_OPERATORS, number)
}

fn time_range(range: &TTimeRange) -> Result<TimeRange> {
    TimeRange::new(range.min, range.max)
}

/// A filter in the filter language, or one as HBase's clients send it.
fn wanted_filter(text: Option<&[u8]>, bytes: Option<&[u8]>) -> Result<Option<Filter>> {
    let parsed = text.map(parse_filter).transpose().map_err(Error::from)?;
    let Some(bytes) = bytes else { return Ok(parsed) };
    let message = pb::Filter::decode(bytes);
    let message = message.map_err(|error| Error::malformed(format!("filterBytes: {error}")))?;
    convert::filter(&message).map(Some)
}

pub(super) fn get(wanted: &TGet) -> Result<Get> {
    let mut get = Get::new(&wanted.row);
    if let Some(timestamp) = wanted.timestamp {
        get = get.with_time_range(TimeRange::at(timestamp)?);
    } else if let Some(range) = &wanted.time_range {
        get = get.with_time_range(time_range(range)?);
    }
    if let Some(versions) = wanted.max_versions {
        get = get.with_versions(u32::try_from(versions).unwrap_or(0));
    }
    if let Some(limit) = wanted.store_limit.and_then(|limit| u32::try_from(limit).ok()) {
        get = get.with_family_limit(limit);
    }
    if let Some(offset) = wanted.store_offset.and_then(|offset| u32::try_from(offset).ok()) {
        get = get.with_family_offset(offset);
    }
    for column in wanted.columns.iter().flat_map(|columns| &columns.0) {
        get = match &column.qualifier {
            Some(qualifier) => get.with_column(&column.family, qualifier),
            None => get.with_family(&column.family),
        };
    }
    match wanted_filter(wanted.filter_string.as_deref(), wanted.filter_bytes.as_deref())? {
        Some(filter) => Ok(get.with_filter(filter)),
        None => Ok(get),
    }
}

/// # Errors
/// `IllegalArgument` for an invalid row, timestamp or family.
pub(super) fn put(wanted: &TPut) -> Result<Put> {
    let timestamp = wanted.timestamp.unwrap_or(LATEST_TIMESTAMP);
    let mut put = Put::new(&wanted.row)
        .with_timestamp(timestamp)
        .with_durability(durability(wanted.durability));
    for cell in &wanted.column_values.0 {
        let (family, qualifier) = (&cell.family, &cell.qualifier);
        if family.is_empty() {
            return Err(Error::illegal_argument("Family cannot be null"));
        }
        put = match cell.timestamp {
            Some(timestamp) => put.add_at(family, qualifier, timestamp, cell.value.as_slice()),
            None => put.add(family, qualifier, cell.value.as_slice()),
        };
    }
    // What HBase checks when it constructs a Put, whatever its cells.
    check_row(&wanted.row, timestamp)?;
    Ok(match wanted.attributes.as_ref().and_then(time_to_live_ms) {
        Some(time_to_live_ms) => put.with_time_to_live_ms(time_to_live_ms),
        None => put,
    })
}

/// # Errors
/// `IllegalArgument` for a version of a family without a timestamp.
pub(super) fn delete(wanted: &TDelete) -> Result<Delete> {
    let durability = durability(wanted.durability);
    let Some(columns) = &wanted.columns else {
        let timestamp = wanted.timestamp.unwrap_or(LATEST_TIMESTAMP);
        return Ok(Delete::new(&wanted.row).with_timestamp(timestamp).with_durability(durability));
    };
    let mut delete = Delete::new(&wanted.row).with_durability(durability);
    for column in &columns.0 {
        delete = with_delete(delete, column, wanted.delete_type)?;
    }
    Ok(delete)
}

/// Adds the deletion of a column; the numbers are those of `TDeleteType`.
fn with_delete(delete: Delete, column: &TColumn, delete_type: i32) -> Result<Delete> {
    let family = &column.family;
    let qualifier = column.qualifier.as_deref().unwrap_or_default();
    Ok(match (delete_type, column.timestamp) {
        (0, Some(timestamp)) => delete.column_at(family, qualifier, timestamp),
        (0, None) => delete.column(family, qualifier),
        (1, Some(timestamp)) => delete.columns_at(family, qualifier, timestamp),
        (1, None) => delete.columns(family, qualifier),
        (2, Some(timestamp)) => delete.family_at(family, timestamp),
        (2, None) => delete.family(family),
        (3, Some(timestamp)) => delete.family_version(family, timestamp),
        _ => {
            let message = "Timestamp is required for TDelete with DeleteFamilyVersion type";
            return Err(Error::illegal_argument(message));
        }
    })
}

pub(super) fn row_mutations(wanted: &TRowMutations) -> Result<RowMutations> {
    let mut mutations = RowMutations::new(&wanted.row);
    for mutation in &wanted.mutations.0 {
        if let Some(wanted) = &mutation.put {
            mutations = mutations.add(put(wanted)?);
        }
        if let Some(wanted) = &mutation.delete {
            mutations = mutations.add(delete(wanted)?);
        }
    }
    Ok(mutations)
}

pub(super) fn increment(wanted: &TIncrement) -> Increment {
    let mut increment = Increment::new(&wanted.row)
        .with_durability(durability(wanted.durability))
        .with_returned_results(wanted.return_results.unwrap_or(true));
    if let Some(time_to_live_ms) = wanted.attributes.as_ref().and_then(time_to_live_ms) {
        increment = increment.with_time_to_live_ms(time_to_live_ms);
    }
    let columns = wanted.columns.0.iter();
    columns.fold(increment, |increment, column| {
        increment.add(&column.family, &column.qualifier, column.amount)
    })
}

pub(super) fn append(wanted: &TAppend) -> Append {
    let mut append = Append::new(&wanted.row)
        .with_durability(durability(wanted.durability))
        .with_returned_results(wanted.return_results.unwrap_or(true));
    if let Some(time_to_live_ms) = wanted.attributes.as_ref().and_then(time_to_live_ms) {
        append = append.with_time_to_live_ms(time_to_live_ms);
    }
    let columns = wanted.columns.0.iter();
    columns.fold(append, |append, column| {
        append.add(&column.family, &column.qualifier, column.value.as_slice())
    })
}

pub(super) fn scan(wanted: &TScan) -> Result<Scan> {
    let positive = |number: Option<i32>| {
        number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0)
    };
    let mut scan = Scan::new();
    if let Some(row) = &wanted.start_row {
        scan = scan.with_start_row(row);
    }
    if let Some(row) = &wanted.stop_row {
        scan = scan.with_stop_row(row);
    }
    if let Some(caching) = positive(wanted.caching) {
        scan = scan.with_caching(caching);
    }
    if let Some(versions) = wanted.max_versions {
        scan = scan.with_versions(u32::try_from(versions).unwrap_or(0));
    }
    for column in wanted.columns.iter().flat_map(|columns| &columns.0) {
        scan = match &column.qualifier {
            Some(qualifier) => scan.with_column(&column.family, qualifier),
            None => scan.with_family(&column.family),
        };
    }
    if let Some(range) = &wanted.time_range {
        scan = scan.with_time_range(time_range(range)?);
    }
    for (family, range) in wanted.family_time_ranges.iter().flat_map(|ranges| &ranges.0) {
        scan = scan.with_family_time_range(family, time_range(range)?);
    }
    if let Some(batch) = positive(wanted.batch_size) {
        scan = scan.with_batch(batch);
    }
    let filter = wanted_filter(wanted.filter_string.as_deref(), wanted.filter_bytes.as_deref())?;
    if let Some(filter) = filter {
        scan = scan.with_filter(filter);
    }
    if let Some(limit) = positive(wanted.limit) {
        scan = scan.with_limit(limit);
    }
    scan = scan.with_reversed(wanted.reversed.unwrap_or(false));
    scan = scan.with_cache_blocks(wanted.cache_blocks.unwrap_or(true));
    check_scan(&scan)?;
    Ok(scan)
}
