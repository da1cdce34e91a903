//! Drops and truncates a disabled table.
//!
//! Drop:
//! 1. commit: hbase:meta names neither the table nor its regions
//! 2. publish
//! 3. retire the table's directory; after a crash before that, the next open does this
//!
//! Truncate:
//! 1. create and open new regions next to the old ones; after a crash, the next open retires them
//! 2. commit: hbase:meta names the new regions instead of the old ones, and the table is enabled
//! 3. publish
//! 4. remove the old regions' directories; after a crash before that, the next open does this

use std::sync::Arc;

use hblite_model::{Error, Exception, Result, SplitPoints, TableName, TableState};

use super::create::{commit_new_regions, new_regions, prepare_regions};
use super::meta;
use super::parked::{discard_parked, with_reserve};
use super::procedures::{begin_procedure, discard, remove_region_dirs, retire_dir};
use super::table::TableEntry;
use super::{Catalog, Procedures};
use crate::layout::Shape;

impl Procedures<'_> {
    /// Deletes a disabled table with everything in it.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`, `Io`.
    pub fn drop_table(&self, table: &TableName) -> Result<()> {
        let catalog = self.0;
        if table.is_meta() {
            return Err(Error::invalid_argument(Exception::Io, "Can't modify catalog tables"));
        }
        with_reserve(&catalog.context, || drop_disabled(catalog, table))
    }

    /// Empties a disabled table and enables it. Its regions keep their boundaries if requested;
    /// otherwise it gets a single region.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`, `Io`: the table is as it was.
    pub fn truncate_table(&self, table: &TableName, splits: SplitPoints) -> Result<()> {
        let catalog = self.0;
        with_reserve(&catalog.context, || truncate_disabled(catalog, table, splits))
    }
}

fn drop_disabled(catalog: &Catalog, table: &TableName) -> Result<()> {
    let _procedure = begin_procedure(catalog)?;
    let entry = catalog.entry(table)?;
    if entry.state != TableState::Disabled {
        let message = format!("Not DISABLED; {}", describe_state(table, entry.state));
        return Err(Error::new(Exception::TableNotDisabled, message));
    }
    let timestamp = catalog.meta.next_timestamp()?;
    let regions = entry.rows.iter().map(|row| meta::delete_region(&row.info, timestamp));
    let state = meta::delete_table_state(table, timestamp);
    let mutations: Vec<_> = regions.chain([state]).collect();
    catalog.meta.write(&mutations)?;
    catalog.publish(table, None);
    retire_dir(&catalog.context, &catalog.context.layout.table_dir(table), Shape::Table);
    discard_parked(catalog, table);
    Ok(())
}

fn truncate_disabled(catalog: &Catalog, table: &TableName, splits: SplitPoints) -> Result<()> {
    let _procedure = begin_procedure(catalog)?;
    let entry = catalog.entry(table)?;
    entry.check_state(TableState::Disabled)?;
    let timestamp = catalog.meta.next_timestamp()?;
    let mut split_keys: Vec<&[u8]> = Vec::new();
    if splits == SplitPoints::Preserve {
        split_keys.extend(entry.live_rows().map(|row| row.info.start_key()));
        split_keys.retain(|key| !key.is_empty());
    }
    let rows = new_regions(table, &split_keys, timestamp);
    let regions =
        prepare_regions(&catalog.context, &entry.descriptor, &rows).inspect_err(|_| {
            remove_region_dirs(&catalog.context, rows.iter().map(|row| &row.info));
        })?;
    commit_new_regions(catalog, &entry.descriptor, &entry.rows, &rows, timestamp)
        .inspect_err(|_| discard(&regions))?;
    let descriptor = Arc::clone(&entry.descriptor);
    catalog.publish(table, Some(TableEntry::new(descriptor, TableState::Enabled, rows, regions)));
    let before = entry.rows.iter().flat_map(|row| row.merge_parents.iter().chain([&row.info]));
    remove_region_dirs(&catalog.context, before);
    discard_parked(catalog, table);
    Ok(())
}

/// As `TableState.toString`.
pub(super) fn describe_state(table: &TableName, state: TableState) -> String {
    format!("tableName={table}, state={state}")
}
