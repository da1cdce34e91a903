//! Stores and connections: open, connect, close, and the end of all other handles.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::ptr::null_mut;

use hblite::{ClusterOptions, Connection, Options};

use crate::error::{Code, Error, Failure, run};
use crate::memory::{Bytes, give};
use crate::registry::{self, Object};

/// Open the store as it is now, also while another process has it open. Writes are refused.
pub const HBLITE_OPEN_READ_ONLY: u32 = 1;
/// Refuse a directory without a store, instead of creating one.
pub const HBLITE_OPEN_EXISTING: u32 = 2;
/// Map files into memory, which is faster if the data does not fit into the cache. A mapped file
/// that something else truncates ends the process.
pub const HBLITE_OPEN_MAPPED: u32 = 4;
/// Open a damaged store without what is damaged.
pub const HBLITE_OPEN_SALVAGE: u32 = 8;
/// Convert a root directory of Apache HBase, which must not run.
pub const HBLITE_OPEN_ADOPT_HBASE: u32 = 16;

const FLAGS: u32 = HBLITE_OPEN_READ_ONLY
    | HBLITE_OPEN_EXISTING
    | HBLITE_OPEN_MAPPED
    | HBLITE_OPEN_SALVAGE
    | HBLITE_OPEN_ADOPT_HBASE;

/// An open store, or a connection to a cluster. `hblite_close` ends it.
#[derive(Debug)]
pub struct Db {
    pub(crate) connection: Connection,
}

impl Object for Db {
    const NAME: &'static str = "hblite_db";
}

/// The connection of a store.
pub(crate) fn connection(db: *mut Db) -> Result<Connection, Failure> {
    Ok(registry::get(db)?.connection.clone())
}

fn open(
    db: Option<&mut MaybeUninit<*mut Db>>,
    open: impl FnOnce() -> Result<Connection, Failure>,
) -> Result<(), Failure> {
    let db = give(db, null_mut())?;
    *db = registry::add(Db { connection: open()? })?;
    Ok(())
}

#[cfg(unix)]
fn path_of(path: Bytes<'_>) -> Result<PathBuf, Failure> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    Ok(PathBuf::from(OsStr::from_bytes(path.get()?)))
}

#[cfg(not(unix))]
fn path_of(path: Bytes<'_>) -> Result<PathBuf, Failure> {
    Ok(PathBuf::from(path.text()?))
}

/// Opens the store in the directory `path`, or creates one there. `flags` is 0 or some of the
/// HBLITE_OPEN_... together.
///
/// `*db` is the caller's, who ends it with `hblite_close`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_open(
    path: Bytes<'_>,
    flags: u32,
    db: Option<&mut MaybeUninit<*mut Db>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        open(db, || {
            if flags & !FLAGS != 0 {
                let message = format!("{flags:#x} has flags that hblite_open does not know");
                return Err(Failure::argument(message));
            }
            let is_set = |flag| flags & flag != 0;
            let options = Options::new()
                .with_read_only(is_set(HBLITE_OPEN_READ_ONLY))
                .with_create_if_missing(!is_set(HBLITE_OPEN_EXISTING))
                .with_files_mapped(is_set(HBLITE_OPEN_MAPPED))
                .with_salvage(is_set(HBLITE_OPEN_SALVAGE))
                .with_hbase_adopted(is_set(HBLITE_OPEN_ADOPT_HBASE));
            let path = path_of(path)?;
            if path.as_os_str().is_empty() {
                return Err(Failure::argument("the path is empty"));
            }
            Ok(options.open(path)?)
        })
    })
}

/// Opens an empty store in memory. `*db` is as of `hblite_open`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_open_in_memory(
    db: Option<&mut MaybeUninit<*mut Db>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || open(db, || Ok(Options::new().open_in_memory()?)))
}

/// Connects to a cluster of Apache HBase or to `hblite serve`, such as
/// "hbase://zookeeper-host:2181/hbase" or "hbase+rpc://host:16000". `*db` is as of `hblite_open`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_connect(
    address: Bytes<'_>,
    db: Option<&mut MaybeUninit<*mut Db>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || open(db, || Ok(ClusterOptions::new().connect(address.text()?)?)))
}

/// Ends all work, writes memory to files, releases the directory, and ends the handle, also if it
/// fails; nothing acknowledged is lost then. Tables and scanners of the store fail with
/// HBLITE_CLOSED from then on, and are freed as usual.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_close(db: *mut Db, error: Option<&mut MaybeUninit<Error>>) -> Code {
    run(error, || Ok(registry::take(db)?.connection.clone().close()?))
}

/// Ends a handle of any kind but `hblite_db`, and frees its memory. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_free(handle: *mut c_void, error: Option<&mut MaybeUninit<Error>>) -> Code {
    run(error, || if handle.is_null() { Ok(()) } else { registry::free::<Db>(handle) })
}
