//! The tables of a store, and the care of their files.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

use hblite::{Admin, SplitPoints, SystemTables, TableState};

use crate::error::{Code, Error, run};
use crate::list::{self, List};
use crate::memory::{Bytes, give};
use crate::registry;
use crate::schema::Schema;
use crate::store::{Db, connection};

/// Whether a table is in service.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// There is no such table.
    Missing = 0,
    /// In service.
    Enabled = 1,
    /// Out of service.
    Disabled = 2,
    /// Changing from one to the other.
    Changing = 3,
}

/// Runs a change of a table.
fn with_table(
    db: *mut Db,
    name: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
    call: impl FnOnce(&Admin, &str) -> hblite::Result<()>,
) -> Code {
    run(error, || Ok(call(&connection(db)?.admin(), name.text()?)?))
}

/// Creates the table that `schema` describes, which may be used again.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_create_table(
    db: *mut Db,
    schema: *mut Schema,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let admin = connection(db)?.admin();
        let schema = registry::get(schema)?;
        let parts = schema.parts.lock();
        Ok(admin.create_table_with_splits(&parts.table, &parts.splits)?)
    })
}

/// Deletes a disabled table with everything in it.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_delete_table(
    db: *mut Db,
    name: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    with_table(db, name, error, |admin, name| admin.delete_table(name))
}

/// Takes a table out of service.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_disable_table(
    db: *mut Db,
    name: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    with_table(db, name, error, |admin, name| admin.disable_table(name))
}

/// Puts a disabled table back in service.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_enable_table(
    db: *mut Db,
    name: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    with_table(db, name, error, |admin, name| admin.enable_table(name))
}

/// Empties a disabled table and enables it. Its regions remain if `preserve_splits`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_truncate_table(
    db: *mut Db,
    name: Bytes<'_>,
    preserve_splits: i32,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    let splits = if preserve_splits == 0 { SplitPoints::Discard } else { SplitPoints::Preserve };
    with_table(db, name, error, |admin, name| admin.truncate_table(name, splits))
}

/// Sets `*state` to that of a table, which need not exist.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_table_state(
    db: *mut Db,
    name: Bytes<'_>,
    state: Option<&mut MaybeUninit<State>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let state = give(state, State::Missing)?;
        let (admin, name) = (connection(db)?.admin(), name.text()?);
        if admin.table_exists(name)? {
            *state = match admin.table_state(name)? {
                TableState::Enabled => State::Enabled,
                TableState::Disabled => State::Disabled,
                TableState::Enabling | TableState::Disabling => State::Changing,
            };
        }
        Ok(())
    })
}

/// Lists the names of the tables, sorted. `*list` is the caller's, who ends it with `hblite_free`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_list_tables(
    db: *mut Db,
    list: Option<&mut MaybeUninit<*mut List>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let list = give(list, null_mut())?;
        let tables = connection(db)?.admin().list_tables(SystemTables::Exclude)?;
        *list = list::add(tables.iter().map(|table| table.name().to_string()))?;
        Ok(())
    })
}

/// Writes the memory of a table to files.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_flush(
    db: *mut Db,
    table: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    with_table(db, table, error, |admin, table| admin.flush_table(table))
}

/// Merges files of a table: some, or if `major` all, without what was deleted or has expired.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_compact(
    db: *mut Db,
    table: Bytes<'_>,
    major: i32,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    with_table(db, table, error, |admin, table| match major {
        0 => admin.compact_table(table),
        _ => admin.major_compact_table(table),
    })
}
