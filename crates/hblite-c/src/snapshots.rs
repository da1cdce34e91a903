//! Snapshots of tables.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

use hblite::{FailSafeSnapshot, SnapshotOptions};

use crate::error::{Code, Error, run};
use crate::list::{self, List};
use crate::memory::{Bytes, give};
use crate::store::{Db, connection};

/// Takes a snapshot of a table, while reads and writes continue.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_snapshot(
    db: *mut Db,
    snapshot: Bytes<'_>,
    table: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let (admin, options) = (connection(db)?.admin(), SnapshotOptions::default());
        Ok(admin.snapshot(snapshot.text()?, table.text()?, &options)?)
    })
}

/// Lists the names of the snapshots, sorted. `*list` is the caller's, who ends it with
/// `hblite_free`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_list_snapshots(
    db: *mut Db,
    list: Option<&mut MaybeUninit<*mut List>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let list = give(list, null_mut())?;
        let snapshots = connection(db)?.admin().list_snapshots()?;
        *list = list::add(snapshots.into_iter().map(|snapshot| snapshot.name))?;
        Ok(())
    })
}

/// Creates a table from a snapshot.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_clone_snapshot(
    db: *mut Db,
    snapshot: Bytes<'_>,
    table: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || Ok(connection(db)?.admin().clone_snapshot(snapshot.text()?, table.text()?)?))
}

/// Restores a disabled table to a snapshot of it. A failure leaves it as it was.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_restore_snapshot(
    db: *mut Db,
    snapshot: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let admin = connection(db)?.admin();
        Ok(admin.restore_snapshot(snapshot.text()?, FailSafeSnapshot::Take)?)
    })
}

/// Deletes a snapshot. Tables created from it remain.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_delete_snapshot(
    db: *mut Db,
    snapshot: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || Ok(connection(db)?.admin().delete_snapshot(snapshot.text()?)?))
}
