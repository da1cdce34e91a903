//! Reads, writes and scans of rows.

use hblite_model::{CheckAndMutate, Error, Get, Mutation, Operation, Scan};

use super::types::{
    RowAnswer, TAppend, TColumnValue, TDelete, TGet, TIncrement, TPut, TRowMutations, TScan,
};
use super::{Bytes, Handler, convert};
use crate::fault::{Answer, Fault};
use crate::protocol::wire::List;
use crate::scanners::Scanner;

impl Handler {
    fn wanted_get(&self, get: &TGet) -> Answer<Get> {
        let (text, message) = (get.filter_string.as_deref(), get.filter_bytes.as_deref());
        Fault::unless_held(self.allowance.try_hold_filter(text, message))?;
        Ok(convert::get(get)?)
    }

    fn wanted_scan(&self, scan: &TScan) -> Answer<Scan> {
        let (text, message) = (scan.filter_string.as_deref(), scan.filter_bytes.as_deref());
        Fault::unless_held(self.allowance.try_hold_filter(text, message))?;
        Ok(convert::scan(scan)?)
    }

    pub(super) fn exists(&self, table: Bytes, get: TGet) -> Answer<bool> {
        Ok(self.store.requested(Operation::Get, &table)?.exists(&self.wanted_get(&get)?)?)
    }

    pub(super) fn exists_all(&self, table: Bytes, gets: List<TGet>) -> Answer<List<bool>> {
        let table = self.store.table(&table)?;
        self.store.note(Operation::Get, table.name(), gets.0.len());
        let exist = gets.0.iter().map(|get| Ok(table.exists(&self.wanted_get(get)?)?));
        Ok(List(exist.collect::<Answer<_>>()?))
    }

    pub(super) fn get(&self, table: Bytes, get: TGet) -> Answer<RowAnswer> {
        if get.existence_only == Some(true) {
            // HBase's gateway fails on a result without cells.
            return Err(Fault::Internal);
        }
        Ok(RowAnswer(self.store.get(&table, &self.wanted_get(&get)?, &self.allowance)?))
    }

    pub(super) fn get_multiple(&self, table: Bytes, gets: List<TGet>) -> Answer<List<RowAnswer>> {
        let gets: Answer<Vec<_>> = gets.0.iter().map(|get| self.wanted_get(get)).collect();
        let rows = self.store.get_all(&table, gets?, &self.allowance)?;
        Ok(List(rows.into_iter().map(RowAnswer).collect()))
    }

    pub(super) fn put(&self, table: Bytes, put: TPut) -> Answer<()> {
        self.store.check_writable()?;
        let is_negative = |cell: &TColumnValue| cell.timestamp.is_some_and(|time| time < 0);
        let put_value = convert::put(&put)?;
        if let Some(cell) = put.column_values.0.iter().find(|cell| is_negative(cell)) {
            let time = cell.timestamp.unwrap_or_default();
            let message = format!("Timestamp cannot be negative. ts={time}");
            return Err(Fault::of_region_server(Error::illegal_argument(message)));
        }
        Ok(self.store.requested(Operation::Put, &table)?.put(&put_value)?)
    }

    pub(super) fn put_multiple(&self, table: Bytes, puts: List<TPut>) -> Answer<()> {
        self.store.check_writable()?;
        let puts = puts.0.iter().map(|put| convert::put(put).map(Mutation::from));
        self.store.write_all(&table, puts, Fault::from)
    }

    pub(super) fn delete_single(&self, table: Bytes, delete: TDelete) -> Answer<()> {
        self.store.check_writable()?;
        let delete = convert::delete(&delete)?;
        Ok(self.store.requested(Operation::Delete, &table)?.delete(&delete)?)
    }

    /// HBase's gateway returns an empty list in any case.
    pub(super) fn delete_multiple(
        &self,
        table: Bytes,
        deletes: List<TDelete>,
    ) -> Answer<List<TDelete>> {
        self.store.check_writable()?;
        let deletes = deletes.0.iter().map(|delete| convert::delete(delete).map(Mutation::from));
        self.store.write_all(&table, deletes, Fault::from)?;
        Ok(List::default())
    }

    pub(super) fn check_and_put(
        &self,
        table: Bytes,
        row: Bytes,
        family: Bytes,
        qualifier: Bytes,
        value: Option<Bytes>,
        put: TPut,
    ) -> Answer<bool> {
        self.store.check_writable()?;
        let check = condition(&row, &family, &qualifier, value);
        self.check(&table, check.then(convert::put(&put)?))
    }

    pub(super) fn check_and_delete(
        &self,
        table: Bytes,
        row: Bytes,
        family: Bytes,
        qualifier: Bytes,
        value: Option<Bytes>,
        delete: TDelete,
    ) -> Answer<bool> {
        self.store.check_writable()?;
        let check = condition(&row, &family, &qualifier, value);
        self.check(&table, check.then(convert::delete(&delete)?))
    }

    #[expect(clippy::too_many_arguments, reason = "they are those of the method")]
    pub(super) fn check_and_mutate(
        &self,
        table: Bytes,
        row: Bytes,
        family: Bytes,
        qualifier: Bytes,
        operator: i32,
        value: Option<Bytes>,
        mutations: TRowMutations,
    ) -> Answer<bool> {
        self.store.check_writable()?;
        let operator = convert::compare_operator(operator).ok_or(Fault::Missing("compareOp"))?;
        let mutations = convert::row_mutations(&mutations)?;
        let count = mutations.mutations().len();
        // HBase's gateway requires a value to compare with, and a change.
        let value = value.filter(|_| count > 0).ok_or(Fault::Internal)?;
        let check = CheckAndMutate::new(&row)
            .if_matches(&family, &qualifier, operator, value)
            .then_mutate_row(mutations);
        let table = self.store.requested(Operation::CheckAndMutate, &table)?;
        match table.check_and_mutate(&check) {
            Ok(result) => Ok(result.is_success),
            Err(error) => Err(self.store.exhausted(table.name(), &row, count, error)),
        }
    }

    fn check(&self, table: &[u8], check: CheckAndMutate) -> Answer<bool> {
        let table = self.store.requested(Operation::CheckAndMutate, table)?;
        let result = table.check_and_mutate(&check);
        Ok(result.map_err(Fault::of_region_server)?.is_success)
    }

    pub(super) fn mutate_row(&self, table: Bytes, mutations: TRowMutations) -> Answer<()> {
        self.store.check_writable()?;
        let mutations = convert::row_mutations(&mutations)?;
        mutations.check()?;
        if mutations.mutations().is_empty() {
            return Err(Fault::Internal);
        }
        let table = self.store.requested(Operation::MutateRow, &table)?;
        match table.mutate_row(&mutations) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.store.exhausted(table.name(), mutations.row(), 1, error)),
        }
    }

    pub(super) fn increment(&self, table: Bytes, increment: TIncrement) -> Answer<RowAnswer> {
        self.store.check_writable()?;
        let table = self.store.requested(Operation::Increment, &table)?;
        Ok(RowAnswer(table.increment(&convert::increment(&increment))?))
    }

    pub(super) fn append(&self, table: Bytes, append: TAppend) -> Answer<RowAnswer> {
        self.store.check_writable()?;
        let table = self.store.requested(Operation::Append, &table)?;
        Ok(RowAnswer(table.append(&convert::append(&append))?))
    }

    pub(super) fn open_scanner(&self, table: Bytes, scan: TScan) -> Answer<i32> {
        let scanner = Scanner::new(self.store.table(&table)?, self.wanted_scan(&scan)?, true);
        self.store.scanners.open(scanner, self.connection, &self.allowance)
    }

    pub(super) fn scanner_rows(&self, id: i32, count: i32) -> Answer<List<RowAnswer>> {
        let invalid = || Fault::IllegalArgument("Invalid scanner Id".to_owned());
        let scanner = self.store.scanners.get(id).ok_or_else(invalid)?;
        self.rows_of(&scanner, count)
    }

    pub(super) fn scanner_results(
        &self,
        table: Bytes,
        scan: TScan,
        count: i32,
    ) -> Answer<List<RowAnswer>> {
        let scanner = Scanner::new(self.store.table(&table)?, self.wanted_scan(&scan)?, true);
        self.rows_of(&scanner, count)
    }

    fn rows_of(&self, scanner: &Scanner, count: i32) -> Answer<List<RowAnswer>> {
        self.store.note(Operation::Scan, &scanner.table, 1);
        let rows =
            scanner.next(count, self.store.limits().result_size_max_bytes, &self.allowance)?;
        Ok(List(rows.into_iter().map(RowAnswer).collect()))
    }

    /// A scanner that is not open is not an error.
    pub(super) fn close_scanner(&self, id: i32) -> Answer<()> {
        self.store.scanners.close(id);
        Ok(())
    }
}

/// The column has the value or, without one, does not exist.
fn condition(row: &[u8], family: &[u8], qualifier: &[u8], value: Option<Bytes>) -> CheckAndMutate {
    let check = CheckAndMutate::new(row);
    match value {
        Some(value) => check.if_equals(family, qualifier, value),
        None => check.if_not_exists(family, qualifier),
    }
}
