//! Directories of no known table or region, left behind by a procedure that was cut off.
//!
//! They are looked for when a store is opened. One without store files of its own is removed: a
//! region that never served, or daughters that only refer to their parent. One that has any is
//! moved to the archive and told: the rest of a table that was being dropped, or something that
//! was copied into the directory by hand.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hblite_env::{DirEntry, FileSystem};
use hblite_model::{Error, Result, TableName};

use super::Catalog;
use super::table::TableEntry;
use crate::layout::{RECOVERED_EDITS_DIR, UNCLAIMED_FILE};

/// Directories of no known table or region that an open found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrphanReport {
    /// Those without data, now gone.
    pub removed: Vec<PathBuf>,
    /// Those with data: where they were, and where in the archive they are now.
    pub archived: Vec<(PathBuf, PathBuf)>,
}

/// Takes away what belongs to no table.
pub(super) fn retire(catalog: &Catalog) -> Result<OrphanReport> {
    let (fs, layout) = (catalog.context.env.fs.as_ref(), &catalog.context.layout);
    let mut report = OrphanReport::default();
    for namespace in directories(fs, &layout.data_dir())? {
        let namespace_dir = layout.namespace_dir(&namespace);
        for qualifier in directories(fs, &namespace_dir)? {
            let dir = namespace_dir.join(&qualifier);
            let name = TableName::new(&namespace, &qualifier).ok();
            let Some(entry) = name.and_then(|name| catalog.entry(&name).ok()) else {
                retire_dir(catalog, &dir, table_has_data(fs, &dir)?, &mut report)?;
                continue;
            };
            retire_regions(catalog, &dir, &entry, &mut report)?;
        }
    }
    Ok(report)
}

/// Takes away a table's regions that are not known to it. Not while the outcome of a commit is
/// unknown: they may be just what it committed.
pub(super) fn retire_regions(
    catalog: &Catalog,
    table_dir: &Path,
    entry: &TableEntry,
    report: &mut OrphanReport,
) -> Result<()> {
    let fs = catalog.context.env.fs.as_ref();
    let known: HashSet<&str> = entry
        .rows
        .iter()
        .flat_map(|row| std::iter::once(&row.info).chain(&row.merge_parents))
        .map(|info| info.encoded_name())
        .collect();
    for region in directories(fs, table_dir)? {
        if !known.contains(region.as_str()) {
            let dir = table_dir.join(&region);
            retire_dir(catalog, &dir, region_has_data(fs, &dir)?, report)?;
        }
    }
    Ok(())
}

fn retire_dir(
    catalog: &Catalog,
    dir: &Path,
    has_data: bool,
    report: &mut OrphanReport,
) -> Result<()> {
    let (fs, layout) = (catalog.context.env.fs.as_ref(), &catalog.context.layout);
    if !has_data {
        layout.remove_dir(fs, dir)?;
        report.removed.push(dir.to_path_buf());
    } else if let Some(place) = layout.archive_dir_of(fs, dir)? {
        report.archived.push((dir.to_path_buf(), place));
    }
    Ok(())
}

/// Takes away one directory that belongs to nothing, before something else takes its name.
pub(super) fn retire_one(catalog: &Catalog, dir: &Path) -> Result<()> {
    let fs = catalog.context.env.fs.as_ref();
    if fs.exists(dir).map_err(|error| Error::io("cannot look for", dir, error))? {
        let has_data = table_has_data(fs, dir)?;
        retire_dir(catalog, dir, has_data, &mut OrphanReport::default())?;
    }
    Ok(())
}

pub(crate) fn table_has_data(fs: &dyn FileSystem, dir: &Path) -> Result<bool> {
    for region in directories(fs, dir)? {
        if region_has_data(fs, &dir.join(region))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a family has a file that is no mere reference to another region's, and not a snapshot's
/// as well.
pub(crate) fn region_has_data(fs: &dyn FileSystem, dir: &Path) -> Result<bool> {
    let unclaimed = dir.join(UNCLAIMED_FILE);
    if fs.exists(&unclaimed).map_err(|e| Error::io("cannot look for", &unclaimed, e))? {
        return Ok(false);
    }
    for family in directories(fs, dir)? {
        let is_store = family != RECOVERED_EDITS_DIR;
        let files = list(fs, &dir.join(family))?;
        if is_store && files.iter().any(|file| !file.is_dir && !file.name.contains('.')) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Names of the directories in a directory, without HBase's own (`.tabledesc`, `.tmp`).
pub(crate) fn directories(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<String>> {
    let entries = list(fs, dir)?.into_iter();
    let is_wanted = |entry: &DirEntry| entry.is_dir && !entry.name.starts_with('.');
    Ok(entries.filter(is_wanted).map(|entry| entry.name).collect())
}

pub(crate) fn list(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<DirEntry>> {
    match fs.list_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.map_err(|error| Error::io("cannot list", dir, error)),
    }
}
