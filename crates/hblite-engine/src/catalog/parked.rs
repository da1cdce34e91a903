//! Tables on a full disk: they can be disabled, dropped and truncated.
//!
//! A change that finds no space is repeated with that of the [`Reserve`]. Rows that were not
//! flushed need more than that. So a table is then disabled without a flush, and its regions are
//! parked: out of service, with their memory and their entries in the log. hbase:meta has the ids
//! from which their logs count as they were, so that an open finds the same; a region that was
//! closed has no entries from there on.
//!
//! A drop and a truncation discard parked regions. Everything else that needs a disabled table's
//! rows in files settles it first, which flushes and closes its regions: [`Procedures::entry`],
//! a backup, an open, a close.
//!
//! Invariant: parked are only regions of tables that are disabled.
//! Threads:   under the guard of a procedure, or while the store is opened.

use std::sync::Arc;

use hblite_env::time::{Duration, Instant};
use hblite_model::{Result, TableName};

use super::Catalog;
use super::meta::{self, RegionRow};
use super::procedures::{discard, reopen};
use super::table::TableEntry;
use crate::context::EngineContext;
use crate::layout::is_out_of_space;
use crate::region::Region;

/// How long a change waits for others to give back what they took of the reserve's space: a flush
/// that had begun removes its file when it finds no more.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// Whether the log has entries of a region that count, although its table is disabled.
pub(super) fn is_in_log(row: &RegionRow, in_log: &[(&str, u64)]) -> bool {
    let name = row.info.encoded_name();
    in_log
        .iter()
        .any(|(region, highest)| *region == name && *highest >= row.open_sequence_number.max(1))
}

impl Catalog {
    /// Like [`Catalog::region`], also for a region that is parked.
    pub(crate) fn region_or_parked(&self, encoded_name: &str) -> Option<Arc<Region>> {
        self.region(encoded_name).or_else(|| {
            let parked = self.parked.lock();
            parked.values().flatten().find(|r| r.info().encoded_name() == encoded_name).cloned()
        })
    }

    pub(super) fn park(&self, region: Arc<Region>) {
        self.parked.lock().entry(region.info().table().clone()).or_default().push(region);
    }

    /// Ends the opening of the store: what could not be flushed before may be now.
    pub(crate) fn begin_reserve(&self) {
        if self.context.options.is_read_only {
            return;
        }
        let has_tables = self.tables.read().keys().any(|name| !name.is_system());
        if has_tables {
            self.context.reserve.begin(self.regions.read().len());
        }
        // Whatever fails is tried again when a procedure needs it.
        let _ = self.settle_all();
    }

    /// Makes the reserve, or makes it larger, unless its space is in use.
    pub(super) fn keep_reserve(&self) {
        if !self.context.reserve.is_released() {
            self.context.reserve.keep(self.regions.read().len());
        }
    }

    /// Flushes and closes the parked regions of every table.
    ///
    /// # Errors
    /// `Io` if a flush fails: the log still has the cells.
    pub(super) fn settle_all(&self) -> Result<()> {
        let tables: Vec<TableName> = self.parked.lock().keys().cloned().collect();
        tables.iter().try_for_each(|table| self.settle(table))
    }

    /// The same for one table.
    ///
    /// # Errors
    /// As [`Catalog::settle_all`].
    pub(super) fn settle(&self, table: &TableName) -> Result<()> {
        let Some(parked) = self.parked.lock().get(table).cloned() else { return Ok(()) };
        self.context.reserve.check_now()?;
        let entry = self.entry(table)?;
        let mut rows = entry.rows.clone();
        let timestamp = self.meta.next_timestamp()?;
        let mut changes = Vec::new();
        for region in &parked {
            // Out of service, whether it can be closed or not.
            region.close().inspect_err(|_| region.stop_serving())?;
            for row in rows.iter_mut().filter(|row| row.info == *region.info()) {
                row.open_sequence_number = region.last_sequence_id() + 1;
                let id = row.open_sequence_number;
                changes.push(meta::put_closed_region(&row.info, id, timestamp));
            }
        }
        self.meta.write(&changes)?;
        self.publish(table, Some(entry.with_rows(rows, Vec::new())));
        self.parked.lock().remove(table);
        Ok(())
    }
}

/// A table, of which everything is in files if it is disabled.
///
/// # Errors
/// `TableNotFound`; `Io` and `RegionTooBusy` if the disk is full.
pub(super) fn settled_entry(catalog: &Catalog, table: &TableName) -> Result<Arc<TableEntry>> {
    catalog.settle(table)?;
    catalog.entry(table)
}

/// Runs a change that leads to more space; if there is none, with that of the reserve.
pub(super) fn with_reserve<T>(
    context: &EngineContext,
    change: impl Fn() -> Result<T>,
) -> Result<T> {
    let mut outcome = change();
    let is_full = |outcome: &Result<T>| outcome.as_ref().is_err_and(is_out_of_space);
    if !is_full(&outcome) {
        return outcome;
    }
    let (since, mut has_space) = (Instant::now(), false);
    loop {
        has_space |= context.reserve.release();
        // Without a reserve, what is left may be enough for a change without a flush.
        outcome = change();
        if !is_full(&outcome) || !has_space || since.elapsed() > PATIENCE {
            return outcome;
        }
        hblite_env::thread::sleep(PAUSE);
    }
}

/// Flushes and closes all regions of a table, or none. Returns their rows with the ids from which
/// their logs count. While the reserve is in use, regions that have something in memory are not
/// flushed, but returned as well: they stop serving.
///
/// # Errors
/// `Io`: the regions are in service.
pub(super) fn close_or_stop(
    catalog: &Catalog,
    entry: &TableEntry,
    table: &TableName,
) -> Result<(Vec<RegionRow>, Vec<Arc<Region>>)> {
    let is_full = catalog.context.reserve.is_released();
    let (mut rows, mut stopped) = (entry.rows.clone(), Vec::new());
    for (index, region) in entry.regions().iter().enumerate() {
        if is_full {
            region.stop_serving();
            if !region.is_memory_empty() {
                stopped.push(Arc::clone(region));
                continue;
            }
        }
        if let Err(error) = region.close() {
            stopped.extend_from_slice(&entry.regions()[index..]);
            serve_again(catalog, table, entry, &rows, stopped);
            return Err(error);
        }
        for row in rows.iter_mut().filter(|row| row.info == *region.info()) {
            row.open_sequence_number = region.last_sequence_id() + 1;
        }
    }
    Ok((rows, stopped))
}

/// Puts the regions of a table back in service after its disabling failed.
pub(super) fn serve_again(
    catalog: &Catalog,
    table: &TableName,
    entry: &TableEntry,
    rows: &[RegionRow],
    stopped: Vec<Arc<Region>>,
) {
    stopped.iter().for_each(|region| region.serve_again());
    reopen(catalog, table, entry, rows, stopped);
}

/// After a table has lost its rows: discards its parked regions, and frees the log, most of which
/// is useless then. What cannot be done now is done when the log is rolled the next time.
pub(super) fn discard_parked(catalog: &Catalog, table: &TableName) {
    let parked = catalog.parked.lock().remove(table).unwrap_or_default();
    discard(&parked);
    let reserve = &catalog.context.reserve;
    if parked.is_empty() && !reserve.is_released() {
        return;
    }
    if free_log(catalog).is_err() && reserve.release() {
        let _ = free_log(catalog);
    }
    reserve.keep(catalog.regions.read().len());
}

/// Flushes the regions that keep old log files. Those that hold little come first, such as those of
/// the catalog.
fn free_log(catalog: &Catalog) -> Result<()> {
    let wal = &catalog.context.wal;
    wal.roll()?;
    let regions = wal.regions_in_old_log_files();
    let mut regions: Vec<_> = regions.iter().filter_map(|name| catalog.region(name)).collect();
    regions.sort_by_key(|region| region.memstore_size_bytes());
    regions.iter().try_for_each(|region| region.flush().map(drop))
}
