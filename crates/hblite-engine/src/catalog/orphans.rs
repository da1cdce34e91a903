//! Directories of unknown tables or regions, in the places of tables and regions.
//!
//! An open looks for them. A directory that only hblite wrote to, and that has no store files of
//! its own, was left behind by an interrupted procedure: a region that never served, or daughters
//! that only refer to their parent. It is removed. Any other directory is set aside and
//! reported: the rest of a table that was being dropped, or something that was put there by hand.
//! Files are left alone, since no part of a store has their names, and so is a directory that is
//! empty, perhaps a mount point. A region's directory stays, too, while a region in hbase:meta
//! refers to its files: without them, that region could not be read.
//!
//! A failure to remove something or to set it aside is noted, and the next open tries again.

use std::collections::BTreeSet;
use std::path::Path;

use hblite_env::{DirEntry, FileSystem};
use hblite_model::{Result, TableName};

use super::Catalog;
use super::open_report::{Moved, OpenReport};
use super::table::TableEntry;
use crate::files::{exists, list};
use crate::layout::{
    RECOVERED_EDITS_DIR, Retired, Shape, TABLE_DESCRIPTOR_DIR, UNCLAIMED_FILE, is_of_system,
    is_region_name,
};

/// Removes or sets aside what belongs to no table.
///
/// # Errors
/// `Io` if a directory cannot be listed.
pub(super) fn retire(catalog: &Catalog) -> Result<OpenReport> {
    let (fs, layout) = (catalog.context.env.fs.as_ref(), &catalog.context.layout);
    let mut report = OpenReport::default();
    for namespace in directories(fs, &layout.data_dir())? {
        let namespace_dir = layout.namespace_dir(&namespace);
        if is_left_alone(fs, &namespace_dir) {
            continue;
        }
        for qualifier in directories(fs, &namespace_dir)? {
            let dir = namespace_dir.join(&qualifier);
            let name = TableName::new(&namespace, &qualifier).ok();
            let retired = match name.and_then(|name| catalog.entry(&name).ok()) {
                Some(entry) => retire_regions(catalog, &dir, &entry, &mut report),
                None if is_left_alone(fs, &dir) => Ok(()),
                None => retire_dir(catalog, &dir, Shape::Table, &mut report),
            };
            catalog.context.note_if_left(&dir, retired);
        }
    }
    Ok(report)
}

/// Whether a directory in the place of a table or region is empty, or has only what systems put
/// into directories, or is such a directory itself.
pub(crate) fn is_left_alone(fs: &dyn FileSystem, dir: &Path) -> bool {
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    is_of_system(&DirEntry { name, is_dir: true })
        || fs.list_dir(dir).is_ok_and(|entries| entries.iter().all(is_of_system))
}

/// Removes or sets aside region directories that the table does not know. Must not be called while
/// the outcome of a commit is unknown, since these may be the regions that it committed.
pub(super) fn retire_regions(
    catalog: &Catalog,
    table_dir: &Path,
    entry: &TableEntry,
    report: &mut OpenReport,
) -> Result<()> {
    let fs = catalog.context.env.fs.as_ref();
    let known: BTreeSet<&str> = entry
        .rows
        .iter()
        .flat_map(|row| std::iter::once(&row.info).chain(&row.merge_parents))
        .map(|info| info.encoded_name())
        .collect();
    let mut unknown = directories(fs, table_dir)?;
    unknown.retain(|region| {
        let is_mine = is_region_name(region) || !is_left_alone(fs, &table_dir.join(region));
        !known.contains(region.as_str()) && is_mine
    });
    if unknown.is_empty() {
        return Ok(());
    }
    let referred = regions_that_references_name(fs, table_dir, &known)?;
    for region in unknown {
        let dir = table_dir.join(&region);
        match referred.contains(&region) {
            true => report.kept.push(dir),
            false => retire_dir(catalog, &dir, Shape::Region, report)?,
        }
    }
    Ok(())
}

/// The regions to whose files references of these regions refer, by encoded name.
fn regions_that_references_name(
    fs: &dyn FileSystem,
    table_dir: &Path,
    regions: &BTreeSet<&str>,
) -> Result<BTreeSet<String>> {
    let mut referred = BTreeSet::new();
    for region in regions {
        let dir = table_dir.join(region);
        for family in directories(fs, &dir)? {
            for file in list(fs, &dir.join(family))? {
                // The name of a reference ends in the region's (`store/reference.rs`).
                if let Some((_, parent)) = file.name.rsplit_once('.') {
                    referred.insert(parent.to_owned());
                }
            }
        }
    }
    Ok(referred)
}

fn retire_dir(catalog: &Catalog, dir: &Path, shape: Shape, report: &mut OpenReport) -> Result<()> {
    let (fs, layout) = (catalog.context.env.fs.as_ref(), &catalog.context.layout);
    let has_data = match shape {
        Shape::Table => table_has_data(fs, dir)?,
        _ => region_has_data(fs, dir)?,
    };
    // hblite does not remove HBase's directories.
    let is_kept = has_data || catalog.context.options.adopts_hbase;
    let retired = match is_kept || !is_made_by_procedure(fs, dir, shape)? {
        true => layout.set_aside(fs, dir)?.map_or(Retired::Absent, Retired::SetAside),
        false => layout.retire_dir(fs, dir, shape)?,
    };
    match retired {
        Retired::Absent => {}
        Retired::Removed => report.removed.push(dir.to_path_buf()),
        Retired::SetAside(to) => report.moved.push(Moved { from: dir.to_path_buf(), to }),
    }
    Ok(())
}

/// Whether a procedure of hblite creates directories like this one: a region's directory has the
/// region's name, a table's has settings.
fn is_made_by_procedure(fs: &dyn FileSystem, dir: &Path, shape: Shape) -> Result<bool> {
    if shape == Shape::Region {
        let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        return Ok(is_region_name(name));
    }
    let settings = dir.join(TABLE_DESCRIPTOR_DIR);
    exists(fs, &settings)
}

/// Removes or sets aside the directory of an unknown table, before its name is used again.
pub(super) fn retire_table(catalog: &Catalog, dir: &Path) -> Result<()> {
    let fs = catalog.context.env.fs.as_ref();
    if exists(fs, dir)? && !is_left_alone(fs, dir) {
        let mut report = OpenReport::default();
        retire_dir(catalog, dir, Shape::Table, &mut report)?;
        for moved in report.moved {
            catalog.context.note(dir, format!("moved to {}: no table has it", moved.to.display()));
        }
    }
    Ok(())
}

/// Whether a region in a table's directory has a file of its own.
pub(crate) fn table_has_data(fs: &dyn FileSystem, dir: &Path) -> Result<bool> {
    for region in directories(fs, dir)? {
        if region_has_data(fs, &dir.join(region))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a family has a file of its own: neither a reference to another region's file, nor a
/// snapshot's file.
pub(crate) fn region_has_data(fs: &dyn FileSystem, dir: &Path) -> Result<bool> {
    let unclaimed = dir.join(UNCLAIMED_FILE);
    if exists(fs, &unclaimed)? {
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
