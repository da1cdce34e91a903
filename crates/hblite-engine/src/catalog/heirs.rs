//! Regions that replace others: what a split and a merge have in common.

use std::sync::Arc;

use hblite_model::{Mutation, Result};

use super::create::prepare_regions;
use super::meta::{self, RegionRow};
use super::procedures::discard;
use super::table::TableEntry;
use super::{Catalog, OpenReport, orphans};
use crate::context::EngineContext;
use crate::files::exists;
use crate::region::Region;

/// Makes the files of regions that replace closed ones durable, and opens them.
pub(super) fn prepare_heirs(
    context: &Arc<EngineContext>,
    entry: &TableEntry,
    heirs: &[RegionRow],
) -> Result<Vec<Arc<Region>>> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    let regions = prepare_regions(context, &entry.descriptor, heirs)?;
    for (row, family) in
        heirs.iter().flat_map(|row| entry.descriptor.families().map(move |family| (row, family)))
    {
        let dir = layout.family_dir(&row.info, family.name());
        // The parents' cells are reachable only through these names.
        if exists(fs, &dir)?
            && let Err(error) = layout.make_durable(fs, &dir)
        {
            discard(&regions);
            return Err(error);
        }
    }
    Ok(regions)
}

/// Replaces closed regions with the heirs created from them.
pub(super) fn publish_heirs(
    catalog: &Catalog,
    entry: &TableEntry,
    rows: Vec<RegionRow>,
    closed: &[Arc<Region>],
    heirs: Vec<Arc<Region>>,
) {
    assert_same_rows(closed, &heirs);
    let is_closed = |region: &&Arc<Region>| closed.iter().any(|c| c.info() == region.info());
    let names: Vec<String> =
        heirs.iter().map(|region| region.info().encoded_name().to_owned()).collect();
    let others = entry.regions().iter().filter(|region| !is_closed(region)).cloned();
    let regions = others.chain(heirs).collect();
    catalog.publish(entry.descriptor.name(), Some(entry.with_rows(rows, regions)));
    if catalog.context.options.is_compaction_enabled {
        // Soon the heirs have files of their own, and the parents can be removed.
        for name in names {
            catalog.context.chores.compact(&name);
        }
    }
}

/// Removes heirs whose creation failed halfway; the next open removes what cannot be removed now.
pub(super) fn retire_half_made(catalog: &Catalog, entry: &TableEntry) {
    let dir = catalog.context.layout.table_dir(entry.descriptor.name());
    let _ = orphans::retire_regions(catalog, &dir, entry, &mut OpenReport::default());
}

/// Puts that the heirs have manifests, as far as they do.
pub(super) fn manifests_of(
    heirs: &[Arc<Region>],
    timestamp: i64,
) -> impl Iterator<Item = Mutation> {
    heirs.iter().filter_map(move |region| {
        let recorded = region.files().recorded()?;
        Some(meta::put_manifest(region.info(), recorded, timestamp))
    })
}

/// Heirs hold the rows of the closed regions, without a hole or an overlap. Both lists are sorted.
fn assert_same_rows(closed: &[Arc<Region>], heirs: &[Arc<Region>]) {
    let bounds = |regions: &[Arc<Region>]| {
        let meet = |pair: &[Arc<Region>]| pair[0].info().end_key() == pair[1].info().start_key();
        assert!(regions.windows(2).all(meet), "regions follow one another: {regions:?}");
        let (first, last) = (regions.first()?.info(), regions.last()?.info());
        Some((first.start_key().to_vec(), last.end_key().to_vec()))
    };
    assert_eq!(bounds(closed), bounds(heirs), "heirs hold the rows of the regions before them");
}
