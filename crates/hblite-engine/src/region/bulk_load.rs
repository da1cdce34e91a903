//! Bulk load of a region: whole files enter its stores, all of them or none.
//!
//! ```text
//! <region>/.tmp/<name>/<family>/<file>                 1. staged: copied or linked, durable
//! <region>/.tmp/<name>/.manifest                          with a list of the files
//!                                                      2. memory is flushed, the load gets its id
//! <region>/.bulk/<name>_SeqId_<id>_/<family>/<file>    3. renamed, durably: the load is committed
//! <region>/<family>/<file>_SeqId_<id>_                 4. file by file
//! <region>/.manifest                                   5. lists them; the directory is removed
//!                                                      6. the stores' lists, as one step
//! ```
//!
//! After a crash before step 3, the next open of the region removes what is left; after a crash
//! later, it completes the load. An error up to step 3 leaves nothing; a later error leaves a load
//! that the next open completes, so the store accepts no more writes until then.
//!
//! The id is between everything that the flush wrote and all later writes, so files and log agree
//! on what is in files. Without one (id 0) the files are older than everything.
//!
//! Threads: one load of a region at a time; a close waits for it. Readers and writers do not wait;
//! flushes wait during steps 3 to 6. Source: `HRegion.bulkLoadHFiles`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use hblite_hfile::HFileWriterOptions;
use hblite_model::{Error, Exception, RegionInfo, Result, TableDescriptor};

use super::Region;
use super::flush::flush_and_take_id;
use crate::bulk_load::BulkLoadRequest;
use crate::context::EngineContext;
use crate::files::{exists, sync_dir};
use crate::layout::{
    BULK_LOAD_DIR, MANIFEST_FILE, Shape, TEMPORARY_DIR, family_dir_name, foreign_entry, is_hex_name,
};
use crate::store::foreign_file::{ForeignFile, Verification};
use crate::store::manifest::{FileKey, Fingerprint, Manifest};
use crate::store::store_file::{StoreFile, loaded_name, loaded_sequence_id};

/// Files of a load: the index of the store in the region, and the path of the file.
type Placed = Vec<(usize, PathBuf)>;

impl Region {
    /// Loads files, each into the family given with it. Returns the indexes of files that have rows
    /// of other regions; if there are any, nothing was loaded.
    ///
    /// # Errors
    /// `NotServingRegion`; `DoNotRetryIo` for a family that the table does not have, a read-only
    /// table, or cells of another family; `CorruptHFile`, `Io`: nothing was loaded.
    /// `RegionServerStopped`: the next open shows the outcome of the load.
    pub(crate) fn bulk_load(
        &self,
        files: &[(Vec<u8>, PathBuf)],
        request: &BulkLoadRequest,
        verification: Verification,
    ) -> Result<Vec<usize>> {
        self.context.check_not_read_only()?;
        if self.settings.is_read_only {
            return Err(Error::do_not_retry("region is read only"));
        }
        let _one = self.bulk_load.lock();
        drop(self.enter()?);
        let (misfits, placed) = look_at(self, files, request)?;
        if !misfits.is_empty() || placed.is_empty() {
            return Ok(misfits);
        }
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        let name = self.context.random_name();
        let staging = layout.region_dir(&self.info).join(TEMPORARY_DIR).join(name);
        let staged = stage(self, &staging, &placed, request, verification);
        let loaded =
            staged.and_then(|()| commit(self, &staging, request.options.assign_sequence_id));
        if let Err(error) = loaded {
            // The next open of the region removes what cannot be removed now.
            let _ = layout.remove_in_place(fs, &staging);
            return Err(error);
        }
        self.counters().write_requests(1);
        self.request_compaction();
        Ok(Vec::new())
    }

    /// The settings for writing a new file of a family.
    ///
    /// # Errors
    /// `NoSuchColumnFamily`.
    pub(crate) fn writer_options(
        &self,
        family: &[u8],
        has_tags: bool,
    ) -> Result<HFileWriterOptions> {
        self.check_family(family)?;
        let store = self.store_of(family).ok_or_else(|| self.not_serving())?;
        Ok(store.writer_options(has_tags))
    }
}

/// Checks where the files belong. Returns the indexes of those that do not fit the region, and the
/// files to load, without those that have no cells.
fn look_at(
    region: &Region,
    files: &[(Vec<u8>, PathBuf)],
    request: &BulkLoadRequest,
) -> Result<(Vec<usize>, Placed)> {
    let (mut misfits, mut placed) = (Vec::new(), Placed::new());
    let fs = request.source_or(region.context.env.fs.as_ref());
    for (index, (family, path)) in files.iter().enumerate() {
        let store = region.stores.iter().position(|store| store.family().name() == family);
        let store = store.ok_or_else(|| {
            let family = hblite_model::bytes::to_string_binary(family);
            Error::do_not_retry(format!("No such column family {family}"))
        })?;
        let file = ForeignFile::open(fs, path, family, region.comparator)?;
        match file.rows() {
            None => {}
            Some((first, last))
                if !region.info.contains_row(first) || !region.info.contains_row(last) =>
            {
                misfits.push(index);
            }
            Some(_) => placed.push((store, path.clone())),
        }
    }
    Ok((misfits, placed))
}

/// Step 1. Verifies the file that is loaded, not the one that it was copied from.
fn stage(
    region: &Region,
    staging: &Path,
    files: &Placed,
    request: &BulkLoadRequest,
    verification: Verification,
) -> Result<()> {
    let fs = region.context.env.fs.as_ref();
    let mut dirs = vec![staging.to_path_buf()];
    let mut list = Manifest::new(region.info.encoded_name());
    for (store, source) in files {
        let dir = staging.join(family_dir_name(region.stores[*store].family().name()));
        if !dirs.contains(&dir) {
            fs.create_dir_all(&dir).map_err(|e| Error::io("cannot create", &dir, e))?;
            dirs.push(dir.clone());
        }
        let name = region.context.random_name();
        let target = dir.join(&name);
        request.transfer(fs, source, &target)?;
        let family = region.stores[*store].family().name();
        let copy = ForeignFile::open_copy(fs, &target, source, family, region.comparator)?;
        copy.verify(verification)?;
        list.add_reader(family, &name, copy.reader())?;
    }
    let path = staging.join(MANIFEST_FILE);
    let mut file = fs.create(&path).map_err(|e| Error::io("cannot create", &path, e))?;
    let written = file.write_all(&list.encode()).and_then(|()| file.sync());
    written.map_err(|e| Error::io("cannot write", &path, e))?;
    dirs.iter().try_for_each(|dir| sync_dir(fs, dir))
}

/// Steps 2 to 6.
fn commit(region: &Region, staging: &Path, assign_sequence_id: bool) -> Result<()> {
    let mut flush = region.flush.lock();
    if flush.is_discarded {
        return Err(region.not_serving());
    }
    let sequence_id = if assign_sequence_id { flush_and_take_id(region, &mut flush)? } else { 0 };
    // Files that are older than others are not last in a list.
    let without_compactions: Vec<_> = match assign_sequence_id {
        true => Vec::new(),
        false => region.stores.iter().map(|store| store.without_compactions()).collect(),
    };
    let context = &region.context;
    context.wal.check()?;
    let name = staging.file_name().unwrap_or_default().to_string_lossy();
    let bulk_dir = context.layout.region_dir(&region.info).join(BULK_LOAD_DIR);
    let committed = bulk_dir.join(loaded_name(&name, sequence_id));
    let moved =
        commit_name(context, staging, &bulk_dir, &committed).map(|()| take_in(region, &committed));
    drop(without_compactions);
    match moved {
        Ok(Some(())) => Ok(()),
        Ok(None) => Err(give_up(region, "is committed, and is finished")),
        Err(error) => {
            if take_back(context, &bulk_dir, &committed).is_err() {
                return Err(give_up(region, "failed while it was committed; its outcome shows"));
            }
            Err(error)
        }
    }
}

/// Step 3.
fn commit_name(
    context: &EngineContext,
    staging: &Path,
    bulk_dir: &Path,
    committed: &Path,
) -> Result<()> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    fs.create_dir_all(bulk_dir).map_err(|e| Error::io("cannot create", bulk_dir, e))?;
    layout.make_durable(fs, bulk_dir)?;
    fs.rename(staging, committed).map_err(|e| Error::io("cannot rename", staging, e))?;
    sync_dir(fs, bulk_dir)
}

/// Undoes a commit of unknown outcome, durably.
fn take_back(context: &EngineContext, bulk_dir: &Path, committed: &Path) -> Result<()> {
    let fs = context.env.fs.as_ref();
    context.layout.remove_in_place(fs, committed)?;
    sync_dir(fs, bulk_dir)
}

/// Steps 4 to 6.
fn take_in(region: &Region, committed: &Path) -> Option<()> {
    let families: Vec<&[u8]> = region.stores.iter().map(|store| store.family().name()).collect();
    let placed = move_files(&region.context, &region.info, committed, &families).ok()?;
    let mut loaded = Vec::new();
    for (store, paths) in region.stores.iter().zip(&placed) {
        let files = store.open_loaded(paths).ok()?;
        store.list_loaded(&files).ok()?;
        loaded.push(files);
    }
    region.files.save_durably().ok()?;
    // Before a compaction can replace the files: a list that reappeared would make them seem lost.
    remove_finished(&region.context, &[committed.to_path_buf()]).ok()?;
    region.dead_rows.iter().for_each(|rows| rows.note_revivable());
    let _suspended = region.dead_rows.as_ref().map(|rows| rows.suspend());
    region.file_gate.close_while(|| {
        for (store, files) in region.stores.iter().zip(loaded) {
            if !files.is_empty() {
                store.add_loaded(files);
            }
        }
    });
    Some(())
}

/// Takes the store out of service, since its disk differs from what it serves.
fn give_up(region: &Region, what: &str) -> Error {
    region.context.is_closed.store(true, Ordering::Release);
    let _updates = region.stop_updates();
    region.is_closing.store(true, Ordering::Release);
    let message = format!("a bulk load {what} when the store is opened again");
    Error::new(Exception::RegionServerStopped, message)
}

/// Loads that an open has completed, except for their directories.
#[derive(Default)]
pub(super) struct FinishedLoads {
    /// The files of these loads that the region must have.
    pub(super) files: BTreeMap<FileKey, Fingerprint>,
    pub(super) dirs: Vec<PathBuf>,
}

/// Completes the loads of a region that a crash interrupted after their commit. Called before its
/// files are opened; the loads' directories are removed when the files are listed.
///
/// # Errors
/// `Io`; `CorruptHFile` if the list of a load is damaged.
pub(super) fn finish_all(
    context: &EngineContext,
    info: &RegionInfo,
    table: &TableDescriptor,
) -> Result<FinishedLoads> {
    let fs = context.env.fs.as_ref();
    let bulk_dir = context.layout.region_dir(info).join(BULK_LOAD_DIR);
    let mut loads = FinishedLoads::default();
    let entries = match fs.list_dir(&bulk_dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(loads),
        Err(error) => return Err(Error::io("cannot list", &bulk_dir, error)),
    };
    let families: Vec<&[u8]> = table.families().map(|family| family.name()).collect();
    // A removal just before a kill may not be durable.
    sync_dir(fs, &bulk_dir)?;
    for entry in entries.iter().filter(|entry| entry.is_dir) {
        let committed = bulk_dir.join(&entry.name);
        let sequence_id = sequence_id_of(&committed)?;
        let list = Manifest::read(fs, &committed, info.encoded_name())?;
        let placed = move_files(context, info, &committed, &families)?;
        match list {
            Some(list) => {
                let known = list.files.into_iter().filter(|((f, _), _)| table.has_family(f));
                loads.files.extend(known.map(|((family, name), fingerprint)| {
                    ((family, loaded_name(&name, sequence_id)), fingerprint)
                }));
            }
            // An earlier version kept no list, or a power cut brought back an empty directory.
            None => loads.files.extend(listed(context, &families, &placed)?),
        }
        loads.dirs.push(committed);
    }
    Ok(loads)
}

/// A list of files in their final places.
fn listed(
    context: &EngineContext,
    families: &[&[u8]],
    placed: &[Vec<PathBuf>],
) -> Result<BTreeMap<FileKey, Fingerprint>> {
    let mut list = Manifest::default();
    for (family, path) in
        families.iter().zip(placed).flat_map(|(f, p)| p.iter().map(move |p| (f, p)))
    {
        list.add(family, &StoreFile::open_with(&context.env.fs, &context.layout, None, path)?)?;
    }
    Ok(list.files)
}

/// Removes the directories of loads whose files are listed, durably. They contain only their lists,
/// and families that the table no longer has. A directory with something that no load wrote is set
/// aside.
///
/// # Errors
/// `Io`: a directory may come back, and no compaction may replace its files until it is gone.
pub(super) fn remove_finished(context: &EngineContext, dirs: &[PathBuf]) -> Result<()> {
    let fs = context.env.fs.as_ref();
    for dir in dirs {
        let foreign = foreign_entry(fs, dir, Shape::Loads(1));
        match foreign.map_err(|error| Error::io("cannot list", dir, error))? {
            None => {
                let retired = context.layout.remove_in_place(fs, dir)?;
                context.note_retired(dir, &retired);
            }
            Some(path) => {
                let moved = context.layout.set_aside(fs, dir)?;
                context.note_moved(dir, moved.as_deref(), &path);
            }
        }
    }
    dirs.first().and_then(|dir| dir.parent()).map_or(Ok(()), |bulk_dir| sync_dir(fs, bulk_dir))
}

fn sequence_id_of(committed: &Path) -> Result<u64> {
    let name = committed.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    loaded_sequence_id(name).ok_or_else(|| {
        let message = "is not the name of a bulk load: move it out of the store";
        Error::corrupt(Exception::CorruptHFile, committed, 0, message)
    })
}

/// Step 4. Durable on return. Returns the paths of the files of each family.
fn move_files(
    context: &EngineContext,
    info: &RegionInfo,
    committed: &Path,
    families: &[&[u8]],
) -> Result<Vec<Vec<PathBuf>>> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    let sequence_id = sequence_id_of(committed)?;
    let mut placed = vec![Vec::new(); families.len()];
    for (family, paths) in families.iter().zip(&mut placed) {
        let from = committed.join(family_dir_name(family));
        if !exists(fs, &from)? {
            continue;
        }
        let to = layout.family_dir(info, family);
        fs.create_dir_all(&to).map_err(|error| Error::io("cannot create", &to, error))?;
        // First: a file that has left one directory must be found in the other.
        layout.make_durable(fs, &to)?;
        let entries = fs.list_dir(&from).map_err(|error| Error::io("cannot list", &from, error))?;
        // There may be foreign files next to them.
        for entry in entries.iter().filter(|entry| !entry.is_dir && is_hex_name(&entry.name)) {
            let (path, target) =
                (from.join(&entry.name), to.join(loaded_name(&entry.name, sequence_id)));
            fs.rename(&path, &target).map_err(|error| Error::io("cannot rename", &path, error))?;
            paths.push(target);
        }
        sync_dir(fs, &to)?;
        sync_dir(fs, &from)?;
    }
    Ok(placed)
}
