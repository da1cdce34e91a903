//! Flush: from memory to files, in three steps.
//!
//! 1. *prepare*, under the updates lock: every memstore freezes its cells; all of them have ids
//!    up to the flush id, and no later write does
//! 2. *write*, without locks: a new file per store; if there are several, only after the log is
//!    durable, since otherwise only half of a row in two families might survive
//! 3. *commit*: the file enters the store and replaces the frozen segment in one step; when all
//!    files are listed in the region's manifest, the log may discard everything of this region up
//!    to the flush id
//!
//! A failed flush keeps its frozen segments; the next flush writes them first, and then does its
//! own work. Nothing is lost: the log still has the cells.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_model::{Error, Exception, Result};

use super::Region;
use crate::store::{Store, StoreFlush};

/// What a failed flush left behind.
#[derive(Default)]
pub(super) struct FlushState {
    pending: Option<PreparedFlush>,
    /// The region's table was dropped, and its directory with it.
    pub(super) is_discarded: bool,
}

struct PreparedFlush {
    /// The highest sequence id in the frozen segments.
    flush_id: u64,
    /// Whether it covers all stores: only then may the log discard entries.
    is_whole: bool,
    stores: Vec<(Arc<Store>, StoreFlush)>,
}

impl Region {
    /// Writes memory to files. Returns whether there was anything to write. The caller decides
    /// whether to ask for a compaction.
    ///
    /// # Errors
    /// `Io`: the cells stay in memory and in the log.
    pub(crate) fn flush(&self) -> Result<bool> {
        // Writers hold the updates lock until they are visible, so no write is in progress.
        flush_with_id(self, || self.mvcc.read_point(), None)
    }

    /// Writes the memory of one family to a file; the log keeps all of the region's entries.
    /// Returns whether there was anything to write.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`; and as [`Region::flush`].
    pub(crate) fn flush_family(&self, family: &[u8]) -> Result<bool> {
        self.check_flushed_family(family)?;
        flush_with_id(self, || self.mvcc.read_point(), Some(family))
    }

    /// Refuses to flush a family that the table does not have.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`.
    pub(crate) fn check_flushed_family(&self, family: &[u8]) -> Result<()> {
        if self.store_of(family).is_some() {
            return Ok(());
        }
        let (family, table) = (String::from_utf8_lossy(family), self.info.table());
        let message = format!("Column families [{family}] don't exist in table {table}");
        Err(Error::new(Exception::NoSuchColumnFamily, message))
    }

    /// Waits for the flush in progress; none begins later.
    pub(crate) fn end_flushes(&self) {
        self.flush.lock().is_discarded = true;
    }

    /// Calls `visit` with the stores while their files do not change: no flush and no bulk load
    /// ends before it returns. Flushes first if requested.
    ///
    /// # Errors
    /// `NotServingRegion`, those of [`Region::flush`] and of `visit`.
    pub(crate) fn with_stores_kept<T>(
        &self,
        is_flushed: bool,
        visit: impl FnOnce(&[Arc<Store>]) -> Result<T>,
    ) -> Result<T> {
        let _no_load = self.without_bulk_loads();
        let mut state = self.flush.lock();
        if state.is_discarded {
            return Err(self.not_serving());
        }
        if is_flushed {
            flush_locked(self, &mut state, || self.mvcc.read_point(), None)?;
        }
        visit(&self.stores)
    }
}

/// Writes what was replayed so far, up to `replayed_id`, to files.
///
/// The read point is not a flush id yet: it covers the store that was flushed furthest, and for the
/// others, entries up to it are still to come.
///
/// # Errors
/// As [`Region::flush`].
pub(super) fn flush_replayed(region: &Region, replayed_id: u64) -> Result<()> {
    if flush_with_id(region, || replayed_id, None)? {
        region.request_compaction();
    }
    Ok(())
}

/// Flushes all families, or one.
fn flush_with_id(
    region: &Region,
    flush_id: impl FnOnce() -> u64,
    family: Option<&[u8]>,
) -> Result<bool> {
    let mut state = region.flush.lock();
    if state.is_discarded {
        return Ok(false);
    }
    flush_locked(region, &mut state, flush_id, family)
}

/// Flushes all families and returns a sequence id between what is now in files and every later
/// write. While the caller keeps `state`, which belongs to the region, no other flush begins.
///
/// # Errors
/// As [`Region::flush`].
pub(super) fn flush_and_take_id(region: &Region, state: &mut FlushState) -> Result<u64> {
    let mut taken = 0;
    let flush_id = || {
        let last = region.mvcc.read_point();
        taken = region.mvcc.begin();
        // It is not a write, so no thread has to wait for it.
        region.mvcc.complete_and_wait(taken);
        last
    };
    flush_locked(region, state, flush_id, None)?;
    Ok(taken)
}

fn flush_locked(
    region: &Region,
    state: &mut FlushState,
    flush_id: impl FnOnce() -> u64,
    family: Option<&[u8]>,
) -> Result<bool> {
    if family.is_none() {
        region.is_flush_requested.store(false, Ordering::Release);
    }
    let pending = state.pending.take();
    let had_pending = match pending {
        Some(pending) => finish_flush(region, pending, state)?,
        None => false,
    };
    // Writes since the failed flush are not in its segments.
    let prepared = prepare_flush(region, flush_id, family)?;
    let has_cells = finish_flush(region, prepared, state)?;
    Ok(had_pending || has_cells)
}

fn prepare_flush(
    region: &Region,
    flush_id: impl FnOnce() -> u64,
    family: Option<&[u8]>,
) -> Result<PreparedFlush> {
    let _updates = region.stop_updates();
    // A write whose log append failed has an id but is in no memstore: no file may claim that id.
    region.context.wal.check()?;
    assert!(region.mvcc.is_quiet(), "memory is frozen while no write is under way");
    let flush_id = flush_id();
    let stores = region
        .stores
        .iter()
        .filter(|store| family.is_none_or(|family| store.family().name() == family))
        .filter_map(|store| Some((Arc::clone(store), store.prepare_flush()?)))
        .collect();
    Ok(PreparedFlush { flush_id, is_whole: family.is_none(), stores })
}

/// Writes and commits. Returns whether there was anything to write.
fn finish_flush(
    region: &Region,
    mut prepared: PreparedFlush,
    state: &mut FlushState,
) -> Result<bool> {
    let has_cells = !prepared.stores.is_empty();
    if let Err(error) = write_and_commit(region, &mut prepared) {
        state.pending = Some(prepared);
        return Err(error);
    }
    if prepared.is_whole {
        if region.info.table().is_meta() && is_catalog_in_files(region) {
            region.context.layout.note_catalog_files(region.context.env.fs.as_ref())?;
        }
        region.context.wal.region_flushed(region.info.encoded_name(), prepared.flush_id)?;
    }
    if has_cells {
        region.counters().flushes(1);
    }
    Ok(has_cells)
}

/// Whether the families of hbase:meta that rows are read from have files.
fn is_catalog_in_files(region: &Region) -> bool {
    let has_files =
        |family: &[u8]| region.store_of(family).is_some_and(|store| !store.files().is_empty());
    has_files(b"info") && has_files(b"table")
}

/// Writes one store after another. Finished stores leave the list, so that a retry does the rest.
fn write_and_commit(region: &Region, prepared: &mut PreparedFlush) -> Result<()> {
    let is_part = !prepared.is_whole && region.stores.len() > 1;
    if is_part || prepared.stores.len() > 1 {
        // After a power cut between two commits, the rest of a row comes from the log, as it does
        // after a flush of some families.
        region.context.wal.sync_all()?;
    }
    while let Some((store, flush)) = prepared.stores.last() {
        store.write_and_commit(flush, prepared.flush_id)?;
        prepared.stores.pop();
    }
    // Before the log discards its entries: from then on, a missing file means lost cells.
    region.files.save()
}
