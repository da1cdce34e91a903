//! Access to the catalog's own tables: read everything, write durably, never go back in time.
//!
//! Each call writes one log entry to hbase:meta, so after a crash all of it is there or nothing. A
//! procedure is committed when its entry is durable.
//!
//! Every write has a timestamp above all earlier ones, so that a table that is created again right
//! after it was dropped is not hidden by its own delete marker, whatever the clock says.
//!
//! Threads: any.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hblite_env::Clock;
use hblite_env::sync::Mutex;
use hblite_model::{
    CellBuffer, Durability, Error, ErrorKind, Exception, Mutation, NamespaceDescriptor, Result,
    RowResult, Scan,
};

use super::meta;
use crate::region::Region;
use crate::region::region_scanner::RegionStep;

/// hbase:meta and hbase:namespace.
pub(super) struct MetaTables {
    meta: Arc<Region>,
    namespace: Arc<Region>,
    clock: Arc<dyn Clock>,
    /// The last timestamp handed out; `None` before the first.
    last_timestamp: Mutex<Option<i64>>,
    /// Whether a write failed after it had begun.
    has_failed: AtomicBool,
}

impl MetaTables {
    pub(super) fn new(meta: Arc<Region>, namespace: Arc<Region>, clock: Arc<dyn Clock>) -> Self {
        Self {
            meta,
            namespace,
            clock,
            last_timestamp: Mutex::new(None),
            has_failed: AtomicBool::new(false),
        }
    }

    /// Writes rows of hbase:meta, all or none; durable on return.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed: the next open shows whether the write happened.
    pub(super) fn write(&self, mutations: &[Mutation]) -> Result<()> {
        self.commit(&self.meta, mutations)
    }

    /// Writes a namespace durably.
    pub(super) fn put_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        let mutation = meta::put_namespace(namespace, self.next_timestamp()?);
        self.commit(&self.namespace, &[mutation])
    }

    /// Removes a namespace durably.
    pub(super) fn delete_namespace(&self, name: &str) -> Result<()> {
        let mutation = meta::delete_namespace(name, self.next_timestamp()?);
        self.commit(&self.namespace, &[mutation])
    }

    fn commit(&self, region: &Region, mutations: &[Mutation]) -> Result<()> {
        let mutations: Vec<&Mutation> = mutations.iter().collect();
        region.mutate_rows(&mutations, Some(Durability::FsyncWal)).inspect_err(|error| {
            // If the region was busy or closing, the write has not begun; after any other error,
            // the outcome is unknown.
            if !matches!(error.kind(), ErrorKind::Busy | ErrorKind::NotServing) {
                self.has_failed.store(true, Ordering::Release);
            }
        })
    }

    /// Refuses everything after a failed write whose outcome is unknown.
    ///
    /// # Errors
    /// `RegionServerStopped`.
    pub(super) fn check(&self) -> Result<()> {
        if self.has_failed.load(Ordering::Acquire) {
            return Err(Error::new(
                Exception::RegionServerStopped,
                "a change of the catalog failed while it was committed; open the store again",
            ));
        }
        Ok(())
    }

    /// A timestamp for writes and for the ids of new regions: the current time, but later than all
    /// before it.
    pub(super) fn next_timestamp(&self) -> Result<i64> {
        let mut last = self.last_timestamp.lock();
        let before = match *last {
            Some(last) => last,
            None => highest_timestamp(&self.meta)?.max(highest_timestamp(&self.namespace)?),
        };
        let next = self.clock.now_millis().max(before.saturating_add(1));
        *last = Some(next);
        Ok(next)
    }
}

/// The highest timestamp of all cells, including delete markers and the cells that they hide.
pub(super) fn highest_timestamp(region: &Region) -> Result<i64> {
    let mut highest = 0;
    for_each_row(region, &Scan::new().with_raw(true).with_versions(i32::MAX), |row| {
        highest = row.cells().map(|cell| cell.timestamp()).fold(highest, i64::max);
        Ok(())
    })?;
    Ok(highest)
}

/// Calls `visit` with every row of a scan of a region.
pub(super) fn for_each_row(
    region: &Region,
    scan: &Scan,
    mut visit: impl FnMut(&RowResult) -> Result<()>,
) -> Result<()> {
    let mut scanner = region.scanner(scan)?;
    let mut cells = CellBuffer::new();
    while let RegionStep::Row(_) = scanner.next_row(&mut cells)? {
        let row = RowResult::new(std::mem::take(&mut cells));
        visit(&row)?;
        cells = row.into_cells();
        cells.clear();
    }
    Ok(())
}
