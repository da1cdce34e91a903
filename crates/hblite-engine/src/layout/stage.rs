//! Stages a rewind: step 1 of `rewind`.
//!
//! Every file of the checkpoint gets a name in the partial directory, durably. The contents that
//! the rewind before replaced have nearly all of these names already, if they came from the same
//! checkpoint. Then they become the partial directory, and only what differs is changed: names that
//! the checkpoint does not have or that are missing, and names that the engine changed, whatever
//! they refer to now. So the number of links and syncs grows with the changes; only the comparison,
//! which reads every directory, grows with the store.
//!
//! Invariant: a directory in which no name was changed since it was synced needs no sync. Threads:
//! one, which holds the store's lock.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hblite_env::{DirEntry, FileSystem, copy_between};
use hblite_model::{Error, Result};

use super::rewind::{absent, exists, make_dir};
use super::{LOG_HEAD_FILE, Layout, REWOUND_PARTS};
use crate::files::{link_or_copy_durable, sync_dir};
use crate::parallel;

/// The files of a store to which another one is to be rewound.
pub(crate) struct NewContents<'a> {
    /// A file system in memory that has them, under the paths that they get.
    pub(crate) files: &'a dyn FileSystem,
    /// Another name of the same file on disk, which can be linked. `None`: it is copied.
    pub(crate) name_on_disk: &'a (dyn Fn(&Path) -> Option<PathBuf> + Sync),
}

impl Layout {
    /// Whether a rewind replaces what has this path.
    pub(crate) fn is_rewound(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.root);
        below.is_ok_and(|below| REWOUND_PARTS.iter().any(|part| below.starts_with(part)))
    }

    /// Step 1. The store may be in use. Begins with what is left of the staging before.
    ///
    /// `changed` has the paths below which the contents that the rewind before replaced may differ
    /// from `new`: they are used then, after step 4 and [`Layout::set_aside_of_replaced`].
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn stage_rewind(
        &self,
        fs: &dyn FileSystem,
        new: &NewContents<'_>,
        changed: Option<&BTreeSet<PathBuf>>,
    ) -> Result<()> {
        self.unstage_rewind(fs)?;
        let partial = self.partial_rewind_dir();
        match changed {
            Some(_) => self.take_replaced(fs, &partial)?,
            None => make_dir(fs, &partial)?,
        }
        self.make_room_for_replaced(fs)?;
        let mut staging = Staging::new(fs, new, changed);
        staging.dirs.push(partial.clone());
        for part in REWOUND_PARTS {
            let (place, staged) = (self.root.join(part), partial.join(part));
            for (dir, root) in [(place.parent(), &self.root), (staged.parent(), &partial)] {
                if let Some(dir) = dir.filter(|dir| dir != root) {
                    make_dir(fs, dir)?;
                }
            }
            let parent = staged.parent().filter(|dir| **dir != partial);
            staging.dirs.extend(parent.map(Path::to_path_buf));
            self.make_durable(fs, place.parent().unwrap_or(&self.root))?;
            if part == LOG_HEAD_FILE {
                staging.log_head(&place, &staged)?;
            } else {
                staging.dir(&place, &staged)?;
            }
        }
        staging.finish()
    }

    /// Makes the replaced contents the partial directory. That they have left the trash is durable
    /// when room is made there.
    fn take_replaced(&self, fs: &dyn FileSystem, partial: &Path) -> Result<()> {
        let from = self.rewound_dir();
        fs.rename(&from, partial).map_err(|error| Error::io("cannot rename", &from, error))
    }

    /// Prepares an empty directory, durably, for what the rewind replaces.
    pub(super) fn make_room_for_replaced(&self, fs: &dyn FileSystem) -> Result<()> {
        let rewound = self.rewound_dir();
        for part in REWOUND_PARTS {
            make_dir(fs, rewound.join(part).parent().unwrap_or(&rewound))?;
        }
        self.make_trash_durable(fs)?;
        sync_dir(fs, &self.trash_dir())?;
        sync_dir(fs, &rewound)
    }

    /// Removes what [`Layout::stage_rewind`] left.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn unstage_rewind(&self, fs: &dyn FileSystem) -> Result<()> {
        self.remove_in_place(fs, &self.partial_rewind_dir()).map(drop)
    }
}

/// What is still to be done.
struct Staging<'a> {
    fs: &'a dyn FileSystem,
    new: &'a NewContents<'a>,
    /// These names, and the directories that have or had them, were changed.
    changed: BTreeSet<&'a Path>,
    changed_in: BTreeSet<&'a Path>,
    /// Files to be linked or copied: path in the store, and staged path.
    files: Vec<(PathBuf, PathBuf)>,
    /// Directories to be synced.
    dirs: Vec<PathBuf>,
}

impl<'a> Staging<'a> {
    fn new(
        fs: &'a dyn FileSystem,
        new: &'a NewContents<'a>,
        changed: Option<&'a BTreeSet<PathBuf>>,
    ) -> Self {
        let changed: BTreeSet<&Path> = changed.into_iter().flatten().map(AsRef::as_ref).collect();
        let changed_in = changed.iter().filter_map(|path| path.parent()).collect();
        Self { fs, new, changed, changed_in, files: Vec::new(), dirs: Vec::new() }
    }

    fn log_head(&mut self, place: &Path, staged: &Path) -> Result<()> {
        if exists(self.fs, staged)? {
            self.remove(staged, false)?;
        }
        if exists(self.new.files, place)? {
            self.files.push((place.to_path_buf(), staged.to_path_buf()));
            return Ok(());
        }
        let absent = absent(staged);
        let written = self.fs.write_atomically(&absent, b"");
        written.map_err(|error| Error::io("cannot write", &absent, error))
    }

    /// Gives the directory `staged` the names of `place`, where the new contents may have nothing.
    fn dir(&mut self, place: &Path, staged: &Path) -> Result<()> {
        let wanted = entries(self.new.files, place)?.unwrap_or_default();
        let found = entries(self.fs, staged)?;
        let mut is_changed = found.is_none() || self.changed_in.contains(place);
        if found.is_none() {
            make_dir(self.fs, staged)?;
        }
        let found = found.unwrap_or_default();
        let mut kept = BTreeSet::new();
        for entry in &found {
            if wanted.contains(entry) && !self.changed.contains(&*place.join(&entry.1)) {
                kept.insert(entry);
                continue;
            }
            is_changed = true;
            self.remove(&staged.join(&entry.1), entry.0)?;
        }
        for entry in &wanted {
            let (place, staged) = (place.join(&entry.1), staged.join(&entry.1));
            is_changed |= !kept.contains(entry);
            match (entry.0, kept.contains(entry)) {
                (true, _) => self.dir(&place, &staged)?,
                (false, true) => {}
                (false, false) => self.files.push((place, staged)),
            }
        }
        if is_changed {
            self.dirs.push(staged.to_path_buf());
        }
        Ok(())
    }

    fn remove(&self, path: &Path, is_dir: bool) -> Result<()> {
        let removed = if is_dir { self.fs.remove_dir_all(path) } else { self.fs.remove_file(path) };
        removed.map_err(|error| Error::io("cannot remove", path, error))
    }

    fn finish(self) -> Result<()> {
        let Self { fs, new, .. } = self;
        parallel::for_each(&self.files, |(from, to)| match (new.name_on_disk)(from) {
            Some(name) => link_or_copy_durable(fs, &name, to),
            None => copy_between(new.files, from, fs, to)
                .map_err(|error| Error::io("cannot write", to, error)),
        })?;
        parallel::for_each(&self.dirs, |dir| sync_dir(fs, dir))
    }
}

/// The entries of a directory, each whether it is a directory and its name; `None` if there is no
/// such directory.
fn entries(fs: &dyn FileSystem, dir: &Path) -> Result<Option<BTreeSet<(bool, String)>>> {
    let as_pair = |DirEntry { name, is_dir }| (is_dir, name);
    match fs.list_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("cannot list", dir, error)),
        Ok(entries) => Ok(Some(entries.into_iter().map(as_pair).collect())),
    }
}
