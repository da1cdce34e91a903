//! Reads of rows.

use hblite_model::{Get, LATEST_TIMESTAMP, TimeRange};

use super::Text;
use super::types::{Cells, Rows, Texts};
use crate::attributes::Attributes;
use crate::fault::Answer;
use crate::requests::Requests;
use crate::store::parse_column;

pub(super) fn get(
    store: &Requests,
    table: Text,
    row: Text,
    column: Text,
    _: Attributes,
) -> Answer<Cells> {
    let get = with_column(Get::new(row), &column);
    Ok(Cells(store.get(&table, &get)?))
}

pub(super) fn get_versions(
    store: &Requests,
    table: Text,
    row: Text,
    column: Text,
    versions: i32,
    _: Attributes,
) -> Answer<Cells> {
    let get = with_column(Get::new(row), &column).with_versions(natural(versions));
    Ok(Cells(store.get(&table, &get)?))
}

pub(super) fn get_versions_before(
    store: &Requests,
    table: Text,
    row: Text,
    column: Text,
    timestamp: i64,
    versions: i32,
    _: Attributes,
) -> Answer<Cells> {
    let get = with_column(Get::new(row), &column)
        .with_time_range(TimeRange::new(0, timestamp)?)
        .with_versions(natural(versions));
    Ok(Cells(store.get(&table, &get)?))
}

pub(super) fn get_row(store: &Requests, table: Text, row: Text, _: Attributes) -> Answer<Rows> {
    read_rows(store, &table, &[row], None, LATEST_TIMESTAMP)
}

pub(super) fn get_row_with_columns(
    store: &Requests,
    table: Text,
    row: Text,
    columns: Option<Texts>,
    _: Attributes,
) -> Answer<Rows> {
    read_rows(store, &table, &[row], columns, LATEST_TIMESTAMP)
}

pub(super) fn get_row_before(
    store: &Requests,
    table: Text,
    row: Text,
    timestamp: i64,
    _: Attributes,
) -> Answer<Rows> {
    read_rows(store, &table, &[row], None, timestamp)
}

pub(super) fn get_row_with_columns_before(
    store: &Requests,
    table: Text,
    row: Text,
    columns: Option<Texts>,
    timestamp: i64,
    _: Attributes,
) -> Answer<Rows> {
    read_rows(store, &table, &[row], columns, timestamp)
}

pub(super) fn get_rows(store: &Requests, table: Text, rows: Texts, _: Attributes) -> Answer<Rows> {
    read_rows(store, &table, &rows.0, None, LATEST_TIMESTAMP)
}

pub(super) fn get_rows_with_columns(
    store: &Requests,
    table: Text,
    rows: Texts,
    columns: Option<Texts>,
    _: Attributes,
) -> Answer<Rows> {
    read_rows(store, &table, &rows.0, columns, LATEST_TIMESTAMP)
}

pub(super) fn get_rows_before(
    store: &Requests,
    table: Text,
    rows: Texts,
    timestamp: i64,
    _: Attributes,
) -> Answer<Rows> {
    read_rows(store, &table, &rows.0, None, timestamp)
}

pub(super) fn get_rows_with_columns_before(
    store: &Requests,
    table: Text,
    rows: Texts,
    columns: Option<Texts>,
    timestamp: i64,
    _: Attributes,
) -> Answer<Rows> {
    read_rows(store, &table, &rows.0, columns, timestamp)
}

/// Rows as they were before a timestamp, the timestamp excluded.
fn read_rows(
    store: &Requests,
    table: &[u8],
    rows: &[Text],
    columns: Option<Texts>,
    timestamp: i64,
) -> Answer<Rows> {
    let columns = columns.unwrap_or_default();
    let range = TimeRange::new(0, timestamp)?;
    let get = |row: &Text| {
        let get = columns.0.iter().fold(Get::new(row), |get, column| with_column(get, column));
        get.with_time_range(range)
    };
    let gets: Vec<_> = rows.iter().map(get).collect();
    Ok(Rows::new(store.get_all(table, gets)?))
}

/// A get of one more column or, without a colon, family.
fn with_column(get: Get, column: &[u8]) -> Get {
    match parse_column(column) {
        (family, Some(qualifier)) => get.with_column(family, qualifier),
        (family, None) => get.with_family(family),
    }
}

/// A number below zero asks for none.
fn natural(versions: i32) -> u32 {
    u32::try_from(versions).unwrap_or(0)
}
