//! Opens the files of a family's directory, and decides which of them belong to the store.
//!
//! For the rules, and why they explain everything that a crash leaves, see `manifest.rs`.
//!
//! Threads: one per region that is being opened.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::FileSystem;
use hblite_model::{ColumnFamilyDescriptor, Error, RegionInfo, Result};

use super::hfile_link;
use super::region_files::RegionFiles;
use super::replaced_files::replaced_files;
use super::standing::Standing;
use super::store_file::{StoreFile, is_store_file_name};
use crate::context::EngineContext;
use crate::files::sync_dir;
use crate::sealed;

/// What to do about a file that is missing, or that is not the listed one.
pub(crate) const REMEDY: &str =
    "restore the file from a backup, or open with salvage and lose its cells";
/// What to do about a file that is in no list.
pub(crate) const REMEDY_FOREIGN: &str =
    "move it out of the store, or open with salvage, which keeps it";

/// What an open found in a family's directory.
pub(super) struct FoundFiles {
    /// The store's files, oldest first.
    pub(super) live: Vec<Arc<StoreFile>>,
    /// What to remove after the manifest is durable, in this order.
    pub(super) leftovers: Leftovers,
}

/// Files to remove, batch by batch.
pub(super) type Leftovers = Vec<Vec<PathBuf>>;

/// Opens the files of a family's directory. A missing directory has none.
///
/// # Errors
/// `Io`; `CorruptHFile` naming a file that is damaged, missing, or not the store's.
pub(super) fn open_all(
    context: &EngineContext,
    region: &RegionInfo,
    family: &ColumnFamilyDescriptor,
    dir: &Path,
    files: &RegionFiles,
) -> Result<FoundFiles> {
    let fs = context.env.fs.as_ref();
    let entries = match fs.list_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Error::io("list", dir, error)),
    };
    let names = entries.into_iter().filter(|entry| !entry.is_dir).map(|entry| entry.name);
    let mut names: Vec<String> = names.collect();
    hfile_link::adopt_all(fs, &context.layout, dir, &mut names)?;
    names.retain(|name| is_store_file_name(name));
    let mut opening =
        Opening { context, region, family, files, dir, live: Vec::new(), dead: Vec::new() };
    let mut unexplained = Vec::new();
    // References last: a replaced one may refer to a file that no longer exists.
    let is_reference = |name: &&String| name.contains('.');
    for name in names.iter().filter(|name| !is_reference(name)) {
        unexplained.extend(opening.take(name)?);
    }
    let replaced: HashSet<String> =
        opening.live.iter().flat_map(|file| replaced_files(file)).collect();
    for name in names.iter().filter(|name| is_reference(name) && !replaced.contains(*name)) {
        unexplained.extend(opening.take(name)?);
    }
    opening.check_unexplained(unexplained, &replaced)?;
    opening.check_missing(&names, &replaced)?;
    let Opening { mut live, mut dead, .. } = opening;
    // A crash interrupted a compaction after its file was in place.
    let is_live = |file: &Arc<StoreFile>| !replaced.contains(file.name());
    dead.extend(live.iter().filter(|file| !is_live(file)).cloned());
    live.retain(is_live);
    let mut gone: Vec<PathBuf> = dead.iter().map(|file| file.path().to_path_buf()).collect();
    // References that were replaced are not opened.
    let paths = names.iter().filter(|name| replaced.contains(*name)).map(|name| dir.join(name));
    gone.extend(paths.filter(|path| !dead.iter().any(|file| file.path() == path)));
    live.sort_by(|left, right| left.compare_age(right));
    files.take_over(family.name(), dir, &live)?;
    Ok(FoundFiles { live, leftovers: in_order_of_removal(gone, &dead) })
}

/// A family that is being opened.
struct Opening<'a> {
    context: &'a EngineContext,
    region: &'a RegionInfo,
    family: &'a ColumnFamilyDescriptor,
    files: &'a RegionFiles,
    dir: &'a Path,
    live: Vec<Arc<StoreFile>>,
    dead: Vec<Arc<StoreFile>>,
}

impl Opening<'_> {
    /// Opens a file and determines what it is. Returns it if nothing explains it so far.
    fn take(&mut self, name: &str) -> Result<Option<Arc<StoreFile>>> {
        let path = self.dir.join(name);
        let file = Arc::new(StoreFile::open(self.context, self.region, self.family, &path)?);
        match self.files.standing(self.family.name(), &file)? {
            Standing::Live | Standing::Unlisted => self.live.push(file),
            Standing::Dead => self.dead.push(file),
            Standing::Foreign => return Ok(Some(file)),
            Standing::Changed => {
                let what = "it is not the file that the region's .manifest lists";
                if !self.context.options.salvage {
                    return Err(sealed::damaged(&path, what, REMEDY));
                }
                self.context.put_aside(&path, what)?;
            }
        }
        Ok(None)
    }

    /// Decides about unexplained files. They are leftovers if a live file, or another leftover,
    /// replaced them; otherwise they are foreign.
    fn check_unexplained(
        &mut self,
        files: Vec<Arc<StoreFile>>,
        replaced: &HashSet<String>,
    ) -> Result<()> {
        let earlier: HashSet<String> =
            self.dead.iter().flat_map(|file| replaced_files(file)).collect();
        for file in files {
            if replaced.contains(file.name()) || earlier.contains(file.name()) {
                self.dead.push(file);
                continue;
            }
            let what = "the region's .manifest does not list it";
            if !self.context.options.salvage {
                return Err(sealed::damaged(file.path(), what, REMEDY_FOREIGN));
            }
            self.context.note(file.path(), format!("{what}; it was kept"));
            self.live.push(file);
        }
        Ok(())
    }

    /// Checks that each listed file exists or was replaced.
    fn check_missing(&self, names: &[String], replaced: &HashSet<String>) -> Result<()> {
        for listed in self.files.expected(self.family.name()) {
            if names.iter().any(|name| name == listed) || replaced.contains(listed) {
                continue;
            }
            let path = self.dir.join(listed);
            let what = "the region's .manifest lists this file, and it is missing";
            if !self.context.options.salvage {
                return Err(sealed::damaged(&path, what, REMEDY));
            }
            self.context.note(&path, format!("{what}; its cells are lost"));
        }
        Ok(())
    }
}

/// Sorts replaced files into the order of their removal. A file that itself replaced some of them
/// is removed after those: until their removal is durable, it explains them.
fn in_order_of_removal(mut gone: Vec<PathBuf>, files: &[Arc<StoreFile>]) -> Leftovers {
    let mut batches = Leftovers::new();
    while !gone.is_empty() {
        let names_others = |path: &PathBuf| {
            let file = files.iter().find(|file| file.path() == path);
            let names = file.map(|file| replaced_files(file));
            let mut others = gone.iter().filter(|other| *other != path);
            names.is_some_and(|names| others.any(|other| names.iter().any(|n| other.ends_with(n))))
        };
        let (later, mut now): (Vec<PathBuf>, Vec<PathBuf>) =
            gone.iter().cloned().partition(names_others);
        if now.is_empty() {
            // Files that name each other: no order is better.
            now = std::mem::take(&mut gone);
        } else {
            gone = later;
        }
        batches.push(now);
    }
    batches
}

/// Removes the leftovers that [`open_all`] found. Called after the manifest is durable: until then
/// the files explain why others are missing.
///
/// # Errors
/// `Io`.
pub(super) fn remove_leftovers(
    fs: &dyn FileSystem,
    dir: &Path,
    leftovers: &Leftovers,
) -> Result<()> {
    for batch in leftovers {
        for path in batch {
            fs.remove_file(path).map_err(|error| Error::io("remove", path, error))?;
        }
        sync_dir(fs, dir)?;
    }
    Ok(())
}
