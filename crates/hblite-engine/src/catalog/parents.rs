//! Cleans up after splits and merges (`CatalogJanitor`).
//!
//! Daughters and merged regions (here called heirs) refer to their parents' files until a
//! compaction gives them files of their own. A parent is removed when nothing refers to it:
//!
//! 1. make durable that the heirs no longer need it
//! 2. commit: hbase:meta no longer names it
//! 3. publish
//! 4. remove its directory; after a crash before that, the next open does this

use std::collections::HashSet;

use hblite_model::{Error, Mutation, RegionInfo, Result, TableName, TableState};

use super::meta::{self, RegionRow};
use super::procedures::remove_region_dirs;
use super::table::TableEntry;
use super::{Catalog, Procedures};
use crate::context::EngineContext;
use crate::region::split::{has_references, regions_referred_to};

impl Procedures<'_> {
    /// Removes the parents that are no longer referenced and that were kept long enough. Returns of
    /// how many splits and merges they were.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the store is read-only, `Io`, `RegionServerStopped`.
    pub fn run_catalog_janitor(&self) -> Result<u32> {
        self.0.context.check_not_read_only()?;
        self.clean_parents()
    }

    /// The same in the background. Does nothing while a procedure is in progress; a later call will
    /// do it.
    ///
    /// # Errors
    /// `Io`, `RegionServerStopped`.
    pub(crate) fn clean_parents(&self) -> Result<u32> {
        let catalog = self.0;
        let Some(_procedure) = catalog.procedure.try_lock() else {
            return Ok(0);
        };
        catalog.meta.check()?;
        let mut tables = catalog.entries();
        tables.retain(|entry| {
            entry.rows.iter().any(|row| row.info.is_split || !row.merge_parents.is_empty())
        });
        let kept_ms = catalog.context.options.parents_kept_ms;
        let latest = catalog.context.env.clock.now_millis().saturating_sub(kept_ms);
        // The id of a region is the time of its creation.
        let is_old =
            |heir: &RegionInfo| i64::try_from(heir.region_id()).is_ok_and(|id| id <= latest);
        let mut count = 0;
        for entry in tables {
            let table = entry.descriptor.name();
            count += clean_parents_where(catalog, table, |heir| kept_ms == 0 || is_old(heir))?;
        }
        Ok(count)
    }
}

/// Removes the parents of these regions that are no longer referenced, within a procedure.
pub(super) fn clean_parents_of(
    catalog: &Catalog,
    table: &TableName,
    heirs: &[RegionInfo],
) -> Result<()> {
    let is_meant =
        |heir: &RegionInfo| heirs.iter().any(|info| info.encoded_name() == heir.encoded_name());
    clean_parents_where(catalog, table, is_meant).map(drop)
}

/// Removes parents of which an heir satisfies `is_meant`.
fn clean_parents_where(
    catalog: &Catalog,
    table: &TableName,
    is_meant: impl Fn(&RegionInfo) -> bool,
) -> Result<u32> {
    let entry = catalog.entry(table)?;
    // For a table out of service, it is not known which references are left.
    if entry.state != TableState::Enabled {
        return Ok(0);
    }
    let referred = regions_read_by_others(&entry);
    let is_free = |parent: &RegionInfo| !referred.contains(parent.encoded_name());
    let gone: Vec<RegionRow> = entry
        .split_parents()
        .filter(|parent| is_free(&parent.info))
        .filter(|parent| parent.daughters.is_empty() || parent.daughters.iter().any(&is_meant))
        .filter(|parent| parent.daughters.iter().all(|info| is_independent(&entry, info)))
        .cloned()
        .collect();
    let merged: Vec<RegionRow> = entry
        .live_rows()
        .filter(|row| !row.merge_parents.is_empty() && is_meant(&row.info))
        .filter(|row| row.merge_parents.iter().all(is_free))
        .filter(|row| is_independent(&entry, &row.info))
        .cloned()
        .collect();
    if gone.is_empty() && merged.is_empty() {
        return Ok(0);
    }
    let daughters = gone.iter().flat_map(|row| &row.daughters);
    make_removals_durable(
        &catalog.context,
        &entry,
        daughters.chain(merged.iter().map(|row| &row.info)),
    )?;
    let timestamp = catalog.meta.next_timestamp()?;
    let parents = gone.iter().map(|row| meta::delete_region(&row.info, timestamp));
    let heirs = merged
        .iter()
        .map(|row| meta::delete_merge_parents(&row.info, row.merge_parents.len(), timestamp));
    catalog.meta.write(&parents.chain(heirs).collect::<Vec<Mutation>>())?;

    let mut rows = entry.rows.clone();
    rows.retain(|row| !gone.contains(row));
    for row in rows.iter_mut().filter(|row| merged.contains(row)) {
        row.merge_parents.clear();
    }
    catalog.publish(table, Some(entry.with_rows(rows, entry.regions().to_vec())));
    let split = gone.iter().map(|row| &row.info);
    remove_region_dirs(
        &catalog.context,
        split.chain(merged.iter().flat_map(|row| &row.merge_parents)),
    );
    Ok(u32::try_from(gone.len() + merged.len()).unwrap_or(u32::MAX))
}

/// Makes sure that no reference of these regions comes back after a power cut, since its target
/// will be removed.
fn make_removals_durable<'r>(
    context: &EngineContext,
    entry: &TableEntry,
    regions: impl IntoIterator<Item = &'r RegionInfo>,
) -> Result<()> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    for info in regions {
        if let Some(region) = entry.region(info.encoded_name()) {
            region.remove_dead_files()?;
        }
        for family in entry.descriptor.families() {
            let dir = layout.family_dir(info, family.name());
            let io = |error| Error::io("cannot sync directory", &dir, error);
            if fs.exists(&dir).map_err(io)? {
                fs.sync_dir(&dir).map_err(io)?;
            }
        }
    }
    Ok(())
}

/// The regions, by encoded name, whose files regions in service read. The rows of hbase:meta should
/// say the same; a damaged row may not name all heirs of a parent.
fn regions_read_by_others(entry: &TableEntry) -> HashSet<String> {
    entry.regions().iter().flat_map(|region| regions_referred_to(region)).collect()
}

/// Whether a region reads from no other region. A region that was split or merged itself did not
/// read from others either: a region with references cannot be split or merged.
fn is_independent(entry: &TableEntry, info: &RegionInfo) -> bool {
    let is_live = entry.live_rows().any(|row| row.info.encoded_name() == info.encoded_name());
    match entry.region(info.encoded_name()) {
        Some(region) => !has_references(region),
        // A live region out of service could not be opened; it may need its parent's files.
        None => !is_live,
    }
}
