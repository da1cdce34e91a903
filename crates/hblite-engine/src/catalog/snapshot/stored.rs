//! Reads snapshots from their directories.

use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::name::check_snapshot_name;
use hblite_model::{Error, Exception, RegionInfo, Result, SnapshotDescription, TableDescriptor};

use crate::catalog::{descriptor_file, orphans, region_info_file};
use crate::context::EngineContext;
use crate::files::exists;
use crate::layout::{
    DATA_MANIFEST_FILE, Layout, MANIFEST_FILE, REGION_INFO_FILE, SNAPSHOT_INFO_FILE,
    TABLE_DESCRIPTOR_DIR,
};
use crate::sealed::{self, Seal};

/// What to do about a snapshot that is damaged.
const REMEDY: &str = "restore the snapshot's directory from a backup, or remove it";

/// A snapshot's description.
pub(crate) struct StoredDescription {
    pub(crate) description: SnapshotDescription,
    /// Whether a checksum confirms it.
    pub(crate) seal: Seal,
}

impl StoredDescription {
    /// Whether it has certainly expired.
    pub(crate) fn has_expired(&self, now_ms: i64) -> bool {
        self.seal == Seal::Verified && self.description.has_expired(now_ms)
    }
}

/// A snapshot with what it holds.
pub(crate) struct StoredSnapshot {
    pub(crate) stored: StoredDescription,
    pub(crate) table: TableDescriptor,
    /// The table's regions and their directories, by start key, without a hole.
    pub(crate) regions: Vec<(RegionInfo, PathBuf)>,
}

impl StoredSnapshot {
    /// Reads the snapshot in `dir`.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` if a part is missing or invalid.
    pub(crate) fn read(fs: &dyn FileSystem, dir: &Path) -> Result<Self> {
        let stored = read_description(fs, dir, dir.file_name().and_then(|name| name.to_str()))?;
        let name = &stored.description.table;
        let table = descriptor_file::read(fs, &dir.join(TABLE_DESCRIPTOR_DIR), name)?;
        let table = table.ok_or_else(|| corrupt(dir, "the snapshot has no table descriptor"))?;
        let mut regions = Vec::new();
        for directory in orphans::directories(fs, dir)? {
            let region_dir = dir.join(&directory);
            let path = region_dir.join(REGION_INFO_FILE);
            // A parent that is only referred to has none.
            if !exists(fs, &path)? {
                continue;
            }
            let content = fs.read(&path).map_err(|error| Error::io("cannot read", &path, error))?;
            let info = region_info_file::decode_file(&content)
                .ok_or_else(|| corrupt(&path, "it does not describe a region"))?;
            if info.table() != name || info.encoded_name() != directory {
                return Err(corrupt(&path, "it describes the region of another directory"));
            }
            regions.push((info, region_dir));
        }
        regions.sort_by(|(left, _), (right, _)| left.start_key().cmp(right.start_key()));
        if !is_whole(&regions) {
            return Err(corrupt(dir, "a region of the snapshot is missing"));
        }
        Ok(Self { stored, table, regions })
    }

    pub(crate) fn description(&self) -> &SnapshotDescription {
        &self.stored.description
    }
}

/// Whether each row belongs to exactly one region.
fn is_whole(regions: &[(RegionInfo, PathBuf)]) -> bool {
    let (Some((first, _)), Some((last, _))) = (regions.first(), regions.last()) else {
        return false;
    };
    let is_closed = first.start_key().is_empty() && last.end_key().is_empty();
    is_closed && regions.windows(2).all(|pair| pair[0].0.end_key() == pair[1].0.start_key())
}

/// All snapshots of a store, by name.
///
/// # Errors
/// `Io`; `CorruptHFile` for a snapshot without a valid description.
pub(crate) fn snapshots(fs: &dyn FileSystem, layout: &Layout) -> Result<Vec<StoredDescription>> {
    let dir = layout.snapshots_dir();
    let mut names = orphans::directories(fs, &dir)?;
    names.sort();
    names.iter().map(|name| read_description(fs, &dir.join(name), Some(name))).collect()
}

/// The description of the snapshot in `dir`. If a name is given, it must match.
///
/// # Errors
/// `Io`; `CorruptHFile`.
pub(super) fn read_description(
    fs: &dyn FileSystem,
    dir: &Path,
    name: Option<&str>,
) -> Result<StoredDescription> {
    let path = dir.join(SNAPSHOT_INFO_FILE);
    let content = match fs.read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(corrupt(&path, "the snapshot's description is missing"));
        }
        content => content.map_err(|error| Error::io("cannot read", &path, error))?,
    };
    let decoded = crate::snapshot::decode(&content);
    let (description, seal) = decoded.map_err(|what| corrupt(&path, what))?;
    if name.is_some_and(|name| name != description.name) {
        return Err(corrupt(&path, "it describes a snapshot of another name"));
    }
    // If it is cut off between two fields, it is a message without a checksum.
    if seal == Seal::Absent && has_manifest(fs, dir)? && !is_of_hbase(fs, dir)? {
        return Err(corrupt(&path, "its checksum is missing"));
    }
    Ok(StoredDescription { description, seal })
}

/// Whether a region of the snapshot in `dir` has a manifest: hblite wrote it, with checksums.
fn has_manifest(fs: &dyn FileSystem, dir: &Path) -> Result<bool> {
    for region in orphans::directories(fs, dir)? {
        let path = dir.join(region).join(MANIFEST_FILE);
        if exists(fs, &path)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether HBase took the snapshot in `dir`: its list has no checksum either.
fn is_of_hbase(fs: &dyn FileSystem, dir: &Path) -> Result<bool> {
    let path = dir.join(DATA_MANIFEST_FILE);
    match fs.read(&path) {
        Ok(content) => Ok(sealed::unseal(&content).is_ok_and(|(_, seal)| seal == Seal::Absent)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io("cannot read", &path, error)),
    }
}

fn corrupt(path: &Path, what: &str) -> Error {
    sealed::damaged(path, what, REMEDY)
}

/// Whether there is a snapshot of this name.
pub(super) fn has_snapshot(context: &EngineContext, name: &str) -> Result<bool> {
    // An invalid name must not become a path.
    if check_snapshot_name(name).is_err() {
        return Ok(false);
    }
    exists(context.env.fs.as_ref(), &context.layout.snapshot_dir(name))
}

pub(super) fn snapshot_not_found(name: &str) -> Error {
    let message = format!("Snapshot '{name}' doesn't exist on the filesystem");
    Error::new(Exception::SnapshotDoesNotExist, message)
}
