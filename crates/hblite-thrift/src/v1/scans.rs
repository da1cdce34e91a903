//! Scanners.

use hblite_model::filter::{Filter, parse_filter};
use hblite_model::{Scan, TimeRange};

use super::Text;
use super::types::{Rows, TScan, Texts};
use crate::attributes::Attributes;
use crate::fault::{Answer, Fault};
use crate::requests::Requests;
use crate::scanners::{Scanner, check_scan};
use crate::store::parse_column;

pub(super) fn open_scan(
    store: &Requests,
    table: Text,
    wanted: TScan,
    _: Attributes,
) -> Answer<i32> {
    let mut scan = Scan::new();
    if let Some(row) = wanted.start_row {
        scan = scan.with_start_row(row);
    }
    if let Some(row) = wanted.stop_row {
        scan = scan.with_stop_row(row);
    }
    if let Some(timestamp) = wanted.timestamp {
        scan = scan.with_time_range(TimeRange::new(0, timestamp)?);
    }
    if let Some(caching) = wanted.caching {
        scan = scan.with_caching(u32::try_from(caching).unwrap_or(0));
    }
    if let Some(batch) = wanted.batch_size.and_then(|batch| u32::try_from(batch).ok()) {
        scan = scan.with_batch(batch);
    }
    scan = with_columns(scan, wanted.columns);
    if let Some(text) = wanted.filter_string {
        Fault::unless_held(store.allowance.try_hold_filter(Some(&text), None))?;
        let filter = parse_filter(text).map_err(hblite_model::Error::from)?;
        scan = scan.with_filter(filter);
    }
    scan = scan.with_reversed(wanted.reversed.unwrap_or(false));
    scan = scan.with_cache_blocks(wanted.cache_blocks.unwrap_or(true));
    open(store, &table, scan, wanted.sort_columns.unwrap_or(false))
}

pub(super) fn open_scanner(
    store: &Requests,
    table: Text,
    start: Text,
    columns: Option<Texts>,
    _: Attributes,
) -> Answer<i32> {
    open(store, &table, with_columns(Scan::new().with_start_row(start), columns), false)
}

pub(super) fn open_scanner_with_stop(
    store: &Requests,
    table: Text,
    start: Text,
    stop: Text,
    columns: Option<Texts>,
    _: Attributes,
) -> Answer<i32> {
    let scan = Scan::new().with_start_row(start).with_stop_row(stop);
    open(store, &table, with_columns(scan, columns), false)
}

pub(super) fn open_scanner_with_prefix(
    store: &Requests,
    table: Text,
    prefix: Text,
    columns: Option<Texts>,
    _: Attributes,
) -> Answer<i32> {
    let filter = Filter::while_match(Filter::prefix(prefix.as_slice()));
    let scan = Scan::new().with_start_row(&prefix).with_filter(filter);
    open(store, &table, with_columns(scan, columns), false)
}

pub(super) fn open_scanner_before(
    store: &Requests,
    table: Text,
    start: Text,
    columns: Option<Texts>,
    timestamp: i64,
    _: Attributes,
) -> Answer<i32> {
    let scan = Scan::new().with_start_row(start);
    let scan = scan.with_time_range(TimeRange::new(0, timestamp)?);
    open(store, &table, with_columns(scan, columns), false)
}

pub(super) fn open_scanner_with_stop_before(
    store: &Requests,
    table: Text,
    start: Text,
    stop: Text,
    columns: Option<Texts>,
    timestamp: i64,
    _: Attributes,
) -> Answer<i32> {
    let scan = Scan::new().with_start_row(start).with_stop_row(stop);
    let scan = scan.with_time_range(TimeRange::new(0, timestamp)?);
    open(store, &table, with_columns(scan, columns), false)
}

pub(super) fn scanner_get(store: &Requests, id: i32) -> Answer<Rows> {
    scanner_get_list(store, id, 1)
}

pub(super) fn scanner_get_list(store: &Requests, id: i32, count: i32) -> Answer<Rows> {
    let scanner = store.scanners.get(id).ok_or_else(invalid_scanner)?;
    let rows = store.next(&scanner, count)?;
    Ok(Rows { rows, are_sorted: scanner.sorts_columns })
}

pub(super) fn close_scanner(store: &Requests, id: i32) -> Answer<()> {
    store.scanners.close(id).then_some(()).ok_or_else(invalid_scanner)
}

fn open(store: &Requests, table: &[u8], scan: Scan, sorts_columns: bool) -> Answer<i32> {
    let table = store.table(table)?;
    check_scan(&scan)?;
    store.open(Scanner::new(table, scan, sorts_columns))
}

fn invalid_scanner() -> Fault {
    Fault::IllegalArgument("scanner ID is invalid".to_owned())
}

/// A scan of these columns and, without a colon, families; of all if there are none.
fn with_columns(scan: Scan, columns: Option<Texts>) -> Scan {
    let columns = columns.unwrap_or_default();
    columns.0.iter().fold(scan, |scan, column| match parse_column(column) {
        (family, Some(qualifier)) => scan.with_column(family, qualifier),
        (family, None) => scan.with_family(family),
    })
}
