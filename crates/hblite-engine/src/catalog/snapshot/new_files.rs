//! The directories and small files of a snapshot that is being created or adopted.
//!
//! Each file is durable when it is written. Its name is not, until all directories are synced
//! together at the end.
//!
//! Threads: one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::{Error, Result};

use crate::files::sync_dir;

/// What was created below a directory, `root`.
pub(super) struct NewFiles<'a> {
    fs: &'a dyn FileSystem,
    root: &'a Path,
    dirs: BTreeSet<PathBuf>,
}

impl<'a> NewFiles<'a> {
    pub(super) fn new(fs: &'a dyn FileSystem, root: &'a Path) -> Self {
        Self { fs, root, dirs: BTreeSet::new() }
    }

    /// Creates a directory at or below the root, with its parents.
    pub(super) fn make_dir(&mut self, dir: &Path) -> Result<()> {
        let made = self.fs.create_dir_all(dir);
        made.map_err(|error| Error::io("cannot create directory", dir, error))?;
        let above = dir.ancestors().take_while(|above| above.starts_with(self.root));
        self.dirs.extend(above.map(Path::to_path_buf));
        Ok(())
    }

    /// Writes a file in one of the directories.
    pub(super) fn write(&self, path: &Path, content: &[u8]) -> Result<()> {
        let mut file = self.fs.create(path).map_err(|e| Error::io("cannot create", path, e))?;
        let written = file.write_all(content).and_then(|()| file.sync());
        written.map_err(|error| Error::io("cannot write", path, error))
    }

    /// Makes the names in all directories durable.
    pub(super) fn sync(&self) -> Result<()> {
        self.dirs.iter().try_for_each(|dir| sync_dir(self.fs, dir))
    }
}
