//! Merges adjacent regions (`MergeTableRegionsProcedure`).
//!
//! 1. check, and flush while the regions still serve
//! 2. close the regions
//! 3. create the merged region's directory, with references to their files, and open it
//! 4. make the references durable
//! 5. commit: hbase:meta names the merged region, and its parents only there
//! 6. publish the merged region, and request its compaction
//!
//! After a crash before step 5 the parents are opened again, and the next open retires the merged
//! region's directory. After step 5 the merged region is opened; `parents` removes the parents once
//! nothing refers to them.

use std::collections::HashSet;
use std::sync::Arc;

use hblite_model::{
    Error, Exception, MergeKind, RegionInfo, Result, Switch, TableDescriptor, TableName,
};

use super::heirs::{manifests_of, prepare_heirs, publish_heirs, retire_half_made};
use super::meta::{self, RegionRow};
use super::parents::clean_parents_of;
use super::parked::settled_entry;
use super::procedures::{begin_procedure, bring_back, discard, remove_region_dirs};
use super::table::TableEntry;
use super::{Catalog, Procedures, encoded_part, replicas};
use crate::region::{Region, split};

impl Procedures<'_> {
    /// Merges regions, named by their full or encoded names in the order of their rows.
    ///
    /// Regions that are not adjacent are refused even if the merge is forced: rows between them
    /// would become unreachable.
    ///
    /// # Errors
    /// `IllegalArgument`, `UnknownRegion`, `DoNotRetryIo`, `MergeRegion`, `Io`: the regions are as
    /// they were.
    pub fn merge_regions(&self, names: &[&str], kind: MergeKind) -> Result<()> {
        let catalog = self.0;
        if names.len() < 2 {
            let message = format!("Can not merge only {} region", names.len());
            return Err(Error::illegal_argument(message));
        }
        let (table, infos) = find_all(catalog, names)?;
        catalog.context.switches.check(Switch::Merge, || {
            let names: Vec<&str> = infos.iter().map(RegionInfo::encoded_name).collect();
            format!("Merge of [{}] failed because merge switch is off", names.join(", "))
        })?;
        let _procedure = begin_procedure(catalog)?;
        let entry = settled_entry(catalog, &table)?;
        check_merge(&entry.descriptor, &infos, kind == MergeKind::Forced)?;
        clean_parents_of(catalog, &table, &infos)?;
        let entry = settled_entry(catalog, &table)?;
        let mut regions = Vec::new();
        for info in &infos {
            regions.push(check_mergeable(&entry, info, &infos)?);
        }
        regions.sort_by(|left, right| left.info().start_key().cmp(right.info().start_key()));
        // Most memory is flushed while the regions still serve; if that fails, nothing has changed.
        for region in &regions {
            region.flush()?;
        }
        for (index, region) in regions.iter().enumerate() {
            if let Err(error) = region.close() {
                bring_back(catalog, &entry, &regions[..index]);
                return Err(error);
            }
        }
        let result = merge_closed(catalog, &entry, &regions);
        if result.is_err() {
            bring_back(catalog, &entry, &regions);
        }
        result
    }
}

/// The regions with these names; all of one table.
fn find_all(catalog: &Catalog, names: &[&str]) -> Result<(TableName, Vec<RegionInfo>)> {
    let mut found: Option<TableName> = None;
    let mut infos = Vec::new();
    for name in names {
        let Some((table, row)) = catalog.find_row(name) else {
            let encoded = encoded_part(name);
            let message = format!("Can't invoke merge on unknown region {encoded}");
            return Err(Error::new(Exception::UnknownRegion, message));
        };
        let first = found.get_or_insert_with(|| table.clone());
        if *first != table {
            return Err(Error::illegal_argument(format!(
                "Cannot merge regions from two different tables {first} and {table}"
            )));
        }
        infos.push(row.info);
    }
    let table = found.ok_or_else(|| Error::illegal_argument("Can not merge only 0 region"))?;
    Ok((table, infos))
}

fn merge_closed(catalog: &Catalog, entry: &TableEntry, parents: &[Arc<Region>]) -> Result<()> {
    let last_id = parents.iter().map(|region| region.last_sequence_id()).max().unwrap_or(0);
    let made = split::create_merged(&catalog.context, parents)
        .inspect_err(|_| retire_half_made(catalog, entry))?;
    let mut merged = RegionRow::new(made, last_id + 1);
    merged.merge_parents = parents.iter().map(|region| region.info().clone()).collect();
    let heirs = std::slice::from_ref(&merged);
    let regions = prepare_heirs(&catalog.context, entry, heirs)
        .inspect_err(|_| remove_region_dirs(&catalog.context, [&merged.info]))?;
    let committed = catalog.meta.next_timestamp().and_then(|timestamp| {
        let deletes = merged.merge_parents.iter().map(|info| meta::delete_region(info, timestamp));
        let put = meta::put_merged_region(
            &merged.info,
            &merged.merge_parents,
            &catalog.server,
            merged.open_sequence_number,
            timestamp,
        );
        let replicas = 1..entry.descriptor.region_replication();
        let others = replicas::put_open(&merged, replicas, &catalog.server, timestamp);
        let manifests = manifests_of(&regions, timestamp);
        let mutations = deletes.chain([put]).chain(others).chain(manifests);
        catalog.meta.write(&mutations.collect::<Vec<_>>())
    });
    committed.inspect_err(|_| discard(&regions))?;
    regions.iter().for_each(|region| region.files().note_named());
    let mut rows = entry.rows.clone();
    rows.retain(|row| !merged.merge_parents.contains(&row.info));
    rows.push(merged);
    publish_heirs(catalog, entry, rows, parents, regions);
    Ok(())
}

fn check_merge(table: &TableDescriptor, infos: &[RegionInfo], is_forced: bool) -> Result<()> {
    let merge_error = |message: String| Err(Error::new(Exception::MergeRegion, message));
    if !table.is_merge_enabled() {
        return Err(Error::do_not_retry(format!(
            "Merge of {} failed as region merge is disabled for the table",
            short_names(infos)
        )));
    }
    let unique = infos.iter().collect::<HashSet<_>>().len();
    if unique != infos.len() {
        return merge_error(format!(
            "Duplicate regions specified; cannot merge a region to itself. Passed in {} but only \
             {unique} unique.",
            infos.len()
        ));
    }
    if let Some(pair) = infos.windows(2).find(|pair| !pair[1].is_adjacent(&pair[0])) {
        return merge_error(format!(
            "Unable to merge non-adjacent or non-overlapping regions '{}', '{}' when \
             force={is_forced}",
            pair[0].encoded_name(),
            pair[1].encoded_name()
        ));
    }
    Ok(())
}

fn check_mergeable(
    entry: &TableEntry,
    info: &RegionInfo,
    all: &[RegionInfo],
) -> Result<Arc<Region>> {
    let encoded = info.encoded_name();
    let Some(region) = entry.assigned_region(encoded) else {
        let message = format!("{encoded} is not OPEN; state=CLOSED");
        return Err(Error::new(Exception::MergeRegion, message));
    };
    if split::has_references(region) {
        return Err(Error::new(
            Exception::MergeRegion,
            format!(
                "Skip merging {}, because a parent, {encoded}, is not mergeable",
                short_names(all)
            ),
        ));
    }
    Ok(Arc::clone(region))
}

/// Like `RegionInfo.getShortNameToLog` of a list.
fn short_names(infos: &[RegionInfo]) -> String {
    let names: Vec<&str> = infos.iter().map(RegionInfo::encoded_name).collect();
    format!("[{}]", names.join(", "))
}
