//! What Apache HBase needs, besides the tables, to start on the directory of a store.
//!
//! ```text
//! MasterData/data/master/store/.initialized/             the table master:store is whole
//! MasterData/data/master/store/.tabledesc/.tableinfo.…   its families: info, proc, rs, state
//! MasterData/data/master/store/<region>/.regioninfo
//! MasterData/data/master/store/<region>/info/<file>      one row: where hbase:meta is
//! MasterData/WALs/                                       empty
//! WALs/localhost,16020,1/                                empty: that server has ended
//! ```
//!
//! HBase's master keeps the location of hbase:meta in the table master:store. Without that table,
//! the master takes the directory for a new one. The row names the same server as every row of
//! hbase:meta (see [`ServerName::of_store`]). Because the server's log directory is empty, HBase
//! considers it a server that has ended and lost nothing, and assigns the regions anew
//! (`MasterRegion`, `AssignmentManager.start`, `RegionServerTracker.upgrade`).
//!
//! All of this is the same in every store. It is written when a store that lacks it is closed.
//! After HBase has had the directory, `MasterData` is HBase's own and stays as it is: the servers
//! that it names have ended too. One thing is added to that of HBase before 2.5, which had the
//! location of hbase:meta in ZooKeeper and no `.tabledesc` here: the family `info`, for the HBase
//! that starts next.
//!
//! `MasterData` is created under a temporary name and renamed, so that it is complete or does not
//! exist. Threads: one, when the store is closed and still locked.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use hblite_env::{FileLock, FileSystem};
use hblite_hfile::{HFileWriter, HFileWriterOptions, StoreFileInfo};
use hblite_model::{
    BloomType, CellComparator, CellRef, ColumnFamilyDescriptor, DataBlockEncoding, Error,
    RegionInfo, Result, TableDescriptor, TableName,
};

use super::descriptor_file::{self, Safety};
use super::file_tracker;
use super::meta::{self, ServerName};
use super::region_info_file;
use crate::context::EngineContext;
use crate::files::{exists, make_dir};
use crate::layout::{Layout, REGION_INFO_FILE, TABLE_DESCRIPTOR_DIR};

/// The directory that says that master:store is complete.
const INITIALIZED_DIR: &str = ".initialized";
/// The id of the only region of master:store (`MasterRegion.REGION_ID`).
const REGION_ID: u64 = 1;
/// The only store file. Any name of this form will do, as long as it is always the same.
const FILE_NAME: &str = "00000000000000000000000000000001";
/// The first sequence id that counts in the log of hbase:meta's region.
const META_OPEN_SEQUENCE_NUMBER: u64 = 1;
/// The sequence id of the only file: a first flush has at least that.
const FILE_SEQUENCE_ID: u64 = 1;

/// Lets HBase start on the directory of a store that is being closed: all of it is in files that
/// HBase reads as well.
///
/// # Errors
/// `Io`: the store is as it was, and HBase refuses to start on it.
pub(crate) fn hand_over(context: &EngineContext, lock: &dyn FileLock) -> Result<()> {
    let EngineContext { env, layout, .. } = context;
    // The store's directory may have been replaced by another one.
    let is_ours = lock.is_in_place().unwrap_or(true);
    if context.is_read_only.load(Ordering::Acquire) || !is_ours {
        return Ok(());
    }
    // Without files of hbase:meta, HBase begins anew, as the next open does.
    if layout.is_catalog_in_files() {
        ensure(layout, env.fs.as_ref(), env.clock.now_millis())?;
    }
    layout.mark_free(env.fs.as_ref())
}

/// Writes the missing parts. `now` is the time in milliseconds.
fn ensure(layout: &Layout, fs: &dyn FileSystem, now: i64) -> Result<()> {
    let server = layout.wal_dir().join(ServerName::of_store().to_string());
    if !exists(fs, &server)? {
        make_dir(fs, &server)?;
        layout.make_durable(fs, &server)?;
    }
    match exists(fs, &layout.master_data_dir())? {
        true => add_location(layout, fs, now),
        false => create(layout, fs, now),
    }
}

/// Creates `MasterData`.
fn create(layout: &Layout, fs: &dyn FileSystem, now: i64) -> Result<()> {
    let (root, place) = (layout.root(), layout.master_data_dir());
    let unnamed = unused_scratch_dir(layout, fs)?;
    for dir in write(fs, &unnamed, now)? {
        fs.sync_dir(&dir).map_err(|error| Error::io("cannot sync directory", &dir, error))?;
    }
    fs.rename(&unnamed, &place).map_err(|error| Error::io("cannot make", &place, error))?;
    fs.sync_dir(root).map_err(|error| Error::io("cannot sync directory", root, error))
}

/// Adds the location of hbase:meta to the `MasterData` of an HBase before 2.5, which lacks it.
fn add_location(layout: &Layout, fs: &dyn FileSystem, now: i64) -> Result<()> {
    let table_dir = layout.master_data_dir().join("data/master/store");
    let region_dir = table_dir.join(region().encoded_name());
    let family_dir = region_dir.join(meta::INFO);
    let is_newer = exists(fs, &table_dir.join(TABLE_DESCRIPTOR_DIR))?;
    if is_newer || exists(fs, &family_dir)? || !exists(fs, &region_dir)? {
        return Ok(());
    }
    let unnamed = unused_scratch_dir(layout, fs)?;
    make_dir(fs, &unnamed)?;
    write_location(fs, &unnamed.join(FILE_NAME), &descriptor(), now)?;
    fs.sync_dir(&unnamed)
        .and_then(|()| fs.rename(&unnamed, &family_dir))
        .and_then(|()| fs.sync_dir(&region_dir))
        .map_err(|error| Error::io("cannot make", &family_dir, error))
}

/// A directory of the store that does not exist.
fn unused_scratch_dir(layout: &Layout, fs: &dyn FileSystem) -> Result<PathBuf> {
    let unnamed = layout.scratch_dir("master-data");
    if exists(fs, &unnamed)? {
        fs.remove_dir_all(&unnamed).map_err(|e| Error::io("cannot remove", &unnamed, e))?;
    }
    Ok(unnamed)
}

/// Writes all files below `root`, each of them durably. Returns the directories, whose names are
/// not durable yet.
fn write(fs: &dyn FileSystem, root: &Path, now: i64) -> Result<Vec<PathBuf>> {
    let table = descriptor();
    let region = region();
    let namespace_dir = root.join("data").join(table.name().namespace());
    let table_dir = namespace_dir.join(table.name().qualifier());
    let region_dir = table_dir.join(region.encoded_name());
    let family_dir = region_dir.join(meta::INFO);
    let settings_dir = table_dir.join(TABLE_DESCRIPTOR_DIR);
    let (flag_dir, log_dir) = (table_dir.join(INITIALIZED_DIR), root.join("WALs"));
    for dir in [&settings_dir, &family_dir, &flag_dir, &log_dir] {
        make_dir(fs, dir)?;
    }
    descriptor_file::write(fs, &settings_dir, &table, Safety::Durable)?;
    let info_file = region_dir.join(REGION_INFO_FILE);
    fs.write_atomically(&info_file, &region_info_file::file_content(&region))
        .map_err(|error| Error::io("cannot write", &info_file, error))?;
    write_location(fs, &family_dir.join(FILE_NAME), &table, now)?;
    let above = [root.join("data"), namespace_dir, table_dir, region_dir];
    let mut dirs = vec![settings_dir, family_dir, flag_dir, log_dir, root.to_path_buf()];
    dirs.extend(above);
    Ok(dirs)
}

/// Writes the file with the row of hbase:meta.
fn write_location(
    fs: &dyn FileSystem,
    path: &Path,
    table: &TableDescriptor,
    now: i64,
) -> Result<()> {
    let family = table.families().find(|family| family.name() == meta::INFO.as_bytes());
    let options = family
        .map(HFileWriterOptions::of_family)
        .unwrap_or_default()
        .with_comparator(CellComparator::Meta)
        .with_create_time(now);
    let info = RegionInfo::meta();
    let server = ServerName::of_store();
    let put = meta::put_open_region(&info, &server, META_OPEN_SEQUENCE_NUMBER, now);
    let mut cells: Vec<CellRef<'_>> = put.cells().iter().collect();
    cells.sort_by(|left, right| CellComparator::Meta.compare(left, right));
    let mut writer = HFileWriter::create(fs, path, options)?;
    for cell in &cells {
        writer.append(&cell.with_sequence_id(FILE_SEQUENCE_ID))?;
    }
    let info =
        StoreFileInfo { max_sequence_id: Some(FILE_SEQUENCE_ID), ..StoreFileInfo::default() };
    writer.finish(&info).map(drop)
}

/// The only region of master:store.
pub(super) fn region() -> RegionInfo {
    let table: TableName = "master:store".parse().expect("it is a name of a table");
    RegionInfo::new(table, b"", b"", REGION_ID)
}

/// The table master:store (`MasterRegionFactory.TABLE_DESC`).
fn descriptor() -> TableDescriptor {
    let name = region().table().clone();
    let mut attributes = TableDescriptor::new(name.clone()).attributes().clone();
    attributes.insert(file_tracker::TRACKER.to_owned(), "DEFAULT".to_owned());
    let info = ColumnFamilyDescriptor::new(meta::INFO)
        .with_versions(3)
        .with_block_size(8 * 1024)
        .with_data_block_encoding(DataBlockEncoding::RowIndexV1)
        .with_bloom(BloomType::RowCol);
    let families = ["proc", "rs", "state"].map(ColumnFamilyDescriptor::new);
    TableDescriptor::from_parts(name, attributes, std::iter::once(info).chain(families))
}

#[cfg(test)]
mod tests {
    use hblite_env::MemFileSystem;
    use hblite_hfile::HFileReader;

    use super::*;

    #[test]
    fn the_row_says_where_hbase_meta_is() {
        let fs = MemFileSystem::new();
        let layout = Layout::new(Path::new("/d"))
            .with_store_id("ca9fced8-4350-477d-9b81-eaf32ebf7024".parse().expect("it is an id"));
        ensure(&layout, &fs, 7).unwrap();
        ensure(&layout, &fs, 8).unwrap();
        let region = "/d/MasterData/data/master/store/1595e783b53d99cd5eef43b6debb2682";
        let file = Path::new(region).join("info").join(FILE_NAME);
        assert!(fs.exists(&Path::new(region).join(".regioninfo")).unwrap());
        assert!(fs.exists(Path::new("/d/WALs/localhost,16020,1")).unwrap());
        let reader = HFileReader::open(&fs, &file, None).unwrap();
        assert_eq!(reader.entries(), 6);
        let first = reader.first_key().unwrap();
        assert_eq!(hblite_model::cell::key::row(first), b"hbase:meta,,1");
    }
}
