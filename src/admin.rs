//! Changing tables, regions and namespaces.

use std::path::Path;
use std::sync::Arc;

use hblite_engine::{BackupReport, Engine, RegionLocation, StoreStatus, TableState};
use hblite_model::{
    ColumnFamilyDescriptor, NamespaceDescriptor, RegionInfo, Result, TableDescriptor, TableName,
};

/// Changes tables, regions and namespaces.
///
/// # Errors
/// All methods answer with HBase's exception class and message: `TableNotFound`, `TableExists`,
/// `TableNotDisabled`, `NamespaceNotFound`, `Constraint`, `IllegalArgument` and so on.
#[derive(Debug, Clone)]
pub struct Admin {
    pub(crate) engine: Arc<Engine>,
}

/// Tables.
impl Admin {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Creates a table with one region.
    pub fn create_table(&self, table: &TableDescriptor) -> Result<()> {
        self.create_table_with_splits(table, &[])
    }

    /// Creates a table that is split at these keys.
    pub fn create_table_with_splits(
        &self,
        table: &TableDescriptor,
        split_keys: &[Vec<u8>],
    ) -> Result<()> {
        self.engine.create_table(table, split_keys)
    }

    /// Deletes a disabled table with everything in it.
    pub fn drop_table(&self, table: &TableName) -> Result<()> {
        self.engine.drop_table(table)
    }

    /// Empties a disabled table and enables it; its regions are kept if wanted.
    pub fn truncate_table(&self, table: &TableName, preserve_splits: bool) -> Result<()> {
        self.engine.truncate_table(table, preserve_splits)
    }

    /// Puts a disabled table back in service.
    pub fn enable_table(&self, table: &TableName) -> Result<()> {
        self.engine.enable_table(table)
    }

    /// Takes a table out of service; its memory is flushed.
    pub fn disable_table(&self, table: &TableName) -> Result<()> {
        self.engine.disable_table(table)
    }

    /// Whether the table is there.
    pub fn table_exists(&self, table: &TableName) -> Result<bool> {
        self.engine.table_exists(table)
    }

    /// Whether the table is enabled.
    pub fn is_table_enabled(&self, table: &TableName) -> Result<bool> {
        Ok(self.engine.table_state(table)? == TableState::Enabled)
    }

    /// Whether the table is disabled.
    pub fn is_table_disabled(&self, table: &TableName) -> Result<bool> {
        Ok(self.engine.table_state(table)? == TableState::Disabled)
    }

    /// The settings of a table.
    pub fn describe_table(&self, table: &TableName) -> Result<TableDescriptor> {
        self.engine.describe_table(table)
    }

    /// Tables in order of their names: those of the default namespace first, then by namespace;
    /// system tables only if wanted.
    pub fn list_tables(&self, include_system: bool) -> Result<Vec<TableDescriptor>> {
        self.engine.list_tables(include_system)
    }

    /// Replaces the settings of a table, families included.
    pub fn modify_table(&self, table: &TableDescriptor) -> Result<()> {
        self.engine.modify_table(table)
    }

    /// Adds a family.
    pub fn add_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        self.engine.add_family(table, family)
    }

    /// Replaces the settings of a family.
    pub fn modify_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        self.engine.modify_family(table, family)
    }

    /// Deletes a family with its cells.
    pub fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        self.engine.delete_family(table, family)
    }
}

/// Regions and files.
impl Admin {
    /// The regions of a table in order of their start keys; none if it is not there.
    pub fn regions(&self, table: &TableName) -> Result<Vec<RegionInfo>> {
        self.engine.regions(table)
    }

    /// The region that holds a row.
    pub fn locate_region(&self, table: &TableName, row: &[u8]) -> Result<RegionLocation> {
        self.engine.locate_region(table, row)
    }

    /// Splits the region that holds `split_key` there; without a key, every region of the table
    /// at the middle of its largest file. A region whose files are too small to have a middle is
    /// refused then: `DoNotRetryIo`.
    pub fn split_table(&self, table: &TableName, split_key: Option<&[u8]>) -> Result<()> {
        self.engine.split_table(table, split_key)
    }

    /// Splits a region, named by its full or encoded name.
    pub fn split_region(&self, region: &str, split_key: Option<&[u8]>) -> Result<()> {
        self.engine.split_region(region, split_key)
    }

    /// Merges neighbouring regions, named by their full or encoded names.
    pub fn merge_regions(&self, regions: &[&str], is_forced: bool) -> Result<()> {
        self.engine.merge_regions(regions, is_forced)
    }

    /// Removes all cells of a region, named by its full or encoded name, while its table stays in
    /// service.
    pub fn truncate_region(&self, region: &str) -> Result<()> {
        self.engine.truncate_region(region)
    }

    /// Writes what a table holds in memory to files.
    pub fn flush_table(&self, table: &TableName) -> Result<()> {
        self.engine.flush_table(table)
    }

    /// Writes what a region holds in memory to files.
    pub fn flush_region(&self, region: &str) -> Result<()> {
        self.engine.flush_region(region)
    }

    /// Writes what one family of a table holds in memory to files. The log keeps what it has of
    /// the other families, and with it of this one.
    pub fn flush_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        self.engine.flush_family(table, family)
    }

    /// Writes what one family of a region holds in memory to a file; as [`Admin::flush_family`].
    pub fn flush_region_family(&self, region: &str, family: &[u8]) -> Result<()> {
        self.engine.flush_region_family(region, family)
    }

    /// Merges files of a table as the policy chooses, or all of them if `is_major`. Returns when
    /// it is done.
    pub fn compact_table(&self, table: &TableName, is_major: bool) -> Result<()> {
        self.engine.compact_table(table, is_major)
    }

    /// Merges files of a region; as [`Admin::compact_table`].
    pub fn compact_region(&self, region: &str, is_major: bool) -> Result<()> {
        self.engine.compact_region(region, is_major)
    }

    /// Merges files of one family of a table; as [`Admin::compact_table`].
    pub fn compact_family(&self, table: &TableName, family: &[u8], is_major: bool) -> Result<()> {
        self.engine.compact_family(table, family, is_major)
    }

    /// Merges files of one family of a region; as [`Admin::compact_table`].
    pub fn compact_region_family(&self, region: &str, family: &[u8], is_major: bool) -> Result<()> {
        self.engine.compact_region_family(region, family, is_major)
    }

    /// Regions, requests, memory and files.
    pub fn status(&self) -> Result<StoreStatus> {
        self.engine.status()
    }
}

/// Copies.
impl Admin {
    /// Makes a copy of the store as a new directory `to`, in the file system that the store is in,
    /// while reads and writes go on. On return the copy is durable; if the call fails, it is not
    /// there.
    ///
    /// The copy is the store at one moment of the call: every write that was acknowledged before
    /// the call is in it, each row whole. Of writes during the call those without log may be
    /// missing. Regions are flushed first; tables are not changed until all files are linked, or
    /// copied if `to` is on another file system.
    ///
    /// # Errors
    /// `Io` if `to` is there and not an empty directory or the file system fails,
    /// `IllegalArgument` if `to` is within the store.
    pub fn backup(&self, to: impl AsRef<Path>) -> Result<BackupReport> {
        self.engine.backup(to.as_ref())
    }
}

/// Namespaces.
impl Admin {
    /// Creates a namespace.
    pub fn create_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.engine.create_namespace(namespace)
    }

    /// Replaces the properties of a namespace.
    pub fn modify_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.engine.modify_namespace(namespace)
    }

    /// Deletes a namespace without tables.
    pub fn drop_namespace(&self, name: &str) -> Result<()> {
        self.engine.drop_namespace(name)
    }

    /// A namespace.
    pub fn describe_namespace(&self, name: &str) -> Result<NamespaceDescriptor> {
        self.engine.describe_namespace(name)
    }

    /// Namespaces in order of their names.
    pub fn list_namespaces(&self) -> Result<Vec<NamespaceDescriptor>> {
        self.engine.list_namespaces()
    }

    /// Tables of a namespace.
    pub fn list_namespace_tables(&self, name: &str) -> Result<Vec<TableName>> {
        self.engine.list_namespace_tables(name)
    }
}
