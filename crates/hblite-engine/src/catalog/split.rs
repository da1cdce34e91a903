//! Splits a region (`SplitTableRegionProcedure`).
//!
//! 1. check, and flush while the region still serves
//! 2. close the region
//! 3. create the daughters' directories, with links and references to the parent's files, and open
//!    them
//! 4. make the references durable: the parent's cells are reachable only through them
//! 5. commit: hbase:meta says that the parent is split, and names the daughters
//! 6. publish the daughters, and request their compaction
//!
//! After a crash before step 5 the parent is opened again, and the next open retires the daughters'
//! directories. After step 5 the daughters are opened; `parents` removes the parent once nothing
//! refers to it.

use std::sync::Arc;

use hblite_model::bytes::to_string_binary;
use hblite_model::{Error, Exception, RegionInfo, Result, Switch, TableName};

use super::heirs::{manifests_of, prepare_heirs, publish_heirs, retire_half_made};
use super::meta::{self, RegionRow};
use super::parents::clean_parents_of;
use super::parked::settled_entry;
use super::procedures::{begin_procedure, bring_back, claim, discard, remove_region_dirs};
use super::replicas::{self, put_regions_open};
use super::table::TableEntry;
use super::{Catalog, Procedures};
use crate::region::split_policy::SplitPolicy;
use crate::region::{Region, split};

/// With this many regions in service, none is split automatically
/// (`hbase.regionserver.regionSplitLimit`).
const REGIONS_MAX: usize = 1000;

impl Procedures<'_> {
    /// Splits the region that holds `split_key` there; without a key, every region of the table at
    /// its middle.
    ///
    /// # Errors
    /// `TableNotFound`, and as for [`Procedures::split_region`]; regions before the one that failed
    /// stay split.
    pub fn split_table(&self, table: &TableName, split_key: Option<&[u8]>) -> Result<()> {
        let catalog = self.0;
        let entry = settled_entry(catalog, table)?;
        for row in entry.live_rows() {
            if split_key.is_none_or(|key| row.info.contains_row(key)) {
                split_at(catalog, &row.info, split_key)?;
            }
        }
        Ok(())
    }

    /// Splits a region, named by its full or encoded name, at a key or at its middle.
    ///
    /// # Errors
    /// `IllegalArgument` (no such region), `Io`, `DoNotRetryIo`: the region is as it was.
    pub fn split_region(&self, region: &str, split_key: Option<&[u8]>) -> Result<()> {
        let catalog = self.0;
        let (_, row) = catalog
            .find_row(region)
            .ok_or_else(|| Error::illegal_argument(format!("Invalid region: {region}")))?;
        split_at(catalog, &row.info, split_key)
    }

    /// Splits the region if it has grown so large that its table's policy requires a split. Returns
    /// whether it did.
    ///
    /// # Errors
    /// As [`Procedures::split_region`].
    pub(crate) fn split_if_due(&self, region: &Region) -> Result<bool> {
        let is_due = self.is_split_due(region) && split::split_point(region).is_some();
        if is_due {
            split_at(self.0, region.info(), None)?;
        }
        Ok(is_due)
    }

    /// Whether the region has grown so large that its table's policy requires a split, and may be
    /// split.
    pub(crate) fn is_split_due(&self, region: &Region) -> bool {
        let catalog = self.0;
        let table = region.info().table();
        catalog.context.options.is_split_enabled
            && catalog.context.switches.is_on(Switch::Split)
            && !table.is_system()
            && region.descriptor().is_split_enabled()
            && !split::has_references(region)
            && catalog.all_regions().len() < REGIONS_MAX
            && catalog
                .entry(table)
                .is_ok_and(|entry| split::is_split_due(region, entry.regions().len()))
    }
}

fn split_at(catalog: &Catalog, parent: &RegionInfo, split_key: Option<&[u8]>) -> Result<()> {
    catalog.context.switches.check(Switch::Split, || {
        let name = parent.region_name_as_string();
        format!("Split region {name} failed due to split switch off")
    })?;
    if split_key == Some(parent.start_key()) {
        let message = "should not give a splitkey which equals to startkey!";
        return Err(Error::invalid_argument(Exception::Io, message));
    }
    let _procedure = begin_procedure(catalog)?;
    let table = parent.table();
    let entry = settled_entry(catalog, table)?;
    if !entry.descriptor.is_split_enabled() {
        return Err(Error::do_not_retry(format!(
            "Split region {} failed as region split is disabled for the table",
            parent.region_name_as_string()
        )));
    }
    let encoded = parent.encoded_name();
    let Some(region) = entry.assigned_region(encoded) else {
        return Err(Error::do_not_retry(format!("{encoded} is not OPEN; state=CLOSED")));
    };
    clean_parents_of(catalog, table, std::slice::from_ref(parent))?;
    // From here on all readers see the new regions.
    let entry = settled_entry(catalog, table)?;
    let split_key = check_splittable(region, split_key)?;
    // Most memory is flushed while the region still serves; if that fails, nothing has changed.
    region.flush()?;
    region.close()?;
    let result = split_closed(catalog, &entry, region, &split_key);
    if result.is_err() {
        bring_back(catalog, &entry, std::slice::from_ref(region));
    }
    result
}

fn split_closed(
    catalog: &Catalog,
    entry: &TableEntry,
    parent: &Arc<Region>,
    split_key: &[u8],
) -> Result<()> {
    let id = parent.last_sequence_id() + 1;
    let (low, high) = split::create_daughters(&catalog.context, parent, split_key)
        .inspect_err(|_| retire_half_made(catalog, entry))?;
    let daughters = [RegionRow::new(low, id), RegionRow::new(high, id)];
    let regions = prepare_heirs(&catalog.context, entry, &daughters).inspect_err(|_| {
        remove_region_dirs(&catalog.context, daughters.iter().map(|row| &row.info));
    })?;
    let committed = catalog.meta.next_timestamp().and_then(|timestamp| {
        let (table, halves) = (&entry.descriptor, [&daughters[0].info, &daughters[1].info]);
        let mut mutations = vec![meta::put_split_parent(parent.info(), halves, timestamp)];
        let replicas = 1..table.region_replication();
        mutations.extend(replicas::put_closed(parent.info(), replicas, timestamp));
        mutations.extend(put_regions_open(&daughters, table, &catalog.server, timestamp));
        mutations.extend(manifests_of(&regions, timestamp));
        catalog.meta.write(&mutations)
    });
    committed.inspect_err(|_| discard(&regions))?;
    regions.iter().for_each(|region| region.files().note_named());
    claim(&catalog.context, &daughters);
    let mut rows = entry.rows.clone();
    for row in rows.iter_mut().filter(|row| row.info == *parent.info()) {
        row.info.is_split = true;
        row.info.is_offline = true;
        row.daughters = daughters.iter().map(|row| row.info.clone()).collect();
    }
    rows.extend(daughters);
    publish_heirs(catalog, entry, rows, std::slice::from_ref(parent), regions);
    Ok(())
}

/// The key where the region can be split.
fn check_splittable(region: &Region, split_key: Option<&[u8]>) -> Result<Vec<u8>> {
    let info = region.info();
    let policy = SplitPolicy::of(region.descriptor());
    let is_never_split = matches!(policy, Ok(SplitPolicy::Disabled));
    if info.table().is_meta() || split::has_references(region) || is_never_split {
        return Err(Error::do_not_retry(format!("{} NOT splittable", info.encoded_name())));
    }
    let split_key = match split_key {
        Some(key) if !key.is_empty() => key.to_vec(),
        _ => split::split_point(region).ok_or_else(|| {
            Error::do_not_retry(
                "Region not splittable because bestSplitPoint = null, maybe table is too small \
                 for auto split. For force split, try specifying split row",
            )
        })?,
    };
    if split_key == info.start_key() {
        return Err(Error::do_not_retry(format!(
            "Split row is equal to startkey: {}",
            to_string_binary(&split_key)
        )));
    }
    if !info.contains_row(&split_key) {
        return Err(Error::do_not_retry(format!(
            "Split row is not inside region key range splitKey:{} region: {info}",
            to_string_binary(&split_key)
        )));
    }
    Ok(split_key)
}
