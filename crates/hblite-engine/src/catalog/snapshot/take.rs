//! Takes a snapshot.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hblite_env::FileSystem;
use hblite_model::name::check_snapshot_name;
use hblite_model::{Error, Exception, Result, TableDescriptor, TableName, TableState};
use hblite_model::{SnapshotDescription, SnapshotKind, SnapshotOptions};

use super::archive;
use super::data_manifest::{DataManifest, ListedFile, ListedRegion};
use super::named::name_snapshot;
use super::new_files::NewFiles;
use super::removal::remove_working;
use super::stored::has_snapshot;
use crate::catalog::descriptor_file::{self, Safety};
use crate::catalog::open_regions::open_region;
use crate::catalog::parked::settled_entry;
use crate::catalog::procedures::begin_procedure;
use crate::catalog::region_info_file;
use crate::catalog::table::TableEntry;
use crate::catalog::{Catalog, Procedures};
use crate::context::EngineContext;
use crate::files::{exists, link_or_copy, sync_dir};
use crate::layout::{
    DATA_MANIFEST_FILE, MANIFEST_FILE, REGION_INFO_FILE, SNAPSHOT_INFO_FILE, TABLE_DESCRIPTOR_DIR,
    family_dir_name,
};
use crate::region::Region;
use crate::store::Store;
use crate::store::manifest::Manifest;
use crate::store::store_file::{StoreFile, split_reference};

impl Procedures<'_> {
    /// Takes a snapshot of a table, in service or not.
    ///
    /// # Errors
    /// `IllegalArgument` for an invalid name or a system table; `SnapshotExists`;
    /// `SnapshotCreation` if there is no such table; `Io`: no snapshot is created.
    pub fn snapshot(&self, name: &str, table: &TableName, options: &SnapshotOptions) -> Result<()> {
        let catalog = self.0;
        self.remove_expired_snapshots()?;
        let _procedure = begin_procedure(catalog)?;
        snapshot_within(catalog, name, table, options)
    }
}

/// Like [`Procedures::snapshot`], within a procedure.
pub(super) fn snapshot_within(
    catalog: &Catalog,
    name: &str,
    table: &TableName,
    options: &SnapshotOptions,
) -> Result<()> {
    check_snapshot_name(name)?;
    if table.is_system() {
        return Err(Error::illegal_argument("System table snapshots are not allowed"));
    }
    if has_snapshot(&catalog.context, name)? {
        let message = format!("Snapshot '{name}' already stored on the filesystem.");
        return Err(Error::new(Exception::SnapshotExists, message));
    }
    catalog.settle(table)?;
    let entry = settled_entry(catalog, table).map_err(|_| {
        let message = format!("Table '{table}' doesn't exist, can't take snapshot.");
        Error::new(Exception::SnapshotCreation, message)
    })?;
    let layout = &catalog.context.layout;
    let working = layout.snapshot_working_dir(name);
    remove_working(&catalog.context, &working)?;
    let made = make(&catalog.context, &working, name, &entry, options);
    let placed = made.and_then(|()| put_into_place(catalog, &working, name));
    if placed.is_err() {
        // What cannot be removed now is removed with the next snapshot of the same name.
        let _ = remove_working(&catalog.context, &working);
    }
    placed
}

/// Creates the snapshot in its working directory, and its files' links in the archive, durably.
fn make(
    context: &Arc<EngineContext>,
    working: &Path,
    name: &str,
    entry: &TableEntry,
    options: &SnapshotOptions,
) -> Result<()> {
    let fs = context.env.fs.as_ref();
    let table = settings(entry.descriptor.as_ref(), options)?;
    let mut snapshot = NewSnapshot::new(fs, working, table);
    let kind = match (entry.state, options.skip_flush) {
        (TableState::Enabled | TableState::Enabling, false) => SnapshotKind::Flush,
        (TableState::Enabled | TableState::Enabling, true) => SnapshotKind::SkipFlush,
        _ => SnapshotKind::Disabled,
    };
    let description = SnapshotDescription {
        name: name.to_owned(),
        table: entry.descriptor.name().clone(),
        created_at_ms: context.env.clock.now_millis(),
        kind,
        time_to_live: options.time_to_live_seconds().map(Duration::from_secs),
        max_file_size_bytes: options.max_file_size_bytes,
    };
    let descriptor_dir = working.join(TABLE_DESCRIPTOR_DIR);
    snapshot.files.make_dir(&descriptor_dir)?;
    descriptor_file::write(fs, &descriptor_dir, &snapshot.listed.table, Safety::Durable)?;
    for row in entry.live_rows() {
        if let Some(region) = entry.region(row.info.encoded_name()) {
            snapshot.add_region(region, kind == SnapshotKind::Flush)?;
            continue;
        }
        // It is not in service; an open decides which of its files count.
        let region = open_region(context, row, &entry.descriptor)?;
        let added = snapshot.add_region(&region, false);
        let _ = region.discard();
        added?;
    }
    snapshot.files.write(&working.join(DATA_MANIFEST_FILE), &snapshot.listed.encode())?;
    let content = crate::snapshot::encode(&description);
    snapshot.files.write(&working.join(SNAPSHOT_INFO_FILE), &content)?;
    snapshot.files.sync()?;
    // From here on an open knows what to remove from the archive.
    let layout = &context.layout;
    layout.make_durable(fs, &layout.snapshots_working_dir())?;
    sync_dir(fs, &layout.snapshots_working_dir())?;
    archive::link_all(fs, layout, snapshot.links.iter().map(|(to, from)| (&**to, &**from)))
}

fn put_into_place(catalog: &Catalog, working: &Path, name: &str) -> Result<()> {
    let (fs, layout) = (catalog.context.env.fs.as_ref(), &catalog.context.layout);
    let dir = layout.snapshot_dir(name);
    layout.make_durable(fs, &layout.snapshots_dir())?;
    fs.rename(working, &dir).map_err(|error| Error::io("cannot rename", working, error))?;
    let placed = sync_dir(fs, &layout.snapshots_dir()).and_then(|()| name_snapshot(catalog, name));
    let Err(error) = placed else { return Ok(()) };
    // If it may have been named, the next open shows whether it exists.
    catalog.meta.check()?;
    // After a power cut it may exist or not; until then it does not.
    let _ = fs.rename(&dir, working);
    layout.remove_in_place(fs, &dir)?;
    Err(error)
}

/// The settings that a snapshot has for its table.
fn settings(table: &TableDescriptor, options: &SnapshotOptions) -> Result<TableDescriptor> {
    let mut table = table.clone();
    if let Some(size) = options.max_file_size_bytes {
        table.set_attribute("MAX_FILESIZE", &size.to_string())?;
    }
    Ok(table)
}

/// A snapshot being made.
struct NewSnapshot<'a> {
    fs: &'a dyn FileSystem,
    root: &'a Path,
    files: NewFiles<'a>,
    /// What HBase must find in it.
    listed: DataManifest,
    /// Store files in the snapshot, and where they are in the table.
    links: Vec<(PathBuf, PathBuf)>,
}

impl<'a> NewSnapshot<'a> {
    fn new(fs: &'a dyn FileSystem, root: &'a Path, table: TableDescriptor) -> Self {
        let listed = DataManifest { table, regions: Vec::new() };
        Self { fs, root, files: NewFiles::new(fs, root), listed, links: Vec::new() }
    }

    /// Adds the files that a region has at one moment.
    fn add_region(&mut self, region: &Region, is_flushed: bool) -> Result<()> {
        let info = region.info();
        let dir = self.root.join(info.encoded_name());
        // HBase removes files of `mobdir` that no file of the table needs.
        region.bring_in_values()?;
        self.files.make_dir(&dir)?;
        self.files.write(&dir.join(REGION_INFO_FILE), &region_info_file::file_content(info))?;
        self.listed.regions.push(ListedRegion { info: info.clone(), families: Vec::new() });
        // No later change would explain a difference.
        let mut manifest = Manifest { settled: u64::MAX, ..Manifest::new(info.encoded_name()) };
        region.with_stores_kept(is_flushed, |stores| {
            stores.iter().try_for_each(|store| self.add_store(&dir, store, &mut manifest))
        })?;
        self.files.write(&dir.join(MANIFEST_FILE), &manifest.encode())
    }

    fn add_store(
        &mut self,
        region_dir: &Path,
        store: &Arc<Store>,
        manifest: &mut Manifest,
    ) -> Result<()> {
        let family = store.family().name();
        let dir = region_dir.join(family_dir_name(family));
        self.files.make_dir(&dir)?;
        store.with_files_kept(|files| {
            let mut listed = Vec::with_capacity(files.len());
            for file in files {
                self.add_file(&dir, file)?;
                manifest.add(family, file)?;
                let (name, length) = (file.name().to_owned(), file.reader().length());
                listed.push(ListedFile { name, half: file.half().cloned(), length });
            }
            if let Some(region) = self.listed.regions.last_mut() {
                region.families.push((family.to_vec(), listed));
            }
            Ok(())
        })
    }

    fn add_file(&mut self, dir: &Path, file: &StoreFile) -> Result<()> {
        let copy = dir.join(file.name());
        link_or_copy(self.fs, file.path(), &copy)?;
        if !file.is_reference() {
            // The cells are verified when the snapshot is used.
            file.reader().reopen(self.fs, &copy)?;
            self.links.push((copy, file.path().to_path_buf()));
        }
        let (Some((name, parent)), Some(family)) = (split_reference(file.path()), dir.file_name())
        else {
            return Ok(());
        };
        let parent_dir = self.root.join(parent).join(family);
        self.files.make_dir(&parent_dir)?;
        let target = parent_dir.join(name);
        // Both daughters refer to it.
        if exists(self.fs, &target)? {
            return Ok(());
        }
        link_or_copy(self.fs, file.reader().path(), &target)?;
        file.reader().reopen(self.fs, &target)?;
        self.links.push((target, file.reader().path().to_path_buf()));
        Ok(())
    }
}
