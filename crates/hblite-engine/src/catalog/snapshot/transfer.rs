//! Copies snapshots between directories, as HBase's `ExportSnapshot` does.
//!
//! ```text
//! <dir>/.hbase-snapshot/<name>/.snapshotinfo, data.manifest
//! <dir>/archive/data/<ns>/<table>/<region>/<family>/<file>    every store file of the list
//! ```
//!
//! 1. all files are found and compared with the list; if one is missing, nothing is changed
//! 2. description and list are written to the snapshot's working directory, durably
//! 3. the files are put into the archive (hard-linked if both directories are on one file system),
//!    and all of their checksums are verified
//! 4. the working directory takes the snapshot's name, durably
//!
//! An imported snapshot is like one that HBase took: the next open adopts it (see `adopt`). The
//! checksums that hblite appends to its lists are therefore omitted.
//!
//! Threads: one; the lock of the store excludes all others. Source: HBase's `ExportSnapshot`.

use std::path::{Path, PathBuf};

use hblite_env::{Env, FileSystem};
use hblite_model::name::check_snapshot_name;
use hblite_model::{Error, Exception, Result};

use super::adopt::{find, for_each_file};
use super::data_manifest::DataManifest;
use super::stored::read_description;
use super::{archive, snapshot_not_found};
use crate::catalog::foreign_settings;
use crate::files::{exists, sync_dir, verify_copy};
use crate::layout::{self, DATA_MANIFEST_FILE, Layout, SNAPSHOT_INFO_FILE, Tolerance};
use crate::sealed;

/// Copies a snapshot that HBase's `ExportSnapshot`, or [`export_snapshot`], wrote to `from` into
/// the closed store in `dir`. Returns the number of its store files.
///
/// # Errors
/// `SnapshotDoesNotExist`, `SnapshotExists`; `CorruptHFile` that names a file that is damaged,
/// missing, or not the one that is listed; `UnsupportedOperation` for a table with encryption or
/// another store file tracker; `Io`, also if the store is open. In these cases, the
/// snapshot is not added.
pub fn import_snapshot(env: &Env, dir: &Path, from: &Path, name: &str) -> Result<usize> {
    let store = closed_store(env, dir)?;
    let _lock = store.lock(env)?;
    let transfer = Transfer::find(env.fs.as_ref(), &Layout::new(from), name)?;
    foreign_settings::check(&transfer.listed.table)?;
    let unseal = |content: &[u8]| {
        sealed::unseal(content).map_or_else(|_| content.to_vec(), |(fields, _)| fields.to_vec())
    };
    transfer.run(env.fs.as_ref(), &store, unseal)
}

/// Copies a snapshot of the closed store in `dir` to the directory `to`, for HBase's
/// `ExportSnapshot -copy-from` and for [`import_snapshot`]. Returns the number of its store files.
///
/// # Errors
/// `SnapshotDoesNotExist`, `SnapshotExists` if `to` has it already, `CorruptHFile`, `Io`. In these
/// cases, `to` does not get the snapshot.
pub fn export_snapshot(env: &Env, dir: &Path, name: &str, to: &Path) -> Result<usize> {
    let store = closed_store(env, dir)?;
    let _lock = store.lock(env)?;
    let transfer = Transfer::find(env.fs.as_ref(), &store, name)?;
    let target = Layout::new(to).with_store_id(store.store_id());
    transfer.run(env.fs.as_ref(), &target, <[u8]>::to_vec)
}

fn closed_store(env: &Env, dir: &Path) -> Result<Layout> {
    let layout = Layout::new(dir);
    let place = layout::recognize(env.fs.as_ref(), &layout, Tolerance::default())?;
    let store_id = place.require_store(dir)?;
    Ok(layout.with_store_id(store_id))
}

/// A snapshot that was found complete.
struct Transfer {
    name: String,
    dir: PathBuf,
    listed: DataManifest,
    /// Each store file: its path, and its path relative to a root.
    files: Vec<(PathBuf, PathBuf)>,
}

impl Transfer {
    fn find(fs: &dyn FileSystem, from: &Layout, name: &str) -> Result<Self> {
        check_snapshot_name(name)?;
        let dir = from.snapshot_dir(name);
        if !exists(fs, &dir)? {
            return Err(snapshot_not_found(name));
        }
        let table = read_description(fs, &dir, Some(name))?.description.table;
        let Some((listed, _)) = DataManifest::read(fs, &dir, &table)? else {
            let what = "it has no data.manifest: a snapshot of HBase 1, or of an earlier hblite \
                        that did not open the store since";
            return Err(Error::corrupt(Exception::CorruptHFile, &dir, 0, what));
        };
        let mut files = Vec::new();
        for_each_file(from, &listed, |_, path, file| {
            let found = find(fs, from, &dir, path, file)?;
            let below = found.place.strip_prefix(from.root()).unwrap_or(&found.place);
            files.push((found.path, below.to_path_buf()));
            Ok(())
        })?;
        files.sort();
        // Both daughters refer to the same files.
        files.dedup();
        Ok(Self { name: name.to_owned(), dir, listed, files })
    }

    fn run(
        &self,
        fs: &dyn FileSystem,
        to: &Layout,
        content: impl Fn(&[u8]) -> Vec<u8>,
    ) -> Result<usize> {
        let (target, working) = (to.snapshot_dir(&self.name), to.snapshot_working_dir(&self.name));
        if exists(fs, &target)? {
            let message = format!("{} is there already", target.display());
            return Err(Error::new(Exception::SnapshotExists, message));
        }
        to.remove_in_place(fs, &working)?;
        fs.create_dir_all(&working).map_err(|e| Error::io("cannot create", &working, e))?;
        for file in [SNAPSHOT_INFO_FILE, DATA_MANIFEST_FILE] {
            let (from, copy) = (self.dir.join(file), working.join(file));
            let bytes = fs.read(&from).map_err(|error| Error::io("cannot read", &from, error))?;
            fs.write_atomically(&copy, &content(&bytes))
                .map_err(|error| Error::io("cannot write", &copy, error))?;
        }
        to.make_durable(fs, &working)?;
        let pairs: Vec<(PathBuf, PathBuf)> =
            self.files.iter().map(|(from, below)| (from.clone(), to.root().join(below))).collect();
        archive::link_all(fs, to, pairs.iter().map(|(from, place)| (&**from, &**place)))?;
        for (from, place) in &pairs {
            verify_copy(fs, from, &to.archived_file(place))?;
        }
        fs.rename(&working, &target).map_err(|error| Error::io("cannot make", &target, error))?;
        sync_dir(fs, &to.snapshots_dir())?;
        Ok(self.files.len())
    }
}
