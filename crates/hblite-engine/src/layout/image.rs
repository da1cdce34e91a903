//! An image of a store's directory: the files that an open reads, in memory.
//!
//! The image is the store as it was at one moment, even if another process has it open and writes
//! meanwhile. Left out are the lock, and what an open removes without having read it.
//!
//! Threads: any.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{Env, FileSystem, ImagePart, KeepingFileSystem, LargeFiles};
use hblite_model::{Error, Result};

use super::history;
use super::{KEPT, Layout, MOVED, OWN_PREFIX, PARTIAL_REWIND, RootFile, TEMPORARY_DIR};

/// The files of the store in `dir` as they are at this moment, in a file system in memory.
/// `has_master_data` says whether they include the data of HBase's master.
///
/// # Errors
/// `Io` if they cannot be read, or change too quickly.
pub(crate) fn image_of(
    env: &Env,
    dir: &Path,
    large: LargeFiles,
    has_master_data: bool,
) -> Result<Arc<dyn FileSystem>> {
    let layout = Layout::new(dir);
    let part = |path: &Path| layout.image_part(path, has_master_data);
    let kept = layout.kept_dir_of_some_store(env.fs.as_ref());
    let image = hblite_env::image(env.fs.as_ref(), dir, &part, large, kept.as_deref())
        .map_err(|error| Error::io("cannot read", dir, error))?;
    Ok(Arc::new(image))
}

impl Layout {
    /// The file system of the process that has the store open, which keeps what it replaces for
    /// readers. `None` where readers cannot announce themselves.
    pub(crate) fn keeping(&self, env: &Env) -> Option<KeepingFileSystem> {
        let layout = Self::new(self.root()).with_store_id(self.store_id());
        let part = Box::new(move |path: &Path| layout.image_part(path, true));
        let session = || env.random.next_u64();
        KeepingFileSystem::new(&env.fs, self.root(), self.kept_dir(), session, part)
    }

    /// Removes what a killed process kept for readers. Comes before any change to the store: until
    /// then readers rely on it.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn remove_kept(&self, fs: &dyn FileSystem) -> Result<()> {
        self.remove_in_place(fs, &self.kept_dir()).map(drop)
    }

    /// Where files are kept for readers.
    fn kept_dir(&self) -> PathBuf {
        self.scratch_dir(KEPT)
    }

    /// The same, of a store whose id is not known yet; `None` if it has no valid id.
    fn kept_dir_of_some_store(&self, fs: &dyn FileSystem) -> Option<PathBuf> {
        let marker = self.read_marker(fs).ok().and_then(RootFile::whole);
        let id = marker.map(|marker| marker.store_id);
        let id = id.or_else(|| self.read_id(fs).ok().and_then(RootFile::whole))?;
        Some(Self::new(self.root()).with_store_id(id).kept_dir())
    }

    /// How an image of the store treats a path below its root.
    fn image_part(&self, path: &Path, has_master_data: bool) -> ImagePart {
        let below = path.strip_prefix(self.root()).unwrap_or(path);
        let is_unused = path == self.master_data_dir() && !has_master_data;
        if is_unused
            || self.is_passing(path)
            || below.components().any(|part| is_temporary(part.as_os_str()))
        {
            ImagePart::Skipped
        } else if path.starts_with(self.wal_dir()) {
            ImagePart::Growing
        } else {
            ImagePart::Whole
        }
    }

    /// Whether an open ignores it: the lock, what is out of service, and what
    /// is not data.
    fn is_passing(&self, path: &Path) -> bool {
        let is_archived = path.parent() == Some(&self.archive_dir()) && !path.ends_with("data");
        is_archived
            || self.is_own_of_some_store(path, MOVED)
            || self.is_own_of_some_store(path, PARTIAL_REWIND)
            || path == self.checkpoints_dir()
            || path == self.lock_file()
            || self.is_reserve(path)
            || history::is_history(self, path)
            || path.parent() == Some(&self.old_wal_dir())
    }
}

impl Layout {
    /// Whether this is the directory of this name of a store whose id is not known yet.
    fn is_own_of_some_store(&self, path: &Path, own: &str) -> bool {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        path.parent() == Some(self.root())
            && name.strip_prefix(OWN_PREFIX).is_some_and(|rest| rest.ends_with(own))
    }
}

fn is_temporary(name: &OsStr) -> bool {
    name == TEMPORARY_DIR
}
