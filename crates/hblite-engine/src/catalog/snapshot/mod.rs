//! Snapshots of tables: their files at one moment, kept by hard links.
//!
//! ```text
//! <root>/.hbase-snapshot/<name>/.snapshotinfo                   what it is; HBase's
//! <root>/.hbase-snapshot/<name>/data.manifest                   regions and files; HBase's
//! <root>/archive/data/<ns>/<table>/<region>/<family>/<file>     the files' names for HBase
//! <root>/.hbase-snapshot/<name>/.tabledesc/.tableinfo.<…>       the table's settings
//! <root>/.hbase-snapshot/<name>/<region>/.regioninfo            a region that the table had
//! <root>/.hbase-snapshot/<name>/<region>/.manifest             which files it has
//! <root>/.hbase-snapshot/<name>/<region>/<family>/<file>        its files, references among them
//! <root>/.hbase-snapshot/<name>/<parent>/<family>/<file>        what the references refer to
//! <root>/.hbase-snapshot/.tmp/hblite-<store id>-<name>/…        a snapshot being taken
//! ```
//!
//! A snapshot is created in `.tmp` and moved into place by a rename, durably: it is complete or
//! does not exist. Within a region, it shows all families at one moment; regions are added one
//! after the other, as in HBase. Nothing is copied if the file system supports links.
//!
//! HBase reads only `.snapshotinfo`, `data.manifest` and the archive. hblite reads the other files,
//! which have checksums and fingerprints, and which HBase's cleaners do not remove. When the store
//! is opened, a snapshot that HBase took gets these files, and a snapshot of an earlier hblite gets
//! what HBase reads, so both can use every snapshot.
//!
//! - `take` creates a snapshot, `stored` reads one, `restore` makes a table from one
//! - `transfer` copies one from directory to directory
//! - `data_manifest` is HBase's list, `archive` has the names, `adopt` is what an open does
//!
//! Threads: any; as procedures. Source: HBase's `SnapshotManager`.

mod adopt;
mod archive;
mod data_manifest;
mod new_files;
mod restore;
mod stored;
mod take;
mod transfer;

use std::path::Path;

use hblite_model::SnapshotDescription;
use hblite_model::{Error, Exception, Result};

use super::Procedures;
use crate::files::sync_dir;
use crate::layout::{Shape, foreign_entry};

pub(crate) use self::adopt::{files_of_hbase, settle_all};
pub(crate) use self::archive::lost_files;
pub(crate) use self::restore::settle;
pub(crate) use self::stored::StoredSnapshot;
use self::stored::snapshots;
pub use self::transfer::{export_snapshot, import_snapshot};

impl Procedures<'_> {
    /// All snapshots, by name.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` for a snapshot without a valid description.
    pub fn list_snapshots(&self) -> Result<Vec<SnapshotDescription>> {
        self.context.check_open()?;
        self.remove_expired_snapshots()?;
        let now = self.time_of_expiry();
        let found = snapshots(self.context.env.fs.as_ref(), &self.context.layout)?;
        // One may be kept by a procedure for a moment longer.
        let live = found.into_iter().filter(|snapshot| !snapshot.has_expired(now));
        Ok(live.map(|snapshot| snapshot.description).collect())
    }

    /// Removes a snapshot.
    ///
    /// # Errors
    /// `SnapshotDoesNotExist`, `Io`.
    pub fn delete_snapshot(&self, name: &str) -> Result<()> {
        let _procedure = self.begin_procedure()?;
        if !self.has_snapshot(name)? {
            return Err(snapshot_not_found(name));
        }
        self.remove_snapshot(name)
    }

    /// Removes expired snapshots. Does nothing while a procedure is in progress; a later call will
    /// do it.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn remove_expired_snapshots(&self) -> Result<()> {
        if self.context.is_read_only() {
            return Ok(());
        }
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        let now = self.time_of_expiry();
        // A snapshot that cannot be read causes an error when it is used; otherwise it does no
        // harm.
        let Ok(mut expired) = snapshots(fs, layout) else { return Ok(()) };
        expired.retain(|snapshot| snapshot.has_expired(now));
        if expired.is_empty() {
            return Ok(());
        }
        let Some(_procedure) = self.procedure.try_lock() else {
            return Ok(());
        };
        expired.iter().try_for_each(|snapshot| self.remove_snapshot(&snapshot.description.name))
    }

    /// A snapshot that had expired by then is no longer listed.
    fn time_of_expiry(&self) -> i64 {
        let kept_ms = self.context.options.expired_snapshots_kept_ms;
        self.context.env.clock.now_millis().saturating_sub(kept_ms)
    }

    /// The snapshot of this name, if it has not expired.
    fn open_snapshot(&self, name: &str) -> Result<StoredSnapshot> {
        if !self.has_snapshot(name)? {
            return Err(snapshot_not_found(name));
        }
        let (fs, layout) = (&self.context.env.fs, &self.context.layout);
        adopt::ensure(fs, layout, name)?;
        let snapshot = StoredSnapshot::read(fs.as_ref(), &layout.snapshot_dir(name))?;
        if snapshot.stored.has_expired(self.context.env.clock.now_millis()) {
            let message = format!("TTL for snapshot '{name}' has already expired.");
            return Err(Error::new(Exception::SnapshotTtlExpired, message));
        }
        Ok(snapshot)
    }

    fn has_snapshot(&self, name: &str) -> Result<bool> {
        // An invalid name must not become a path.
        if check_name(name).is_err() {
            return Ok(false);
        }
        let dir = self.context.layout.snapshot_dir(name);
        let exists = self.context.env.fs.exists(&dir);
        exists.map_err(|error| Error::io("cannot look for", &dir, error))
    }

    /// Durable on return. A snapshot that contains foreign files is set aside.
    fn remove_snapshot(&self, name: &str) -> Result<()> {
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        let (dir, working) = (layout.snapshot_dir(name), layout.snapshot_working_dir(name));
        let foreign = foreign_entry(fs, &dir, Shape::Snapshot);
        if let Some(path) = foreign.map_err(|error| Error::io("cannot list", &dir, error))? {
            let moved = layout.set_aside(fs, &dir)?;
            self.context.note_moved(&dir, moved.as_deref(), &path);
            return Ok(());
        }
        self.remove_working(&working)?;
        let working_dir = layout.snapshots_working_dir();
        fs.create_dir_all(&working_dir)
            .map_err(|error| Error::io("cannot create directory", &working_dir, error))?;
        // In one step, so that no half of it is mistaken for a snapshot.
        fs.rename(&dir, &working).map_err(|error| Error::io("cannot remove", &dir, error))?;
        sync_dir(fs, &working_dir)?;
        sync_dir(fs, &layout.snapshots_dir())?;
        // The next open removes what cannot be removed now.
        let _ = self.remove_working(&working);
        Ok(())
    }

    /// Removes a snapshot's working directory, after the links in the archive that only it has.
    fn remove_working(&self, working: &Path) -> Result<()> {
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        archive::unlink_all(fs, layout, working)?;
        let retired = layout.remove_in_place(fs, working)?;
        self.context.note_retired(working, &retired);
        Ok(())
    }
}

fn snapshot_not_found(name: &str) -> Error {
    let message = format!("Snapshot '{name}' doesn't exist on the filesystem");
    Error::new(Exception::SnapshotDoesNotExist, message)
}

/// Refuses what cannot be a snapshot's name: the rules are those of tables.
fn check_name(name: &str) -> Result<()> {
    let checked = hblite_model::TableName::new(hblite_model::name::DEFAULT_NAMESPACE, name);
    checked.map(drop).map_err(|error| {
        let message = error.message().replace("User-space table", "Snapshot");
        Error::illegal_argument(message)
    })
}
