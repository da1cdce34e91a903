//! The catalog: the namespaces, tables and regions of a store.
//!
//! The catalog is stored in hbase:meta, hbase:namespace and the tables' descriptor files, and
//! mirrored in memory for lookups. [`Catalog`] is that state with its lookups; [`Procedures`]
//! change it, one at a time.
//!
//! - `layout` (next to this folder) defines the paths; `descriptor_file` and `region_info_file` the
//!   contents of the small files; `meta` the contents of the rows
//! - `meta_table` reads and writes the rows, `table_rows` groups them; `table` and `router` find
//!   regions
//! - `survey` reads the rows without opening the store, `loss` detects whether some are lost,
//!   `rebuild` writes them anew
//! - `copy` copies an open catalog
//! - `load` opens, with `open_regions`; `open_report` says what that changed, `orphans` removes
//!   what interrupted procedures left; `master_data` prepares a closed store so that HBase can
//!   start on it; `hbase_root` and `master_procedures` refuse what HBase left and hblite cannot
//!   read
//! - `procedures` has what all procedures share, `heirs` what a split and a merge share; `create`,
//!   `drop`, `state`, `modify`, `split`, `merge`, `truncate_region`, `namespace`, `snapshot`,
//!   `bulk_load`, `backup` and `crash` are the procedures: methods of [`Procedures`], and functions
//!   that name what they use: the catalog, or only the store's context. `sanity` has their rules
//!   about settings, `parents` cleans up after split and merge, `parked` has what a full disk
//!   changes
//!
//! Threads: any. Lookups never wait for a procedure. A procedure waits for operations in progress
//! in the regions that it closes, so nothing that a region waits for may wait for a procedure.

mod backup;
mod bulk_load;
mod classes;
mod copy;
mod crash;
mod create;
pub(crate) mod descriptor_file;
mod drop;
mod file_tracker;
mod foreign_settings;
pub(crate) mod hbase_root;
mod heirs;
pub(crate) mod load;
pub(crate) mod loss;
pub(crate) mod master_data;
mod master_procedures;
mod merge;
pub(crate) mod meta;
mod meta_table;
mod modify;
mod namespace;
mod namespace_family;
mod open_regions;
mod open_report;
pub(crate) mod orphans;
mod parents;
mod parked;
mod procedures;
pub(crate) mod rebuild;
pub(crate) mod region_info_file;
mod replicas;
mod router;
mod sanity;
pub(crate) mod snapshot;
mod split;
mod state;
pub(crate) mod survey;
mod table;
pub(crate) mod table_rows;
mod truncate_region;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hblite_env::Clock;
use hblite_env::sync::{Mutex, RwLock};
use hblite_model::bytes::from_string_binary;
use hblite_model::name::namespace_not_found;
use hblite_model::{
    Error, Exception, NamespaceDescriptor, RegionInfo, RegionLocation, Result, SystemTables,
    TableDescriptor, TableName, TableState,
};

use crate::context::EngineContext;
use crate::region::Region;
use crate::signal::Signal;

use self::meta::{RegionRow, ServerName};
use self::meta_table::MetaTables;
use self::table::{TableEntry, table_not_found};

pub use self::open_report::{CatalogRebuild, Moved, OpenReport};
pub use self::procedures::Procedures;
pub(crate) use self::table::{Routes, TableSlot};

/// Namespaces, tables and regions of an open store.
pub struct Catalog {
    context: Arc<EngineContext>,
    meta: Arc<MetaTables>,
    server: ServerName,
    /// Every name of a table, and every name whose slot is in use.
    tables: RwLock<BTreeMap<TableName, Arc<TableSlot>>>,
    /// Regions in service by encoded name.
    regions: RwLock<HashMap<String, Arc<Region>>>,
    namespaces: RwLock<BTreeMap<String, NamespaceDescriptor>>,
    /// Held by the running procedure.
    procedure: Mutex<()>,
    open_report: OpenReport,
    /// The parked regions of each table: see `parked`.
    parked: Mutex<BTreeMap<TableName, Vec<Arc<Region>>>>,
    /// Regions by encoded name that need no file while this is their last sequence id.
    dispensable: Mutex<HashMap<String, u64>>,
}

/// Finding regions.
impl Catalog {
    /// The slot of a table's name, whether the table exists or not.
    pub(crate) fn slot(&self, name: &TableName) -> Arc<TableSlot> {
        if let Some(slot) = self.tables.read().get(name) {
            return Arc::clone(slot);
        }
        let mut tables = self.tables.write();
        // Unused names do not accumulate.
        tables.retain(|_, slot| slot.is_present() || Arc::strong_count(slot) > 1);
        let slot = tables.entry(name.clone()).or_insert_with_key(empty_slot);
        Arc::clone(slot)
    }

    /// Reads a slot while it stays in this catalog.
    fn at_slot<T>(
        &self,
        name: &TableName,
        read: impl FnOnce(&TableSlot) -> Result<T>,
    ) -> Result<T> {
        read(self.tables.read().get(name).ok_or_else(|| table_not_found(name))?)
    }

    fn entry(&self, name: &TableName) -> Result<Arc<TableEntry>> {
        self.at_slot(name, TableSlot::entry)
    }

    /// Every table, by name.
    fn entries(&self) -> Vec<Arc<TableEntry>> {
        self.tables.read().values().filter_map(|slot| slot.entry().ok()).collect()
    }

    /// The region that holds a row.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`.
    pub(crate) fn route(&self, table: &TableName, row: &[u8]) -> Result<Arc<Region>> {
        self.at_slot(table, |slot| slot.route(row))
    }

    /// The region in service with this encoded name.
    pub(crate) fn region(&self, encoded_name: &str) -> Option<Arc<Region>> {
        self.regions.read().get(encoded_name).cloned()
    }

    /// The region in service with exactly this full name.
    pub(crate) fn region_by_name(&self, name: &[u8]) -> Option<Arc<Region>> {
        let encoded = match name.strip_suffix(b".") {
            Some(rest) => rest.rsplit(|byte| *byte == b'.').next()?,
            None if name == b"hbase:meta,,1" => hblite_model::META_ENCODED_NAME.as_bytes(),
            None => return None,
        };
        let region = self.region(std::str::from_utf8(encoded).ok()?)?;
        region.info().is_named(name).then_some(region)
    }

    /// The region in service with this full or encoded name.
    ///
    /// # Errors
    /// `UnknownRegion`.
    pub(crate) fn known_region(&self, name: &str) -> Result<Arc<Region>> {
        self.region(encoded_part(name))
            .filter(|region| is_name_of(name, region.info()))
            .ok_or_else(|| Error::new(Exception::UnknownRegion, name))
    }

    /// The regions of a table that are in service, by start key; none if the table does not exist.
    pub(crate) fn regions(&self, table: &TableName) -> Vec<Arc<Region>> {
        self.entry(table).map_or_else(|_| Vec::new(), |entry| entry.regions().to_vec())
    }

    /// The regions of a table, by start key, whether in service or not; none if the table does not
    /// exist.
    pub fn region_infos(&self, table: &TableName) -> Vec<RegionInfo> {
        self.entry(table)
            .map_or_else(|_| Vec::new(), |e| e.live_rows().map(|row| row.info.clone()).collect())
    }

    /// The region that holds a row, in service or not.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub fn locate_region(&self, table: &TableName, row: &[u8]) -> Result<RegionLocation> {
        let region = self.at_slot(table, |slot| slot.locate(row))?;
        let ServerName { host, port, .. } = &self.server;
        Ok(RegionLocation { region, server: format!("{host}:{port}") })
    }

    /// The regions of a table, which must be enabled.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`.
    pub(crate) fn enabled_regions(&self, table: &TableName) -> Result<Vec<Arc<Region>>> {
        let entry = self.entry(table)?;
        entry.check_state(TableState::Enabled)?;
        Ok(entry.regions().to_vec())
    }

    /// Every region in service, by table and start key.
    pub(crate) fn all_regions(&self) -> Vec<Arc<Region>> {
        self.entries().iter().flat_map(|entry| entry.regions()).cloned().collect()
    }

    /// Table and identity of the region with this full or encoded name, in service or not.
    fn find_row(&self, name: &str) -> Option<(TableName, RegionRow)> {
        let encoded = encoded_part(name);
        self.entries().iter().find_map(|entry| {
            let row = entry.live_rows().find(|row| row.info.encoded_name() == encoded);
            let row = row.filter(|row| is_name_of(name, &row.info))?;
            Some((entry.descriptor.name().clone(), row.clone()))
        })
    }
}

/// Tables.
impl Catalog {
    /// Whether the table exists.
    pub fn table_exists(&self, table: &TableName) -> bool {
        self.entry(table).is_ok()
    }

    /// Whether the table is in service.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub fn table_state(&self, table: &TableName) -> Result<TableState> {
        Ok(self.entry(table)?.state)
    }

    /// The settings of a table.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub fn descriptor(&self, table: &TableName) -> Result<Arc<TableDescriptor>> {
        Ok(Arc::clone(&self.entry(table)?.descriptor))
    }

    /// Tables in the order of their names with their namespaces, `default:` included.
    pub fn list_tables(&self, system: SystemTables) -> Vec<TableDescriptor> {
        let is_wanted = |name: &TableName| system == SystemTables::Include || !name.is_system();
        let mut found: Vec<TableDescriptor> =
            self.entries().iter().map(|entry| entry.descriptor.as_ref().clone()).collect();
        found.retain(|table| is_wanted(table.name()));
        found.sort_by_cached_key(|table| {
            let name = table.name();
            format!("{}:{}", name.namespace(), name.qualifier())
        });
        found
    }

    /// The name of the server that serves the regions: `host,port,start code`.
    pub(crate) fn server_name(&self) -> String {
        self.server.to_string()
    }

    /// HBase's refusal of a call for a region that its server does not have.
    pub(crate) fn not_online(&self, region: &RegionInfo) -> Error {
        let (name, server) = (region.region_name_as_string(), self.server_name());
        let message = format!("{name} is not online on {server}");
        Error::new(Exception::NotServingRegion, message)
    }

    /// The store's clock.
    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.context.env.clock
    }

    /// Notified when regions come into service, or when no more will.
    pub(crate) fn region_changes(&self) -> &Signal {
        &self.context.region_changes
    }

    /// What the open changed in the directory besides the store's own files.
    pub fn open_report(&self) -> &OpenReport {
        &self.open_report
    }
}

/// Namespaces.
impl Catalog {
    /// A namespace.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub fn namespace(&self, name: &str) -> Result<NamespaceDescriptor> {
        self.namespaces.read().get(name).cloned().ok_or_else(|| namespace_not_found(name))
    }

    /// Namespaces in order of their names.
    pub fn namespaces(&self) -> Vec<NamespaceDescriptor> {
        self.namespaces.read().values().cloned().collect()
    }

    /// Tables of a namespace in order of their names; of all namespaces if `name` is empty, as in
    /// HBase.
    ///
    /// # Errors
    /// `NamespaceNotFound`.
    pub fn namespace_tables(&self, name: &str) -> Result<Vec<TableName>> {
        if !name.is_empty() {
            self.namespace(name)?;
        }
        let tables = self.tables.read();
        let present = tables.iter().filter(|(table, slot)| {
            (name.is_empty() || table.namespace() == name) && slot.is_present()
        });
        Ok(present.map(|(table, _)| table.clone()).collect())
    }
}

/// For procedures and for opening the store.
impl Catalog {
    /// Publishes `entry` as the state of a table.
    fn publish(&self, name: &TableName, entry: Option<TableEntry>) -> Option<Arc<TableEntry>> {
        let entry = entry.map(Arc::new);
        // Locked, so that the slot does not move to another engine.
        let mut tables = self.tables.write();
        let slot = tables.entry(name.clone()).or_insert_with_key(empty_slot);
        let before = slot.entry().ok();
        let mut regions = self.regions.write();
        for region in before.iter().flat_map(|entry| entry.regions()) {
            regions.remove(region.info().encoded_name());
        }
        for region in entry.iter().flat_map(|entry| entry.regions()) {
            regions.insert(region.info().encoded_name().to_owned(), Arc::clone(region));
        }
        drop(regions);
        slot.set(entry.clone());
        drop(tables);
        self.context.region_changes.notify();
        entry
    }
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Catalog({})", self.context.layout.root().display())
    }
}

fn empty_slot(name: &TableName) -> Arc<TableSlot> {
    Arc::new(TableSlot::new(name.clone(), None))
}

/// The encoded name in a full name (`table,start,id.encoded.`), or all of it.
fn encoded_part(name: &str) -> &str {
    if name == "hbase:meta,,1" {
        return hblite_model::META_ENCODED_NAME;
    }
    let Some(without_dot) = name.strip_suffix('.') else {
        return name;
    };
    without_dot.rsplit_once('.').map_or(name, |(_, encoded)| encoded)
}

fn is_name_of(name: &str, info: &RegionInfo) -> bool {
    name == info.encoded_name() || from_string_binary(name) == info.region_name()
}

#[cfg(test)]
mod name_tests {
    use super::*;

    #[test]
    fn regions_are_known_by_both_names() {
        let info = RegionInfo::new("n:t".parse().unwrap(), b"a.\xff,", b"", 3);
        let full = info.region_name_as_string();
        assert_eq!(encoded_part(&full), info.encoded_name());
        assert!(is_name_of(&full, &info) && is_name_of(info.encoded_name(), &info));
        assert!(!is_name_of(&full.replace("a.", "b."), &info));
        assert_eq!(encoded_part("hbase:meta,,1"), "1588230740");
        for strange in ["", ".", "x.", "..", "a.b"] {
            assert!(!is_name_of(strange, &info), "{strange} {}", encoded_part(strange));
        }
    }
}
