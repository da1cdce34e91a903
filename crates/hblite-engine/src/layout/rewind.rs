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
use crate::files::{exists, list, make_dir, sync_dir};

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
}

/// Whether a rewind of the store with this id was interrupted, so that an open must finish it.
///
/// # Errors
/// `Io`.
pub(crate) fn is_interrupted(
    fs: &dyn FileSystem,
    layout: &Layout,
    store_id: StoreId,
) -> Result<bool> {
    let dir = Layout::new(&layout.root).with_store_id(store_id).rewind_dir();
    exists(fs, &dir)
}

/// Whether a rewind replaces what has this path.
pub(crate) fn is_rewound(layout: &Layout, path: &Path) -> bool {
    let below = path.strip_prefix(&layout.root);
    below.is_ok_and(|below| REWOUND_PARTS.iter().any(|part| below.starts_with(part)))
}

/// Removes the checkpoints that a killed process left.
///
/// # Errors
/// `Io`.
pub(crate) fn remove_checkpoints(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    let dir = layout.checkpoints_dir();
    if !exists(fs, &dir)? {
        return Ok(());
    }
    for entry in list(fs, &dir)?.iter().filter(|e| e.is_dir && layout.is_own(&e.name)) {
        layout.remove_in_place(fs, &dir.join(&entry.name))?;
    }
    layout.remove_if_empty(fs, &dir)
}

/// Removes what [`super::stage::stage`] left.
///
/// # Errors
/// `Io`.
pub(crate) fn unstage(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    layout.remove_in_place(fs, &layout.partial_rewind_dir()).map(drop)
}

/// Prepares an empty directory, durably, for what the rewind replaces.
pub(super) fn make_room(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    let rewound = layout.rewound_dir();
    for part in REWOUND_PARTS {
        make_dir(fs, rewound.join(part).parent().unwrap_or(&rewound))?;
    }
    layout.make_trash_durable(fs)?;
    sync_dir(fs, &layout.trash_dir())?;
    sync_dir(fs, &rewound)
}

/// Step 2. The store has ended.
///
/// # Errors
/// `Io`; an open determines whether it was done.
pub(crate) fn commit(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    let (from, to) = (layout.partial_rewind_dir(), layout.rewind_dir());
    fs.rename(&from, &to).map_err(|error| Error::io("cannot rename", &from, error))?;
    sync_dir(fs, &layout.root)
}

/// Step 3, after step 2.
///
/// # Errors
/// `Io`; an open continues from there.
pub(crate) fn replace_parts(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    let (staged, rewound) = (layout.rewind_dir(), layout.rewound_dir());
    for part in REWOUND_PARTS {
        let (from, to, replaced) = (staged.join(part), layout.root.join(part), rewound.join(part));
        let absent = absent(&from);
        if exists(fs, &from)? {
            put_aside(fs, &to, &replaced)?;
            put_in_place(fs, layout, &from, &to)?;
        } else if exists(fs, &absent)? {
            put_aside(fs, &to, &replaced)?;
            sync_dir(fs, replaced.parent().unwrap_or(&rewound))?;
            fs.remove_file(&absent).map_err(|error| Error::io("cannot remove", &absent, error))?;
            sync_dir(fs, &staged)?;
        }
    }
    layout.forget(&layout.root);
    Ok(())
}

/// Gives a part its place, where nothing is except perhaps an empty mount point. That cannot be
/// replaced: it gets a copy, and then the part leaves the directory in one step, so that an
/// interrupted copy begins again.
fn put_in_place(fs: &dyn FileSystem, layout: &Layout, from: &Path, to: &Path) -> Result<()> {
    let io = |error| Error::io("cannot replace", to, error);
    match fs.rename(from, to) {
        Err(error) if is_refused(fs, &error) => {
            copy_all(fs, from, to).map_err(io)?;
            let copied = layout.move_to_trash(fs, from)?;
            sync_dir(fs, from.parent().unwrap_or(&layout.root))?;
            // The next open removes what cannot be removed now.
            copied.map_or(Ok(()), |copied| layout.remove_in_place(fs, &copied).map(drop).or(Ok(())))
        }
        renamed => renamed.map_err(io),
    }
}

/// Step 4, after step 3. The store may be in use.
///
/// # Errors
/// `Io`; the next open, or the next rewind, continues from there.
pub(crate) fn settle(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    let staged = layout.rewind_dir();
    if !exists(fs, &staged)? {
        return Ok(());
    }
    let mut dirs = BTreeSet::new();
    for part in REWOUND_PARTS {
        if exists(fs, &staged.join(part))? {
            let what = format!("{part} of a rewind is not in its place: reopen the store");
            return Err(Error::new(Exception::Io, what));
        }
        for place in [layout.rewound_dir().join(part), layout.root.join(part)] {
            dirs.extend(place.parent().map(Path::to_path_buf));
        }
    }
    dirs.iter().try_for_each(|dir| sync_dir(fs, dir))?;
    layout.remove_in_place(fs, &staged)?;
    sync_dir(fs, &layout.root)
}

/// Step 5, after step 4. The store may be in use. Returns what was set aside.
///
/// # Errors
/// `Io`; the next open, or the next rewind, continues from there.
pub(crate) fn remove_replaced(fs: &dyn FileSystem, layout: &Layout) -> Result<Vec<Kept>> {
    let rewound = layout.rewound_dir();
    let io = |error| Error::io("cannot remove", &rewound, error);
    if !fs.exists(&rewound).map_err(io)? {
        return Ok(Vec::new());
    }
    let foreign = foreign_entries(fs, &rewound, Shape::Rewound).map_err(io)?;
    let kept = set_aside_of_replaced(fs, layout, &foreign)?;
    fs.remove_dir_all(&rewound).map_err(io)?;
    Ok(kept)
}

/// Sets aside what hblite did not write in the replaced contents.
pub(super) fn set_aside_of_replaced(
    fs: &dyn FileSystem,
    layout: &Layout,
    foreign: &[PathBuf],
) -> Result<Vec<Kept>> {
    let rewound = layout.rewound_dir();
    let mut kept = Vec::new();
    for path in foreign {
        let from = layout.root.join(path.strip_prefix(&rewound).unwrap_or(path));
        let to = layout.set_aside_as(fs, path, &from)?;
        kept.extend(to.map(|to| Kept { from, to }));
    }
    Ok(kept)
}

/// Steps 3 to 5, if step 2 was done; otherwise removes what step 1 left.
///
/// # Errors
/// `Io`; the next open continues from there.
pub(crate) fn finish(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    let cleaned = unstage(fs, layout).and_then(|()| remove_replaced(fs, layout));
    if !exists(fs, &layout.rewind_dir())? {
        // What cannot be removed now is removed by the next open, or the next rewind.
        return Ok(());
    }
    cleaned?;
    // A killed process may not have made the name durable.
    sync_dir(fs, &layout.root)?;
    make_room(fs, layout)?;
    for part in REWOUND_PARTS {
        let parent = layout.root.join(part);
        let parent = parent.parent().unwrap_or(&layout.root);
        make_dir(fs, parent)?;
        layout.make_durable(fs, parent)?;
    }
    replace_parts(fs, layout)?;
    settle(fs, layout)?;
    remove_replaced(fs, layout).map(drop)
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

/// The entries of a directory; `None` if there is no such directory.
pub(super) fn entries(fs: &dyn FileSystem, dir: &Path) -> Result<Option<Vec<DirEntry>>> {
    match fs.list_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        entries => entries.map(Some).map_err(|error| Error::io("cannot list", dir, error)),
    }
}
