//! What an open store does with whole files: takes them in, keeps them, copies them.
//!
//! Threads: any.

use std::path::{Path, PathBuf};

use hblite_model::{
    BackupReport, BulkLoadReport, FailSafeSnapshot, Result, TableDescriptor, TableName,
};

use super::Engine;
use crate::bulk_load::BulkLoadRequest;
use crate::snapshot::{SnapshotDescription, SnapshotOptions};

/// Files that come from outside.
impl Engine {
    /// Loads a folder of HFiles, `<folder>/<family>/<file>`, into a table.
    pub fn bulk_load(
        &self,
        table: &TableName,
        folder: &Path,
        request: &BulkLoadRequest,
    ) -> Result<BulkLoadReport> {
        self.catalog.bulk_load(table, folder, request)
    }

    /// Loads HFiles into one region, each into the family beside it, all or none. False, and
    /// nothing was loaded, if one of them has rows of other regions.
    pub fn bulk_load_region(
        &self,
        region: &str,
        files: &[(Vec<u8>, PathBuf)],
        request: &BulkLoadRequest,
    ) -> Result<bool> {
        self.catalog.bulk_load_region(region, files, request)
    }
}

/// Copies.
impl Engine {
    /// Makes a copy of the store, as it is at one moment of the call, as a new directory `to`.
    pub fn backup(&self, to: &Path) -> Result<BackupReport> {
        self.catalog.backup(to)
    }
}

/// Snapshots.
impl Engine {
    /// Takes a snapshot of a table.
    pub fn snapshot(&self, name: &str, table: &TableName, options: &SnapshotOptions) -> Result<()> {
        self.catalog.snapshot(name, table, options)
    }

    /// All snapshots, by name.
    pub fn list_snapshots(&self) -> Result<Vec<SnapshotDescription>> {
        self.catalog.list_snapshots()
    }

    /// Makes a new table of a snapshot.
    pub fn clone_snapshot(&self, name: &str, table: &TableName) -> Result<()> {
        self.catalog.clone_snapshot(name, table, &Ok)
    }

    /// Makes a new table of a snapshot, with the settings that `change` makes of the snapshot's.
    pub fn clone_snapshot_with(
        &self,
        name: &str,
        table: &TableName,
        change: impl Fn(TableDescriptor) -> Result<TableDescriptor>,
    ) -> Result<()> {
        self.catalog.clone_snapshot(name, table, &change)
    }

    /// Makes a disabled table what it was when the snapshot was taken.
    pub fn restore_snapshot(&self, name: &str, fail_safe: FailSafeSnapshot) -> Result<()> {
        self.catalog.restore_snapshot(name, fail_safe)
    }

    /// Removes a snapshot.
    pub fn delete_snapshot(&self, name: &str) -> Result<()> {
        self.catalog.delete_snapshot(name)
    }
}
