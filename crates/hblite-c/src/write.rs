//! Writes to one row.

use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::time::Duration;

use hblite::{Append, Delete, Durability, Increment, LATEST_TIMESTAMP, Mutation, Put};
use parking_lot::Mutex;

use crate::error::{Code, Error, Failure, chosen, run};
use crate::memory::{Bytes, give};
use crate::registry::{self, Object};

/// In place of a timestamp: the time of the write, or for deletes any time before it.
pub const HBLITE_NOW: i64 = 9_223_372_036_854_775_807;
const _: () = assert!(HBLITE_NOW == LATEST_TIMESTAMP);

/// The kinds of writes.
#[repr(i32)]
#[derive(Debug, Clone, Copy)]
pub enum WriteKind {
    /// Sets columns.
    Put = 0,
    /// Deletes the row, or the parts of it that are added.
    Delete = 1,
    /// Adds to counters: 8-byte big-endian numbers.
    Increment = 2,
    /// Extends values.
    Append = 3,
}

impl WriteKind {
    fn of(number: i32) -> Result<Self, Failure> {
        let all = [Self::Put, Self::Delete, Self::Increment, Self::Append];
        chosen(&all, number, "hblite_write_kind")
    }
}

/// The parts of a row that a delete deletes.
#[repr(i32)]
#[derive(Debug, Clone, Copy)]
pub enum DeleteScope {
    /// The row, up to the timestamp.
    Row = 0,
    /// A family, up to the timestamp.
    Family = 1,
    /// What has exactly this timestamp in a family.
    FamilyVersion = 2,
    /// A column, up to the timestamp.
    Column = 3,
    /// The version of a column with exactly this timestamp; with HBLITE_NOW the newest.
    Version = 4,
}

impl DeleteScope {
    fn of(number: i32) -> Result<Self, Failure> {
        let all = [Self::Row, Self::Family, Self::FamilyVersion, Self::Column, Self::Version];
        chosen(&all, number, "hblite_delete_scope")
    }

    /// Refuses parts of a name that the scope does not have.
    fn check(self, family: &[u8], qualifier: &[u8]) -> Result<(), Failure> {
        let (has_family, has_qualifier) = match self {
            Self::Row => (false, false),
            Self::Family | Self::FamilyVersion => (true, false),
            Self::Column | Self::Version => (true, true),
        };
        if (!has_family && !family.is_empty()) || (!has_qualifier && !qualifier.is_empty()) {
            return Err(Failure::argument(
                "this hblite_delete_scope has no such family or qualifier",
            ));
        }
        Ok(())
    }
}

/// When a write is acknowledged.
#[repr(i32)]
#[derive(Debug, Clone, Copy)]
pub enum WriteDurability {
    /// As the table says; it survives a kill of the process, unless the table says otherwise.
    Default = 0,
    /// It is lost with the process until the next flush.
    SkipWal = 1,
    /// The log is written shortly afterwards.
    AsyncWal = 2,
    /// It survives a kill of the process.
    SyncWal = 3,
    /// It survives a power cut.
    FsyncWal = 4,
}

impl WriteDurability {
    fn of(number: i32) -> Result<Durability, Failure> {
        use WriteDurability::{AsyncWal, Default, FsyncWal, SkipWal, SyncWal};
        let all = [Default, SkipWal, AsyncWal, SyncWal, FsyncWal];
        Ok(match chosen(&all, number, "hblite_write_durability")? {
            Default => Durability::UseDefault,
            SkipWal => Durability::SkipWal,
            AsyncWal => Durability::AsyncWal,
            SyncWal => Durability::SyncWal,
            FsyncWal => Durability::FsyncWal,
        })
    }
}

/// A write to one row, which is applied as a whole or not at all. `hblite_free` ends it; until
/// then, it may be used for many calls.
#[derive(Debug)]
pub struct Write {
    operation: Mutex<Operation>,
}

impl Object for Write {
    const NAME: &'static str = "hblite_write";
}

#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Put(Put),
    Delete(Delete),
    Increment(Increment),
    Append(Append),
}

impl Operation {
    fn refuse(&self, what: &str) -> Result<(), Failure> {
        let name = match self {
            Self::Put(_) => "a put",
            Self::Delete(_) => "a delete",
            Self::Increment(_) => "an increment",
            Self::Append(_) => "an append",
        };
        Err(Failure::argument(format!("{name} has no {what}")))
    }
}

impl From<Operation> for Mutation {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Put(put) => put.into(),
            Operation::Delete(delete) => delete.into(),
            Operation::Increment(increment) => increment.into(),
            Operation::Append(append) => append.into(),
        }
    }
}

impl Write {
    /// Calls `with` with the operation.
    pub(crate) fn with<T>(&self, with: impl FnOnce(&Operation) -> T) -> T {
        with(&self.operation.lock())
    }
}

/// Changes the operation of a write.
fn change(
    write: *mut Write,
    change: impl FnOnce(&mut Operation) -> Result<(), Failure>,
) -> Result<(), Failure> {
    change(&mut registry::get(write)?.operation.lock())
}

/// Passes an operation through one of its methods. If that panics, an operation without a row
/// remains, which the store refuses.
macro_rules! update {
    ($place:expr, $kind:ident => $method:ident($($argument:expr),*)) => {{
        let operation = std::mem::replace($place, $kind::new(b""));
        *$place = operation.$method($($argument),*);
        Ok(())
    }};
}

/// Begins a write to this row; `kind` is a `hblite_write_kind`. `*write` is the caller's, who ends
/// it with `hblite_free`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_write_new(
    kind: i32,
    row: Bytes<'_>,
    write: Option<&mut MaybeUninit<*mut Write>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let write = give(write, null_mut())?;
        let row = row.get()?;
        let operation = match WriteKind::of(kind)? {
            WriteKind::Put => Operation::Put(Put::new(row)),
            WriteKind::Delete => Operation::Delete(Delete::new(row)),
            WriteKind::Increment => Operation::Increment(Increment::new(row)),
            WriteKind::Append => Operation::Append(Append::new(row)),
        };
        *write = registry::add(Write { operation: Mutex::new(operation) })?;
        Ok(())
    })
}

/// Adds a value to a put, with this timestamp in milliseconds or HBLITE_NOW, or to an append, which
/// has no timestamp but HBLITE_NOW.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_write_add(
    write: *mut Write,
    family: Bytes<'_>,
    qualifier: Bytes<'_>,
    value: Bytes<'_>,
    timestamp: i64,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let (family, qualifier, value) = (family.get()?, qualifier.get()?, value.get()?);
        change(write, |operation| match operation {
            Operation::Put(put) => {
                update!(put, Put => add_at(family, qualifier, timestamp, value))
            }
            Operation::Append(append) if timestamp == HBLITE_NOW => {
                update!(append, Append => add(family, qualifier, value))
            }
            Operation::Append(_) => operation.refuse("timestamp but HBLITE_NOW"),
            _ => operation.refuse("values"),
        })
    })
}

/// Adds a column to an increment, and how much to add to its counter. A missing one counts as 0.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_write_add_amount(
    write: *mut Write,
    family: Bytes<'_>,
    qualifier: Bytes<'_>,
    amount: i64,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let (family, qualifier) = (family.get()?, qualifier.get()?);
        change(write, |operation| match operation {
            Operation::Increment(increment) => {
                update!(increment, Increment => add(family, qualifier, amount))
            }
            _ => operation.refuse("amounts"),
        })
    })
}

/// Adds a part to a delete; `scope` is a `hblite_delete_scope`. `qualifier` is empty where the
/// scope is a family, and `family` too where it is the row.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_write_add_delete(
    write: *mut Write,
    scope: i32,
    family: Bytes<'_>,
    qualifier: Bytes<'_>,
    timestamp: i64,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let (family, qualifier) = (family.get()?, qualifier.get()?);
        let scope = DeleteScope::of(scope)?;
        scope.check(family, qualifier)?;
        let is_now = timestamp == HBLITE_NOW;
        change(write, |operation| {
            let Operation::Delete(delete) = operation else { return operation.refuse("deletes") };
            match scope {
                DeleteScope::Row if is_now => Ok(()),
                DeleteScope::Row => update!(delete, Delete => with_timestamp(timestamp)),
                DeleteScope::Family => update!(delete, Delete => family_at(family, timestamp)),
                DeleteScope::FamilyVersion if is_now => {
                    operation.refuse("version of a family at HBLITE_NOW")
                }
                DeleteScope::FamilyVersion => {
                    update!(delete, Delete => family_version(family, timestamp))
                }
                DeleteScope::Column => {
                    update!(delete, Delete => columns_at(family, qualifier, timestamp))
                }
                DeleteScope::Version => {
                    update!(delete, Delete => column_at(family, qualifier, timestamp))
                }
            }
        })
    })
}

/// Sets when a write is acknowledged; `durability` is a `hblite_write_durability`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_write_set_durability(
    write: *mut Write,
    durability: i32,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let durability = WriteDurability::of(durability)?;
        change(write, |operation| match operation {
            Operation::Put(put) => update!(put, Put => with_durability(durability)),
            Operation::Delete(delete) => update!(delete, Delete => with_durability(durability)),
            Operation::Increment(increment) => {
                update!(increment, Increment => with_durability(durability))
            }
            Operation::Append(append) => update!(append, Append => with_durability(durability)),
        })
    })
}

/// Lets the cells of a put disappear after so many milliseconds.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_write_set_ttl(
    write: *mut Write,
    milliseconds: u64,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let time = Duration::from_millis(milliseconds);
        change(write, |operation| match operation {
            Operation::Put(put) => update!(put, Put => with_time_to_live(time)),
            _ => operation.refuse("time to live"),
        })
    })
}
