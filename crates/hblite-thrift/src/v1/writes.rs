//! Writes of rows.

use hblite_model::{
    Append, CheckAndMutate, Delete, Durability, Error, Exception, Increment, LATEST_TIMESTAMP,
    Mutation, Operation, Put, Result,
};

use super::Text;
use super::types::{BatchMutation, Cells, Mutation as TMutation, TAppend, TIncrement};
use crate::attributes::{Attributes, time_to_live_ms};
use crate::fault::{Answer, Fault, is_runtime};
use crate::protocol::wire::List;
use crate::requests::Requests;
use crate::store::{check_row, parse_column};

pub(super) fn mutate_row(
    store: &Requests,
    table: Text,
    row: Text,
    mutations: List<TMutation>,
    attributes: Attributes,
) -> Answer<()> {
    mutate_row_at(store, table, row, mutations, LATEST_TIMESTAMP, attributes)
}

pub(super) fn mutate_row_at(
    store: &Requests,
    table: Text,
    row: Text,
    mutations: List<TMutation>,
    timestamp: i64,
    attributes: Attributes,
) -> Answer<()> {
    let run = || {
        let table = store.table(&table)?;
        let note = |operation| store.note(operation, table.name(), 1);
        let changes = RowChanges::new(&row, &mutations, timestamp, &attributes)?;
        if let Some(delete) = &changes.delete {
            note(Operation::Delete);
            table.delete(delete)?;
        }
        if let Some(put) = &changes.put {
            note(Operation::Put);
            table.put(put)?;
        }
        if changes.put.is_none() {
            // HBase constructs a Put in any case, which checks the row and the timestamp.
            check_row(&row, timestamp)?;
        }
        Ok(())
    };
    run().map_err(declared)
}

pub(super) fn mutate_rows(
    store: &Requests,
    table: Text,
    batches: List<BatchMutation>,
    attributes: Attributes,
) -> Answer<()> {
    mutate_rows_at(store, table, batches, LATEST_TIMESTAMP, attributes)
}

pub(super) fn mutate_rows_at(
    store: &Requests,
    table: Text,
    batches: List<BatchMutation>,
    timestamp: i64,
    attributes: Attributes,
) -> Answer<()> {
    let (mut puts, mut deletes) = (Vec::with_capacity(batches.0.len()), Vec::new());
    for batch in &batches.0 {
        check_row(&batch.row, timestamp)?;
        let changes = RowChanges::new(&batch.row, &batch.mutations, timestamp, &attributes)?;
        if changes.has_put_of_family {
            return Err(Fault::Internal);
        }
        puts.extend(changes.put.map(Mutation::from));
        deletes.extend(changes.delete.map(Mutation::from));
    }
    store.table(&table).map_err(declared)?;
    if !puts.is_empty() {
        store.write_all(&table, puts.into_iter().map(Ok), declared)?;
    }
    if !deletes.is_empty() {
        store.write_all(&table, deletes.into_iter().map(Ok), declared)?;
    }
    Ok(())
}

pub(super) fn atomic_increment(
    store: &Requests,
    table: Text,
    row: Text,
    column: Text,
    amount: i64,
) -> Answer<i64> {
    let (family, qualifier) = parse_column(&column);
    let qualifier = qualifier.unwrap_or_default();
    if row.is_empty() {
        let error = Error::illegal_argument("Row length is 0");
        return Err(Fault::of_region_server(error));
    }
    let table = store.requested(Operation::Increment, &table)?;
    Ok(table.increment_column(row, family, qualifier, amount)?)
}

pub(super) fn delete_all(
    store: &Requests,
    table: Text,
    row: Text,
    column: Text,
    attributes: Attributes,
) -> Answer<()> {
    delete_all_before(store, table, row, column, LATEST_TIMESTAMP, attributes)
}

pub(super) fn delete_all_before(
    store: &Requests,
    table: Text,
    row: Text,
    column: Text,
    timestamp: i64,
    _: Attributes,
) -> Answer<()> {
    let delete = with_delete(Delete::new(row), &column, timestamp);
    Ok(store.requested(Operation::Delete, &table)?.delete(&delete)?)
}

pub(super) fn delete_row(store: &Requests, table: Text, row: Text, a: Attributes) -> Answer<()> {
    delete_row_before(store, table, row, LATEST_TIMESTAMP, a)
}

pub(super) fn delete_row_before(
    store: &Requests,
    table: Text,
    row: Text,
    timestamp: i64,
    _: Attributes,
) -> Answer<()> {
    let delete = Delete::new(row).with_timestamp(timestamp);
    Ok(store.requested(Operation::Delete, &table)?.delete(&delete)?)
}

pub(super) fn increment(store: &Requests, increment: TIncrement) -> Answer<()> {
    let TIncrement { table, row, column, amount } = increment;
    let (family, Some(qualifier)) = parse_column(&column) else { return Err(Fault::Internal) };
    if table.is_empty() || row.is_empty() {
        return Err(Fault::Internal);
    }
    let increment = Increment::new(row).add(family, qualifier, amount);
    store.requested(Operation::Increment, &table)?.increment(&increment)?;
    Ok(())
}

pub(super) fn increment_rows(store: &Requests, increments: List<TIncrement>) -> Answer<()> {
    increments.0.into_iter().try_for_each(|one| increment(store, one))
}

pub(super) fn append(store: &Requests, append: TAppend) -> Answer<Cells> {
    let TAppend { table, row, columns, values } = append;
    if table.is_empty() || row.is_empty() || columns.0.len() != values.0.len() {
        return Err(Fault::Internal);
    }
    let mut append = Append::new(row);
    for (column, value) in columns.0.iter().zip(&values.0) {
        let (family, Some(qualifier)) = parse_column(column) else {
            return Err(Fault::Internal);
        };
        append = append.add(family, qualifier, value.as_slice());
    }
    Ok(Cells(store.requested(Operation::Append, &table)?.append(&append)?))
}

pub(super) fn check_and_put(
    store: &Requests,
    table: Text,
    row: Text,
    column: Text,
    value: Option<Text>,
    put: TMutation,
    _: Attributes,
) -> Answer<bool> {
    let (family, Some(qualifier)) = parse_column(&put.column) else {
        return Err(Fault::Internal);
    };
    let (check_family, Some(check_qualifier)) = parse_column(&column) else {
        return Err(Fault::Internal);
    };
    let put_value = put.value.unwrap_or_default();
    let change = Put::new(&row)
        .add(family, qualifier, put_value)
        .with_durability(durability(put.write_to_wal));
    let check = CheckAndMutate::new(&row);
    let check = match value {
        Some(value) => check.if_equals(check_family, check_qualifier, value),
        None => check.if_not_exists(check_family, check_qualifier),
    };
    let run = || {
        let table = store.requested(Operation::CheckAndMutate, &table)?;
        table.check_and_mutate(&check.then(change))
    };
    run().map(|result| result.is_success).map_err(declared)
}

/// The combined mutations of one row: HBase's gateway makes one put and one delete of them.
struct RowChanges {
    put: Option<Put>,
    delete: Option<Delete>,
    /// Whether one puts a family without a qualifier.
    has_put_of_family: bool,
}

impl RowChanges {
    /// # Errors
    /// `IllegalArgument` for a put without a family.
    fn new(
        row: &[u8],
        mutations: &List<TMutation>,
        timestamp: i64,
        attributes: &Attributes,
    ) -> Result<Self> {
        let mut changes = Self { put: None, delete: None, has_put_of_family: false };
        for mutation in &mutations.0 {
            let durability = durability(mutation.write_to_wal);
            let (family, qualifier) = parse_column(&mutation.column);
            match (mutation.is_delete, qualifier) {
                (true, _) => {
                    let delete = changes.delete.take().unwrap_or_else(|| Delete::new(row));
                    let delete = with_delete(delete, &mutation.column, timestamp);
                    changes.delete = Some(delete.with_durability(durability));
                }
                (false, Some(_)) if family.is_empty() => {
                    return Err(Error::illegal_argument("Family cannot be null"));
                }
                (false, Some(qualifier)) => {
                    let put = changes
                        .put
                        .take()
                        .unwrap_or_else(|| Put::new(row).with_timestamp(timestamp));
                    let value = mutation.value.as_deref().unwrap_or_default();
                    let put = put.add(family, qualifier, value);
                    changes.put = Some(put.with_durability(durability));
                }
                (false, None) => changes.has_put_of_family = true,
            }
        }
        if let Some(time_to_live_ms) = time_to_live_ms(attributes) {
            changes.put = changes.put.map(|put| put.with_time_to_live_ms(time_to_live_ms));
        }
        Ok(changes)
    }
}

/// Deletes all versions, up to a timestamp, of a column or, without a colon, a family.
fn with_delete(delete: Delete, column: &[u8], timestamp: i64) -> Delete {
    match parse_column(column) {
        (family, Some(qualifier)) => delete.columns_at(family, qualifier, timestamp),
        (family, None) => delete.family_at(family, timestamp),
    }
}

fn durability(write_to_wal: bool) -> Durability {
    if write_to_wal { Durability::SyncWal } else { Durability::SkipWal }
}

/// An error of a method that declares `IllegalArgument`.
fn declared(error: Error) -> Fault {
    match error.exception() {
        Exception::IllegalArgument | Exception::PatternSyntax => Fault::illegal_argument(&error),
        exception if is_runtime(exception) => Fault::Internal,
        _ => error.into(),
    }
}
