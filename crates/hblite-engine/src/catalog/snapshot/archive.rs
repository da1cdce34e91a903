//! The links below the archive under which HBase finds a snapshot's files.
//!
//! HBase looks for a file of a snapshot in its region's directory and then in the archive. hblite
//! removes files of regions, so every file is hard-linked into the archive before the snapshot
//! becomes visible. HBase keeps archived files as long as a snapshot lists them.
//!
//! A link is removed with the last snapshot that lists it. Only links of snapshots that hblite took
//! are removed, and none that a table cloned by HBase still uses (`.links-<file>`): HBase removes
//! the others itself.
//!
//! Crash: while a snapshot is being taken or removed, its list is in its working directory, durable
//! before the first link is made and until the last one is removed. An open removes the links that
//! it finds there.
//!
//! Threads: one procedure at a time.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::{Error, ErrorKind, Result};

use super::data_manifest::DataManifest;
use super::stored::read_description;
use crate::catalog::orphans;
use crate::files::{exists, link_or_copy, list, make_dir, sync_dir};
use crate::layout::{DATA_MANIFEST_FILE, LINKED_MANIFEST_FILE, Layout};
use crate::sealed::Seal;

/// Prefix of the name of the directory with the links to an archived file.
const BACK_REFERENCES_PREFIX: &str = ".links-";

/// Links a file into the archive, at the path that it had in a region. `from` is any name of the
/// file. The caller must sync the directory.
///
/// # Errors
/// `Io`.
fn link(fs: &dyn FileSystem, from: &Path, to: &Path) -> Result<()> {
    let io = |error| Error::io("cannot look for", to, error);
    if fs.exists(to).map_err(io)? {
        // If name and length are equal, it is the same file. Otherwise a copy was interrupted.
        let length = fs.file_length(from).map_err(|e| Error::io("cannot read", from, e))?;
        if fs.file_length(to).map_err(io)? == length {
            return Ok(());
        }
        fs.remove_file(to).map_err(|error| Error::io("cannot remove", to, error))?;
    }
    link_or_copy(fs, from, to)
}

/// Links each file into the archive, durably: pairs of an existing name and the path that it had in
/// a region.
///
/// # Errors
/// `Io`: some may be linked.
pub(super) fn link_all<'f>(
    fs: &dyn FileSystem,
    layout: &Layout,
    files: impl IntoIterator<Item = (&'f Path, &'f Path)>,
) -> Result<()> {
    let mut dirs = BTreeSet::new();
    for (from, place) in files {
        let to = layout.archived_file(place);
        let dir = to.parent().unwrap_or(layout.root()).to_path_buf();
        if !dirs.contains(&dir) {
            make_dir(fs, &dir)?;
        }
        link(fs, from, &to)?;
        dirs.insert(dir);
    }
    for dir in dirs {
        sync_dir(fs, &dir)?;
        layout.make_durable(fs, &dir)?;
    }
    Ok(())
}

/// Removes the links in the archive that only the list in `working` has, durably. The snapshot is
/// no longer listed, or not yet.
///
/// # Errors
/// `Io`. If the list of another snapshot cannot be read, all links stay.
pub(super) fn unlink_all(fs: &dyn FileSystem, layout: &Layout, working: &Path) -> Result<()> {
    let Some(manifest) = own_manifest(fs, working) else { return Ok(()) };
    let kept = match kept_places(fs, layout) {
        // It is unknown which links are still needed.
        Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(()),
        kept => kept?,
    };
    let mut dirs = BTreeSet::new();
    for place in manifest.places(layout) {
        let path = layout.archived_file(&place);
        let is_wanted = kept.contains(&place) || is_linked_to(fs, &path)?;
        let is_there = exists(fs, &path)?;
        if !is_wanted && is_there {
            fs.remove_file(&path).map_err(|error| Error::io("cannot remove", &path, error))?;
        }
        dirs.extend(path.parent().map(Path::to_path_buf));
    }
    for dir in dirs {
        if exists(fs, &dir)? {
            sync_dir(fs, &dir)?;
            remove_empty(fs, layout, &dir)?;
        }
    }
    Ok(())
}

/// The list of the files of a snapshot that hblite linked into the archive.
fn own_manifest(fs: &dyn FileSystem, dir: &Path) -> Option<DataManifest> {
    // Without a description, it was interrupted before it had links, or after they were removed.
    let description = read_description(fs, dir, None).ok()?.description;
    // A snapshot that was adopted has both, and the files in its list may be HBase's.
    let lists = [LINKED_MANIFEST_FILE, DATA_MANIFEST_FILE].map(|name| dir.join(name));
    let read = |path: &PathBuf| DataManifest::read_file(fs, path, &description.table).ok()?;
    let mut lists = lists.iter().filter_map(read);
    lists.find(|(_, seal)| *seal == Seal::Verified).map(|(manifest, _)| manifest)
}

/// Paths in the archive of the files of the snapshot in `dir`: those that exist, and those that
/// HBase finds neither there nor in their regions. None if it has no list.
///
/// # Errors
/// `Io`; `CorruptHFile` for a list that cannot be read.
pub(crate) fn archived_files(
    fs: &dyn FileSystem,
    layout: &Layout,
    dir: &Path,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let table = read_description(fs, dir, None)?.description.table;
    let (mut there, mut lost) = (Vec::new(), Vec::new());
    let Some((manifest, _)) = DataManifest::read(fs, dir, &table)? else {
        return Ok((there, lost));
    };
    for place in manifest.places(layout) {
        let archived = layout.archived_file(&place);
        if exists(fs, &archived)? {
            there.push(archived);
        } else if !exists(fs, &place)? {
            lost.push(archived);
        }
    }
    Ok((there, lost))
}

/// The paths of all files that a snapshot lists.
fn kept_places(fs: &dyn FileSystem, layout: &Layout) -> Result<HashSet<PathBuf>> {
    let mut kept = HashSet::new();
    for name in orphans::directories(fs, &layout.snapshots_dir())? {
        let dir = layout.snapshot_dir(&name);
        let table = read_description(fs, &dir, Some(&name))?.description.table;
        if let Some((manifest, _)) = DataManifest::read(fs, &dir, &table)? {
            kept.extend(manifest.places(layout));
        }
    }
    Ok(kept)
}

/// Whether a table that HBase made of a snapshot links to the archived file.
fn is_linked_to(fs: &dyn FileSystem, path: &Path) -> Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let links = path.with_file_name(format!("{BACK_REFERENCES_PREFIX}{name}"));
    Ok(!list(fs, &links)?.is_empty())
}

/// Removes a directory of the archive and those above it, up to one that is not empty.
fn remove_empty(fs: &dyn FileSystem, layout: &Layout, dir: &Path) -> Result<()> {
    let archive = layout.archive_dir();
    for dir in dir.ancestors().take_while(|dir| *dir != archive) {
        if !list(fs, dir)?.is_empty() {
            break;
        }
        layout.remove_if_empty(fs, dir)?;
    }
    Ok(())
}

/// What an open does about snapshots that were being taken or removed when the process ended.
///
/// # Errors
/// `Io`.
pub(super) fn settle(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    let working_dir = layout.snapshots_working_dir();
    let entries = list(fs, &working_dir)?;
    let mut own = entries.iter().filter(|e| e.is_dir && layout.is_own(&e.name)).peekable();
    if own.peek().is_some() {
        // A kill keeps a removal that a power cut undoes.
        make_moves_durable(fs, layout)?;
    }
    own.try_for_each(|entry| unlink_all(fs, layout, &working_dir.join(&entry.name)))
}

/// Makes renames between a snapshot's directory and its working directory durable.
///
/// # Errors
/// `Io`.
pub(super) fn make_moves_durable(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    sync_dir(fs, &layout.snapshots_working_dir())?;
    sync_dir(fs, &layout.snapshots_dir())
}
