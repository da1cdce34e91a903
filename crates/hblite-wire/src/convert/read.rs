//! Gets and scans.

use bytes::Bytes;
use hblite_model::{Consistency, Error, Exception, Get, Result, Scan};

use super::read_message::TIMELINE;
use super::{attribute, filter, natural, time_range};
use crate::pb;

/// A number that Java reads as a negative one asks for none.
fn versions(number: Option<u32>) -> u32 {
    number.map_or(1, |number| natural(Some(number)).unwrap_or(0))
}

/// The get in a message.
///
/// # Errors
/// As [`filter()`] and [`time_range`]; those of [`Get::check`].
pub fn get(message: &pb::Get) -> Result<Get> {
    let mut get = Get::new(&message.row)
        .with_versions(versions(message.max_versions))
        .with_consistency(consistency(message.consistency));
    for column in &message.column {
        if column.qualifier.is_empty() {
            get = get.with_family(&column.family);
        }
        for qualifier in &column.qualifier {
            get = get.with_column(&column.family, qualifier);
        }
    }
    if message.time_range.is_some() {
        get = get.with_time_range(time_range(message.time_range.as_ref())?);
    }
    for range in &message.cf_time_range {
        get =
            get.with_family_time_range(&range.column_family, time_range(Some(&range.time_range))?);
    }
    if let Some(message) = &message.filter {
        get = get.with_filter(filter(message)?);
    }
    if let Some(limit) = natural(message.store_limit) {
        get = get.with_family_limit(limit);
    }
    if let Some(offset) = natural(message.store_offset) {
        get = get.with_family_offset(offset);
    }
    get.check()?;
    Ok(get)
}

/// The parts of a scan's message that the server uses, not the region.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanSettings {
    /// Bytes in one answer, if the client limits them.
    pub size_max_bytes: Option<u64>,
    /// The read point, if the scan continues.
    pub read_point: Option<u64>,
    /// Whether heartbeats report the position of the scan.
    pub needs_cursor: bool,
}

/// The scan in a message.
///
/// # Errors
/// As [`filter()`] and [`time_range`]; `IncompatibleFilter` for a batch with a filter of rows,
/// `DoNotRetryIo` for invalid rows.
pub fn scan(message: &pb::Scan) -> Result<(Scan, ScanSettings)> {
    let row = |row: &Option<Bytes>| row.clone().unwrap_or_default();
    let (start, stop) = (row(&message.start_row), row(&message.stop_row));
    let includes_start = message.include_start_row.unwrap_or(true);
    // Clients before 2.0 request one row by sending it as both ends.
    let includes_stop =
        message.include_stop_row.unwrap_or_else(|| !start.is_empty() && start == stop);
    let mut scan = Scan::new()
        .with_start_bound(hblite_model::row_bound(&start, includes_start))
        .with_stop_bound(hblite_model::row_bound(&stop, includes_stop))
        .with_reversed(message.reversed.unwrap_or(false))
        .with_versions(versions(message.max_versions))
        .with_raw(attribute(&message.attribute, "_raw_").is_some_and(is_true))
        .with_batch(natural(message.batch_size).unwrap_or(0))
        .with_family_offset(natural(message.store_offset).unwrap_or(0))
        .with_families_on_demand(message.load_column_families_on_demand.unwrap_or(true))
        .with_cache_blocks(message.cache_blocks.unwrap_or(true))
        .with_consistency(consistency(message.consistency));
    if let Some(limit) = natural(message.store_limit) {
        scan = scan.with_family_limit(limit);
    }
    for column in &message.column {
        if column.qualifier.is_empty() {
            scan = scan.with_family(&column.family);
        }
        for qualifier in &column.qualifier {
            scan = scan.with_column(&column.family, qualifier);
        }
    }
    if message.time_range.is_some() {
        scan = scan.with_time_range(time_range(message.time_range.as_ref())?);
    }
    for range in &message.cf_time_range {
        scan =
            scan.with_family_time_range(&range.column_family, time_range(Some(&range.time_range))?);
    }
    if let Some(message) = &message.filter {
        scan = scan.with_filter(filter(message)?);
    }
    scan.check().map_err(|error| match error.exception() {
        Exception::IncompatibleFilter => error,
        _ => Error::do_not_retry(error.to_java_string()),
    })?;
    let settings = ScanSettings {
        size_max_bytes: message.max_result_size.filter(|size| *size > 0 && *size < 1 << 62),
        read_point: message.mvcc_read_point.filter(|point| *point > 0 && *point < 1 << 62),
        needs_cursor: message.need_cursor_result.unwrap_or(false),
    };
    Ok((scan, settings))
}

fn consistency(number: Option<i32>) -> Consistency {
    match number {
        Some(TIMELINE) => Consistency::Timeline,
        _ => Consistency::Strong,
    }
}

/// How Java writes a boolean (`Bytes.toBytes(boolean)`).
pub(super) fn is_true(value: &[u8]) -> bool {
    value.len() == 1 && value[0] != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_row_is_meant_when_both_ends_are_it() {
        let message = pb::Scan {
            start_row: Some("r".into()),
            stop_row: Some("r".into()),
            ..pb::Scan::default()
        };
        let (old, _) = scan(&message).unwrap();
        assert!(old.is_start_inclusive() && old.is_stop_inclusive());
        let (new, _) = scan(&pb::Scan { include_stop_row: Some(false), ..message }).unwrap();
        assert!(!new.is_stop_inclusive());
    }

    #[test]
    fn an_empty_time_range_is_all_time() {
        let range = pb::TimeRange::default();
        let message = pb::Get { row: "r".into(), time_range: Some(range), ..pb::Get::default() };
        let get = get(&message).unwrap();
        assert!(get.as_scan().time_range_of(b"f").is_all());
    }
}
