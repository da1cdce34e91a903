//! Removes directories: sets them aside, moves them to the trash, or deletes them.
//!
//! Whatever is on its way out of the store, or into it, has a name that only this store uses:
//! `hblite-<store id>-<name>`. An open removes entries with such names, and nothing else.
//!
//! Invariant: no directory is deleted before its files were examined. One with a file that hblite
//! did not write is set aside in [`Layout::moved_dir`].
//!
//! A directory that the file system refuses to rename (see `moving`) is removed, or set aside, in
//! place: an interruption leaves a part of it, for the next open.
//!
//! Threads: any.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::{Error, RegionInfo, Result};

use super::moving::{is_refused, move_all, remove_all};
use super::own::{Shape, foreign_entry, is_hex_name, stranger};
use super::{KEPT, Layout, MANIFEST_FILE, MOVED, OWN_PREFIX, StoreId, TEMPORARY_DIR};
use crate::files::{exists, list, make_dir, sync_dir};

/// What became of a directory that was in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Retired {
    /// It did not exist.
    Absent,
    /// It was removed, since hblite had written all of it.
    Removed,
    /// It is set aside, here.
    SetAside(PathBuf),
}

impl Layout {
    /// Moves a directory or file to [`Layout::moved_dir`], durably. Returns its new path; `None` if
    /// it did not exist.
    ///
    /// # Errors
    /// `Io`; it is where it was, or set aside, or in part.
    pub(crate) fn set_aside(&self, fs: &dyn FileSystem, dir: &Path) -> Result<Option<PathBuf>> {
        self.set_aside_as(fs, dir, dir)
    }

    /// Like [`Layout::set_aside`], under the path that something on its way out of the store had.
    ///
    /// # Errors
    /// `Io`; it is where it was, or set aside.
    pub(super) fn set_aside_as(
        &self,
        fs: &dyn FileSystem,
        dir: &Path,
        known_as: &Path,
    ) -> Result<Option<PathBuf>> {
        let io = |error| Error::io("cannot set aside", dir, error);
        if !fs.exists(dir).map_err(io)? {
            return Ok(None);
        }
        place_aside(fs, self, dir, known_as).map(Some)
    }

    /// Removes a directory that is no longer needed. If hblite did not write everything in it, all
    /// of it is set aside instead.
    ///
    /// # Errors
    /// `Io`; the directory is where it was, in the trash, or set aside.
    pub(crate) fn retire_dir(
        &self,
        fs: &dyn FileSystem,
        dir: &Path,
        shape: Shape,
    ) -> Result<Retired> {
        self.retire(fs, dir, shape, Self::remove_dir)
    }

    fn retire(
        &self,
        fs: &dyn FileSystem,
        dir: &Path,
        shape: Shape,
        remove: impl FnOnce(&Self, &dyn FileSystem, &Path) -> Result<Retired>,
    ) -> Result<Retired> {
        let foreign = foreign_entry(fs, dir, shape);
        match foreign.map_err(|error| Error::io("cannot list", dir, error))? {
            Some(_) => self.keep(fs, dir),
            None => remove(self, fs, dir),
        }
    }

    /// Moves a directory to [`Layout::trash_dir`], which the next open empties. Returns its new
    /// path; `None` if it did not exist.
    ///
    /// # Errors
    /// `Io`; the directory is where it was.
    pub(crate) fn move_to_trash(&self, fs: &dyn FileSystem, dir: &Path) -> Result<Option<PathBuf>> {
        self.moved_to_trash(fs, dir).map_err(|e| Error::io("cannot remove", dir, e))
    }

    /// Like [`Layout::move_to_trash`]; also `None` if the file system refuses to rename it, and may
    /// remove what is in it although that is in use.
    ///
    /// # Errors
    /// As [`Layout::move_to_trash`].
    pub(crate) fn move_to_trash_unless_refused(
        &self,
        fs: &dyn FileSystem,
        dir: &Path,
    ) -> Result<Option<PathBuf>> {
        match self.moved_to_trash(fs, dir) {
            Err(error) if fs.renames_dirs_in_use() && is_refused(fs, &error) => Ok(None),
            moved => moved.map_err(|e| Error::io("cannot remove", dir, e)),
        }
    }

    fn moved_to_trash(&self, fs: &dyn FileSystem, dir: &Path) -> io::Result<Option<PathBuf>> {
        if !fs.exists(dir)? {
            return Ok(None);
        }
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        let target = free_name(fs, &self.trash_dir().join(self.own_name(&name)))?;
        fs.create_dir_all(&self.trash_dir())?;
        fs.rename(dir, &target)?;
        self.forget(dir);
        Ok(Some(target))
    }

    /// Renames a directory. False if the file system refuses to: nothing was changed.
    ///
    /// # Errors
    /// `Io`: nothing was changed.
    pub(crate) fn rename_unless_refused(
        &self,
        fs: &dyn FileSystem,
        dir: &Path,
        to: &Path,
    ) -> Result<bool> {
        match fs.rename(dir, to) {
            Err(error) if is_refused(fs, &error) => Ok(false),
            renamed => {
                renamed.map_err(|error| Error::io("cannot rename", dir, error))?;
                self.forget(dir);
                Ok(true)
            }
        }
    }

    /// Makes the name of [`Layout::trash_dir`] durable: after a sync of it, what was moved there
    /// stays there after a power cut.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn make_trash_durable(&self, fs: &dyn FileSystem) -> Result<()> {
        let dir = self.trash_dir();
        make_dir(fs, &dir)?;
        self.make_durable(fs, &dir)
    }

    /// Removes a directory with everything in it. It disappears in one step; an interruption leaves
    /// only garbage in [`Layout::trash_dir`], which the next open removes. Where the file system
    /// refuses to rename it, it is removed in place, file by file.
    ///
    /// # Errors
    /// `Io`; the directory is where it was, perhaps in part, in the trash, or set aside.
    fn remove_dir(&self, fs: &dyn FileSystem, dir: &Path) -> Result<Retired> {
        match self.moved_to_trash(fs, dir) {
            Ok(None) => Ok(Retired::Absent),
            Ok(Some(target)) => self.remove_in_place(fs, &target),
            Err(error) if is_refused(fs, &error) => self.remove_in_place(fs, dir),
            Err(error) => Err(Error::io("cannot remove", dir, error)),
        }
    }

    /// Removes a directory that nothing reads, in place. The removal is durable after a sync of its
    /// parent directory. If a file in it was not written by hblite, all of it is set
    /// aside. An interruption leaves a part of it.
    ///
    /// # Errors
    /// `Io`; a part of it may be left.
    pub(crate) fn remove_in_place(&self, fs: &dyn FileSystem, dir: &Path) -> Result<Retired> {
        let io = |e| Error::io("cannot remove", dir, e);
        if !fs.exists(dir).map_err(io)? {
            return Ok(Retired::Absent);
        }
        if stranger(fs, dir).map_err(io)?.is_some() {
            return self.keep(fs, dir);
        }
        self.forget(dir);
        remove_all(fs, dir).map_err(io)?;
        Ok(Retired::Removed)
    }

    fn keep(&self, fs: &dyn FileSystem, dir: &Path) -> Result<Retired> {
        let place = self.set_aside(fs, dir)?;
        Ok(place.map_or(Retired::Absent, Retired::SetAside))
    }

    /// The directories in [`Layout::moved_dir`], each with all that was moved at once, in order.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn moved_dirs(&self, fs: &dyn FileSystem) -> Result<Vec<PathBuf>> {
        let moved = self.moved_dir();
        let numbers = numbers_in(fs, &moved).map_err(|e| Error::io("cannot list", &moved, e))?;
        Ok(numbers.iter().map(|number| moved.join(number.to_string())).collect())
    }

    /// Takes what an earlier version set aside out of the archive, where HBase's cleaner deletes
    /// every file that no snapshot lists.
    ///
    /// # Errors
    /// `Io`; a part of it may still be in the archive.
    pub(crate) fn take_moved_out_of_archive(&self, fs: &dyn FileSystem) -> Result<()> {
        let (from, to) = (self.archive_dir().join(self.own_name(MOVED)), self.moved_dir());
        let io = |error| Error::io("cannot take out of the archive", &from, error);
        let numbers = numbers_in(fs, &from).map_err(io)?;
        if numbers.is_empty() {
            return Ok(());
        }
        fs.create_dir_all(&to).map_err(io)?;
        self.make_durable(fs, &to)?;
        let used = numbers_in(fs, &to).map_err(io)?;
        for (free, number) in (used.last().unwrap_or(&0) + 1..).zip(numbers) {
            let target = to.join(free.to_string());
            move_all(fs, &from.join(number.to_string()), &target).map_err(io)?;
        }
        sync_dir(fs, &to)?;
        sync_dir(fs, &from)?;
        self.remove_if_empty(fs, &from)
    }

    /// Like [`Layout::retire_dir`], but removes in place.
    ///
    /// # Errors
    /// `Io`; a part of it may be left.
    pub(crate) fn retire_in_place(
        &self,
        fs: &dyn FileSystem,
        dir: &Path,
        shape: Shape,
    ) -> Result<Retired> {
        self.retire(fs, dir, shape, Self::remove_in_place)
    }

    /// Removes a directory if nothing is in it.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn remove_if_empty(&self, fs: &dyn FileSystem, dir: &Path) -> Result<()> {
        match foreign_entry(fs, dir, Shape::Empty) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => self.remove_in_place(fs, dir).map(drop),
            Err(error) => Err(Error::io("cannot list", dir, error)),
        }
    }

    /// Removes the files of a region that were being written when a process ended. If a file among
    /// them is not one that a store writes, all of them stay.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn remove_unfinished_files(
        &self,
        fs: &dyn FileSystem,
        region: &RegionInfo,
    ) -> Result<()> {
        let dir = self.region_dir(region).join(TEMPORARY_DIR);
        if !exists(fs, &dir)? {
            return Ok(());
        }
        let is_own = has_only_unfinished_files(fs, &dir, UNFINISHED_DEPTH_MAX);
        match is_own.map_err(|error| Error::io("cannot list", &dir, error))? {
            true => self.remove_in_place(fs, &dir).map(drop),
            false => Ok(()),
        }
    }

    /// The names of the directories that were being removed when the process ended.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn names_in_trash(&self, fs: &dyn FileSystem) -> Result<BTreeSet<String>> {
        let (entries, prefix) = (list(fs, &self.trash_dir())?, self.own_name(""));
        let names = entries.iter().filter_map(|entry| entry.name.strip_prefix(&prefix));
        Ok(names.map(str::to_owned).collect())
    }

    /// Removes what earlier removals, snapshots and bulk loads of this store left unfinished.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn remove_own_leftovers(&self, fs: &dyn FileSystem) -> Result<()> {
        for dir in [self.trash_dir(), self.snapshots_working_dir()] {
            let entries = list(fs, &dir)?;
            // What is kept for readers was removed before: see `Layout::remove_kept`.
            let is_own = |e: &&hblite_env::DirEntry| {
                e.is_dir && self.is_own(&e.name) && e.name != self.own_name(KEPT)
            };
            let mut own = entries.iter().filter(is_own).peekable();
            if own.peek().is_some() {
                // A power cut must not undo a move to here when half of the directory is removed.
                sync_dir(fs, &dir)?;
            }
            for entry in own {
                self.remove_in_place(fs, &dir.join(&entry.name))?;
            }
        }
        Ok(())
    }

    /// A name that only things that this store is writing or removing have.
    pub(crate) fn own_name(&self, name: &str) -> String {
        format!("{}{name}", self.own_prefix())
    }

    /// Whether [`Layout::own_name`] returned this name.
    pub(crate) fn is_own(&self, name: &str) -> bool {
        name.starts_with(&self.own_prefix())
    }

    fn own_prefix(&self) -> String {
        debug_assert_ne!(self.store_id(), StoreId::NIL, "no name is this store's before its id");
        format!("{OWN_PREFIX}{}-", self.store_id())
    }
}

fn place_aside(
    fs: &dyn FileSystem,
    layout: &Layout,
    dir: &Path,
    known_as: &Path,
) -> Result<PathBuf> {
    let io = |error| Error::io("cannot set aside", dir, error);
    let target = free_place_aside(fs, layout, known_as).map_err(io)?;
    let (from, to) = (dir.parent().unwrap_or(&layout.root), target.parent());
    let to = to.unwrap_or(&layout.root);
    fs.create_dir_all(to).map_err(io)?;
    layout.make_durable(fs, to)?;
    move_all(fs, dir, &target).map_err(io)?;
    layout.forget(dir);
    fs.sync_dir(to).and_then(|()| fs.sync_dir(from)).map_err(io)?;
    Ok(target)
}

/// An unused path in [`Layout::moved_dir`].
fn free_place_aside(fs: &dyn FileSystem, layout: &Layout, dir: &Path) -> io::Result<PathBuf> {
    let moved = layout.moved_dir();
    let number = numbers_in(fs, &moved)?.last().unwrap_or(&0) + 1;
    Ok(moved.join(number.to_string()).join(dir.strip_prefix(&layout.root).unwrap_or(dir)))
}

/// The numbers that name directories in `dir`, in order.
fn numbers_in(fs: &dyn FileSystem, dir: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs.list_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let dirs = entries.iter().filter(|entry| entry.is_dir);
    let mut numbers: Vec<u64> = dirs.filter_map(|entry| entry.name.parse().ok()).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// A family, or a bulk load with its families.
const UNFINISHED_DEPTH_MAX: usize = 2;

/// Whether every file below `dir` has a name that a store file has while it is written.
fn has_only_unfinished_files(fs: &dyn FileSystem, dir: &Path, depth: usize) -> io::Result<bool> {
    let entries = match fs.list_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        entries => entries?,
    };
    for entry in entries {
        let is_own = match entry.is_dir {
            true => depth > 0 && has_only_unfinished_files(fs, &dir.join(&entry.name), depth - 1)?,
            false => is_hex_name(&entry.name) || entry.name == MANIFEST_FILE,
        };
        if !is_own {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `path`, or the first unused path with a number appended.
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
