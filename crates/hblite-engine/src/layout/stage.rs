//! Stages a rewind: step 1 of `rewind`.
//!
//! Every file of the checkpoint gets a name in the partial directory, durably. If the previous
//! rewind was to the same checkpoint, the contents that it replaced have nearly all of these names
//! already. They are corrected in place and become the partial directory: names that the checkpoint
//! lacks are removed, missing ones are added, and those that the engine changed are linked again,
//! whatever they refer to now. So the number of links and syncs grows with the changes; only the
//! comparison, which reads every directory, grows with the store.
//!
//! Invariant: a directory in which no name was changed since it was synced needs no sync. Threads:
//! one, which holds the store's lock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hblite_env::{DirEntry, FileSystem, copy_between};
use hblite_model::{Error, Result};

use super::own::{Shape, foreign_at};
use super::rewind::{self, Kept, absent, entries};
use super::{Layout, REWOUND_PARTS};
use crate::files::{exists, link_or_copy_durable, make_dir, sync_dir};
use crate::parallel;

/// The files of a store to which another one is to be rewound.
pub(crate) struct NewContents<'a> {
    /// A file system in memory that has them, under the paths that they get.
    pub(crate) files: &'a dyn FileSystem,
    /// Another name of the same file on disk, which can be linked. `None`: it is copied.
    pub(crate) name_on_disk: &'a (dyn Fn(&Path) -> Option<PathBuf> + Sync),
}

/// Step 1. The store may be in use. Begins with what is left of the staging before.
///
/// # Errors
/// `Io`.
pub(crate) fn stage(fs: &dyn FileSystem, layout: &Layout, new: &NewContents<'_>) -> Result<()> {
    let partial = layout.partial_rewind_dir();
    rewind::unstage(fs, layout)?;
    rewind::make_room(fs, layout)?;
    make_dir(fs, &partial)?;
    stage_in(fs, layout, new, &partial, &BTreeSet::new()).map(drop)
}

/// The same, after step 4, from what the rewind before replaced: it came from the same checkpoint
/// and may differ from `new` only below the paths in `changed`. Takes the place of step 5, and
/// returns what it set aside.
///
/// # Errors
/// `Io`; [`rewind::remove_replaced`] removes what is left.
pub(crate) fn stage_replaced(
    fs: &dyn FileSystem,
    layout: &Layout,
    new: &NewContents<'_>,
    changed: &BTreeSet<PathBuf>,
) -> Result<Vec<Kept>> {
    let (rewound, partial) = (layout.rewound_dir(), layout.partial_rewind_dir());
    rewind::unstage(fs, layout)?;
    let kept = stage_in(fs, layout, new, &rewound, changed)?;
    fs.rename(&rewound, &partial).map_err(|error| Error::io("cannot rename", &rewound, error))?;
    // With that it has left the trash durably, too.
    rewind::make_room(fs, layout)?;
    Ok(kept)
}

/// Gives the directory `staged_root` the new contents. Returns what it set aside.
fn stage_in(
    fs: &dyn FileSystem,
    layout: &Layout,
    new: &NewContents<'_>,
    staged_root: &Path,
    changed: &BTreeSet<PathBuf>,
) -> Result<Vec<Kept>> {
    let mut staging = Staging::new(layout, fs, new, changed);
    staging.dirs.push(staged_root.to_path_buf());
    for part in REWOUND_PARTS {
        let (place, staged) = (layout.root.join(part), staged_root.join(part));
        for (dir, root) in [(place.parent(), &*layout.root), (staged.parent(), staged_root)] {
            if let Some(dir) = dir.filter(|dir| *dir != root) {
                make_dir(fs, dir)?;
            }
        }
        let parent = staged.parent().filter(|dir| *dir != staged_root);
        staging.dirs.extend(parent.map(Path::to_path_buf));
        layout.make_durable(fs, place.parent().unwrap_or(&layout.root))?;
        match part.split('/').try_fold(Shape::Rewound, |shape, name| shape.of_dir(name)) {
            Some(shape) => staging.dir(&place, &staged, Some(shape))?,
            None => staging.log_head(&place, &staged)?,
        }
    }
    staging.finish()
}

/// The comparison of a directory with the new contents, and what is left to do after it.
struct Staging<'a> {
    layout: &'a Layout,
    fs: &'a dyn FileSystem,
    new: &'a NewContents<'a>,
    /// Paths in the store of the names that may have been changed.
    changed: &'a BTreeSet<PathBuf>,
    /// Their parents.
    changed_in: BTreeSet<&'a Path>,
    /// Files to be linked or copied: path in the store, and staged path.
    files: Vec<(PathBuf, PathBuf)>,
    /// Directories to be synced.
    dirs: Vec<PathBuf>,
    /// What was set aside.
    kept: Vec<Kept>,
}

impl<'a> Staging<'a> {
    fn new(
        layout: &'a Layout,
        fs: &'a dyn FileSystem,
        new: &'a NewContents<'a>,
        changed: &'a BTreeSet<PathBuf>,
    ) -> Self {
        let changed_in = changed.iter().filter_map(|path| path.parent()).collect();
        let (files, dirs, kept) = (Vec::new(), Vec::new(), Vec::new());
        Self { layout, fs, new, changed, changed_in, files, dirs, kept }
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
    /// Without a shape, hblite writes nothing there.
    fn dir(&mut self, place: &Path, staged: &Path, shape: Option<Shape>) -> Result<()> {
        let wanted: BTreeMap<String, bool> = entries(self.new.files, place)?
            .into_iter()
            .flatten()
            .map(|entry| (entry.name, entry.is_dir))
            .collect();
        let found = entries(self.fs, staged)?;
        let mut is_changed = found.is_none() || self.changed_in.contains(place);
        if found.is_none() {
            make_dir(self.fs, staged)?;
        }
        let mut staying = BTreeSet::new();
        for entry in found.unwrap_or_default() {
            match wanted.get(&entry.name) {
                Some(is_dir)
                    if *is_dir == entry.is_dir
                        && !self.changed.contains(&place.join(&entry.name)) =>
                {
                    staying.insert(entry.name);
                }
                _ => {
                    is_changed = true;
                    self.remove_entry(staged, &entry, shape)?;
                }
            }
        }
        for (name, is_dir) in wanted {
            let stays = staying.contains(&name);
            let (place, staged) = (place.join(&name), staged.join(&name));
            is_changed |= !stays;
            if is_dir {
                self.dir(&place, &staged, shape.and_then(|shape| shape.of_dir(&name)))?;
            } else if !stays {
                self.files.push((place, staged));
            }
        }
        if is_changed {
            self.dirs.push(staged.to_path_buf());
        }
        Ok(())
    }

    /// Removes an entry of a directory, except for what hblite did not write.
    fn remove_entry(&mut self, dir: &Path, entry: &DirEntry, shape: Option<Shape>) -> Result<()> {
        let path = dir.join(&entry.name);
        let foreign = match shape {
            Some(shape) => foreign_at(self.fs, dir, entry, shape),
            None => Ok(vec![path.clone()]),
        };
        let foreign = foreign.map_err(|error| Error::io("cannot list", &path, error))?;
        self.kept.extend(rewind::set_aside_of_replaced(self.fs, self.layout, &foreign)?);
        if foreign.contains(&path) { Ok(()) } else { self.remove(&path, entry.is_dir) }
    }

    fn remove(&self, path: &Path, is_dir: bool) -> Result<()> {
        let removed = if is_dir { self.fs.remove_dir_all(path) } else { self.fs.remove_file(path) };
        removed.map_err(|error| Error::io("cannot remove", path, error))
    }

    fn finish(self) -> Result<Vec<Kept>> {
        let Self { fs, new, .. } = self;
        parallel::for_each(&self.files, |(from, to)| match (new.name_on_disk)(from) {
            Some(name) => link_or_copy_durable(fs, &name, to),
            None => copy_between(new.files, from, fs, to)
                .map_err(|error| Error::io("cannot write", to, error)),
        })?;
        parallel::for_each(&self.dirs, |dir| sync_dir(fs, dir))?;
        Ok(self.kept)
    }
}
