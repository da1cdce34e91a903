//! Creates a table.
//!
//! 1. check the name, the settings and the split keys
//! 2. remove what an earlier table of the same name left
//! 3. write the descriptor file and create the regions' directories
//! 4. make all of that durable, and open the regions
//! 5. commit: hbase:meta names the regions and the table's state
//! 6. publish the table
//!
//! After a crash in steps 2 to 4 there is no table, and the next open retires its directory. After
//! step 5 there is one, empty.

use std::sync::Arc;

use hblite_model::bytes::to_string_binary;
use hblite_model::{Error, Exception, RegionInfo, Result, TableDescriptor, TableName, TableState};

use super::descriptor_file::{self, Safety};
use super::meta::{self, RegionRow};
use super::procedures::{begin_procedure, discard, open_regions};
use super::replicas::put_regions_open;
use super::table::TableEntry;
use super::{Catalog, Procedures, file_tracker, orphans, region_info_file, sanity};
use crate::context::EngineContext;
use crate::files::{make_dir, sync_dir};
use crate::region::Region;

impl Procedures<'_> {
    /// Creates a table that is split at these keys, given in any order.
    ///
    /// # Errors
    /// `IllegalArgument`, `NamespaceNotFound`, `DoNotRetryIo` (see `sanity`), `TableExists`, `Io`:
    /// there is no such table.
    pub fn create_table(&self, table: &TableDescriptor, split_keys: &[Vec<u8>]) -> Result<()> {
        let catalog = self.0;
        let name = table.name();
        for family in table.families() {
            family.check_name()?;
        }
        sanity::check_size(table, split_keys.len() + 1, &catalog.context.options)?;
        let split_keys = checked_split_keys(split_keys)?;
        let _procedure = begin_procedure(catalog)?;
        catalog.namespace(name.namespace())?;
        sanity::check(table, &catalog.context.options)?;
        if catalog.table_exists(name) {
            return Err(Error::new(Exception::TableExists, name.to_string()));
        }
        file_tracker::check_new_table(table)?;
        let timestamp = catalog.meta.next_timestamp()?;
        let rows = new_regions(name, &split_keys, timestamp);
        let descriptor = Arc::new(table.clone());
        orphans::retire_table(catalog, &catalog.context.layout.table_dir(name))?;
        let regions = prepare_table(&catalog.context, &descriptor, &rows).inspect_err(|_| {
            // Leftovers do no harm: they are retired before the name is used again.
            let _ = orphans::retire_table(catalog, &catalog.context.layout.table_dir(name));
        })?;
        commit_new_regions(catalog, &descriptor, &[], &rows, timestamp)
            .inspect_err(|_| discard(&regions))?;
        let entry = TableEntry::new(descriptor, TableState::Enabled, rows, regions);
        catalog.publish(name, Some(entry));
        Ok(())
    }
}

/// Creates the files of a new table, and opens its regions.
fn prepare_table(
    context: &Arc<EngineContext>,
    descriptor: &Arc<TableDescriptor>,
    rows: &[RegionRow],
) -> Result<Vec<Arc<Region>>> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    let dir = layout.table_descriptor_dir(descriptor.name());
    make_dir(fs, &dir)?;
    descriptor_file::write(fs, &dir, descriptor, Safety::Written)?;
    create_region_dirs(context, rows)?;
    // Only this file has the settings. Everything else that the table has on disk can be created
    // again, until a flush makes it durable. All syncs come last, so that a file system can commit
    // everything at once.
    descriptor_file::sync(fs, &dir)?;
    make_region_dirs_durable(context, rows)?;
    open_regions(context, rows, descriptor)
}

/// Creates the directories of new regions, durably, and opens them.
pub(super) fn prepare_regions(
    context: &Arc<EngineContext>,
    descriptor: &Arc<TableDescriptor>,
    rows: &[RegionRow],
) -> Result<Vec<Arc<Region>>> {
    create_region_dirs(context, rows)?;
    make_region_dirs_durable(context, rows)?;
    open_regions(context, rows, descriptor)
}

fn create_region_dirs(context: &EngineContext, rows: &[RegionRow]) -> Result<()> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    rows.iter().try_for_each(|row| region_info_file::ensure(fs, layout, &row.info))
}

/// Makes durable what the table's directory contains. Before hbase:meta names the regions, because
/// a missing directory means that a region has lost its files.
fn make_region_dirs_durable(context: &EngineContext, rows: &[RegionRow]) -> Result<()> {
    let Some(row) = rows.first() else { return Ok(()) };
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    let dir = layout.table_dir(row.info.table());
    // Before its own name: an open keeps a table's directory that has no settings.
    sync_dir(fs, &dir)?;
    layout.make_durable(fs, &dir)
}

/// Commits that a table is enabled and has these regions instead of `before`.
pub(super) fn commit_new_regions(
    catalog: &Catalog,
    descriptor: &TableDescriptor,
    before: &[RegionRow],
    rows: &[RegionRow],
    timestamp: i64,
) -> Result<()> {
    let deletes = before.iter().map(|row| meta::delete_region(&row.info, timestamp));
    let puts = put_regions_open(rows, descriptor, &catalog.server, timestamp);
    let state = meta::put_table_state(descriptor.name(), TableState::Enabled, timestamp);
    let manifests = meta::put_manifests(rows, timestamp);
    let mutations: Vec<_> = deletes.chain(puts).chain(manifests).chain([state]).collect();
    catalog.meta.write(&mutations)
}

/// Sorted split keys; refuses what the Java client refuses.
fn checked_split_keys(split_keys: &[Vec<u8>]) -> Result<Vec<&[u8]>> {
    let mut keys: Vec<&[u8]> = split_keys.iter().map(Vec::as_slice).collect();
    keys.sort_unstable();
    if keys.first().is_some_and(|key| key.is_empty()) {
        let message = "Empty split key must not be passed in the split keys.";
        return Err(Error::illegal_argument(message));
    }
    if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
        let key = to_string_binary(pair[0]);
        return Err(Error::illegal_argument(format!(
            "All split keys must be unique, found duplicate: {key}, {key}"
        )));
    }
    Ok(keys)
}

/// Regions of a table that is split at these keys.
pub(super) fn new_regions(table: &TableName, split_keys: &[&[u8]], id: i64) -> Vec<RegionRow> {
    let id = u64::try_from(id).unwrap_or(0);
    let starts = std::iter::once(&b""[..]).chain(split_keys.iter().copied());
    let ends = split_keys.iter().copied().chain(std::iter::once(&b""[..]));
    assert!(
        starts.clone().is_sorted_by(|left, right| left < right),
        "the boundaries of a table ascend: {split_keys:?}"
    );
    starts
        .zip(ends)
        .map(|(start, end)| RegionRow::new(RegionInfo::new(table.clone(), start, end, id), 1))
        .collect()
}
