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
//! - `take` creates a snapshot, `stored` reads one, `restore` makes a table from one, `removal`
//!   removes one
//! - `transfer` copies one from directory to directory
//! - `data_manifest` is HBase's list, `archive` has the names, `adopt` is what an open does
//! - `named` is how a missing snapshot is noticed
//!
//! Threads: any; as procedures. Source: HBase's `SnapshotManager`.

mod adopt;
mod archive;
mod data_manifest;
mod named;
mod new_files;
mod removal;
mod restore;
mod stored;
mod take;
mod transfer;

use hblite_model::{Result, SnapshotDescription, Switch};

use self::removal::remove_snapshot;
use super::Procedures;
use super::parked::with_reserve;
use super::procedures::begin_procedure;
use crate::context::EngineContext;

pub(crate) use self::adopt::{files_of_hbase, settle_all};
pub(crate) use self::archive::archived_files;
pub(crate) use self::named::{LOST, Named, check, lost, named};
pub(crate) use self::removal::half_removed;
pub(crate) use self::restore::settle;
pub(crate) use self::stored::StoredSnapshot;
use self::stored::{has_snapshot, snapshot_not_found, snapshots};
pub use self::transfer::{export_snapshot, import_snapshot};

impl Procedures<'_> {
    /// All snapshots, by name.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` for a snapshot without a valid description.
    pub fn list_snapshots(&self) -> Result<Vec<SnapshotDescription>> {
        let catalog = self.0;
        catalog.context.check_open()?;
        self.remove_expired_snapshots()?;
        let now = time_of_expiry(&catalog.context);
        let found = snapshots(catalog.context.env.fs.as_ref(), &catalog.context.layout)?;
        // One may be kept by a procedure for a moment longer.
        let live = found.into_iter().filter(|snapshot| !snapshot.has_expired(now));
        Ok(live.map(|snapshot| snapshot.description).collect())
    }

    /// Removes a snapshot.
    ///
    /// # Errors
    /// `SnapshotDoesNotExist`, `Io`.
    pub fn delete_snapshot(&self, name: &str) -> Result<()> {
        let catalog = self.0;
        with_reserve(&catalog.context, || {
            let _procedure = begin_procedure(catalog)?;
            if !has_snapshot(&catalog.context, name)? {
                return Err(snapshot_not_found(name));
            }
            remove_snapshot(catalog, name)
        })
    }

    /// Removes expired snapshots. Does nothing while a procedure is in progress; a later call will
    /// do it.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn remove_expired_snapshots(&self) -> Result<()> {
        let catalog = self.0;
        let is_on = catalog.context.switches.is_on(Switch::SnapshotCleanup);
        if catalog.context.is_read_only() || !is_on {
            return Ok(());
        }
        let (fs, layout) = (catalog.context.env.fs.as_ref(), &catalog.context.layout);
        let now = time_of_expiry(&catalog.context);
        // A snapshot that cannot be read causes an error when it is used; otherwise it does no
        // harm.
        let Ok(mut expired) = snapshots(fs, layout) else { return Ok(()) };
        expired.retain(|snapshot| snapshot.has_expired(now));
        if expired.is_empty() {
            return Ok(());
        }
        let Some(_procedure) = catalog.procedure.try_lock() else {
            return Ok(());
        };
        expired.iter().try_for_each(|snapshot| remove_snapshot(catalog, &snapshot.description.name))
    }
}

/// A snapshot that had expired by then is no longer listed.
fn time_of_expiry(context: &EngineContext) -> i64 {
    let kept_ms = context.options.expired_snapshots_kept_ms;
    context.env.clock.now_millis().saturating_sub(kept_ms)
}
