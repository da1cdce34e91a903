//! Refuses root directories of Apache HBase that hblite cannot read, before anything in them
//! changes.
//!
//! | what is found | why it is refused |
//! |---|---|
//! | no `MasterData` | nothing says which procedures are unfinished |
//! | `MasterProcWALs` | HBase before 2.3 keeps its procedures there |
//! | no `WALs` | the logs, with cells that are in no file, are elsewhere (`hbase.wal.dir`) |
//! | no hbase:meta | nothing names the tables |
//! | hbase:meta with the family ns | HBase 3 keeps namespaces there |
//! | `.<name>.crc`, except an exported one | Hadoop checks files against it; hblite writes none |
//! | another store file tracker | the files are not all in their places |
//! | a file of `mobdir` is missing | it has values of cells (see `store::mob`) |
//! | encryption | the files cannot be read |
//! | `recovered.hfiles` | HBase split them off a log, and no region has loaded them yet |
//! | entries of a region not in service in hbase:meta | the logs belong to another directory |
//! | an unfinished procedure | see `master_procedures` |
//!
//! Threads: one, before the store is open.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use hblite_env::FileSystem;
use hblite_model::{Error, Exception, META_ENCODED_NAME, RegionInfo, Result, TableState};

use super::foreign_settings;
use super::survey::CatalogSurvey;
use super::table_rows::{group_rows, namespace_row};
use super::{descriptor_file, loss, master_procedures, meta, orphans};
use crate::files::{exists, list};
use crate::layout::Layout;
use crate::store::manifest;
use crate::wal::hbase::{HBaseLogs, region_dirs};

/// Refuses what hblite cannot read. Changes nothing.
///
/// # Errors
/// `UnsupportedOperation` or `Io` that names what it is; `CorruptHFile`, `CorruptWal`.
pub(crate) fn examine(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    check_parts(fs, layout)?;
    check_checksum_files(fs, layout, layout.root(), CHECKED_DEPTH_MAX)?;
    for (table, _) in loss::tables_on_disk(fs, layout)? {
        let dir = layout.table_descriptor_dir(&table);
        if let Some(descriptor) = descriptor_file::read(fs, &dir, &table)? {
            foreign_settings::check(&descriptor)?;
        }
    }
    check_recovered_files(fs, layout)?;
    master_procedures::check(fs, layout)
}

/// Refuses logs that do not belong to the tables in hbase:meta.
///
/// # Errors
/// `Io` that names a region and what the log has of it.
pub(crate) fn check_logs(
    fs: &dyn FileSystem,
    logs: &HBaseLogs,
    survey: &CatalogSurvey,
    layout: &Layout,
) -> Result<()> {
    let rows: Vec<_> = survey.rows.iter().map(meta::parse).collect::<Result<_>>()?;
    let tables = group_rows(rows);
    let (served, disabled): (Vec<_>, Vec<_>) =
        tables.values().partition(|(state, _)| *state == TableState::Enabled);
    let closed: HashMap<&str, &RegionInfo> = disabled
        .iter()
        .flat_map(|(_, rows)| rows)
        .map(|row| (row.info.encoded_name(), &row.info))
        .collect();
    let rows = served.iter().flat_map(|(_, rows)| rows).filter(|row| !row.info.is_split);
    let mut in_service: HashSet<&str> = rows.map(|row| row.info.encoded_name()).collect();
    let namespace = namespace_row();
    in_service.extend([META_ENCODED_NAME, namespace.info.encoded_name()]);
    for (name, region) in &logs.regions {
        // HBase flushed it, and named the file after the last id, before it disabled the table.
        let is_flushed = match closed.get(name.as_str()) {
            Some(info) => manifest::opened_by_hbase(fs, &layout.region_dir(info))?
                .is_some_and(|flushed| flushed >= region.last_id),
            None => false,
        };
        if !in_service.contains(name.as_str()) && !region.is_closed && !is_flushed {
            let what = format!(
                "the logs of Apache HBase below it have writes to region {name}, up to sequence id \
                 {}, and hbase:meta in this directory has no such region in service: a log of \
                 another directory, or a part of this one is missing. Nothing was changed. Put the \
                 logs and the tables of one HBase together",
                region.last_id
            );
            let dir = layout.root().display();
            return Err(Error::new(Exception::Io, format!("{dir}: {what}")));
        }
    }
    Ok(())
}

fn check_parts(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    let root = layout.root();
    if exists(fs, &root.join("MasterProcWALs"))? {
        return refused(root, "MasterProcWALs is there: an HBase before 2.3 used it", "Upgrade it");
    }
    if !exists(fs, &layout.master_data_dir())? {
        let what = "MasterData is missing, which says what HBase's master had not finished";
        return refused(root, what, "Restore it from a copy of the directory");
    }
    if !exists(fs, &layout.wal_dir())? {
        let what = "WALs is missing: its logs are in another directory (hbase.wal.dir) or lost";
        return refused(root, what, "Move WALs and MasterData/WALs below the root");
    }
    let meta_dir = layout.region_dir(&RegionInfo::meta());
    if !exists(fs, &meta_dir)? {
        let what = format!("hbase:meta has no directory {}", meta_dir.display());
        return refused(root, &what, "Restore it from a copy of the directory");
    }
    Ok(())
}

fn refused<T>(path: &Path, what: &str, remedy: &str) -> Result<T> {
    let message = format!(
        "{}: hblite cannot take over this directory of Apache HBase: {what}. Nothing was changed. \
         {remedy}",
        path.display()
    );
    Err(Error::new(Exception::UnsupportedOperation, message))
}

/// How deep the files of a family are: data, namespace, table, region, family, file.
const CHECKED_DEPTH_MAX: usize = 6;

/// Refuses the checksum files of Hadoop's local file system. HBase's ExportSnapshot writes some to
/// the archive and next to a snapshot's list. They stay valid, since hblite never changes those
/// files.
fn check_checksum_files(
    fs: &dyn FileSystem,
    layout: &Layout,
    dir: &Path,
    depth: usize,
) -> Result<()> {
    for entry in list(fs, dir)? {
        let path = dir.join(&entry.name);
        if entry.is_dir {
            let is_exported = [layout.archive_dir(), layout.snapshots_dir()].contains(&path);
            if depth > 0 && !is_exported {
                check_checksum_files(fs, layout, &path, depth - 1)?;
            }
        } else if entry.name.starts_with('.') && entry.name.ends_with(".crc") {
            let what = "it is a checksum file of Hadoop, which compares it with the file next to \
                        it, and hblite does not keep it up to date";
            return refused(&path, what, "Copy the directory again, without `-crc`");
        }
    }
    Ok(())
}

fn check_recovered_files(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    for region in region_dirs(fs, layout)? {
        for family in orphans::directories(fs, &region)? {
            let dir = region.join(family).join("recovered.hfiles");
            if !list(fs, &dir)?.is_empty() {
                let what = "it holds cells that HBase split off a log into files of their own";
                return refused(&dir, what, "Start HBase on the directory, and stop it");
            }
        }
    }
    Ok(())
}
