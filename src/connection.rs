//! Opens stores and their tables.
//!
//! A connection holds its backend and nothing else, so it works the same on every engine.

use std::any::Any;
use std::path::Path;
use std::sync::{Arc, Weak};

use hblite_engine::{
    CheckProgress, CheckReport, Cleaned, ClientScanners, Engine, EngineOptions, FileNote,
    KeySamples, OpenReport, ReplayReport, Timeline,
};
use hblite_env::Env;
use hblite_model::{BackupReport, Result};

use crate::admin::Admin;
use crate::backend::Backend;
use crate::embedded::Embedded;
use crate::table::Table;
use crate::table_name::IntoTableName;

/// Opens the store in a directory, or creates one there.
///
/// Short for [`Options::new`] and [`Options::open`].
///
/// ```no_run
/// let connection = hblite::open("./hblite-data")?;
/// # Ok::<(), hblite::Error>(())
/// ```
///
/// # Errors
/// `Io` if the directory cannot be used, is neither empty nor a store (then nothing in it is
/// changed), or is open in another process (the message names the process); `Corrupt` with file and
/// offset if something in it is damaged.
pub fn open(dir: impl AsRef<Path>) -> Result<Connection> {
    Options::new().open(dir)
}

/// Opens an empty store in memory, which is dropped with its last handle.
///
/// # Errors
/// None in practice; the signature is that of [`open`].
pub fn open_in_memory() -> Result<Connection> {
    Options::new().open_in_memory()
}

/// Reads every file of the closed store in a directory, and reports all damage. Nothing is written,
/// so the store may be on read-only media. During the check, the store's lock file, if there is
/// one, is locked for reading.
///
/// ```no_run
/// let report = hblite::check("./hblite-data")?;
/// for defect in &report.defects {
///     println!("{defect}");
/// }
/// # Ok::<(), hblite::Error>(())
/// ```
///
/// # Errors
/// `NotFound` if there is no store. `Io` if another process has it open (the message names it):
/// check a backup of it instead. Damage is not an error: it is in the report.
pub fn check(dir: impl AsRef<Path>) -> Result<CheckReport> {
    check_with_progress(dir, |_| {})
}

/// Like [`check`], and calls `progress` from time to time.
///
/// # Errors
/// As [`check`].
pub fn check_with_progress(
    dir: impl AsRef<Path>,
    mut progress: impl FnMut(CheckProgress),
) -> Result<CheckReport> {
    hblite_engine::check(&Env::system(), dir.as_ref(), &mut progress)
}

/// Opening a store moves directories that are in the way to `archive/`. This deletes them from the
/// closed store in `dir`, and lists them. Nothing else is deleted.
///
/// # Errors
/// `Io` if there is no store, if it is open (the message names the process), or if a directory
/// cannot be deleted.
pub fn clean(dir: impl AsRef<Path>) -> Result<Vec<Cleaned>> {
    hblite_engine::clean(&Env::system(), dir.as_ref())
}

/// Copies the closed store in `dir` to the new directory `to`, which appears complete and durable,
/// or not at all. The files are linked, or copied if `to` is on another file system.
///
/// [`Admin::backup`] copies a store that this process has open.
///
/// ```no_run
/// hblite::backup("./hblite-data", "/backups/monday")?;
/// # Ok::<(), hblite::Error>(())
/// ```
///
/// # Errors
/// `NotFound` if there is no store; `Io` if another process has it open (the message names it);
/// `AlreadyExists` if `to` is not an empty directory; `IllegalArgument` if `to` is within the
/// store.
pub fn backup(dir: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<BackupReport> {
    hblite_engine::backup(&Env::system(), dir.as_ref(), to.as_ref())
}

/// Copies the snapshot `name` from the directory `from`, to which HBase's `ExportSnapshot` or
/// [`export_snapshot`] wrote it, into the closed store in `dir`. Returns the number of its store
/// files, which are linked, or copied from another file system. [`Admin::clone_snapshot`] creates a
/// table from it.
///
/// # Errors
/// `Io` if there is no store or a process has it open; an error that names the snapshot or file if
/// it is missing or damaged, already exists, or cannot be read by hblite. In these cases, the
/// snapshot is not added.
pub fn import_snapshot(dir: impl AsRef<Path>, from: impl AsRef<Path>, name: &str) -> Result<usize> {
    hblite_engine::import_snapshot(&Env::system(), dir.as_ref(), from.as_ref(), name)
}

/// Copies the snapshot `name` of the closed store in `dir` to the directory `to`, as HBase's
/// `ExportSnapshot` does. Returns the number of its store files, which are linked, or copied to
/// another file system.
///
/// # Errors
/// As [`import_snapshot`].
pub fn export_snapshot(dir: impl AsRef<Path>, name: &str, to: impl AsRef<Path>) -> Result<usize> {
    hblite_engine::export_snapshot(&Env::system(), dir.as_ref(), name, to.as_ref())
}

/// How to open a store.
///
/// ```
/// use std::sync::Arc;
/// use hblite::{Clock, ManualClock, Options};
/// let clock = Arc::new(ManualClock::new(1_000));
/// let connection = Options::new().clock(clock.clone()).open_in_memory()?;
/// clock.advance(60_000); // time to live, timestamps: all follow this clock
/// # drop(connection);
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Options {
    engine: EngineOptions,
    /// These four override the engine's settings, whichever was given first.
    create_if_missing: Option<bool>,
    salvage: Option<bool>,
    read_only: Option<bool>,
    adopt_hbase: Option<bool>,
    env: Option<Env>,
    clock: Option<Arc<dyn hblite_env::Clock>>,
}

impl Options {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The engine's settings; see [`EngineOptions`]. [`Options::create_if_missing`],
    /// [`Options::salvage`], [`Options::read_only`] and [`Options::adopt_hbase`] take precedence
    /// over the same settings in it, in any order of the calls.
    #[must_use]
    pub fn engine(self, engine: EngineOptions) -> Self {
        Self { engine, ..self }
    }

    /// Where files, time and randomness come from.
    #[must_use]
    pub fn env(self, env: Env) -> Self {
        Self { env: Some(env), ..self }
    }

    /// Uses this clock instead of the environment's.
    #[must_use]
    pub fn clock(self, clock: Arc<dyn hblite_env::Clock>) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// Whether to create a store in a directory without one (the default), or to fail.
    ///
    /// ```
    /// let dir = tempfile::tempdir()?;
    /// let missing = hblite::Options::new().create_if_missing(false).open(dir.path().join("typo"));
    /// assert!(missing.unwrap_err().message().ends_with("typo: no store is there"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn create_if_missing(mut self, create: bool) -> Self {
        self.create_if_missing = Some(create);
        self
    }

    /// Opens a damaged store, which is otherwise an error. Damaged records of the log are skipped
    /// and listed by [`Connection::recovery`]. A lost hbase:meta is rebuilt from the files of the
    /// tables, as [`Connection::open_report`] describes.
    #[must_use]
    pub fn salvage(mut self, salvage: bool) -> Self {
        self.salvage = Some(salvage);
        self
    }

    /// Opens the store only to read it, as it is at this moment: recovery after a kill happens in
    /// memory, nothing is written to the directory, and changes are refused with
    /// `DoNotRetryIOException`. This works on read-only media, without permission to write, and
    /// while another process has the store open.
    ///
    /// Later writes of other processes are not visible. [`Options::open`] fails with `Io` if the
    /// store changes so quickly that no consistent state can be read.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = tempfile::tempdir()?;
    /// let writer = hblite::open(dir.path())?;
    /// let family = hblite::ColumnFamilyDescriptor::new("f");
    /// let t = hblite::TableDescriptor::new("t".parse()?).with_family(family);
    /// writer.admin().create_table(&t)?;
    /// writer.table("t")?.put(&hblite::Put::new("r").add("f", "q", "v"))?;
    ///
    /// let reader = hblite::Options::new().read_only(true).open(dir.path())?;
    /// let row = reader.table("t")?.get(&hblite::Get::new("r"))?;
    /// assert_eq!(row.value("f", "q"), Some(&b"v"[..]));
    /// assert!(reader.table("t")?.put(&hblite::Put::new("s").add("f", "q", "v")).is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = Some(read_only);
        self
    }

    /// Converts a root directory of Apache HBase to a store, if HBase has stopped or was killed:
    /// its logs are replayed into store files, and its servers in hbase:meta are replaced by
    /// hblite's. Without this, such a directory is refused. HBase must not be running on it; hblite
    /// cannot detect whether it is.
    ///
    /// Everything is tried in memory first. What hblite cannot read (an unfinished procedure of the
    /// master, an encrypted log, medium objects, …) is refused by name, and nothing is changed.
    /// With [`Options::read_only`], the directory is never changed, and the tables can be read.
    #[must_use]
    pub fn adopt_hbase(mut self, adopt: bool) -> Self {
        self.adopt_hbase = Some(adopt);
        self
    }

    /// Opens the store in `dir`.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(self, dir: impl AsRef<Path>) -> Result<Connection> {
        let env = self.env.clone().unwrap_or_else(Env::system);
        self.open_env(env, dir.as_ref())
    }

    /// Opens an empty store in memory.
    ///
    /// # Errors
    /// As [`open_in_memory`].
    pub fn open_in_memory(mut self) -> Result<Connection> {
        self.engine.is_flushed_on_close = false;
        self.engine.scrub_period_ms = None;
        let env = self.env.clone().unwrap_or_else(Env::in_memory);
        self.open_env(env, Path::new("/memory"))
    }

    /// Opens a copy of the store in `dir`, in memory. The directory is only read: nothing in it is
    /// changed, and another process may have it open.
    ///
    /// # Errors
    /// As [`open`]; `Io` if there is no store.
    pub fn open_copy(mut self, dir: impl AsRef<Path>) -> Result<Connection> {
        let env = self.prepare(self.env.clone().unwrap_or_else(Env::system));
        Ok(Connection::to_timeline(Timeline::open_copy(env, dir.as_ref(), self.engine)?))
    }

    fn open_env(mut self, env: Env, dir: &Path) -> Result<Connection> {
        let env = self.prepare(env);
        Ok(Connection::to_timeline(Timeline::open(env, dir, self.engine)?))
    }

    /// Combines the settings; returns the environment with the clock.
    fn prepare(&mut self, env: Env) -> Env {
        let engine = &mut self.engine;
        engine.create_if_missing = self.create_if_missing.unwrap_or(engine.create_if_missing);
        engine.salvage = self.salvage.unwrap_or(engine.salvage);
        engine.adopts_hbase = self.adopt_hbase.unwrap_or(engine.adopts_hbase);
        engine.is_read_only = self.read_only.unwrap_or(engine.is_read_only);
        match self.clock.take() {
            Some(clock) => env.with_clock(clock),
            None => env,
        }
    }
}

/// An open store.
///
/// Cheap to clone. The store is closed when the last handle (to it, its tables and scanners) is
/// dropped, or by [`Connection::close`].
#[derive(Debug, Clone)]
pub struct Connection {
    backend: Arc<dyn Backend>,
}

impl Connection {
    /// A connection to this backend.
    pub fn to_backend(backend: Arc<dyn Backend>) -> Self {
        Self { backend }
    }

    /// A connection to a store of this process.
    pub(crate) fn to_timeline(timeline: Arc<Timeline>) -> Self {
        Self::to_backend(Arc::new(Embedded(timeline)))
    }

    /// The store, if this process has it open.
    pub(crate) fn timeline(&self) -> Option<&Arc<Timeline>> {
        self.backend_as::<Embedded>().map(|embedded| &embedded.0)
    }

    /// The backend, if it is one of this type.
    pub(crate) fn backend_as<B: Backend>(&self) -> Option<&B> {
        let backend: &dyn Any = self.backend.as_ref();
        backend.downcast_ref()
    }

    /// A table. It is looked up on each use, not here.
    ///
    /// # Errors
    /// `IllegalArgument` if this cannot be the name of a table.
    pub fn table(&self, name: impl IntoTableName) -> Result<Table> {
        Ok(Table::new(self.backend.table(name.into_table_name()?)))
    }

    /// Changes tables and namespaces.
    pub fn admin(&self) -> Admin {
        Admin::new(Arc::clone(&self.backend))
    }

    /// The directory of the store; `None` unless this process has it open.
    pub fn dir(&self) -> Option<&Path> {
        self.backend.dir()
    }

    /// What was replayed from the log when this process opened the store; `None` for a store that
    /// another process serves.
    pub fn recovery(&self) -> Option<&ReplayReport> {
        self.backend.recovery()
    }

    /// What opening the store changed in its directory: which directories were in the way, and
    /// where in `archive/` they are now. `None` for a store that another process serves.
    pub fn open_report(&self) -> Option<&OpenReport> {
        self.backend.open_report()
    }

    /// Store files and manifests that were dropped or accepted because the store was opened with
    /// [`Options::salvage`], and what was set aside because hblite did not write it.
    pub fn file_notes(&self) -> Vec<FileNote> {
        self.backend.file_notes()
    }

    /// A sample of the rows that are read and written, which is off until a rate is set. `None` for
    /// a store that another process serves.
    ///
    /// ```
    /// # use hblite::*;
    /// # let connection = open_in_memory()?;
    /// # connection.admin().create_table(&TableDescriptor::new("t".parse()?)
    /// #     .with_family(ColumnFamilyDescriptor::new("f")))?;
    /// let samples = connection.key_samples().expect("the store is in this process");
    /// samples.set_every(1);
    /// connection.table("t")?.put(&Put::new("row").add("f", "q", "v"))?;
    /// assert!(samples.take().iter().any(|sample| *sample.row == *b"row" && sample.is_write));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn key_samples(&self) -> Option<Arc<KeySamples>> {
        embedded_engine(self).map(|engine| engine.key_samples())
    }

    /// The store's clock, in milliseconds since 1970-01-01 UTC.
    pub fn now_millis(&self) -> i64 {
        self.backend.now_millis()
    }

    /// Ends all work, flushes memory to files and releases the directory.
    ///
    /// Remaining handles return `Closed` for reads, writes and changes to tables from then on; a
    /// scan returns the rest of its current region.
    ///
    /// # Errors
    /// `Io` if a flush fails; nothing is lost, since the log still has the writes.
    pub fn close(self) -> Result<()> {
        self.backend.close()
    }
}

/// The engine behind a connection, if this process has the store open. The server needs it: its
/// clients address regions, not tables. Not part of the API.
#[doc(hidden)]
pub fn embedded_engine(connection: &Connection) -> Option<Arc<Engine>> {
    connection.timeline().map(|timeline| timeline.engine())
}

/// Makes the open scanners of a gateway follow the clock and the rewinds of the connection's store,
/// if this process has it open. Not part of the API.
#[doc(hidden)]
pub fn add_client_scanners(connection: &Connection, scanners: Weak<dyn ClientScanners>) {
    if let Some(timeline) = connection.timeline() {
        timeline.add_client_scanners(scanners);
    }
}

/// Like [`embedded_engine`], for a server that follows the store through rewinds. Not part of the
/// API.
#[doc(hidden)]
pub fn embedded_timeline(connection: &Connection) -> Option<&Arc<Timeline>> {
    connection.timeline()
}
