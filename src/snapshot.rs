//! Snapshots of tables.

use hblite_model::{FailSafeSnapshot, Result, SnapshotRights};
use hblite_model::{SnapshotDescription, SnapshotOptions};

use crate::admin::Admin;
use crate::table_name::IntoTableName;

/// Snapshots: the contents of a table at one moment, kept as hard links to its files. Taking one
/// costs almost no time, and no space until the table's own files are replaced.
///
/// ```
/// use hblite::{ColumnFamilyDescriptor, FailSafeSnapshot, Put, SnapshotOptions, TableDescriptor};
/// # fn main() -> hblite::Result<()> {
/// let connection = hblite::open_in_memory()?;
/// let admin = connection.admin();
/// let family = ColumnFamilyDescriptor::new("f");
/// admin.create_table(&TableDescriptor::new("t".parse()?).with_family(family))?;
/// let table = connection.table("t")?;
/// table.put(&Put::new("r").add("f", "q", "before"))?;
/// admin.snapshot("monday", "t", &SnapshotOptions::default())?;
/// table.put(&Put::new("r").add("f", "q", "after"))?;
///
/// admin.clone_snapshot("monday", "copy")?;
/// let copied = connection.table("copy")?.get(&hblite::Get::new("r"))?;
/// assert_eq!(copied.value("f", "q"), Some(&b"before"[..]));
///
/// admin.disable_table("t")?;
/// admin.restore_snapshot("monday", FailSafeSnapshot::Take)?;
/// admin.enable_table("t")?;
/// # Ok(())
/// # }
/// ```
impl Admin {
    /// Takes a snapshot of a table, while reads and writes continue. On return it is complete and
    /// durable; if the call fails, there is no snapshot.
    ///
    /// It contains each region as it was at one moment during the call, with every write
    /// acknowledged before the call, each row whole. Memory is flushed first; with `skip_flush`,
    /// cells in memory are left out.
    ///
    /// # Errors
    /// `IllegalArgument` for an invalid name and for system tables; `SnapshotExists`;
    /// `SnapshotCreation` if there is no such table.
    pub fn snapshot(
        &self,
        name: &str,
        table: impl IntoTableName,
        options: &SnapshotOptions,
    ) -> Result<()> {
        self.backend.snapshot(name, &table.into_table_name()?, options)
    }

    /// All snapshots, by name, without expired ones.
    pub fn list_snapshots(&self) -> Result<Vec<SnapshotDescription>> {
        self.backend.list_snapshots()
    }

    /// Creates a new, enabled table from a snapshot. Later changes to one do not affect the other.
    ///
    /// # Errors
    /// `SnapshotDoesNotExist`, `SnapshotTtlExpired`, `TableExists`, `NamespaceNotFound`. In these
    /// cases, no table is created.
    pub fn clone_snapshot(&self, name: &str, table: impl IntoTableName) -> Result<()> {
        self.clone_snapshot_with(name, table, SnapshotRights::Ignore)
    }

    /// [`clone_snapshot`](Self::clone_snapshot), with the rights that users had.
    ///
    /// # Errors
    /// Those of `clone_snapshot`.
    pub fn clone_snapshot_with(
        &self,
        name: &str,
        table: impl IntoTableName,
        rights: SnapshotRights,
    ) -> Result<()> {
        self.backend.clone_snapshot_with(name, &table.into_table_name()?, rights)
    }

    /// Restores a disabled table to what it was when the snapshot was taken, settings included; it
    /// stays disabled. A table that no longer exists is created again and enabled.
    ///
    /// The restore is complete or has no effect. With [`FailSafeSnapshot::Take`], a snapshot
    /// `hbase-failsafe-<name>-<time>` of the previous state exists until the restore is done.
    ///
    /// # Errors
    /// `RestoreSnapshot` if there is no such snapshot, `SnapshotTtlExpired`, `TableNotDisabled`. In
    /// these cases, the table is unchanged.
    pub fn restore_snapshot(&self, name: &str, fail_safe: FailSafeSnapshot) -> Result<()> {
        self.restore_snapshot_with(name, fail_safe, SnapshotRights::Ignore)
    }

    /// [`restore_snapshot`](Self::restore_snapshot), with the rights that users had.
    ///
    /// # Errors
    /// Those of `restore_snapshot`.
    pub fn restore_snapshot_with(
        &self,
        name: &str,
        fail_safe: FailSafeSnapshot,
        rights: SnapshotRights,
    ) -> Result<()> {
        self.backend.restore_snapshot_with(name, fail_safe, rights)
    }

    /// Removes a snapshot. Tables created from it are not affected.
    ///
    /// # Errors
    /// `SnapshotDoesNotExist`.
    pub fn delete_snapshot(&self, name: &str) -> Result<()> {
        self.backend.delete_snapshot(name)
    }
}
