//! Snapshots of tables.

use hblite_model::{FailSafeSnapshot, Result};
use hblite_model::{SnapshotDescription, SnapshotOptions};

use crate::admin::Admin;
use crate::table_name::IntoTableName;

/// Snapshots: what a table held at one moment, kept by links to its files, so that taking one costs
/// neither time nor room; until the table's own files are replaced.
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
/// table.put(&Put::new("r").add("f", "q", "behind"))?;
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
    /// Takes a snapshot of a table, while reads and writes go on. It is there as a whole and
    /// durable on return, or not at all.
    ///
    /// Of each region it has one moment of the call: every write that was acknowledged before it,
    /// each row whole. Memory is flushed first; with `skip_flush` what is there is left out.
    ///
    /// # Errors
    /// `IllegalArgument` for a name that is none and for tables of the store's own;
    /// `SnapshotExists`; `SnapshotCreation` if there is no such table.
    pub fn snapshot(
        &self,
        name: &str,
        table: impl IntoTableName,
        options: &SnapshotOptions,
    ) -> Result<()> {
        self.backend.snapshot(name, &table.into_table_name()?, options)
    }

    /// All snapshots, by name, without those whose time is over.
    pub fn list_snapshots(&self) -> Result<Vec<SnapshotDescription>> {
        self.backend.list_snapshots()
    }

    /// Makes a new table of a snapshot, in service at once. Neither of the two changes when the
    /// other does.
    ///
    /// # Errors
    /// `SnapshotDoesNotExist`, `SnapshotTtlExpired`, `TableExists`, `NamespaceNotFound`: there is
    /// no such table then.
    pub fn clone_snapshot(&self, name: &str, table: impl IntoTableName) -> Result<()> {
        self.backend.clone_snapshot(name, &table.into_table_name()?)
    }

    /// Makes a disabled table what it was when the snapshot was taken, settings included; it stays
    /// disabled. A table that is gone is made again, and is in service.
    ///
    /// It happens as a whole or not at all. With [`FailSafeSnapshot::Take`] a
    /// snapshot `hbase-failsafe-<name>-<time>` of the table as it was exists until then.
    ///
    /// # Errors
    /// `RestoreSnapshot` if there is no such snapshot, `SnapshotTtlExpired`, `TableNotDisabled`:
    /// the table is as it was.
    pub fn restore_snapshot(&self, name: &str, fail_safe: FailSafeSnapshot) -> Result<()> {
        self.backend.restore_snapshot(name, fail_safe)
    }

    /// Removes a snapshot. Tables that were made of it stay as they are.
    ///
    /// # Errors
    /// `SnapshotDoesNotExist`.
    pub fn delete_snapshot(&self, name: &str) -> Result<()> {
        self.backend.delete_snapshot(name)
    }
}
