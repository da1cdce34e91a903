//! Reads, writes and scans of rows.

use hblite_model::{CheckAndMutate, Error, Get, Mutation, Operation, Scan};

use super::types::{
    RowAnswer, TAppend, TColumnValue, TDelete, TGet, TIncrement, TPut, TRowMutations, TScan,
};
use super::{Bytes, convert};
use crate::fault::{Answer, Fault};
use crate::protocol::wire::List;
use crate::requests::Requests;
use crate::scanners::Scanner;

fn wanted_get(store: &Requests, get: &TGet) -> Answer<Get> {
    let (text, message) = (get.filter_string.as_deref(), get.filter_bytes.as_deref());
    Fault::unless_held(store.allowance.try_hold_filter(text, message))?;
    Ok(convert::get(get)?)
}

fn wanted_scan(store: &Requests, scan: &TScan) -> Answer<Scan> {
    let (text, message) = (scan.filter_string.as_deref(), scan.filter_bytes.as_deref());
    Fault::unless_held(store.allowance.try_hold_filter(text, message))?;
    Ok(convert::scan(scan)?)
}

pub(super) fn exists(store: &Requests, table: Bytes, get: TGet) -> Answer<bool> {
    Ok(store.requested(Operation::Get, &table)?.exists(&wanted_get(store, &get)?)?)
}

pub(super) fn exists_all(store: &Requests, table: Bytes, gets: List<TGet>) -> Answer<List<bool>> {
    let table = store.table(&table)?;
    store.note(Operation::Get, table.name(), gets.0.len());
    let exist = gets.0.iter().map(|get| Ok(table.exists(&wanted_get(store, get)?)?));
    Ok(List(exist.collect::<Answer<_>>()?))
}

pub(super) fn get(store: &Requests, table: Bytes, get: TGet) -> Answer<RowAnswer> {
    if get.existence_only == Some(true) {
        // HBase's gateway fails on a result without cells.
        return Err(Fault::Internal);
    }
    Ok(RowAnswer(store.get(&table, &wanted_get(store, &get)?)?))
}

pub(super) fn get_multiple(
    store: &Requests,
    table: Bytes,
    gets: List<TGet>,
) -> Answer<List<RowAnswer>> {
    let gets: Answer<Vec<_>> = gets.0.iter().map(|get| wanted_get(store, get)).collect();
    let rows = store.get_all(&table, gets?)?;
    Ok(List(rows.into_iter().map(RowAnswer).collect()))
}

pub(super) fn put(store: &Requests, table: Bytes, put: TPut) -> Answer<()> {
    store.check_writable()?;
    let is_negative = |cell: &TColumnValue| cell.timestamp.is_some_and(|time| time < 0);
    let put_value = convert::put(&put)?;
    if let Some(cell) = put.column_values.0.iter().find(|cell| is_negative(cell)) {
        let time = cell.timestamp.unwrap_or_default();
        let message = format!("Timestamp cannot be negative. ts={time}");
        return Err(Fault::of_region_server(Error::illegal_argument(message)));
    }
    Ok(store.requested(Operation::Put, &table)?.put(&put_value)?)
}

pub(super) fn put_multiple(store: &Requests, table: Bytes, puts: List<TPut>) -> Answer<()> {
    store.check_writable()?;
    let puts = puts.0.iter().map(|put| convert::put(put).map(Mutation::from));
    store.write_all(&table, puts, Fault::from)
}

pub(super) fn delete_single(store: &Requests, table: Bytes, delete: TDelete) -> Answer<()> {
    store.check_writable()?;
    let delete = convert::delete(&delete)?;
    Ok(store.requested(Operation::Delete, &table)?.delete(&delete)?)
}

/// HBase's gateway returns an empty list in any case.
pub(super) fn delete_multiple(
    store: &Requests,
    table: Bytes,
    deletes: List<TDelete>,
) -> Answer<List<TDelete>> {
    store.check_writable()?;
    let deletes = deletes.0.iter().map(|delete| convert::delete(delete).map(Mutation::from));
    store.write_all(&table, deletes, Fault::from)?;
    Ok(List::default())
}

pub(super) fn check_and_put(
    store: &Requests,
    table: Bytes,
    row: Bytes,
    family: Bytes,
    qualifier: Bytes,
    value: Option<Bytes>,
    put: TPut,
) -> Answer<bool> {
    store.check_writable()?;
    let check = condition(&row, &family, &qualifier, value);
    succeeds(store, &table, check.then(convert::put(&put)?))
}

pub(super) fn check_and_delete(
    store: &Requests,
    table: Bytes,
    row: Bytes,
    family: Bytes,
    qualifier: Bytes,
    value: Option<Bytes>,
    delete: TDelete,
) -> Answer<bool> {
    store.check_writable()?;
    let check = condition(&row, &family, &qualifier, value);
    succeeds(store, &table, check.then(convert::delete(&delete)?))
}

#[expect(clippy::too_many_arguments, reason = "they are those of the method")]
pub(super) fn check_and_mutate(
    store: &Requests,
    table: Bytes,
    row: Bytes,
    family: Bytes,
    qualifier: Bytes,
    operator: i32,
    value: Option<Bytes>,
    mutations: TRowMutations,
) -> Answer<bool> {
    store.check_writable()?;
    let operator = convert::compare_operator(operator).ok_or(Fault::Missing("compareOp"))?;
    let mutations = convert::row_mutations(&mutations)?;
    let count = mutations.mutations().len();
    // HBase's gateway requires a value to compare with, and a change.
    let value = value.filter(|_| count > 0).ok_or(Fault::Internal)?;
    let check = CheckAndMutate::new(&row)
        .if_matches(&family, &qualifier, operator, value)
        .then_mutate_row(mutations);
    let table = store.requested(Operation::CheckAndMutate, &table)?;
    match table.check_and_mutate(&check) {
        Ok(result) => Ok(result.is_success),
        Err(error) => Err(store.exhausted(table.name(), &row, count, error)),
    }
}

/// Writes if the condition holds.
fn succeeds(store: &Requests, table: &[u8], check: CheckAndMutate) -> Answer<bool> {
    let table = store.requested(Operation::CheckAndMutate, table)?;
    let result = table.check_and_mutate(&check);
    Ok(result.map_err(Fault::of_region_server)?.is_success)
}

pub(super) fn mutate_row(store: &Requests, table: Bytes, mutations: TRowMutations) -> Answer<()> {
    store.check_writable()?;
    let mutations = convert::row_mutations(&mutations)?;
    mutations.check()?;
    if mutations.mutations().is_empty() {
        return Err(Fault::Internal);
    }
    let table = store.requested(Operation::MutateRow, &table)?;
    match table.mutate_row(&mutations) {
        Ok(_) => Ok(()),
        Err(error) => Err(store.exhausted(table.name(), mutations.row(), 1, error)),
    }
}

pub(super) fn increment(
    store: &Requests,
    table: Bytes,
    increment: TIncrement,
) -> Answer<RowAnswer> {
    store.check_writable()?;
    let table = store.requested(Operation::Increment, &table)?;
    Ok(RowAnswer(table.increment(&convert::increment(&increment))?))
}

pub(super) fn append(store: &Requests, table: Bytes, append: TAppend) -> Answer<RowAnswer> {
    store.check_writable()?;
    let table = store.requested(Operation::Append, &table)?;
    Ok(RowAnswer(table.append(&convert::append(&append))?))
}

pub(super) fn open_scanner(store: &Requests, table: Bytes, scan: TScan) -> Answer<i32> {
    let scanner = Scanner::new(store.table(&table)?, wanted_scan(store, &scan)?, true);
    store.open(scanner)
}

pub(super) fn scanner_rows(store: &Requests, id: i32, count: i32) -> Answer<List<RowAnswer>> {
    let invalid = || Fault::IllegalArgument("Invalid scanner Id".to_owned());
    let scanner = store.scanners.get(id).ok_or_else(invalid)?;
    rows_of(store, &scanner, count)
}

pub(super) fn scanner_results(
    store: &Requests,
    table: Bytes,
    scan: TScan,
    count: i32,
) -> Answer<List<RowAnswer>> {
    let scanner = Scanner::new(store.table(&table)?, wanted_scan(store, &scan)?, true);
    rows_of(store, &scanner, count)
}

fn rows_of(store: &Requests, scanner: &Scanner, count: i32) -> Answer<List<RowAnswer>> {
    let rows = store.next(scanner, count)?;
    Ok(List(rows.into_iter().map(RowAnswer).collect()))
}

/// A scanner that is not open is not an error.
pub(super) fn close_scanner(store: &Requests, id: i32) -> Answer<()> {
    store.scanners.close(id);
    Ok(())
}

/// The column has the value or, without one, does not exist.
fn condition(row: &[u8], family: &[u8], qualifier: &[u8], value: Option<Bytes>) -> CheckAndMutate {
    let check = CheckAndMutate::new(row);
    match value {
        Some(value) => check.if_equals(family, qualifier, value),
        None => check.if_not_exists(family, qualifier),
    }
}
