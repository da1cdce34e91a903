//! Gets and scans as messages: the inverse of `read`.

use bytes::Bytes;
use hblite_model::{ColumnSelection, Consistency, Get, Qualifiers, Result, Scan, TimeRange};

use super::{filter_message, time_range_message};
use crate::pb;

/// How Java writes `true` (`Bytes.toBytes(boolean)`).
pub(super) const TRUE: &[u8] = &[0xff];

/// Attributes as messages.
pub(super) fn attributes<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> Vec<pb::NameBytesPair> {
    let pair = |(name, value): (&str, &[u8])| pb::NameBytesPair {
        name: name.to_owned(),
        value: Some(Bytes::copy_from_slice(value)),
    };
    pairs.into_iter().map(pair).collect()
}

/// The get as a message.
///
/// # Errors
/// As [`filter_message()`].
pub fn get_message(get: &Get) -> Result<pb::Get> {
    let scan = get.as_scan();
    Ok(pb::Get {
        row: Bytes::copy_from_slice(get.row()),
        column: columns(get.columns()),
        attribute: attributes(scan.attributes()),
        filter: get.filter().map(filter_message).transpose()?,
        time_range: Some(time_range_message(get.time_range())),
        max_versions: Some(get.versions()),
        cache_blocks: Some(scan.caches_blocks()),
        store_limit: get.family_limit(),
        store_offset: Some(get.family_offset()),
        consistency: consistency(scan),
        cf_time_range: family_time_ranges(scan),
        load_column_families_on_demand: Some(scan.loads_families_on_demand()),
        ..pb::Get::default()
    })
}

/// The scan as a message. The row limit is part of each request for rows, not of the scan.
///
/// # Errors
/// As [`filter_message()`].
pub fn scan_message(scan: &Scan) -> Result<pb::Scan> {
    let raw = scan.is_raw().then_some(("_raw_", TRUE));
    Ok(pb::Scan {
        column: columns(scan.columns()),
        attribute: attributes(scan.attributes().chain(raw)),
        start_row: Some(Bytes::copy_from_slice(scan.start_row())),
        stop_row: Some(Bytes::copy_from_slice(scan.stop_row())),
        include_start_row: Some(scan.is_start_inclusive()),
        include_stop_row: Some(scan.is_stop_inclusive()),
        reversed: Some(scan.direction().is_reverse()),
        filter: scan.filter().map(filter_message).transpose()?,
        time_range: Some(time_range_message(scan.time_range())),
        cf_time_range: family_time_ranges(scan),
        max_versions: Some(scan.versions()),
        cache_blocks: Some(scan.caches_blocks()),
        batch_size: scan.batch(),
        max_result_size: scan.size_max_bytes(),
        store_limit: scan.family_limit(),
        store_offset: Some(scan.family_offset()),
        load_column_families_on_demand: Some(scan.loads_families_on_demand()),
        consistency: consistency(scan),
        caching: scan.caching(),
        allow_partial_results: Some(scan.allows_partial_results()),
        ..pb::Scan::default()
    })
}

/// `Consistency.TIMELINE`.
pub(super) const TIMELINE: i32 = 1;

fn consistency(scan: &Scan) -> Option<i32> {
    (scan.consistency() == Consistency::Timeline).then_some(TIMELINE)
}

fn columns(columns: &ColumnSelection) -> Vec<pb::Column> {
    let column = |(family, qualifiers): (&[u8], &Qualifiers)| pb::Column {
        family: Bytes::copy_from_slice(family),
        qualifier: match qualifiers {
            Qualifiers::All => Vec::new(),
            Qualifiers::Some(some) => some.iter().map(|one| Bytes::copy_from_slice(one)).collect(),
        },
    };
    columns.families().map(column).collect()
}

fn family_time_ranges(scan: &Scan) -> Vec<pb::ColumnFamilyTimeRange> {
    let message = |(family, range): (&[u8], TimeRange)| pb::ColumnFamilyTimeRange {
        column_family: Bytes::copy_from_slice(family),
        time_range: time_range_message(range),
    };
    scan.family_time_ranges().map(message).collect()
}
