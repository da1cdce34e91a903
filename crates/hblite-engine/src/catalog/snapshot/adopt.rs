//! What an open does about snapshots: it makes each usable for hblite and for HBase.
//!
//! - A snapshot that HBase took or copied has only HBase's list. Its files are linked into the
//!   snapshot's directory, since hblite removes files of regions, and into the archive, for HBase.
//!   The settings come last and complete the adoption. `.linked.manifest` is the part of the list
//!   that had no name in the archive before, so that a removal keeps the names that HBase created.
//! - A snapshot of an earlier hblite has no list. Its files are linked into the archive, and the
//!   list comes last.
//!
//! After a crash, the next open starts over. A snapshot of HBase's that lacks a file stays as it
//! is.
//!
//! Threads: the one that opens the store.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::FileSystem;
use hblite_model::{Error, ErrorKind, RegionInfo, Result};

use super::archive;
use super::data_manifest::{DataManifest, ListedFile, ListedRegion, place};
use super::new_files::NewFiles;
use super::removal::finish_removals;
use super::stored::{StoredDescription, StoredSnapshot, read_description};
use crate::catalog::descriptor_file::{self, Safety};
use crate::catalog::{orphans, region_info_file};
use crate::context::EngineContext;
use crate::files::{exists, link_or_copy, list};
use crate::layout::{
    DATA_MANIFEST_FILE, LINKED_MANIFEST_FILE, Layout, MANIFEST_FILE, REGION_INFO_FILE,
    SNAPSHOT_INFO_FILE, TABLE_DESCRIPTOR_DIR, family_dir_name, is_region_name,
};
use crate::sealed::{self, Seal};
use crate::store::hfile_link::HFileLink;
use crate::store::manifest::Manifest;
use crate::store::store_file::{Half, StoreFile, split_reference};

/// What to do about a snapshot that lacks a file.
const REMEDY: &str = "restore the file from a backup, or delete the snapshot";

/// Completes work on snapshots when a store is opened.
///
/// # Errors
/// `Io`.
pub(crate) fn settle_all(context: &EngineContext) -> Result<()> {
    let (fs, layout) = (&context.env.fs, &context.layout);
    context.note_if_left(&layout.snapshots_dir(), finish_removals(fs.as_ref(), layout));
    if context.options.is_read_only {
        return Ok(());
    }
    context.note_if_left(&layout.archive_dir(), archive::settle(fs.as_ref(), layout));
    for name in orphans::directories(fs.as_ref(), &layout.snapshots_dir())? {
        let dir = layout.snapshot_dir(&name);
        let Err(error) = settle_one(fs, layout, &dir, &name) else { continue };
        // Damage is reported whenever the snapshot is used.
        if error.kind() != ErrorKind::Corrupt {
            return Err(error);
        }
        context.note(&dir, format!("the snapshot was not taken over: {}", error.message()));
    }
    Ok(())
}

/// Adopts a snapshot that HBase took, if no open could adopt it because it lacked a file.
///
/// # Errors
/// `Io`; `CorruptHFile` if it still does.
pub(super) fn ensure(fs: &Arc<dyn FileSystem>, layout: &Layout, name: &str) -> Result<()> {
    let dir = layout.snapshot_dir(name);
    settle_one(fs, layout, &dir, name)
}

fn settle_one(fs: &Arc<dyn FileSystem>, layout: &Layout, dir: &Path, name: &str) -> Result<()> {
    let stored = read_description(fs.as_ref(), dir, Some(name))?;
    let Some((listed, seal)) = DataManifest::read(fs.as_ref(), dir, &stored.description.table)?
    else {
        return convert(fs.as_ref(), layout, dir, &stored);
    };
    if is_taken_over(fs.as_ref(), dir, &stored, seal)? {
        return Ok(());
    }
    let files = NewFiles::new(fs.as_ref(), dir);
    TakeOver { fs, layout, dir, files }.run(&listed)
}

/// Whether the snapshot, which has a list by hblite (with a checksum) or by HBase, also has what
/// hblite reads. HBase's ExportSnapshot copies the list alone, even of a snapshot that hblite took.
/// One of hblite's that has regions and lacks its settings is damaged.
fn is_taken_over(
    fs: &dyn FileSystem,
    dir: &Path,
    stored: &StoredDescription,
    seal: Seal,
) -> Result<bool> {
    let linked = dir.join(LINKED_MANIFEST_FILE);
    let is_begun = exists(fs, &linked)?;
    if seal == Seal::Verified && !is_begun && !orphans::directories(fs, dir)?.is_empty() {
        return Ok(true);
    }
    let settings = dir.join(TABLE_DESCRIPTOR_DIR);
    Ok(descriptor_file::read(fs, &settings, &stored.description.table)?.is_some())
}

/// Gives a snapshot of an earlier hblite what HBase reads.
fn convert(
    fs: &dyn FileSystem,
    layout: &Layout,
    dir: &Path,
    stored: &StoredDescription,
) -> Result<()> {
    let snapshot = StoredSnapshot::read(fs, dir)?;
    let mut listed = DataManifest { table: snapshot.table, regions: Vec::new() };
    let mut links = Vec::new();
    for (info, region_dir) in snapshot.regions {
        let mut families = Vec::new();
        for family in listed.table.families() {
            let name = family_dir_name(family.name());
            let mut files = Vec::new();
            for entry in list(fs, &region_dir.join(&name))? {
                let path = region_dir.join(&name).join(&entry.name);
                let reference = split_reference(&path);
                let half = reference.map(|_| Half::read(fs, &path)).transpose()?;
                let file = match reference {
                    Some((file, parent)) => dir.join(parent).join(&name).join(file),
                    None => path,
                };
                let length = fs.file_length(&file);
                let length = length.map_err(|error| Error::io("cannot read", &file, error))?;
                let of_region = layout.family_dir(&info, family.name()).join(&entry.name);
                links.push((file, place(layout, &of_region)));
                files.push(ListedFile { name: entry.name, half, length });
            }
            families.push((family.name().to_vec(), files));
        }
        listed.regions.push(ListedRegion { info, families });
    }
    archive::link_all(fs, layout, links.iter().map(|(from, to)| (&**from, &**to)))?;
    let description = crate::snapshot::encode_as(&stored.description, stored.seal);
    for (name, content) in
        [(SNAPSHOT_INFO_FILE, description), (DATA_MANIFEST_FILE, listed.encode())]
    {
        let path = dir.join(name);
        fs.write_atomically(&path, &content).map_err(|e| Error::io("cannot write", &path, e))?;
    }
    Ok(())
}

/// The store file that an entry of HBase's list refers to.
pub(crate) struct Found {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Where it was when the snapshot was taken.
    pub(crate) place: PathBuf,
}

/// Finds a file of the list of the snapshot in `dir`, as HBase does.
///
/// # Errors
/// `Io`; `CorruptHFile` if it cannot be found, or is not the file that is listed.
pub(super) fn find(
    fs: &dyn FileSystem,
    layout: &Layout,
    dir: &Path,
    listed: &Path,
    file: &ListedFile,
) -> Result<Found> {
    let place = place(layout, listed);
    for path in [place.clone(), layout.mob_file(&place), layout.archived_file(&place)] {
        if !exists(fs, &path)? {
            continue;
        }
        let length = fs.file_length(&path).map_err(|e| Error::io("cannot read", &path, e))?;
        if file.length != 0 && length != file.length {
            let what = format!("it has {length} bytes, and the snapshot lists {}", file.length);
            return Err(sealed::damaged(&path, what, REMEDY));
        }
        return Ok(Found { path, place });
    }
    let below = place.strip_prefix(layout.root()).unwrap_or(&place).display();
    let what = format!("it lists {below}, which is neither there nor in the archive");
    Err(sealed::damaged(&dir.join(DATA_MANIFEST_FILE), what, REMEDY))
}

/// The store files of the snapshot in `dir`, if HBase took it and no open has adopted it.
///
/// # Errors
/// `Io`; `CorruptHFile` if one is missing.
pub(crate) fn files_of_hbase(
    fs: &dyn FileSystem,
    layout: &Layout,
    dir: &Path,
) -> Result<Option<Vec<Found>>> {
    let stored = read_description(fs, dir, dir.file_name().and_then(|name| name.to_str()))?;
    let Some((listed, seal)) = DataManifest::read(fs, dir, &stored.description.table)? else {
        return Ok(None);
    };
    if is_taken_over(fs, dir, &stored, seal)? {
        return Ok(None);
    }
    let mut found = Vec::new();
    for_each_file(layout, &listed, |_, path, file| {
        found.push(find(fs, layout, dir, path, file)?);
        Ok(())
    })?;
    Ok(Some(found))
}

/// Visits every file of a list with its region and its path in that region.
pub(super) fn for_each_file(
    layout: &Layout,
    listed: &DataManifest,
    mut visit: impl FnMut(&RegionInfo, &Path, &ListedFile) -> Result<()>,
) -> Result<()> {
    for region in &listed.regions {
        for (family, files) in &region.families {
            let dir = layout.family_dir(&region.info, family);
            for file in files {
                visit(&region.info, &dir.join(&file.name), file)?;
            }
        }
    }
    Ok(())
}

/// A snapshot of HBase's that is being adopted.
struct TakeOver<'a> {
    fs: &'a Arc<dyn FileSystem>,
    layout: &'a Layout,
    /// The snapshot's directory.
    dir: &'a Path,
    files: NewFiles<'a>,
}

impl TakeOver<'_> {
    fn run(mut self, listed: &DataManifest) -> Result<()> {
        let (fs, layout, dir) = (self.fs.as_ref(), self.layout, self.dir);
        for name in orphans::directories(fs, dir)?.iter().filter(|name| is_region_name(name)) {
            layout.remove_in_place(fs, &dir.join(name))?;
        }
        let mut found = Vec::new();
        for_each_file(layout, listed, |_, path, file| {
            found.push(find(fs, layout, dir, path, file)?);
            Ok(())
        })?;
        let path = dir.join(LINKED_MANIFEST_FILE);
        let linked = linked_part(layout, listed, &found).encode();
        fs.write_atomically(&path, &linked).map_err(|e| Error::io("cannot write", &path, e))?;
        let links = found.iter().map(|found| (&*found.path, &*found.place));
        archive::link_all(fs, layout, links)?;
        // The rows of a split region are in its daughters, and a table has no region `.mob`: its
        // files are found in the archive.
        let is_made = |region: &&ListedRegion| !region.info.is_split && !region.info.is_mob();
        for region in listed.regions.iter().filter(is_made) {
            self.add_region(region)?;
        }
        let settings = dir.join(TABLE_DESCRIPTOR_DIR);
        self.files.make_dir(&settings)?;
        self.files.sync()?;
        descriptor_file::write(fs, &settings, &listed.table, Safety::Durable)
    }

    fn add_region(&mut self, region: &ListedRegion) -> Result<()> {
        let (info, dir) = (&region.info, self.dir.join(region.info.encoded_name()));
        self.files.make_dir(&dir)?;
        self.files.write(&dir.join(REGION_INFO_FILE), &region_info_file::file_content(info))?;
        let mut manifest = Manifest { settled: u64::MAX, ..Manifest::new(info.encoded_name()) };
        for (family, files) in &region.families {
            self.files.make_dir(&dir.join(family_dir_name(family)))?;
            for file in files {
                let path = self.add_file(info, family, file)?;
                let opened = StoreFile::open_with(self.fs, self.layout, None, &path)?;
                opened.check_owner(info, family)?;
                manifest.add(family, &opened)?;
            }
        }
        self.files.write(&dir.join(MANIFEST_FILE), &manifest.encode())
    }

    /// Returns where the file is.
    fn add_file(&mut self, info: &RegionInfo, family: &[u8], file: &ListedFile) -> Result<PathBuf> {
        let fs = self.fs.as_ref();
        let of_region = self.layout.family_dir(info, family).join(&file.name);
        let found = find(fs, self.layout, self.dir, &of_region, file)?;
        let link = HFileLink::parse(&file.name);
        let name = link.map_or_else(|| file.name.clone(), |link| link.own_name());
        let family = family_dir_name(family);
        let path = self.dir.join(info.encoded_name()).join(&family).join(name);
        let Some((target, parent)) = split_reference(&path) else {
            link_or_copy(fs, &found.path, &path)?;
            return Ok(path);
        };
        let half = file.half.as_ref().ok_or_else(|| {
            let what = format!("it does not say which half of its file {} is", file.name);
            sealed::damaged(&self.dir.join(DATA_MANIFEST_FILE), what, REMEDY)
        })?;
        self.files.write(&path, &half.encode())?;
        let parent_dir = self.dir.join(parent).join(&family);
        self.files.make_dir(&parent_dir)?;
        let target = parent_dir.join(target);
        // Both daughters refer to it.
        if !exists(fs, &target)? {
            link_or_copy(fs, &found.path, &target)?;
        }
        Ok(path)
    }
}

/// The part of a list whose files are in regions. HBase archives by moving files, so for these a
/// name in the archive is hblite's.
fn linked_part(layout: &Layout, listed: &DataManifest, found: &[Found]) -> DataManifest {
    let live: BTreeSet<&Path> = found
        .iter()
        .filter(|found| found.path == found.place)
        .map(|found| found.place.as_path())
        .collect();
    let mut linked = listed.clone();
    for region in &mut linked.regions {
        for (family, files) in &mut region.families {
            let dir = layout.family_dir(&region.info, family);
            files.retain(|file| live.contains(&*place(layout, &dir.join(&file.name))));
        }
    }
    linked
}
