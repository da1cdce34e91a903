//! Bulk load of a region: whole files enter its stores, all of them or none.
//!
//! ```text
//! <region>/.tmp/<name>/<family>/<file>                 1. staged: copied or linked, durable
//!                                                      2. memory is flushed, the load gets its id
//! <region>/.bulk/<name>_SeqId_<id>_/<family>/<file>    3. renamed, durably: the load is committed
//! <region>/<family>/<file>_SeqId_<id>_                 4. file by file
//!                                                      5. the stores' lists, as one step
//! ```
//!
//! What a crash leaves before step 3 goes when the region is opened next; what it leaves behind it
//! is finished then. An error up to step 3 leaves nothing; one behind it leaves a load that the
//! next open finishes, so the store takes no more writes until then.
//!
//! The id lies between everything that the flush wrote and all later writes, so files and log agree
//! on what is in files. Without one (id 0) the files are older than everything.
//!
//! Threads: one load of a region at a time; a close waits for it. Readers and writers wait for
//! nothing, flushes for steps 3 to 5. Source: `HRegion.bulkLoadHFiles`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite_env::{FileSystem, copy_between};
use hblite_hfile::HFileWriterOptions;
use hblite_model::{Error, Exception, FileTransfer, RegionInfo, Result, TableDescriptor};

use super::Region;
use crate::bulk_load::BulkLoadRequest;
use crate::context::EngineContext;
use crate::files::{link_or_copy, sync_dir};
use crate::layout::{BULK_LOAD_DIR, TEMPORARY_DIR, family_dir_name};
use crate::store::Store;
use crate::store::foreign_file::{ForeignFile, Verification};
use crate::store::store_file::{loaded_name, loaded_sequence_id};

/// What readers pass so that they see files of several stores come in one step. Nobody waits but
/// for the time that it takes to change some lists.
///
/// Invariant: the count is odd while files come.
#[derive(Debug, Default)]
pub(crate) struct FileGate(AtomicU64);

impl FileGate {
    /// Waits until no files are coming.
    #[inline]
    pub(crate) fn enter(&self) -> u64 {
        loop {
            let count = self.0.load(Ordering::Acquire);
            if count.is_multiple_of(2) {
                return count;
            }
            hblite_env::thread::yield_now();
        }
    }

    /// Whether no files came since [`FileGate::enter`] gave `passed`.
    #[inline]
    pub(crate) fn was_open_since(&self, passed: u64) -> bool {
        // Whoever saw a store's new list took its lock after the count had become odd.
        self.0.load(Ordering::Acquire) == passed
    }

    fn close_while(&self, change: impl FnOnce()) {
        self.0.fetch_add(1, Ordering::AcqRel);
        change();
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// Files of a load: the place of the store in the region, and where the file is.
type Placed = Vec<(usize, PathBuf)>;

impl Region {
    /// Loads files, each into the family that stands beside it. Gives the indexes of those that
    /// have rows of other regions: nothing was loaded then.
    ///
    /// # Errors
    /// `NotServingRegion`; `DoNotRetryIo` for a family that the table does not have, a read-only
    /// table, or cells of another family; `CorruptHFile`, `Io`: nothing was loaded.
    /// `RegionServerStopped`: what became of the load shows when the store is opened again.
    pub(crate) fn bulk_load(
        &self,
        files: &[(Vec<u8>, PathBuf)],
        request: &BulkLoadRequest,
        verification: Verification,
    ) -> Result<Vec<usize>> {
        self.context.check_not_read_only()?;
        if self.descriptor.is_read_only() {
            return Err(Error::do_not_retry("region is read only"));
        }
        let _one = self.bulk_load.lock();
        drop(self.enter()?);
        let (misfits, placed) = self.look_at(files, request)?;
        if !misfits.is_empty() || placed.is_empty() {
            return Ok(misfits);
        }
        let staging = self.staging_dir();
        let staged = self.stage(&staging, &placed, request, verification);
        let fs = self.context.env.fs.as_ref();
        let loaded =
            staged.and_then(|()| self.commit(&staging, request.options.assign_sequence_id));
        if let Err(error) = loaded {
            // What cannot be removed now goes when the region is opened next.
            let _ = self.context.layout.remove_in_place(fs, &staging);
            return Err(error);
        }
        self.load.write_requests(1);
        self.request_compaction();
        Ok(Vec::new())
    }

    /// Looks where the files belong. Gives the indexes of those that do not fit the region, and
    /// what is to be loaded: files without cells are not.
    fn look_at(
        &self,
        files: &[(Vec<u8>, PathBuf)],
        request: &BulkLoadRequest,
    ) -> Result<(Vec<usize>, Placed)> {
        let (mut misfits, mut placed) = (Vec::new(), Placed::new());
        let fs = source_of(&self.context, request);
        for (index, (family, path)) in files.iter().enumerate() {
            let store = self.stores.iter().position(|store| store.family().name() == family);
            let store = store.ok_or_else(|| {
                let family = hblite_model::bytes::to_string_binary(family);
                Error::do_not_retry(format!("No such column family {family}"))
            })?;
            let file = ForeignFile::open(fs, path, family, self.comparator)?;
            match file.rows() {
                None => {}
                Some((first, last))
                    if !self.info.contains_row(first) || !self.info.contains_row(last) =>
                {
                    misfits.push(index);
                }
                Some(_) => placed.push((store, path.clone())),
            }
        }
        Ok((misfits, placed))
    }

    fn staging_dir(&self) -> PathBuf {
        let name = self.context.random_name();
        self.context.layout.region_dir(&self.info).join(TEMPORARY_DIR).join(name)
    }

    /// Step 1. What is loaded is verified, and not what it was copied from.
    fn stage(
        &self,
        staging: &Path,
        files: &Placed,
        request: &BulkLoadRequest,
        verification: Verification,
    ) -> Result<()> {
        let fs = self.context.env.fs.as_ref();
        let mut dirs = vec![staging.to_path_buf()];
        for (store, source) in files {
            let dir = staging.join(family_dir_name(self.stores[*store].family().name()));
            if !dirs.contains(&dir) {
                fs.create_dir_all(&dir).map_err(|e| Error::io("cannot create", &dir, e))?;
                dirs.push(dir.clone());
            }
            let target = dir.join(self.context.random_name());
            transfer_file(&self.context, source, &target, request)?;
            let family = self.stores[*store].family().name();
            ForeignFile::open_copy(fs, &target, source, family, self.comparator)?
                .verify(verification)?;
        }
        dirs.iter().try_for_each(|dir| sync_dir(fs, dir))
    }

    /// Steps 2 to 5.
    fn commit(&self, staging: &Path, assign_sequence_id: bool) -> Result<()> {
        let mut flush = self.flush.lock();
        if flush.is_discarded {
            return Err(self.not_serving());
        }
        let sequence_id = if assign_sequence_id { self.flush_and_take_id(&mut flush)? } else { 0 };
        // Files that are older than others do not come last in a list.
        let without_compactions: Vec<_> = match assign_sequence_id {
            true => Vec::new(),
            false => self.stores.iter().map(|store| store.without_compactions()).collect(),
        };
        self.context.wal.check()?;
        let name = staging.file_name().unwrap_or_default().to_string_lossy();
        let bulk_dir = self.context.layout.region_dir(&self.info).join(BULK_LOAD_DIR);
        let committed = bulk_dir.join(loaded_name(&name, sequence_id));
        let moved =
            self.commit_name(staging, &bulk_dir, &committed).map(|()| self.take_in(&committed));
        drop(without_compactions);
        match moved {
            Ok(Some(())) => Ok(()),
            Ok(None) => Err(self.give_up("is committed, and is finished")),
            Err(error) => {
                if self.take_back(&bulk_dir, &committed).is_err() {
                    return Err(self.give_up("failed while it was committed: it is there or not"));
                }
                Err(error)
            }
        }
    }

    /// Step 3.
    fn commit_name(&self, staging: &Path, bulk_dir: &Path, committed: &Path) -> Result<()> {
        let (fs, layout) = (self.context.env.fs.as_ref(), &self.context.layout);
        fs.create_dir_all(bulk_dir).map_err(|e| Error::io("cannot create", bulk_dir, e))?;
        layout.make_durable(fs, bulk_dir)?;
        fs.rename(staging, committed).map_err(|e| Error::io("cannot rename", staging, e))?;
        sync_dir(fs, bulk_dir)
    }

    /// Takes back a commit of unknown outcome, durably.
    fn take_back(&self, bulk_dir: &Path, committed: &Path) -> Result<()> {
        let fs = self.context.env.fs.as_ref();
        self.context.layout.remove_in_place(fs, committed)?;
        sync_dir(fs, bulk_dir)
    }

    /// Steps 4 and 5.
    fn take_in(&self, committed: &Path) -> Option<()> {
        let placed = finish(&self.context, &self.info, committed, &self.stores).ok()?;
        let mut loaded = Vec::new();
        for (store, paths) in self.stores.iter().zip(&placed) {
            loaded.push(store.open_loaded(paths).ok()?);
        }
        self.file_gate.close_while(|| {
            for (store, files) in self.stores.iter().zip(loaded) {
                if !files.is_empty() {
                    store.add_loaded(files);
                }
            }
        });
        Some(())
    }

    /// How a new file of a family is written.
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

    /// Ends the store's service: what is on its disk is not what it serves.
    fn give_up(&self, what: &str) -> Error {
        self.context.is_closed.store(true, Ordering::Release);
        let _updates = self.updates.write();
        self.is_closing.store(true, Ordering::Release);
        let message = format!("a bulk load {what} when the store is opened again");
        Error::new(Exception::RegionServerStopped, message)
    }
}

/// Finishes the loads of a region that a crash cut short behind their commit. Before its files are
/// opened.
///
/// # Errors
/// `Io`.
pub(super) fn finish_all(
    context: &EngineContext,
    info: &RegionInfo,
    table: &TableDescriptor,
) -> Result<()> {
    let fs = context.env.fs.as_ref();
    let bulk_dir = context.layout.region_dir(info).join(BULK_LOAD_DIR);
    let entries = match fs.list_dir(&bulk_dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("cannot list", &bulk_dir, error)),
    };
    let families: Vec<&[u8]> = table.families().map(|family| family.name()).collect();
    for entry in entries.iter().filter(|entry| entry.is_dir) {
        move_files(context, info, &bulk_dir.join(&entry.name), &families)?;
    }
    Ok(())
}

/// Moves the files of a committed load into place; gives those of each store.
fn finish(
    context: &EngineContext,
    info: &RegionInfo,
    committed: &Path,
    stores: &[Arc<Store>],
) -> Result<Vec<Vec<PathBuf>>> {
    let families: Vec<&[u8]> = stores.iter().map(|store| store.family().name()).collect();
    move_files(context, info, committed, &families)
}

/// Step 4. Durable on return.
fn move_files(
    context: &EngineContext,
    info: &RegionInfo,
    committed: &Path,
    families: &[&[u8]],
) -> Result<Vec<Vec<PathBuf>>> {
    let (fs, layout) = (context.env.fs.as_ref(), &context.layout);
    let name = committed.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let sequence_id = loaded_sequence_id(name).ok_or_else(|| {
        let message = "is not the name of a bulk load";
        Error::corrupt(Exception::CorruptHFile, committed, 0, message)
    })?;
    let mut placed = vec![Vec::new(); families.len()];
    for (family, paths) in families.iter().zip(&mut placed) {
        let from = committed.join(family_dir_name(family));
        if !fs.exists(&from).map_err(|error| Error::io("cannot look for", &from, error))? {
            continue;
        }
        let to = layout.family_dir(info, family);
        fs.create_dir_all(&to).map_err(|error| Error::io("cannot create", &to, error))?;
        // First: a file that has left the one directory must be found in the other.
        layout.make_durable(fs, &to)?;
        let entries = fs.list_dir(&from).map_err(|error| Error::io("cannot list", &from, error))?;
        for entry in entries {
            let (path, target) =
                (from.join(&entry.name), to.join(loaded_name(&entry.name, sequence_id)));
            fs.rename(&path, &target).map_err(|error| Error::io("cannot rename", &path, error))?;
            paths.push(target);
        }
        sync_dir(fs, &to)?;
        sync_dir(fs, &from)?;
    }
    // Empty, but for families that the table does not have any more. If a power cut brings it back,
    // the next open removes it.
    layout.remove_in_place(fs, committed)?;
    Ok(placed)
}

/// The file system that the files to load are in.
fn source_of<'a>(context: &'a EngineContext, request: &'a BulkLoadRequest) -> &'a dyn FileSystem {
    request.source.as_deref().unwrap_or(context.env.fs.as_ref())
}

/// Gives a file a second name, or copies it, as the options say and the file systems can. Its
/// content is durable then, its name not yet.
///
/// # Errors
/// `Io`.
pub(crate) fn transfer_file(
    context: &EngineContext,
    from: &Path,
    to: &Path,
    request: &BulkLoadRequest,
) -> Result<()> {
    let fs = context.env.fs.as_ref();
    let copied = |error| Error::io("cannot copy", from, error);
    if let Some(source) = &request.source {
        return copy_between(source.as_ref(), from, fs, to).map_err(copied);
    }
    if request.options.transfer != FileTransfer::Copy {
        return link_or_copy(fs, from, to);
    }
    fs.copy(from, to).map_err(copied)
}
