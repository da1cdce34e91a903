//! Copies the catalog of a store that is open and not in use.
//!
//! Threads: one; nothing changes the original meanwhile.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hblite_env::sync::{Mutex, RwLock};
use hblite_model::{Result, TableName};

use super::Catalog;
use super::meta_table::MetaTables;
use super::open_report::OpenReport;
use super::table::{TableSlot, table_not_found};
use crate::context::EngineContext;
use crate::region::Region;

impl Catalog {
    /// The same tables, regions and namespaces in another store, which has the same files. Nothing
    /// of the original is only in memory.
    ///
    /// # Errors
    /// As [`Region::copy_of`].
    pub(crate) fn copy_of(original: &Self, context: &Arc<EngineContext>) -> Result<Self> {
        let originals = original.regions.read();
        assert!(original.parked.lock().is_empty(), "parked regions have something in memory");
        let mut regions = HashMap::with_capacity(originals.len());
        for (name, region) in originals.iter() {
            regions.insert(name.clone(), Region::copy_of(region, context)?);
        }
        drop(originals);
        let copy_of = |region: &Arc<Region>| regions.get(region.info().encoded_name()).cloned();
        let mut tables = BTreeMap::new();
        for (name, slot) in original.tables.read().iter() {
            let copied = slot.entry().ok().map(|entry| {
                let in_service = entry.regions().iter().filter_map(copy_of).collect();
                Arc::new(entry.with_state(entry.state, in_service))
            });
            tables.insert(name.clone(), Arc::new(TableSlot::new(name.clone(), copied)));
        }
        let region_of = |table: &TableName| -> Result<Arc<Region>> {
            tables.get(table).map_or_else(
                || Err(table_not_found(table)),
                |slot: &Arc<TableSlot>| slot.route(b""),
            )
        };
        let (meta, namespace) =
            (region_of(&TableName::meta())?, region_of(&TableName::namespace_table())?);
        let clock = Arc::clone(&context.env.clock);
        Ok(Self {
            context: Arc::clone(context),
            meta: MetaTables::of(context, meta, namespace, clock),
            server: original.server.clone(),
            tables: RwLock::new(tables),
            regions: RwLock::new(regions),
            namespaces: RwLock::new(original.namespaces.read().clone()),
            procedure: Mutex::new(()),
            open_report: OpenReport::default(),
            parked: Mutex::default(),
            dispensable: Mutex::default(),
        })
    }
}
