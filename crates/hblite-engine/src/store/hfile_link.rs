//! Links that HBase wrote: empty files whose names refer to a store file of another region.
//!
//! ```text
//! <table>=<region>-<file>              of the default namespace
//! <namespace>=<table>=<region>-<file>
//! <link>.<parent>                      a reference to the link of this name in the parent region
//! ```
//!
//! HBase writes them for files that belong entirely to one daughter of a split, and for tables that
//! it clones from snapshots. The file is still in its place, or in the archive (`HFileLink`).
//! hblite does not use such links: when a region is opened, each is replaced by a hard link to the
//! file itself.
//!
//! Crash: a file has its new name, durably, before the link is removed. If both exist, they are the
//! same file. Threads: one per region that is being opened.

use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::name::DEFAULT_NAMESPACE;
use hblite_model::{Error, Exception, Result, TableName};

use super::store_file::is_store_file_name;
use crate::files::{exists, link_or_copy, list, sync_dir};
use crate::layout::Layout;

/// What to do about a link without a file.
const REMEDY: &str = "restore the file from a backup, or remove the link and lose its cells";

/// What the name of a link refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HFileLink {
    table: TableName,
    region: String,
    /// The name of the store file.
    file: String,
    /// For a reference to a link: the region with the link.
    parent: Option<String>,
}

impl HFileLink {
    /// Parses a file name as a link; `None` if it is not one.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (link, parent) = match name.rsplit_once('.') {
            Some((link, parent)) if is_hex(parent) && link.contains('=') => {
                (link, Some(parent.to_owned()))
            }
            _ => (name, None),
        };
        let (table, target) = link.rsplit_once('=')?;
        let (region, file) = target.split_once('-')?;
        let (namespace, qualifier) = table.split_once('=').unwrap_or((DEFAULT_NAMESPACE, table));
        let is_whole = is_store_file_name(file) && !file.contains('.');
        let table = format!("{namespace}:{qualifier}").parse().ok()?;
        (is_whole && is_hex(region)).then(|| Self {
            table,
            region: region.to_owned(),
            file: file.to_owned(),
            parent,
        })
    }

    /// The name of the file, or of the reference to it, that replaces the link's name.
    pub(crate) fn own_name(&self) -> String {
        match &self.parent {
            Some(parent) => format!("{}.{parent}", self.file),
            None => self.file.clone(),
        }
    }

    /// Where the file was when it was linked to.
    pub(crate) fn place(&self, layout: &Layout, family: &Path) -> PathBuf {
        layout.table_dir(&self.table).join(&self.region).join(family).join(&self.file)
    }

    /// Where the file may be.
    fn places(&self, layout: &Layout, family: &Path) -> [PathBuf; 2] {
        let place = self.place(layout, family);
        let archived = layout.archived_file(&place);
        [place, archived]
    }

    /// Where the file is.
    ///
    /// # Errors
    /// `Io`; `CorruptHFile` that names `link` if it cannot be found.
    pub(crate) fn target(
        &self,
        fs: &dyn FileSystem,
        layout: &Layout,
        link: &Path,
    ) -> Result<PathBuf> {
        let family = link.parent().and_then(Path::file_name).unwrap_or_default();
        for place in self.places(layout, Path::new(family)) {
            if exists(fs, &place)? {
                return Ok(place);
            }
        }
        let what = format!(
            "the store file {} of region {} of table {}, to which it links, is missing; {REMEDY}",
            self.file, self.region, self.table
        );
        Err(Error::corrupt(Exception::CorruptHFile, link, 0, what))
    }
}

/// Whether a name is made of hex digits, as the encoded names of regions are.
fn is_hex(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Replaces the links in a family's directory. A missing directory has none.
///
/// # Errors
/// `Io`; `CorruptHFile` for a link without a file.
pub(crate) fn adopt_in(fs: &dyn FileSystem, layout: &Layout, dir: &Path) -> Result<()> {
    let files = list(fs, dir)?.into_iter().filter(|entry| !entry.is_dir);
    adopt_all(fs, layout, dir, &mut files.map(|entry| entry.name).collect())
}

/// Replaces the links among the files of a family's directory. `names` are the names of its files,
/// and are updated.
///
/// # Errors
/// `Io`; `CorruptHFile` for a link without a file.
pub(super) fn adopt_all(
    fs: &dyn FileSystem,
    layout: &Layout,
    dir: &Path,
    names: &mut Vec<String>,
) -> Result<()> {
    for name in names.iter_mut().filter(|name| name.contains('=')) {
        if let Some(link) = HFileLink::parse(name) {
            adopt(fs, layout, &dir.join(&*name), &link)?;
            *name = link.own_name();
        }
    }
    names.sort_unstable();
    names.dedup();
    Ok(())
}

fn adopt(fs: &dyn FileSystem, layout: &Layout, path: &Path, link: &HFileLink) -> Result<()> {
    let dir = path.parent().unwrap_or(layout.root());
    let own = dir.join(link.own_name());
    if let Some(parent) = &link.parent {
        adopt_in_parent(fs, layout, dir, parent, link)?;
        fs.rename(path, &own).map_err(|error| Error::io("cannot rename", path, error))?;
        return sync_dir(fs, dir);
    }
    let target = link.target(fs, layout, path)?;
    let is_there = exists(fs, &own)?;
    if !is_there {
        link_or_copy(fs, &target, &own)?;
    }
    sync_dir(fs, dir)?;
    fs.remove_file(path).map_err(|error| Error::io("cannot remove", path, error))?;
    sync_dir(fs, dir)
}

/// Replaces the link in the parent region that a reference in `dir` refers to, if it still exists.
fn adopt_in_parent(
    fs: &dyn FileSystem,
    layout: &Layout,
    dir: &Path,
    parent: &str,
    link: &HFileLink,
) -> Result<()> {
    let mut above = dir.ancestors();
    let family = above.next().and_then(Path::file_name).unwrap_or_default();
    let table_dir = above.nth(1).unwrap_or(layout.root());
    let parent_dir = table_dir.join(parent).join(family);
    let entries = fs.list_dir(&parent_dir);
    let entries = entries.map_err(|error| Error::io("cannot list", &parent_dir, error))?;
    let whole = HFileLink { parent: None, ..link.clone() };
    for entry in entries {
        if HFileLink::parse(&entry.name).as_ref() == Some(&whole) {
            adopt(fs, layout, &parent_dir.join(&entry.name), &whole)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hblite_env::MemFileSystem;

    use super::*;

    const REGION: &str = "0123456789abcdef0123456789abcdef";
    const PARENT: &str = "fedcba9876543210fedcba9876543210";
    const FILE: &str = "00112233445566778899aabbccddeeff";

    fn write(fs: &MemFileSystem, path: &Path, content: &[u8]) {
        fs.create_dir_all(path.parent().unwrap()).unwrap();
        fs.create(path).unwrap().write_all(content).unwrap();
    }

    fn names(fs: &MemFileSystem, dir: &Path) -> Vec<String> {
        fs.list_dir(dir).unwrap().into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn names_are_read_as_hbase_writes_them() {
        let parsed = |name: &str| {
            let link = HFileLink::parse(name)?;
            Some((link.table.to_string(), link.own_name()))
        };
        let found = Some(("ns:a-b".to_owned(), FILE.to_owned()));
        assert_eq!(parsed(&format!("ns=a-b={REGION}-{FILE}")), found);
        let loaded = format!("{FILE}_SeqId_7_");
        assert_eq!(parsed(&format!("t.x={REGION}-{loaded}")), Some(("t.x".to_owned(), loaded)));
        let half = Some(("t".to_owned(), format!("{FILE}.{PARENT}")));
        assert_eq!(parsed(&format!("t={REGION}-{FILE}.{PARENT}")), half);
        for name in [FILE, "t=x-y", &format!("{FILE}.{PARENT}"), &format!("t={REGION}"), "="] {
            assert_eq!(parsed(name), None, "{name}");
        }
    }

    #[test]
    fn a_link_becomes_the_file_wherever_that_is() {
        for place in ["/d/data/ns/t", "/d/archive/data/ns/t"] {
            let (fs, layout) = (MemFileSystem::new(), Layout::new(Path::new("/d")));
            let target = Path::new(place).join(REGION).join("f").join(FILE);
            write(&fs, &target, b"cells");
            let dir = Path::new("/d/data/default/u").join(PARENT).join("f");
            let name = format!("ns=t={REGION}-{FILE}");
            write(&fs, &dir.join(&name), b"");
            let mut found = vec![name.clone()];
            adopt_all(&fs, &layout, &dir, &mut found).unwrap();
            assert_eq!((found, names(&fs, &dir)), (vec![FILE.to_owned()], vec![FILE.to_owned()]));
            assert_eq!(fs.read(&dir.join(FILE)).unwrap(), b"cells");
            // As a power cut leaves it.
            write(&fs, &dir.join(&name), b"");
            let mut found = vec![FILE.to_owned(), name.clone()];
            adopt_all(&fs, &layout, &dir, &mut found).unwrap();
            assert_eq!((found, names(&fs, &dir)), (vec![FILE.to_owned()], vec![FILE.to_owned()]));
            fs.remove_file(&target).unwrap();
            fs.remove_file(&dir.join(FILE)).unwrap();
            write(&fs, &dir.join(&name), b"");
            let error = adopt_all(&fs, &layout, &dir, &mut vec![name.clone()]).unwrap_err();
            assert_eq!(error.file(), Some(&*dir.join(&name)), "{error}");
        }
    }

    #[test]
    fn a_reference_to_a_link_becomes_one_to_the_file() {
        let (fs, layout) = (MemFileSystem::new(), Layout::new(Path::new("/d")));
        let table = Path::new("/d/data/default/t");
        write(&fs, &table.join(REGION).join("f").join(FILE), b"cells");
        let link = format!("t={REGION}-{FILE}");
        write(&fs, &table.join(PARENT).join("f").join(&link), b"");
        let dir = table.join("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").join("f");
        let name = format!("{link}.{PARENT}");
        write(&fs, &dir.join(&name), b"half");
        let mut found = vec![name];
        adopt_all(&fs, &layout, &dir, &mut found).unwrap();
        let half = vec![format!("{FILE}.{PARENT}")];
        assert_eq!((found, names(&fs, &dir)), (half.clone(), half));
        assert_eq!(names(&fs, &table.join(PARENT).join("f")), [FILE]);
    }
}
