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

use super::Procedures;
use super::create::new_regions;
use super::meta;
use super::procedures::discard;
use super::table::TableEntry;
use crate::layout::Shape;

impl Procedures<'_> {
    /// Deletes a disabled table with everything in it.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`, `Io`.
    pub fn drop_table(&self, table: &TableName) -> Result<()> {
        if table.is_meta() {
            return Err(Error::invalid_argument(Exception::Io, "Can't modify catalog tables"));
        }
        self.with_reserve(|| self.drop_disabled(table))
    }

    fn drop_disabled(&self, table: &TableName) -> Result<()> {
        let _procedure = self.begin_procedure()?;
        let entry = self.0.entry(table)?;
        if entry.state != TableState::Disabled {
            let message = format!("Not DISABLED; {}", describe_state(table, entry.state));
            return Err(Error::new(Exception::TableNotDisabled, message));
        }
        let timestamp = self.meta.next_timestamp()?;
        let regions = entry.rows.iter().map(|row| meta::delete_region(&row.info, timestamp));
        let state = meta::delete_table_state(table, timestamp);
        let mutations: Vec<_> = regions.chain([state]).collect();
        self.meta.write(&mutations)?;
        self.publish(table, None);
        let layout = &self.context.layout;
        // The table is dropped; the next open retires what cannot be removed now.
        let (fs, dir) = (self.context.env.fs.as_ref(), layout.table_dir(table));
        if let Ok(retired) = layout.retire_dir(fs, &dir, Shape::Table) {
            self.context.note_retired(&dir, &retired);
        }
        self.discard_parked(table);
        Ok(())
    }

    /// Empties a disabled table and enables it. Its regions keep their boundaries if requested;
    /// otherwise it gets a single region.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`, `Io`: the table is as it was.
    pub fn truncate_table(&self, table: &TableName, splits: SplitPoints) -> Result<()> {
        self.with_reserve(|| self.truncate_disabled(table, splits))
    }

    fn truncate_disabled(&self, table: &TableName, splits: SplitPoints) -> Result<()> {
        let _procedure = self.begin_procedure()?;
        let entry = self.0.entry(table)?;
        if entry.state != TableState::Disabled {
            return Err(Error::new(Exception::TableNotDisabled, table.to_string()));
        }
        let timestamp = self.meta.next_timestamp()?;
        let mut split_keys: Vec<&[u8]> = Vec::new();
        if splits == SplitPoints::Preserve {
            split_keys.extend(entry.live_rows().map(|row| row.info.start_key()));
            split_keys.retain(|key| !key.is_empty());
        }
        let rows = new_regions(table, &split_keys, timestamp);
        let regions = self.prepare_regions(&entry.descriptor, &rows).inspect_err(|_| {
            self.remove_region_dirs(rows.iter().map(|row| &row.info));
        })?;
        self.commit_new_regions(&entry.descriptor, &entry.rows, &rows, timestamp)
            .inspect_err(|_| discard(&regions))?;
        let descriptor = Arc::clone(&entry.descriptor);
        self.publish(table, Some(TableEntry::new(descriptor, TableState::Enabled, rows, regions)));
        let before = entry.rows.iter().flat_map(|row| row.merge_parents.iter().chain([&row.info]));
        self.remove_region_dirs(before);
        self.discard_parked(table);
        Ok(())
    }
}

/// As `TableState.toString`.
pub(super) fn describe_state(table: &TableName, state: TableState) -> String {
    format!("tableName={table}, state={state}")
}
