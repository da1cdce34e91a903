//! Replaces the content of a directory by that of a checkpoint, in one step.
//!
//! ```text
//! <root>/.checkpoints/hblite-<store id>-<name>/       a copy of the store; gone after an open
//! <root>/hblite-<store id>-rewind.partial/            the new contents of the store, being linked
//! <root>/hblite-<store id>-rewind/                    the same, complete: now these are the store
//! ```
//!
//! 1. the checkpoint's files are linked into the partial directory, durably, while the store
//!    serves, and perhaps long before the rewind
//! 2. the store ends, and the directory takes its name: from here on the rewind is done
//! 3. each of its parts replaces the store's, which goes to the trash
//! 4. the directory is removed
//!
//! An open begins with 3 if the directory is there, so an interruption leaves the state before or
//! the state after. A part that the checkpoint does not have is represented by a file
//! `<part>.absent`.
//!
//! The root's own files stay, since a checkpoint belongs to the same store. Foreign files in the
//! archive stay too. A rewind is refused while foreign files are in what it replaces; those that
//! arrive later are set aside with the directory that they are in (see `removal`).
//!
//! Threads: one, which holds the store's lock.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hblite_env::{DirEntry, FileSystem};
use hblite_model::{Error, Result};

use super::own::{Shape, foreign_entry, is_log_segment};
use super::{ABSENT_SUFFIX, Layout, PARTIAL_REWIND, REWOUND_PARTS, StoreId, TEMPORARY_DIR};
use crate::files::{link_or_copy_durable, sync_dir};
use crate::parallel;

/// Places.
impl Layout {
    /// The directory of checkpoints.
    pub(crate) fn checkpoints_dir(&self) -> PathBuf {
        self.root.join(".checkpoints")
    }

    /// The directory of one checkpoint.
    pub(crate) fn checkpoint_dir(&self, name: &str) -> PathBuf {
        self.checkpoints_dir().join(self.own_name(name))
    }

    /// The directory by which an open knows that it has to finish a rewind.
    pub(crate) fn rewind_dir(&self) -> PathBuf {
        self.root.join(self.own_name("rewind"))
    }

    fn partial_rewind_dir(&self) -> PathBuf {
        self.root.join(self.own_name(PARTIAL_REWIND))
    }

    /// Whether a rewind of the store with this id was interrupted, so that an open must finish it.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn is_rewinding(&self, fs: &dyn FileSystem, store_id: StoreId) -> Result<bool> {
        let dir = Self::new(&self.root).with_store_id(store_id).rewind_dir();
        exists(fs, &dir)
    }
}

/// Steps.
impl Layout {
    /// Removes the checkpoints that a killed process left.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn remove_checkpoints(&self, fs: &dyn FileSystem) -> Result<()> {
        let dir = self.checkpoints_dir();
        for entry in list(fs, &dir)?.iter().filter(|e| e.is_dir && self.is_own(&e.name)) {
            self.remove_in_place(fs, &dir.join(&entry.name))?;
        }
        self.remove_if_empty(fs, &dir)
    }

    /// Checks whether a rewind would remove files that hblite did not write.
    ///
    /// # Errors
    /// `DoNotRetryIo` if someone else has put a file into the checkpoint, or into what the rewind
    /// replaces: the message names it. `Io`.
    pub(crate) fn check_rewind(&self, fs: &dyn FileSystem, checkpoint: &Path) -> Result<()> {
        self.refuse_foreign(fs)?;
        Self::new(checkpoint).refuse_foreign(fs)
    }

    /// Step 1. The store may be in use.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn stage_rewind(&self, fs: &dyn FileSystem, checkpoint: &Path) -> Result<()> {
        let partial = self.partial_rewind_dir();
        self.unstage_rewind(fs)?;
        let (mut files, mut dirs) = (Vec::new(), vec![partial.clone()]);
        make_dir(fs, &partial)?;
        for part in REWOUND_PARTS {
            let (from, to) = (checkpoint.join(part), partial.join(part));
            if let Some(parent) = to.parent().filter(|parent| *parent != partial) {
                make_dir(fs, parent)?;
                dirs.push(parent.to_path_buf());
            }
            if !exists(fs, &from)? {
                let absent = absent(&to);
                fs.write_atomically(&absent, b"")
                    .map_err(|error| Error::io("cannot write", &absent, error))?;
            } else if is_dir(fs, &from) {
                collect(fs, &from, &to, &mut files, &mut dirs)?;
            } else {
                files.push((from, to));
            }
        }
        parallel::for_each(&files, |(from, to)| link_or_copy_durable(fs, from, to))?;
        parallel::for_each(&dirs, |dir| sync_dir(fs, dir))
    }

    /// Removes what [`Layout::stage_rewind`] left.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn unstage_rewind(&self, fs: &dyn FileSystem) -> Result<()> {
        self.remove_in_place(fs, &self.partial_rewind_dir()).map(drop)
    }

    /// Step 2. The store has ended.
    ///
    /// # Errors
    /// `Io`; an open determines whether it was done.
    pub(crate) fn commit_rewind(&self, fs: &dyn FileSystem) -> Result<()> {
        let (from, to) = (self.partial_rewind_dir(), self.rewind_dir());
        fs.rename(&from, &to).map_err(|error| Error::io("cannot rename", &from, error))?;
        sync_dir(fs, &self.root)
    }

    /// Steps 3 and 4, if step 2 was done; otherwise removes what step 1 left.
    ///
    /// # Errors
    /// `Io`; the next open continues from there.
    pub(crate) fn finish_rewind(&self, fs: &dyn FileSystem) -> Result<()> {
        self.unstage_rewind(fs)?;
        let staged = self.rewind_dir();
        if !exists(fs, &staged)? {
            return Ok(());
        }
        // A killed process may not have made the name durable.
        sync_dir(fs, &self.root)?;
        self.make_trash_durable(fs)?;
        let io = |path: &Path, error| Error::io("cannot replace", path, error);
        for part in REWOUND_PARTS {
            let (from, to) = (staged.join(part), self.root.join(part));
            let absent = absent(&from);
            let is_there = exists(fs, &from)?;
            if !is_there && !exists(fs, &absent)? {
                continue;
            }
            self.move_to_trash(fs, &to)?;
            if is_there {
                let parent = to.parent().unwrap_or(&self.root);
                make_dir(fs, parent)?;
                self.make_durable(fs, parent)?;
                fs.rename(&from, &to).map_err(|error| io(&to, error))?;
                sync_dir(fs, parent)?;
            } else {
                sync_dir(fs, to.parent().filter(|dir| is_dir(fs, dir)).unwrap_or(&self.root))?;
                fs.remove_file(&absent).map_err(|error| io(&absent, error))?;
            }
        }
        self.forget(&self.root);
        self.remove_in_place(fs, &staged)?;
        sync_dir(fs, &self.root)?;
        self.remove_trashed_files(fs)
    }

    /// The trash takes directories, but some of the replaced parts are files.
    fn remove_trashed_files(&self, fs: &dyn FileSystem) -> Result<()> {
        let trash = self.trash_dir();
        for entry in list(fs, &trash)?.iter().filter(|e| !e.is_dir && self.is_own(&e.name)) {
            let path = trash.join(&entry.name);
            fs.remove_file(&path).map_err(|error| Error::io("cannot remove", &path, error))?;
        }
        Ok(())
    }

    /// Tables, archived tables and snapshots may contain only what hblite writes there.
    fn refuse_foreign(&self, fs: &dyn FileSystem) -> Result<()> {
        for data in [self.data_dir(), self.root.join("archive/data")] {
            for namespace in list(fs, &data)? {
                refuse_foreign_below(fs, &data.join(&namespace.name), Shape::Table)?;
            }
        }
        self.refuse_foreign_logs(fs)?;
        refuse_foreign_below(fs, &self.snapshots_dir(), Shape::Snapshot)
    }

    /// The log's directory has segments, and empty directories of HBase's servers.
    fn refuse_foreign_logs(&self, fs: &dyn FileSystem) -> Result<()> {
        let dir = self.wal_dir();
        for entry in list(fs, &dir)? {
            let path = dir.join(&entry.name);
            if entry.is_dir {
                refuse_foreign_below(fs, &path, Shape::Empty)?;
            } else if !is_log_segment(&entry.name) {
                return Err(refusal(&path));
            }
        }
        Ok(())
    }
}

/// Refuses a directory if an entry contains something foreign; entries have this shape.
fn refuse_foreign_below(fs: &dyn FileSystem, dir: &Path, shape: Shape) -> Result<()> {
    for entry in list(fs, dir)? {
        let path = dir.join(&entry.name);
        if entry.is_dir && entry.name == TEMPORARY_DIR && shape == Shape::Snapshot {
            refuse_foreign_below(fs, &path, shape)?;
            continue;
        }
        let foreign = match entry.is_dir {
            true => foreign_entry(fs, &path, shape),
            false => Ok(Some(path.clone())),
        };
        let foreign = foreign.map_err(|error| Error::io("cannot list", &path, error))?;
        if let Some(path) = foreign {
            return Err(refusal(&path));
        }
    }
    Ok(())
}

fn refusal(foreign: &Path) -> Error {
    let path = foreign.display();
    Error::do_not_retry(format!(
        "the store cannot be rewound: hblite did not write {path}, and the rewind would remove \
         it. Move it away first"
    ))
}

fn absent(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ABSENT_SUFFIX);
    PathBuf::from(name)
}

fn exists(fs: &dyn FileSystem, path: &Path) -> Result<bool> {
    fs.exists(path).map_err(|error| Error::io("cannot look for", path, error))
}

fn is_dir(fs: &dyn FileSystem, path: &Path) -> bool {
    fs.list_dir(path).is_ok()
}

fn make_dir(fs: &dyn FileSystem, dir: &Path) -> Result<()> {
    fs.create_dir_all(dir).map_err(|error| Error::io("cannot create directory", dir, error))
}

/// The entries of a directory; none if it does not exist.
fn list(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<DirEntry>> {
    match fs.list_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.map_err(|error| Error::io("cannot list", dir, error)),
    }
}

/// Creates the directories of a tree, and finds the files to link.
fn collect(
    fs: &dyn FileSystem,
    from: &Path,
    to: &Path,
    files: &mut Vec<(PathBuf, PathBuf)>,
    dirs: &mut Vec<PathBuf>,
) -> Result<()> {
    make_dir(fs, to)?;
    dirs.push(to.to_path_buf());
    for entry in list(fs, from)? {
        let (from, to) = (from.join(&entry.name), to.join(&entry.name));
        if entry.is_dir {
            collect(fs, &from, &to, files, dirs)?;
        } else {
            files.push((from, to));
        }
    }
    Ok(())
}
