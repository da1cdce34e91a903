//! Writes a store in memory to a directory.
//!
//! It is written next to the target as `<target>.partial`, made durable, and renamed to the target.
//! What an interruption leaves there makes the next export fail with an error that names it.
//! Threads: one.

use std::path::{Path, PathBuf};

use hblite_env::{FileSystem, copy_between};
use hblite_model::{Error, Result};

use crate::backup::check_free;
use crate::files::{make_dir, sync_dir};
use crate::layout::Layout;

/// Copies the files of the store to `to`.
pub(super) fn write(
    files: &dyn FileSystem,
    store: &Layout,
    disk: &dyn FileSystem,
    to: &Path,
) -> Result<()> {
    let mut partial = to.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    for dir in [to, &partial] {
        check_free(disk, dir)?;
    }
    // With the names of parent directories that are created.
    Layout::new(&partial).create_root(disk)?;
    copy_dir(files, store.root(), store, disk, &partial)?;
    disk.rename(&partial, to).map_err(|error| Error::io("cannot make", to, error))?;
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync_dir(disk, parent.unwrap_or(Path::new(".")))
}

fn copy_dir(
    files: &dyn FileSystem,
    from: &Path,
    store: &Layout,
    disk: &dyn FileSystem,
    to: &Path,
) -> Result<()> {
    make_dir(disk, to)?;
    let entries = files.list_dir(from).map_err(|error| Error::io("cannot list", from, error))?;
    for entry in entries {
        let (from, to) = (from.join(&entry.name), to.join(&entry.name));
        if entry.is_dir {
            copy_dir(files, &from, store, disk, &to)?;
        } else if from != store.lock_file() {
            copy_between(files, &from, disk, &to)
                .map_err(|error| Error::io("cannot write", &to, error))?;
        }
    }
    sync_dir(disk, to)
}
