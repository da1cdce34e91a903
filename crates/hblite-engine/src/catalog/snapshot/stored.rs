//! Reads snapshots from their directories.

use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::{Error, Exception, RegionInfo, Result, TableDescriptor};

use crate::catalog::{descriptor_file, orphans, region_info_file};
use crate::layout::{Layout, REGION_INFO_FILE, SNAPSHOT_INFO_FILE, TABLE_DESCRIPTOR_DIR};
use crate::snapshot::SnapshotDescription;

/// A snapshot with what it holds.
pub(crate) struct StoredSnapshot {
    pub(crate) description: SnapshotDescription,
    pub(crate) table: TableDescriptor,
    /// The regions that the table had, and their directories, by start key.
    pub(crate) regions: Vec<(RegionInfo, PathBuf)>,
}

impl StoredSnapshot {
    /// Reads the snapshot in `dir`.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` if a part is missing or makes no sense.
    pub(crate) fn read(fs: &dyn FileSystem, dir: &Path) -> Result<Self> {
        let description = read_description(fs, dir)?;
        let table = descriptor_file::read(fs, &dir.join(TABLE_DESCRIPTOR_DIR))?;
        let table = table.ok_or_else(|| corrupt(dir, "the snapshot has no table descriptor"))?;
        let mut regions = Vec::new();
        for name in orphans::directories(fs, dir)? {
            let region_dir = dir.join(name);
            let path = region_dir.join(REGION_INFO_FILE);
            // A parent that is only referred to has none.
            if !fs.exists(&path).map_err(|error| Error::io("cannot look for", &path, error))? {
                continue;
            }
            let content = fs.read(&path).map_err(|error| Error::io("cannot read", &path, error))?;
            let info = region_info_file::decode_file(&content);
            let info = info.ok_or_else(|| corrupt(&path, "it describes no region"))?;
            regions.push((info, region_dir));
        }
        regions.sort_by(|(left, _), (right, _)| left.start_key().cmp(right.start_key()));
        if regions.is_empty() {
            return Err(corrupt(dir, "the snapshot has no region"));
        }
        Ok(Self { description, table, regions })
    }
}

/// All snapshots of a store, by name.
///
/// # Errors
/// `Io`; `CorruptHFile` for one that does not say what it is.
pub(crate) fn snapshots(fs: &dyn FileSystem, layout: &Layout) -> Result<Vec<SnapshotDescription>> {
    let dir = layout.snapshots_dir();
    let mut names = orphans::directories(fs, &dir)?;
    names.sort();
    names.iter().map(|name| read_description(fs, &dir.join(name))).collect()
}

fn read_description(fs: &dyn FileSystem, dir: &Path) -> Result<SnapshotDescription> {
    let path = dir.join(SNAPSHOT_INFO_FILE);
    let content = fs.read(&path).map_err(|error| Error::io("cannot read", &path, error))?;
    let description = SnapshotDescription::decode(&content);
    let description = description.ok_or_else(|| corrupt(&path, "it describes no snapshot"))?;
    if dir.file_name().is_none_or(|name| name != description.name.as_str()) {
        return Err(corrupt(&path, "it describes a snapshot of another name"));
    }
    Ok(description)
}

fn corrupt(path: &Path, message: &str) -> Error {
    Error::corrupt(Exception::CorruptHFile, path, 0, message)
}
