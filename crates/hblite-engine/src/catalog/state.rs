//! Takes tables and regions out of service, and puts them back.
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
//!
//! An unassigned region refuses operations until it is assigned, its table is enabled or altered,
//! or the store is opened again; hbase:meta does not mention it.

use hblite_model::{Error, Exception, RegionInfo, Result, TableName, TableState};

use super::drop::describe_state;
use super::meta;
use super::parked::{close_or_stop, serve_again, settled_entry, with_reserve};
use super::procedures::{begin_procedure, discard, open_regions};
use super::replicas::{self, put_regions_open};
use super::table::TableEntry;
use super::{Catalog, Procedures};

impl Catalog {
    /// Whether the region is in service.
    pub fn is_in_service(&self, region: &RegionInfo) -> bool {
        self.region(region.encoded_name()).is_some_and(|known| !known.is_unassigned())
    }
}

impl Procedures<'_> {
    /// Takes a table out of service; its memory is flushed, except on a full disk.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `Constraint` (the catalog's own tables), `Io`: the table
    /// stays in service.
    pub fn disable_table(&self, table: &TableName) -> Result<()> {
        let catalog = self.0;
        if table.is_meta() || *table == TableName::namespace_table() {
            return Err(Error::new(Exception::Constraint, format!("Cannot disable {table}")));
        }
        with_reserve(&catalog.context, || disable(catalog, table))
    }

    /// Puts a disabled table in service.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotDisabled`, `Io`, `CorruptHFile`: the table stays out of service.
    pub fn enable_table(&self, table: &TableName) -> Result<()> {
        let catalog = self.0;
        let _procedure = begin_procedure(catalog)?;
        let entry = settled_entry(catalog, table)?;
        if entry.state != TableState::Disabled {
            let message = describe_state(table, entry.state);
            return Err(Error::new(Exception::TableNotDisabled, message));
        }
        let regions = open_regions(&catalog.context, entry.live_rows(), &entry.descriptor)?;
        let committed = catalog.meta.next_timestamp().and_then(|timestamp| {
            let (rows, server) = (entry.live_rows(), &catalog.server);
            let regions = put_regions_open(rows, &entry.descriptor, server, timestamp);
            let state = meta::put_table_state(table, TableState::Enabled, timestamp);
            let mutations: Vec<_> = regions.chain([state]).collect();
            catalog.meta.write(&mutations)
        });
        committed.inspect_err(|_| discard(&regions))?;
        catalog.publish(table, Some(entry.with_state(TableState::Enabled, regions.clone())));
        // Flushes of the table left its files to this moment.
        regions.iter().for_each(|region| region.request_compaction());
        Ok(())
    }

    /// Puts a region that was unassigned back in service.
    ///
    /// # Errors
    /// `UnknownRegion`.
    pub fn assign(&self, region: &RegionInfo) -> Result<()> {
        let catalog = self.0;
        let _procedure = begin_procedure(catalog)?;
        catalog.known_region(region.encoded_name())?.set_unassigned(false);
        Ok(())
    }

    /// Takes a region out of service until it is assigned.
    ///
    /// # Errors
    /// `UnknownRegion`; `DoNotRetryIo` for a table that the store itself needs.
    pub fn unassign(&self, region: &RegionInfo) -> Result<()> {
        let catalog = self.0;
        let table = region.table();
        if table.is_meta() || *table == TableName::namespace_table() {
            let message = format!("hblite does not take {table} out of service");
            return Err(Error::do_not_retry(message));
        }
        let _procedure = begin_procedure(catalog)?;
        catalog.known_region(region.encoded_name())?.set_unassigned(true);
        Ok(())
    }
}

fn disable(catalog: &Catalog, table: &TableName) -> Result<()> {
    let _procedure = begin_procedure(catalog)?;
    let entry = settled_entry(catalog, table)?;
    entry.check_state(TableState::Enabled)?;
    let (rows, parked) = close_or_stop(catalog, &entry, table)?;
    let timestamp = catalog.meta.next_timestamp();
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
        catalog.meta.write(&mutations)
    });
    if let Err(error) = committed {
        serve_again(catalog, table, &entry, &rows, parked);
        return Err(error);
    }
    let descriptor = entry.descriptor.clone();
    let disabled = TableEntry::new(descriptor, TableState::Disabled, rows, Vec::new());
    catalog.publish(table, Some(disabled));
    parked.into_iter().for_each(|region| catalog.park(region));
    Ok(())
}
