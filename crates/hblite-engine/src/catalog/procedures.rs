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
//! Threads: any. The guard of [`begin_procedure`] lets one run at a time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_env::sync::MutexGuard;
use hblite_model::{Error, Exception, RegionInfo, Result, TableDescriptor, TableName};

use super::Catalog;
use super::meta::RegionRow;
use super::open_regions::open_region;
use super::table::TableEntry;
use crate::context::EngineContext;
use crate::layout::{Shape, UNCLAIMED_FILE};
use crate::region::Region;

/// The procedures that change a store's tables, regions and namespaces.
///
/// # Errors
/// All may fail with `RegionServerStopped` if the store is closed or its catalog failed, and with
/// `DoNotRetryIo` if it was opened read-only.
#[derive(Debug, Clone, Copy)]
pub struct Procedures<'c>(pub(super) &'c Catalog);

impl Catalog {
    /// The procedures that change the catalog.
    pub fn procedures(&self) -> Procedures<'_> {
        Procedures(self)
    }
}

/// Waits until no other procedure is in progress.
///
/// # Errors
/// `RegionServerStopped` if the store is closed, or an earlier commit failed. The outcome of that
/// commit is unknown, and so is which files are needed: nothing may be changed until the store is
/// opened again. `Io`: nothing was done.
pub(super) fn begin_procedure(catalog: &Catalog) -> Result<MutexGuard<'_, ()>> {
    let guard = catalog.procedure.lock();
    catalog.context.check_open()?;
    catalog.context.check_not_read_only()?;
    catalog.context.wal.check()?;
    catalog.meta.check()?;
    catalog.context.layout.begin_use(catalog.context.env.fs.as_ref())?;
    catalog.keep_reserve();
    Ok(guard)
}

/// Opens all of these regions, or none.
pub(super) fn open_regions<'r>(
    context: &Arc<EngineContext>,
    rows: impl IntoIterator<Item = &'r RegionRow>,
    descriptor: &Arc<TableDescriptor>,
) -> Result<Vec<Arc<Region>>> {
    let mut regions = Vec::new();
    for row in rows {
        match open_region(context, row, descriptor) {
            Ok(region) => regions.push(region),
            Err(error) => {
                discard(&regions);
                return Err(error);
            }
        }
    }
    Ok(regions)
}

/// Puts the closed regions of a table back in service after a procedure failed. One that cannot be
/// opened stays out of service until the store is opened again.
pub(super) fn reopen(
    catalog: &Catalog,
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
        if let Ok(region) = open_region(&catalog.context, row, &entry.descriptor) {
            open.push(region);
        }
    }
    catalog.publish(table, Some(entry.with_rows(rows.to_vec(), open)));
}

/// Takes regions out of service that hold nothing of value.
pub(super) fn discard(regions: &[Arc<Region>]) {
    for region in regions {
        // Only the removal of old logs can fail here; the next flush tries again.
        let _ = region.discard();
    }
}

/// Opens regions again that were closed for a procedure that failed.
pub(super) fn bring_back(catalog: &Catalog, entry: &TableEntry, closed: &[Arc<Region>]) {
    let is_closed = |region: &&Arc<Region>| closed.iter().any(|c| c.info() == region.info());
    let open = entry.regions().iter().filter(|region| !is_closed(region)).cloned().collect();
    let mut rows = entry.rows.clone();
    for region in closed {
        for row in rows.iter_mut().filter(|row| row.info == *region.info()) {
            row.open_sequence_number = region.last_sequence_id() + 1;
            // The procedure may have removed what hbase:meta says.
            row.manifest = None;
        }
    }
    reopen(catalog, entry.descriptor.name(), entry, &rows, open);
}

/// Claims the files of regions that hbase:meta now names.
pub(super) fn claim(context: &EngineContext, rows: &[RegionRow]) {
    for row in rows {
        let path = context.layout.region_dir(&row.info).join(UNCLAIMED_FILE);
        // It matters only for regions that hbase:meta does not name.
        let _ = context.env.fs.remove_file(&path);
    }
}

/// Removes a directory that is no longer used. What fails is left for the next open.
pub(super) fn retire_dir(context: &EngineContext, dir: &Path, shape: Shape) {
    if let Ok(retired) = context.layout.retire_dir(context.env.fs.as_ref(), dir, shape) {
        context.note_retired(dir, &retired);
    }
}

/// Removes the directories of removed regions. What fails is left for the next open.
pub(super) fn remove_region_dirs<'r>(
    context: &EngineContext,
    regions: impl IntoIterator<Item = &'r RegionInfo>,
) {
    for info in regions {
        retire_dir(context, &context.layout.region_dir(info), Shape::Region);
    }
}

/// Only the next open shows the outcome of the procedure, so nothing is done with the store until
/// then.
pub(super) fn give_up(context: &EngineContext, error: Error) -> Error {
    context.is_closed.store(true, Ordering::Release);
    let message = format!("{}; open the store again", error.message());
    Error::new(Exception::RegionServerStopped, message).with_source(error)
}
