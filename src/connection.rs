//! Opens stores and their tables.
//!
//! A connection holds its backend and nothing else, so it works the same on every engine.

use std::any::Any;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Arc, Weak};

use hblite_engine::{
    CheckProgress, CheckReport, Cleaned, ClientScanners, FileNote, OpenReport, ReplayReport,
    Timeline,
};
use hblite_env::Env;
use hblite_model::{BackupReport, ColumnFamilyDescriptor, Result};

use crate::admin::Admin;
use crate::backend::Backend;
use crate::table::Table;
use crate::table_name::IntoTableName;

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
/// `NotFound` if there is no store. `Locked` if another process has it open (the message names it):
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
/// `Locked` if it is open (the message names the process); `Io` if there is no store, or if a
/// directory cannot be deleted.
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
/// `NotFound` if there is no store; `Locked` if another process has it open (the message names it);
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
pub fn import_snapshot(dir: impl AsRef<Path>, from: impl AsRef<Path>, name: &str) -> Result<u64> {
    let files = hblite_engine::import_snapshot(&Env::system(), dir.as_ref(), from.as_ref(), name)?;
    Ok(files as u64)
}

/// Copies the snapshot `name` of the closed store in `dir` to the directory `to`, as HBase's
/// `ExportSnapshot` does. Returns the number of its store files, which are linked, or copied to
/// another file system.
///
/// # Errors
/// As [`import_snapshot`].
pub fn export_snapshot(dir: impl AsRef<Path>, name: &str, to: impl AsRef<Path>) -> Result<u64> {
    let files = hblite_engine::export_snapshot(&Env::system(), dir.as_ref(), name, to.as_ref())?;
    Ok(files as u64)
}

/// An open store.
///
/// Cheap to clone. The store is closed when the last handle (to it, its tables and scanners) is
/// dropped, or by [`Connection::close`].
#[derive(Debug, Clone)]
pub struct Connection {
    backend: Arc<dyn Backend>,
    family_versions: Option<NonZeroU32>,
}

impl Connection {
    /// A connection to this backend.
    pub fn from_backend(backend: Arc<dyn Backend>) -> Self {
        Self { backend, family_versions: None }
    }

    pub(crate) fn with_family_versions(self, family_versions: Option<NonZeroU32>) -> Self {
        Self { family_versions, ..self }
    }

    /// A new family with the default settings, and the number of versions that
    /// [`Options::with_family_versions`](crate::Options::with_family_versions) has set.
    ///
    /// ```
    /// let connection = hblite::Options::new().with_family_versions(3).open_in_memory()?;
    /// assert_eq!(connection.new_family("f").versions(), 3);
    /// # Ok::<(), hblite::Error>(())
    /// ```
    pub fn new_family(&self, name: impl AsRef<[u8]>) -> ColumnFamilyDescriptor {
        let family = ColumnFamilyDescriptor::new(name.as_ref());
        match self.family_versions {
            Some(versions) => family.with_versions(versions.get()),
            None => family,
        }
    }

    /// The backend, if it is of this type.
    pub fn backend_as<B: Backend>(&self) -> Option<Arc<B>> {
        let backend: Arc<dyn Any + Send + Sync> = Arc::<dyn Backend>::clone(&self.backend);
        backend.downcast().ok()
    }

    /// The store, if this process has it open.
    pub(crate) fn timeline(&self) -> Option<&Timeline> {
        let backend: &dyn Any = self.backend.as_ref();
        backend.downcast_ref()
    }

    /// A table. It is looked up on each use, not here.
    ///
    /// # Errors
    /// `IllegalArgument` if this cannot be the name of a table.
    pub fn table(&self, name: impl IntoTableName) -> Result<Table> {
        Ok(Table::new(Arc::clone(&self.backend).table(name.into_table_name()?)))
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
        self.timeline().map(Timeline::recovery)
    }

    /// What opening the store changed in its directory: which directories were in the way, and
    /// where in `archive/` they are now. `None` for a store that another process serves.
    pub fn open_report(&self) -> Option<&OpenReport> {
        self.timeline().map(Timeline::open_report)
    }

    /// Store files and manifests that were dropped or accepted because the store was opened with
    /// [`Options::with_salvage`](crate::Options::with_salvage), and what was set aside because
    /// hblite did not write it.
    pub fn file_notes(&self) -> Vec<FileNote> {
        self.timeline().map(|timeline| timeline.engine().file_notes()).unwrap_or_default()
    }

    /// The history of requests that a console kept in the directory of the store, which this
    /// process has open; `None` if there is none.
    ///
    /// # Errors
    /// `CorruptHFile` if the file is damaged or of another store, which harms nothing else; `Io`.
    pub fn kept_history(&self) -> Result<Option<Vec<u8>>> {
        self.timeline().map_or(Ok(None), Timeline::kept_history)
    }

    /// Replaces the history of requests in the directory of the store. Returns false, and writes
    /// nothing, if this process has not opened the store for writing.
    ///
    /// # Errors
    /// `RegionServerStopped` if the store is closed or its directory replaced; `RegionTooBusy` if
    /// the disk is full; `Io`.
    pub fn keep_history(&self, history: &[u8]) -> Result<bool> {
        self.timeline().map_or(Ok(false), |timeline| timeline.keep_history(history))
    }

    /// Makes the open scanners of a gateway's clients follow the store: a rewind closes them, and
    /// their leases follow its clock. They are forgotten when they are dropped. Has no effect on a
    /// store that another process serves.
    pub fn add_client_scanners(&self, scanners: Weak<dyn ClientScanners>) {
        if let Some(timeline) = self.timeline() {
            timeline.add_client_scanners(scanners);
        }
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
