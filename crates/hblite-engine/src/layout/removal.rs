//! Directories that leave their place: to the archive, to the trash, or for good.
//!
//! Threads: any.

use std::io;
use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::{Error, RegionInfo, Result};

use super::{Layout, TEMPORARY_DIR};

impl Layout {
    /// Moves a directory that nothing refers to any more out of the way, to the archive. Returns
    /// where it is now; nothing if it was not there.
    ///
    /// # Errors
    /// `Io`; the directory is where it was.
    pub(crate) fn archive_dir_of(
        &self,
        fs: &dyn FileSystem,
        dir: &Path,
    ) -> Result<Option<PathBuf>> {
        self.move_dir(fs, dir, &self.archived(dir)).map_err(|e| Error::io("cannot archive", dir, e))
    }

    fn move_dir(&self, fs: &dyn FileSystem, dir: &Path, to: &Path) -> io::Result<Option<PathBuf>> {
        if !fs.exists(dir)? {
            return Ok(None);
        }
        let target = free_name(fs, to)?;
        if let Some(parent) = target.parent() {
            fs.create_dir_all(parent)?;
        }
        fs.rename(dir, &target)?;
        self.forget(dir);
        Ok(Some(target))
    }

    /// Moves a directory to [`Layout::trash_dir`], which the next open empties. Returns where it is
    /// now; nothing if it was not there.
    ///
    /// # Errors
    /// `Io`; the directory is where it was.
    pub(crate) fn move_to_trash(&self, fs: &dyn FileSystem, dir: &Path) -> Result<Option<PathBuf>> {
        let name = dir.file_name().unwrap_or_default();
        let moved = self.move_dir(fs, dir, &self.trash_dir().join(name));
        moved.map_err(|e| Error::io("cannot remove", dir, e))
    }

    /// Removes a directory and all in it. It leaves its place in one step; an interruption leaves
    /// only rubbish in [`Layout::trash_dir`], which the next open removes.
    ///
    /// # Errors
    /// `Io`; the directory is where it was, or in the trash.
    pub(crate) fn remove_dir(&self, fs: &dyn FileSystem, dir: &Path) -> Result<()> {
        let Some(target) = self.move_to_trash(fs, dir)? else {
            return Ok(());
        };
        fs.remove_dir_all(&target).map_err(|e| Error::io("cannot remove", dir, e))
    }

    /// Removes a directory that nobody looks at, where it stands; after a sync of the directory
    /// that held it, for good. An interruption leaves a part of it.
    ///
    /// # Errors
    /// `Io`; a part of it may be left.
    pub(crate) fn remove_in_place(&self, fs: &dyn FileSystem, dir: &Path) -> Result<()> {
        let io = |e| Error::io("cannot remove", dir, e);
        if fs.exists(dir).map_err(io)? {
            self.forget(dir);
            fs.remove_dir_all(dir).map_err(io)?;
        }
        Ok(())
    }

    /// Removes the files of a region that were being written when a process ended.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn remove_unfinished_files(
        &self,
        fs: &dyn FileSystem,
        region: &RegionInfo,
    ) -> Result<()> {
        self.remove_in_place(fs, &self.region_dir(region).join(TEMPORARY_DIR))
    }

    /// Removes what earlier removals left behind.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn empty_trash(&self, fs: &dyn FileSystem) -> Result<()> {
        let trash = self.trash_dir();
        let io = |e| Error::io("cannot remove", &trash, e);
        if fs.exists(&trash).map_err(io)? {
            fs.remove_dir_all(&trash).map_err(io)?;
        }
        Ok(())
    }
}

/// `path`, or with a number behind it the first that is free.
fn free_name(fs: &dyn FileSystem, path: &Path) -> io::Result<PathBuf> {
    let mut name = path.to_path_buf();
    let mut number = 0_u64;
    while fs.exists(&name)? {
        number += 1;
        let mut numbered = path.as_os_str().to_owned();
        numbered.push(format!(".{number}"));
        name = PathBuf::from(numbered);
    }
    Ok(name)
}
