//! Replaces the content of a directory by that of a checkpoint, in one step.
//!
//! ```text
//! <root>/.checkpoints/hblite-<store id>-<name>/       a copy of the store; gone after an open
//! <root>/hblite-<store id>-rewind.partial/            the new contents of the store, being linked
//! <root>/hblite-<store id>-rewind/                    the same, complete: now these are the store
//! <root>/.tmp/hblite-<store id>-rewound/              the contents that were replaced
//! ```
//!
//! 1. stage: the checkpoint's files are linked into the partial directory, durably, while the store
//!    serves, and perhaps long before the rewind (see `stage`)
//! 2. commit: the store ends, and the directory takes its name: from here on the rewind is done
//! 3. replace: each of its parts replaces the store's, which goes to the trash
//! 4. settle: the new names are made durable, and the directory is removed
//! 5. clean up: what was replaced is deleted, or staged for the next rewind
//!
//! Only the sync of 2 and a few renames have to be waited for. The store is opened after 3 and
//! serves during 4 and 5. That is safe because a part is either in its place or still in the
//! directory, with everything that was written to it meanwhile, and an open begins with 3 if the
//! directory is there. So an interruption leaves the state before or the state after. A checkpoint
//! without a log has no log's head, which is represented by a file `<part>.absent`; then 3 syncs,
//! because an open that found the file again would remove a newer head.
//!
//! The root's own files stay, since a checkpoint belongs to the same store. Foreign files in the
//! archive stay too. Foreign files in what is replaced are set aside (see `removal`); everything
//! around them is deleted.
//!
//! Threads: one, which holds the store's lock.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hblite_env::{DirEntry, FileSystem};
use hblite_model::{Error, Exception, Result};

use super::moving::{copy_all, is_refused, move_all};
use super::own::{Shape, foreign_entries};
use super::{ABSENT_SUFFIX, Layout, PARTIAL_REWIND, REWOUND_PARTS, StoreId};
use crate::files::sync_dir;

/// A file or directory that was found in what a rewind replaced, and that hblite did not write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Where it was.
    pub(crate) from: PathBuf,
    /// Where it is set aside.
    pub(crate) to: PathBuf,
}

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

    pub(super) fn partial_rewind_dir(&self) -> PathBuf {
        self.root.join(self.own_name(PARTIAL_REWIND))
    }

    /// The directory for what a rewind has replaced.
    pub(super) fn rewound_dir(&self) -> PathBuf {
        self.scratch_dir("rewound")
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
        if !exists(fs, &dir)? {
            return Ok(());
        }
        for entry in list(fs, &dir)?.iter().filter(|e| e.is_dir && self.is_own(&e.name)) {
            self.remove_in_place(fs, &dir.join(&entry.name))?;
        }
        self.remove_if_empty(fs, &dir)
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

    /// Step 3, after step 2.
    ///
    /// # Errors
    /// `Io`; an open continues from there.
    pub(crate) fn replace_parts(&self, fs: &dyn FileSystem) -> Result<()> {
        let (staged, rewound) = (self.rewind_dir(), self.rewound_dir());
        for part in REWOUND_PARTS {
            let (from, to, replaced) =
                (staged.join(part), self.root.join(part), rewound.join(part));
            let absent = absent(&from);
            if exists(fs, &from)? {
                put_aside(fs, &to, &replaced)?;
                self.put_in_place(fs, &from, &to)?;
            } else if exists(fs, &absent)? {
                put_aside(fs, &to, &replaced)?;
                sync_dir(fs, replaced.parent().unwrap_or(&rewound))?;
                fs.remove_file(&absent)
                    .map_err(|error| Error::io("cannot remove", &absent, error))?;
                sync_dir(fs, &staged)?;
            }
        }
        self.forget(&self.root);
        Ok(())
    }

    /// Gives a part its place, where nothing is except perhaps an empty mount point. That cannot be
    /// replaced: it gets a copy, and then the part leaves the directory in one step, so that an
    /// interrupted copy begins again.
    fn put_in_place(&self, fs: &dyn FileSystem, from: &Path, to: &Path) -> Result<()> {
        let io = |error| Error::io("cannot replace", to, error);
        match fs.rename(from, to) {
            Err(error) if is_refused(fs, &error) => {
                copy_all(fs, from, to).map_err(io)?;
                let copied = self.move_to_trash(fs, from)?;
                sync_dir(fs, from.parent().unwrap_or(&self.root))?;
                // The next open removes what cannot be removed now.
                copied
                    .map_or(Ok(()), |copied| self.remove_in_place(fs, &copied).map(drop).or(Ok(())))
            }
            renamed => renamed.map_err(io),
        }
    }

    /// Step 4, after step 3. The store may be in use.
    ///
    /// # Errors
    /// `Io`; the next open, or the next rewind, continues from there.
    pub(crate) fn settle_rewind(&self, fs: &dyn FileSystem) -> Result<()> {
        let staged = self.rewind_dir();
        if !exists(fs, &staged)? {
            return Ok(());
        }
        let mut dirs = BTreeSet::new();
        for part in REWOUND_PARTS {
            if exists(fs, &staged.join(part))? {
                let what = format!("{part} of a rewind is not in its place: reopen the store");
                return Err(Error::new(Exception::Io, what));
            }
            for place in [self.rewound_dir().join(part), self.root.join(part)] {
                dirs.extend(place.parent().map(Path::to_path_buf));
            }
        }
        dirs.iter().try_for_each(|dir| sync_dir(fs, dir))?;
        self.remove_in_place(fs, &staged)?;
        sync_dir(fs, &self.root)
    }

    /// Step 5, after step 4. The store may be in use. Returns what was set aside.
    ///
    /// # Errors
    /// `Io`; the next open, or the next rewind, continues from there.
    pub(crate) fn remove_replaced(&self, fs: &dyn FileSystem) -> Result<Vec<Kept>> {
        let rewound = self.rewound_dir();
        let io = |error| Error::io("cannot remove", &rewound, error);
        if !fs.exists(&rewound).map_err(io)? {
            return Ok(Vec::new());
        }
        let foreign = foreign_entries(fs, &rewound, Shape::Rewound).map_err(io)?;
        let kept = self.set_aside_of_replaced(fs, &foreign)?;
        fs.remove_dir_all(&rewound).map_err(io)?;
        Ok(kept)
    }

    /// Sets aside what hblite did not write in the replaced contents.
    pub(super) fn set_aside_of_replaced(
        &self,
        fs: &dyn FileSystem,
        foreign: &[PathBuf],
    ) -> Result<Vec<Kept>> {
        let rewound = self.rewound_dir();
        let mut kept = Vec::new();
        for path in foreign {
            let from = self.root.join(path.strip_prefix(&rewound).unwrap_or(path));
            let to = self.set_aside_as(fs, path, &from)?;
            kept.extend(to.map(|to| Kept { from, to }));
        }
        Ok(kept)
    }

    /// Steps 3 to 5, if step 2 was done; otherwise removes what step 1 left.
    ///
    /// # Errors
    /// `Io`; the next open continues from there.
    pub(crate) fn finish_rewind(&self, fs: &dyn FileSystem) -> Result<()> {
        let cleaned = self.unstage_rewind(fs).and_then(|()| self.remove_replaced(fs));
        if !exists(fs, &self.rewind_dir())? {
            // What cannot be removed now is removed by the next open, or the next rewind.
            return Ok(());
        }
        cleaned?;
        // A killed process may not have made the name durable.
        sync_dir(fs, &self.root)?;
        self.make_room_for_replaced(fs)?;
        for part in REWOUND_PARTS {
            let parent = self.root.join(part);
            let parent = parent.parent().unwrap_or(&self.root);
            make_dir(fs, parent)?;
            self.make_durable(fs, parent)?;
        }
        self.replace_parts(fs)?;
        self.settle_rewind(fs)?;
        self.remove_replaced(fs).map(drop)
    }
}

/// Moves what is replaced out of the way. It may be done in part: an interruption continues from
/// there, since nothing returns from where it goes.
fn put_aside(fs: &dyn FileSystem, from: &Path, to: &Path) -> Result<()> {
    match move_all(fs, from, to) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        moved => moved.map_err(|error| Error::io("cannot replace", from, error)),
    }
}

pub(super) fn absent(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ABSENT_SUFFIX);
    PathBuf::from(name)
}

pub(super) fn exists(fs: &dyn FileSystem, path: &Path) -> Result<bool> {
    fs.exists(path).map_err(|error| Error::io("cannot look for", path, error))
}

pub(super) fn make_dir(fs: &dyn FileSystem, dir: &Path) -> Result<()> {
    fs.create_dir_all(dir).map_err(|error| Error::io("cannot create directory", dir, error))
}

/// The entries of a directory; none if it does not exist.
fn list(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<DirEntry>> {
    Ok(entries(fs, dir)?.unwrap_or_default())
}

/// The entries of a directory; `None` if there is no such directory.
pub(super) fn entries(fs: &dyn FileSystem, dir: &Path) -> Result<Option<Vec<DirEntry>>> {
    match fs.list_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        entries => entries.map(Some).map_err(|error| Error::io("cannot list", dir, error)),
    }
}
