//! Reads and writes of one table.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

use hblite::filter::CompareOperator;
use hblite::{CheckAndMutate, Put, ResultScanner};
use parking_lot::Mutex;

use crate::error::{Code, Error, Failure, chosen, run};
use crate::memory::{Bytes, Row, give};
use crate::read::Read;
use crate::registry::{self, Object};
use crate::store::{Db, connection};
use crate::write::{Operation, Write};

/// A table. All threads may share it. `hblite_free` ends it.
#[derive(Debug)]
pub struct Table {
    pub(crate) table: hblite::Table,
}

impl Object for Table {
    const NAME: &'static str = "hblite_table";
}

/// The rows of a scan. Two threads that ask it for rows at once get different ones. `hblite_free`
/// ends it.
#[derive(Debug)]
pub struct Scanner {
    /// `None` after the last row or an error.
    rows: Mutex<Option<ResultScanner>>,
}

impl Object for Scanner {
    const NAME: &'static str = "hblite_scanner";
}

/// How a value is compared with the stored one.
#[repr(i32)]
#[derive(Debug, Clone, Copy)]
pub enum Comparison {
    /// The value is less than the stored one.
    Less = 0,
    /// It is less or equal.
    LessOrEqual = 1,
    /// It is the stored one; an empty value also equals that of a missing column.
    Equal = 2,
    /// It is another one.
    NotEqual = 3,
    /// It is greater or equal.
    GreaterOrEqual = 4,
    /// It is greater.
    Greater = 5,
}

impl Comparison {
    fn of(number: i32) -> Result<Self, Failure> {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        let all = [Less, LessOrEqual, Equal, NotEqual, GreaterOrEqual, Greater];
        chosen(&all, number, "hblite_comparison")
    }
}

/// The table with this name, which is looked up when it is used. `*table` is the caller's, who ends
/// it with `hblite_free`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_table_new(
    db: *mut Db,
    name: Bytes<'_>,
    table: Option<&mut MaybeUninit<*mut Table>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let table = give(table, null_mut())?;
        *table = registry::add(Table { table: connection(db)?.table(name.text()?)? })?;
        Ok(())
    })
}

/// Reads a row. `read` may be NULL. `*row` is the caller's, who ends it with `hblite_free`; for a
/// row that does not exist, it has no cells.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_get(
    table: *mut Table,
    row_key: Bytes<'_>,
    read: *mut Read,
    row: Option<&mut MaybeUninit<*mut Row>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let row = give(row, null_mut())?;
        let get = Read::get(read, row_key.get()?)?;
        *row = registry::add(Row::new(registry::get(table)?.table.get(&get)?))?;
        Ok(())
    })
}

/// Begins a scan. `read` may be NULL. `*scanner` is the caller's, who ends it with `hblite_free`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_scan(
    table: *mut Table,
    read: *mut Read,
    scanner: Option<&mut MaybeUninit<*mut Scanner>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let scanner = give(scanner, null_mut())?;
        let scan = Read::scan(read)?;
        let rows = registry::get(table)?.table.scan(&scan)?;
        *scanner = registry::add(Scanner { rows: Mutex::new(Some(rows)) })?;
        Ok(())
    })
}

/// Reads the next row of a scan, which is NULL after the last one. `*row` is the caller's, who ends
/// it with `hblite_free`; it may outlive the scanner. A scan that failed has no more rows.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_scanner_next(
    scanner: *mut Scanner,
    row: Option<&mut MaybeUninit<*mut Row>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let row = give(row, null_mut())?;
        let scanner = registry::get(scanner)?;
        let mut rows = scanner.rows.lock();
        let Some(result) = rows.as_mut().and_then(Iterator::next) else {
            // What it holds is released now and not when it is freed.
            *rows = None;
            return Ok(());
        };
        drop(rows);
        *row = registry::add(Row::new(result?))?;
        Ok(())
    })
}

/// Sets one column of a row, as a write that `hblite_mutate` applies.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_put(
    table: *mut Table,
    row: Bytes<'_>,
    family: Bytes<'_>,
    qualifier: Bytes<'_>,
    value: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let put = Put::new(row.get()?).add(family.get()?, qualifier.get()?, value.get()?);
        Ok(registry::get(table)?.table.put(&put)?)
    })
}

/// Adds to one counter, and sets `*value`, unless `value` is NULL, to what it has then.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_increment(
    table: *mut Table,
    row: Bytes<'_>,
    family: Bytes<'_>,
    qualifier: Bytes<'_>,
    amount: i64,
    value: Option<&mut MaybeUninit<i64>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let (row, family, qualifier) = (row.get()?, family.get()?, qualifier.get()?);
        let value = value.map(|value| value.write(0));
        let table = registry::get(table)?;
        let sum = table.table.increment_column(row, family, qualifier, amount)?;
        if let Some(value) = value {
            *value = sum;
        }
        Ok(())
    })
}

/// Applies a write. `*row`, unless `row` is NULL, has the new values of an increment or append, and
/// is then the caller's, who ends it with `hblite_free`; after other writes it is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_mutate(
    table: *mut Table,
    write: *mut Write,
    row: Option<&mut MaybeUninit<*mut Row>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let row = row.map(|row| row.write(null_mut()));
        let table = registry::get(table)?;
        let values = registry::get(write)?.with(|operation| match operation {
            Operation::Put(put) => table.table.put(put).map(|()| None),
            Operation::Delete(delete) => table.table.delete(delete).map(|()| None),
            Operation::Increment(increment) => table.table.increment(increment).map(Some),
            Operation::Append(append) => table.table.append(append).map(Some),
        })?;
        if let (Some(row), Some(values)) = (row, values) {
            *row = registry::add(Row::new(values))?;
        }
        Ok(())
    })
}

/// Applies a write if a column of its row compares with `value` in this way, in one atomic step,
/// and sets `*applied` to 1 or 0. `comparison` is a `hblite_comparison`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_check_and_mutate(
    table: *mut Table,
    family: Bytes<'_>,
    qualifier: Bytes<'_>,
    comparison: i32,
    value: Bytes<'_>,
    write: *mut Write,
    applied: Option<&mut MaybeUninit<i32>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let applied = give(applied, 0)?;
        let operator = match Comparison::of(comparison)? {
            Comparison::Less => CompareOperator::Less,
            Comparison::LessOrEqual => CompareOperator::LessOrEqual,
            Comparison::Equal => CompareOperator::Equal,
            Comparison::NotEqual => CompareOperator::NotEqual,
            Comparison::GreaterOrEqual => CompareOperator::GreaterOrEqual,
            Comparison::Greater => CompareOperator::Greater,
        };
        let table = registry::get(table)?;
        let mutation = registry::get(write)?.with(|operation| operation.clone().into());
        let check = check_of(mutation, family.get()?, qualifier.get()?, operator, value.get()?);
        *applied = table.table.check_and_mutate(&check)?.is_success.into();
        Ok(())
    })
}

fn check_of(
    mutation: hblite::Mutation,
    family: &[u8],
    qualifier: &[u8],
    operator: CompareOperator,
    value: &[u8],
) -> CheckAndMutate {
    CheckAndMutate::new(mutation.row())
        .if_matches(family, qualifier, operator, value)
        .then(mutation)
}
