//! Access to the catalog's own tables: read everything, write durably, never go back in time.
//!
//! Each call writes one log entry to hbase:meta, so after a crash all of it is there or nothing. A
//! procedure is committed when its entry is durable.
//!
//! Every write has a timestamp above all earlier ones, so that a table that is created again right
//! after it was dropped is not hidden by its own delete marker, whatever the clock says. It is also
//! below the clock: HBase's AsyncAdmin reads what is before the present millisecond.
//!
//! Threads: any.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use hblite_env::Clock;
use hblite_env::sync::Mutex;
use hblite_env::time::{Duration, Instant};
use hblite_model::{
    CellBuffer, Durability, Error, ErrorKind, Exception, Mutation, NamespaceDescriptor, RegionInfo,
    Result, RowResult, Scan,
};

use super::meta;
use crate::context::{EngineContext, Naming};
use crate::region::Region;
use crate::region::region_scanner::RegionStep;
use crate::store::manifest::Recorded;

/// The highest timestamps written.
#[derive(Default)]
struct LastTimestamps {
    /// Of a change; `None` before the first. Then that of all cells.
    change: Option<i64>,
    /// Whether `change` is above those of hbase:namespace, too.
    covers_namespaces: bool,
    /// Of what says that a region has a manifest.
    naming: i64,
}

/// How long a change waits for the clock to pass its timestamp.
const PATIENCE: Duration = Duration::from_millis(20);
const PAUSE: Duration = Duration::from_micros(100);

/// hbase:meta and hbase:namespace.
pub(super) struct MetaTables {
    meta: Arc<Region>,
    namespace: Arc<Region>,
    clock: Arc<dyn Clock>,
    last_timestamps: Mutex<LastTimestamps>,
    /// Whether a write failed after it had begun.
    has_failed: AtomicBool,
}

impl MetaTables {
    /// The tables of a store, in which regions are named from now on.
    pub(super) fn of(
        context: &EngineContext,
        meta: Arc<Region>,
        namespace: Arc<Region>,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        let tables = Arc::new(Self {
            meta,
            namespace,
            clock,
            last_timestamps: Mutex::default(),
            has_failed: AtomicBool::new(false),
        });
        // The regions hold the context, so it must not hold them.
        let naming = context.naming.set(Box::new(Manifests(Arc::downgrade(&tables))));
        assert!(naming.is_ok(), "a store has one catalog");
        tables
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

    /// A timestamp for writes and for the ids of new regions: the last millisecond before the
    /// present one, but later than all timestamps before it. A clock that runs has passed it on
    /// return, unless it has jumped back.
    pub(super) fn next_timestamp(&self) -> Result<i64> {
        let mut last = self.last_timestamps.lock();
        let mut before = self.last_change(&last)?.max(last.naming);
        if !last.covers_namespaces {
            before = before.max(highest_timestamp(&self.namespace)?);
            last.covers_namespaces = true;
        }
        let next = self.present().max(before.saturating_add(1));
        last.change = Some(next);
        let since = Instant::now();
        while self.clock.is_running() && self.present() < next && since.elapsed() < PATIENCE {
            hblite_env::thread::sleep(PAUSE);
        }
        Ok(next)
    }

    /// The last millisecond that a running clock has passed.
    fn present(&self) -> i64 {
        self.clock.now_millis().saturating_sub(i64::from(self.clock.is_running()))
    }

    /// hbase:namespace is left out because it may be closing.
    fn last_change(&self, last: &LastTimestamps) -> Result<i64> {
        last.change.map_or_else(|| highest_timestamp(&self.meta), Ok)
    }

    /// A timestamp that is later than those of all changes. Many regions may get the same one.
    fn naming_timestamp(&self) -> Result<i64> {
        let mut last = self.last_timestamps.lock();
        let change = self.last_change(&last)?;
        last.change = Some(change);
        last.naming = self.present().max(change.saturating_add(1)).max(last.naming);
        Ok(last.naming)
    }
}

/// Records in hbase:meta which regions have manifests.
struct Manifests(Weak<MetaTables>);

impl Naming for Manifests {
    fn name(&self, region: &RegionInfo, recorded: Recorded) -> Result<()> {
        let Some(tables) = self.0.upgrade() else { return Ok(()) };
        let mutation = meta::put_manifest(region, recorded, tables.naming_timestamp()?);
        // Nothing waits for a sync: before the log discards an entry of the region, it syncs this.
        tables.meta.mutate_rows(&[&mutation], Some(Durability::SyncWal))
    }
}

/// The highest timestamp of all cells, including delete markers and the cells that they hide.
pub(super) fn highest_timestamp(region: &Region) -> Result<i64> {
    let mut highest = 0;
    for_each_row(region, &Scan::new().with_raw(true).with_all_versions(), |row| {
        highest = row.cells().map(|cell| cell.timestamp()).fold(highest, i64::max);
        Ok(())
    })?;
    Ok(highest)
}

/// Calls `visit` with every row of a scan of a region, with the catalog's own columns.
pub(super) fn for_each_row(
    region: &Region,
    scan: &Scan,
    mut visit: impl FnMut(&RowResult) -> Result<()>,
) -> Result<()> {
    let mut scanner = region.catalog_scanner(scan)?;
    let mut cells = CellBuffer::new();
    while let RegionStep::Row(_) = scanner.next_row(&mut cells)? {
        let row = RowResult::new(std::mem::take(&mut cells));
        visit(&row)?;
        cells = row.into_cells();
        cells.clear();
    }
    Ok(())
}
