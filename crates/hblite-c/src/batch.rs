//! Actions that are sent together.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

use hblite::{Action, ActionResult};
use parking_lot::Mutex;

use crate::error::{Code, Error, Failure, run};
use crate::memory::{Bytes, Row, give};
use crate::read::Read;
use crate::registry::{self, Object};
use crate::table::Table;
use crate::write::Write;

/// Reads and writes of one table that are sent together, which is the fast way to write many rows.
/// Each succeeds or fails on its own. `hblite_free` ends it.
#[derive(Debug, Default)]
pub struct Batch {
    parts: Mutex<Parts>,
}

#[derive(Debug, Default)]
struct Parts {
    actions: Vec<Action>,
    results: Vec<hblite::Result<ActionResult>>,
}

impl Object for Batch {
    const NAME: &'static str = "hblite_batch";
}

/// Makes an empty batch. `*batch` is the caller's, who ends it with `hblite_free`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_batch_new(
    batch: Option<&mut MaybeUninit<*mut Batch>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let batch = give(batch, null_mut())?;
        *batch = registry::add(Batch::default())?;
        Ok(())
    })
}

/// Adds a copy of a write.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_batch_add_write(
    batch: *mut Batch,
    write: *mut Write,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let batch = registry::get(batch)?;
        let operation = registry::get(write)?.with(Clone::clone);
        batch.parts.lock().actions.push(Action::Mutation(operation.into()));
        Ok(())
    })
}

/// Adds a read of a row. `read` may be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_batch_add_get(
    batch: *mut Batch,
    row_key: Bytes<'_>,
    read: *mut Read,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let batch = registry::get(batch)?;
        let get = Read::get(read, row_key.get()?)?;
        batch.parts.lock().actions.push(Action::Get(get));
        Ok(())
    })
}

/// Sends what was added since the last call, and forgets the results of that. If some fail, it
/// returns the first failure; `hblite_batch_result` has that of each. If one is wrong in itself,
/// none is sent.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_batch_run(
    batch: *mut Batch,
    table: *mut Table,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let (batch, table) = (registry::get(batch)?, registry::get(table)?);
        let mut parts = batch.parts.lock();
        parts.results.clear();
        let actions = std::mem::take(&mut parts.actions);
        parts.results = table.table.batch(&actions)?;
        let failed = parts.results.iter().find_map(|result| result.as_ref().err());
        failed.map_or(Ok(()), |error| Err(error.clone().into()))
    })
}

/// The result of one action, by the order in which they were added, from 0: returns whether it
/// failed. `*row`, unless `row` is NULL, is that of a read, or has the new values of an increment
/// or append, and is the caller's, who ends it with `hblite_free`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_batch_result(
    batch: *mut Batch,
    index: usize,
    row: Option<&mut MaybeUninit<*mut Row>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let row = row.map(|row| row.write(null_mut()));
        let batch = registry::get(batch)?;
        let parts = batch.parts.lock();
        let result = parts.results.get(index).ok_or_else(|| {
            let message = format!("the last run had {} actions", parts.results.len());
            Failure::argument(message)
        })?;
        let result = result.as_ref().map_err(|error| Failure::from(error.clone()))?;
        if let (Some(row), Some(result)) = (row, result.row()) {
            *row = registry::add(Row::new(result.clone()))?;
        }
        Ok(())
    })
}
