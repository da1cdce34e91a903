//! What an open store does with whole files: takes them in, keeps them, copies them.
//!
//! Threads: any.

use std::path::{Path, PathBuf};

use hblite_model::{
    BackupReport, BulkLoadReport, Error, Exception, FailSafeSnapshot, Result, ScrubStatus,
    TableDescriptor, TableName,
};
use hblite_model::{SnapshotDescription, SnapshotOptions};

use super::Engine;
use crate::bulk_load::BulkLoadRequest;

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

/// Verification.
impl Engine {
    /// Reads every file of every region in service and verifies every block, without a limit of
    /// pace. Reads and writes go on.
    ///
    /// # Errors
    /// `RegionServerStopped` if the store is closed. Damage is no error: it is in the result.
    pub fn scrub(&self) -> Result<ScrubStatus> {
        let scrubber = self.running.lock().as_ref().map(|open| open.chores.scrubber().clone());
        match scrubber {
            Some(scrubber) => scrubber.scrub(),
            None => Err(Error::new(Exception::RegionServerStopped, "the store is closed")),
        }
    }

    /// What the scrubber has verified and found; nothing once the store is closed.
    pub fn scrub_status(&self) -> ScrubStatus {
        let running = self.running.lock();
        running.as_ref().map(|open| open.chores.scrubber().status()).unwrap_or_default()
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
