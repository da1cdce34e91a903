//! Enables and disables a table.
//!
//! Disable:
//! 1. flush and close the regions; after a crash they are opened again. On a full disk, they are
//!    parked instead: see `parked`
//! 2. commit: hbase:meta says that the table is disabled, and from which ids the log of its regions
//!    counts
//! 3. publish
//!
//! Enable:
//! 1. open the regions; after a crash they are closed again
//! 2. commit: hbase:meta says that the table is enabled
//! 3. publish

use hblite_model::{Error, Exception, Result, TableName, TableState};

use super::drop::describe_state;
use super::meta;
use super::procedures::discard;
use super::table::TableEntry;
use super::{Procedures, replicas};

impl Procedures<'_> {
    /// Takes a table out of service; its memory is flushed, except on a full disk.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `Constraint` (the catalog's own tables), `Io`: the table
    /// stays in service.
    pub fn disable_table(&self, table: &TableName) -> Result<()> {
        if table.is_meta() || *table == TableName::namespace_table() {
            return Err(Error::new(Exception::Constraint, format!("Cannot disable {table}")));
        }
        self.with_reserve(|| self.disable(table))
    }

    fn disable(&self, table: &TableName) -> Result<()> {
        let _procedure = self.begin_procedure()?;
        let entry = self.entry(table)?;
        if entry.state != TableState::Enabled {
            return Err(Error::new(Exception::TableNotEnabled, table.to_string()));
        }
        let (rows, parked) = self.close_or_stop(&entry, table)?;
        let timestamp = self.meta.next_timestamp();
        let committed = timestamp.and_then(|timestamp| {
            let replicas = 1..entry.descriptor.region_replication();
            let regions = rows.iter().filter(|row| !row.info.is_split).flat_map(|row| {
                let id = row.open_sequence_number;
                let put = meta::put_closed_region(&row.info, id, timestamp);
                let others = replicas::put_closed(&row.info, replicas.clone(), timestamp);
                [put].into_iter().chain(others)
            });
            let state = meta::put_table_state(table, TableState::Disabled, timestamp);
            let mutations: Vec<_> = regions.chain([state]).collect();
            self.meta.write(&mutations)
        });
        if let Err(error) = committed {
            self.serve_again(table, &entry, &rows, parked);
            return Err(error);
        }
        let descriptor = entry.descriptor.clone();
        let disabled = TableEntry::new(descriptor, TableState::Disabled, rows, Vec::new());
        self.publish(table, Some(disabled));
        parked.into_iter().for_each(|region| self.park(region));
        Ok(())
    }

    /// Puts a disabled table in service.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`, `Io`, `CorruptHFile`: the table stays out of service.
    pub fn enable_table(&self, table: &TableName) -> Result<()> {
        let _procedure = self.begin_procedure()?;
        let entry = self.entry(table)?;
        if entry.state != TableState::Disabled {
            let message = describe_state(table, entry.state);
            return Err(Error::new(Exception::TableNotDisabled, message));
        }
        let regions = self.open_regions(entry.live_rows(), &entry.descriptor)?;
        let committed = self.meta.next_timestamp().and_then(|timestamp| {
            let replicas = 1..entry.descriptor.region_replication();
            let regions = entry.live_rows().flat_map(|row| {
                let id = row.open_sequence_number;
                let put = meta::put_open_region(&row.info, &self.server, id, timestamp);
                let others = replicas::put_open(row, replicas.clone(), &self.server, timestamp);
                [put].into_iter().chain(others)
            });
            let state = meta::put_table_state(table, TableState::Enabled, timestamp);
            let mutations: Vec<_> = regions.chain([state]).collect();
            self.meta.write(&mutations)
        });
        committed.inspect_err(|_| discard(&regions))?;
        self.publish(table, Some(entry.with_state(TableState::Enabled, regions.clone())));
        // Flushes of the table left its files to this moment.
        regions.iter().for_each(|region| region.request_compaction());
        Ok(())
    }
}
