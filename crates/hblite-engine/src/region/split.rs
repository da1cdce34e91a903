//! Files of daughters and merged regions: references to the files of closed parents.
//!
//! Nothing is copied. A file whose rows all belong to one daughter is hard-linked there (HBase
//! creates an `HFileLink`). For every other file, each daughter's store has a small reference to
//! one half; a merged region's store refers to whole files of both parents. Compactions rewrite
//! references into the region's own files, and when none is left, the parent's directory can be
//! removed. Which regions may be split or merged, and how the catalog changes, is decided in
//! `catalog`.
//!
//! A store with references is compacted as soon as its region opens, and such a compaction drops
//! delete markers, unless it leaves files of other rows alone. A store that has only whole files
//! keeps its markers until the next major compaction.
//!
//! Source: HBase's `SplitTableRegionProcedure`, `MergeTableRegionsProcedure`,
//! `HRegionFileSystem.splitStoreFile`.

use std::sync::Arc;

use hblite_model::cell::key;
use hblite_model::{Error, RegionInfo, Result};

use super::Region;
use super::split_policy::SplitPolicy;
use crate::context::EngineContext;
use crate::files::{exists, link_or_copy, sync_dir};
use crate::layout::UNCLAIMED_FILE;
use crate::store::Store;
use crate::store::file_list::row_range;
use crate::store::manifest::Manifest;
use crate::store::store_file::{Half, StoreFile};

/// The row where the region would be split by default: the middle of the largest sorted run (in
/// HBase, of the largest file) of the largest store that has such a row, or the prefix of it that
/// the table's split policy keeps together. `None` if no store has a row with others on both sides,
/// if the prefix is not within the region, or if a file is still a reference
/// (`RegionSplitPolicy.getSplitPoint`).
pub(crate) fn split_point(region: &Region) -> Option<Vec<u8>> {
    if has_references(region) {
        return None;
    }
    let mut largest: Option<(u64, Vec<u8>)> = None;
    for store in &region.stores {
        let size = store_size(store);
        if largest.as_ref().is_none_or(|(other, _)| size > *other)
            && let Some(middle) = middle_row(store)
            && middle != region.info.start_key()
        {
            largest = Some((size, middle));
        }
    }
    let policy = SplitPolicy::of(&region.descriptor).unwrap_or(SplitPolicy::Disabled);
    largest
        .map(|(_, middle)| policy.split_row(&region.descriptor, middle))
        .filter(|row| row.as_slice() > region.info.start_key())
}

/// Whether one of the stores exceeds the size that the table's split policy allows in a table with
/// `table_regions` regions.
pub(crate) fn is_split_due(region: &Region, table_regions: usize) -> bool {
    let table = &region.descriptor;
    // An invalid one is refused when a table is created; an old store may have it.
    let policy = SplitPolicy::of(table).unwrap_or(SplitPolicy::Disabled);
    policy
        .size_bytes(table, &region.context.options, table_regions)
        .is_some_and(|limit| region.stores.iter().any(|store| store_size(store) > limit))
}

/// Whether a file of the region is a reference: the region cannot be split, and its parent cannot
/// be removed.
pub(crate) fn has_references(region: &Region) -> bool {
    region.stores.iter().any(|store| store.files().iter().any(|file| file.is_reference()))
}

/// The encoded names of the regions to whose files its references refer.
pub(crate) fn regions_referred_to(region: &Region) -> Vec<String> {
    let mut parents = Vec::new();
    for store in &region.stores {
        let files = store.files();
        let references = files.iter().filter(|file| file.is_reference());
        // The name of a reference ends in the region's (`store/reference.rs`).
        let names = references.filter_map(|file| file.name().rsplit_once('.'));
        parents.extend(names.map(|(_, parent)| parent.to_owned()));
    }
    parents
}

fn store_size(store: &Store) -> u64 {
    store.files().iter().map(|file| file.size_bytes()).sum()
}

/// The middle row of the largest sorted run, which often is a single file: the middle row of the
/// run's middle file. `None` if it is the run's first or last row.
fn middle_row(store: &Store) -> Option<Vec<u8>> {
    let files = store.files();
    let size = |files: &[Arc<StoreFile>]| files.iter().map(|file| file.size_bytes()).sum::<u64>();
    let runs = (0..files.run_count()).map(|run| &files.by_row()[files.range(run)]);
    let largest = runs.max_by_key(|run| size(run))?;
    let (half, mut size_so_far) = (size(largest) / 2, 0);
    let in_the_middle = largest.iter().find(|file| {
        size_so_far += file.size_bytes();
        size_so_far > half
    });
    let middle = key::row(&in_the_middle?.reader().mid_key().ok().flatten()?).to_vec();
    let (first, last) = (row_range(largest.first()?)?.0, row_range(largest.last()?)?.1);
    (middle != first && middle != last).then_some(middle)
}

/// Creates the directories of the two daughters of a closed region.
pub(crate) fn create_daughters(
    context: &EngineContext,
    parent: &Region,
    split_row: &[u8],
) -> Result<(RegionInfo, RegionInfo)> {
    let info = parent.info();
    let now = u64::try_from(context.env.clock.now_millis()).unwrap_or(0);
    let region_id = now.max(info.region_id() + 1);
    let table = info.table();
    let low = RegionInfo::new(table.clone(), info.start_key(), split_row, region_id);
    let high = RegionInfo::new(table.clone(), split_row, info.end_key(), region_id);
    assert!(
        low.start_key() == info.start_key()
            && low.end_key() == high.start_key()
            && high.end_key() == info.end_key()
            && info.contains_row(split_row),
        "daughters must divide their parent"
    );
    let (mut low_files, mut high_files) =
        (Manifest::new(low.encoded_name()), Manifest::new(high.encoded_name()));
    for store in parent.stores() {
        let family = store.family().name();
        let mut has_links = [false; 2];
        for file in store.files().iter() {
            match sides(file, split_row) {
                (true, true) => {
                    let [bottom, top] =
                        [Half::Bottom, Half::Top].map(|half| half(split_row.to_vec()));
                    write_reference(context, &low, family, file, info, &bottom, &mut low_files)?;
                    write_reference(context, &high, family, file, info, &top, &mut high_files)?;
                }
                (true, false) => {
                    link_file(context, &low, family, file, &mut low_files)?;
                    has_links[0] = true;
                }
                (false, true) => {
                    link_file(context, &high, family, file, &mut high_files)?;
                    has_links[1] = true;
                }
                (false, false) => {}
            }
        }
        for (daughter, _) in [&low, &high].into_iter().zip(has_links).filter(|(_, has)| *has) {
            sync_dir(context.env.fs.as_ref(), &context.layout.family_dir(daughter, family))?;
        }
    }
    write_manifest(context, &low, &low_files)?;
    write_manifest(context, &high, &high_files)?;
    Ok((low, high))
}

/// Creates the directory of the region that replaces adjacent closed regions.
pub(crate) fn create_merged(
    context: &EngineContext,
    parents: &[Arc<Region>],
) -> Result<RegionInfo> {
    let infos = || parents.iter().map(|parent| parent.info());
    let Some(first) = infos().min_by(|left, right| left.start_key().cmp(right.start_key())) else {
        return Err(Error::illegal_argument("Can not merge only 0 region"));
    };
    let is_last = infos().any(|info| info.end_key().is_empty());
    let end_key = infos().map(RegionInfo::end_key).max().filter(|_| !is_last).unwrap_or(&[]);
    let now = u64::try_from(context.env.clock.now_millis()).unwrap_or(0);
    let region_id = infos().map(|info| info.region_id() + 1).fold(now, u64::max);
    let merged = RegionInfo::new(first.table().clone(), first.start_key(), end_key, region_id);
    let mut files = Manifest::new(merged.encoded_name());
    for parent in parents {
        for store in parent.stores() {
            for file in store.files().iter() {
                let half = Half::Top(parent.info().start_key().to_vec());
                let family = store.family().name();
                write_reference(context, &merged, family, file, parent.info(), &half, &mut files)?;
            }
        }
    }
    write_manifest(context, &merged, &files)?;
    Ok(merged)
}

/// Whether the file has rows before, and at or after, the split row.
fn sides(file: &StoreFile, split_row: &[u8]) -> (bool, bool) {
    match (file.reader().first_key(), file.reader().last_key()) {
        (Some(first), Some(last)) => (key::row(first) < split_row, key::row(last) >= split_row),
        _ => (false, false),
    }
}

/// Hard-links a file of the parent into `region`, and lists it. The caller makes the names of a
/// family durable.
fn link_file(
    context: &EngineContext,
    region: &RegionInfo,
    family: &[u8],
    file: &StoreFile,
    files: &mut Manifest,
) -> Result<()> {
    assert!(!file.is_reference(), "a region with references is neither split nor merged");
    let fs = context.env.fs.as_ref();
    mark_unclaimed(context, region)?;
    let dir = context.layout.family_dir(region, family);
    fs.create_dir_all(&dir).map_err(|error| Error::io("create directory", &dir, error))?;
    link_or_copy(fs, file.path(), &dir.join(file.name()))?;
    files.add_reader(family, file.name(), file.reader())
}

/// Marks a region whose files belong to another one. Called before the first file is linked: a
/// region with files but without this mark would be taken for one that owns them.
fn mark_unclaimed(context: &EngineContext, region: &RegionInfo) -> Result<()> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    let dir = layout.region_dir(region);
    let path = dir.join(UNCLAIMED_FILE);
    if exists(fs, &path)? {
        return Ok(());
    }
    fs.create_dir_all(&dir).map_err(|error| Error::io("create directory", &dir, error))?;
    fs.create(&path).map_err(|error| Error::io("cannot create", &path, error))?;
    layout.make_durable(fs, &dir)?;
    sync_dir(fs, &dir)
}

/// Writes the reference of `region` to a file of its parent, and lists it.
fn write_reference(
    context: &EngineContext,
    region: &RegionInfo,
    family: &[u8],
    file: &StoreFile,
    parent: &RegionInfo,
    half: &Half,
    files: &mut Manifest,
) -> Result<()> {
    assert!(!file.is_reference(), "a region with references is neither split nor merged");
    let fs = context.env.fs.as_ref();
    let dir = context.layout.family_dir(region, family);
    fs.create_dir_all(&dir).map_err(|error| Error::io("create directory", &dir, error))?;
    let name = format!("{}.{}", file.name(), parent.encoded_name());
    let path = dir.join(&name);
    fs.write_atomically(&path, &half.encode()).map_err(|error| Error::io("write", &path, error))?;
    files.add_reader(family, &name, file.reader())
}

/// Writes the manifest of a new region, before hbase:meta names the region. A region without files
/// has no directory yet, and gets no manifest.
fn write_manifest(context: &EngineContext, region: &RegionInfo, files: &Manifest) -> Result<()> {
    if files.files.is_empty() {
        return Ok(());
    }
    files.write_durably(context.env.fs.as_ref(), &context.layout.region_dir(region))
}
