//! What procedures share: they change tables, regions and namespaces, one at a time.
//!
//! 1. check
//! 2. prepare files that nothing refers to yet
//! 3. commit: one durable entry in the log of hbase:meta (for settings of a table, its descriptor
//!    file)
//! 4. publish in memory
//! 5. remove files that are no longer referenced
//!
//! A crash before the commit leaves the old state, with files that the next open removes (see
//! `orphans`). A crash after it leaves the new state, with old files that the next open removes. An
//! error before the commit means that the procedure had no effect. The head of each procedure's
//! file lists its own steps.
//!
//! Threads: any. The guard of [`Procedures::begin_procedure`] lets one run at a time.

use std::ops::Deref;
use std::sync::Arc;

use hblite_env::sync::MutexGuard;
use hblite_model::{Result, TableDescriptor, TableName};

use super::meta::RegionRow;
use super::table::TableEntry;
use super::{Catalog, open_regions};
use crate::region::Region;

/// The procedures that change a store's tables, regions and namespaces.
///
/// # Errors
/// All may fail with `RegionServerStopped` if the store is closed or its catalog failed, and with
/// `DoNotRetryIo` if it was opened read-only.
#[derive(Debug, Clone, Copy)]
pub struct Procedures<'c>(pub(crate) &'c Catalog);

impl Deref for Procedures<'_> {
    type Target = Catalog;

    fn deref(&self) -> &Catalog {
        self.0
    }
}

impl Procedures<'_> {
    /// Waits until no other procedure is in progress.
    ///
    /// # Errors
    /// `RegionServerStopped` if the store is closed, or an earlier commit failed. The outcome of
    /// that commit is unknown, and so is which files are needed: nothing may be changed until the
    /// store is opened again. `Io`: nothing was done.
    pub(super) fn begin_procedure(&self) -> Result<MutexGuard<'_, ()>> {
        let guard = self.procedure.lock();
        self.context.check_open()?;
        self.context.check_not_read_only()?;
        self.context.wal.check()?;
        self.meta.check()?;
        self.context.layout.begin_use(self.context.env.fs.as_ref())?;
        self.keep_reserve();
        Ok(guard)
    }

    /// Opens a region whose log counts from the id in `row` on.
    pub(super) fn open_region(
        &self,
        row: &RegionRow,
        descriptor: &Arc<TableDescriptor>,
    ) -> Result<Arc<Region>> {
        open_regions::open_region(&self.context, row, descriptor)
    }

    /// Opens all of these regions, or none.
    pub(super) fn open_regions<'r>(
        &self,
        rows: impl IntoIterator<Item = &'r RegionRow>,
        descriptor: &Arc<TableDescriptor>,
    ) -> Result<Vec<Arc<Region>>> {
        let mut regions = Vec::new();
        for row in rows {
            match self.open_region(row, descriptor) {
                Ok(region) => regions.push(region),
                Err(error) => {
                    discard(&regions);
                    return Err(error);
                }
            }
        }
        Ok(regions)
    }

    /// Flushes and closes all regions of a table, or none: after a failure, those that were closed
    /// are opened again. Returns their rows with the ids from which their logs count.
    pub(super) fn close_regions(
        &self,
        entry: &TableEntry,
        table: &TableName,
    ) -> Result<Vec<RegionRow>> {
        let mut rows = entry.rows.clone();
        for (index, region) in entry.regions().iter().enumerate() {
            if let Err(error) = region.close() {
                let still_open = entry.regions()[index..].to_vec();
                self.reopen(table, entry, &rows, still_open);
                return Err(error);
            }
            let name = region.info().encoded_name();
            if let Some(row) = rows.iter_mut().find(|row| row.info.encoded_name() == name) {
                row.open_sequence_number = region.last_sequence_id() + 1;
            }
        }
        Ok(rows)
    }

    /// Puts the closed regions of a table back in service after a procedure failed. One that
    /// cannot be opened stays out of service until the store is opened again.
    pub(super) fn reopen(
        &self,
        table: &TableName,
        entry: &TableEntry,
        rows: &[RegionRow],
        mut open: Vec<Arc<Region>>,
    ) {
        for row in entry.live_rows() {
            let name = row.info.encoded_name();
            if open.iter().any(|region| region.info().encoded_name() == name) {
                continue;
            }
            let row = rows.iter().find(|row| row.info.encoded_name() == name).unwrap_or(row);
            if let Ok(region) = self.open_region(row, &entry.descriptor) {
                open.push(region);
            }
        }
        let descriptor = Arc::clone(&entry.descriptor);
        self.publish(table, Some(TableEntry::new(descriptor, entry.state, rows.to_vec(), open)));
    }
}

/// Takes regions out of service that hold nothing of value.
pub(super) fn discard(regions: &[Arc<Region>]) {
    for region in regions {
        // Only the removal of old logs can fail here; the next flush tries again.
        let _ = region.discard();
    }
}
