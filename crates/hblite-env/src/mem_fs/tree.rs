//! The names of a file system in memory.
//!
//! A name is the bytes of its path with a zero byte for each separator, so that a comparison of
//! bytes orders paths by their parts: what is below a directory follows it, and nothing lies in
//! between. The root is the empty name and always exists.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use super::{Content, FileContent};
use crate::fs::DirEntry;

const SEPARATOR: u8 = 0;
/// Greater than the separator, and smaller than every other byte of a path.
const AFTER_SEPARATOR: u8 = 1;

/// The name of a file or directory. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(Arc<[u8]>);

impl Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl Name {
    /// The name of a path; as for [`Path`], repeated separators and `.` count for nothing.
    pub(super) fn of(path: &Path) -> Self {
        let bytes = path.as_os_str().as_encoded_bytes();
        let is_separator = |byte: &u8| std::path::is_separator(char::from(*byte));
        let mut name = Vec::with_capacity(bytes.len());
        let parts = bytes.split(is_separator).filter(|part| !part.is_empty() && *part != b".");
        for (number, part) in parts.enumerate() {
            if number > 0 || bytes.first().is_some_and(is_separator) {
                name.push(SEPARATOR);
            }
            name.extend_from_slice(part);
        }
        Self(name.into())
    }

    fn parent(&self) -> &[u8] {
        let end = self.0.iter().rposition(|byte| *byte == SEPARATOR);
        &self.0[..end.unwrap_or(0)]
    }

    /// The start of the names of everything below it.
    fn prefix(&self) -> Vec<u8> {
        [&self.0, &[SEPARATOR][..]].concat()
    }
}

/// What there is, by name.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: BTreeMap<Name, FileContent>,
    dirs: BTreeSet<Name>,
    /// Names of locked files.
    pub(super) locked: BTreeSet<Name>,
}

impl Tree {
    /// A copy without locks. The contents are shared until one side writes.
    pub(super) fn fork(&self) -> Self {
        let copy = |(name, content): (&Name, &FileContent)| {
            (name.clone(), Content::shared(content.read().clone()))
        };
        let files = self.files.iter().map(copy).collect();
        Self { files, dirs: self.dirs.clone(), locked: BTreeSet::new() }
    }

    pub(super) fn file(&self, path: &Path) -> Option<&FileContent> {
        self.files.get(&Name::of(path))
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        let name = Name::of(path);
        self.files.contains_key(&name) || self.is_dir(&name.0)
    }

    fn is_dir(&self, name: &[u8]) -> bool {
        name.is_empty() || self.dirs.contains(name)
    }

    /// Refuses a name that exists or whose directory does not exist.
    pub(super) fn check_free(&self, path: &Path) -> io::Result<()> {
        let name = Name::of(path);
        if self.files.contains_key(&name) || self.is_dir(&name.0) {
            return Err(already_exists(path));
        }
        match path.parent() {
            Some(above) if !self.is_dir(name.parent()) => Err(not_found(above)),
            _ => Ok(()),
        }
    }

    /// Creates a directory and its parents.
    pub(super) fn add_dirs(&mut self, path: &Path) {
        let mut name = Name::of(path);
        while !self.is_dir(&name.0) {
            let parent = Name(name.parent().into());
            self.dirs.insert(name);
            name = parent;
        }
    }

    /// Gives a file or directory another name.
    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (old, new) = (Name::of(from), Name::of(to));
        if let Some(content) = self.files.remove(&old) {
            self.files.insert(new, content);
            return Ok(());
        }
        if !self.is_dir(&old.0) {
            return Err(not_found(from));
        }
        if !self.is_empty_dir(&new) {
            self.check_free(to)?;
        }
        let (dirs, files) = self.take(&old);
        let moved = |name: &Name| Name([&new.0, &name.0[old.0.len()..]].concat().into());
        self.dirs.extend(dirs.iter().map(moved));
        self.files.extend(files.into_iter().map(|(name, content)| (moved(&name), content)));
        Ok(())
    }

    /// Removes a directory and everything below it.
    pub(super) fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        let name = Name::of(path);
        if !self.is_dir(&name.0) {
            return Err(not_found(path));
        }
        self.take(&name);
        Ok(())
    }

    fn is_empty_dir(&self, name: &Name) -> bool {
        let prefix = name.prefix();
        let is_below = |found: Option<&Name>| found.is_some_and(|n| n.0.starts_with(&prefix));
        let from = (Bound::Included(&prefix[..]), Bound::Unbounded);
        self.is_dir(&name.0)
            && !is_below(self.dirs.range::<[u8], _>(from).next())
            && !is_below(self.files.range::<[u8], _>(from).next().map(|(name, _)| name))
    }

    /// Removes a directory and everything below it, and returns both. The time depends on how much
    /// is removed, not on the size of the file system.
    fn take(&mut self, dir: &Name) -> (Vec<Name>, Vec<(Name, FileContent)>) {
        let prefix = dir.prefix();
        let from = (Bound::Included(&prefix[..]), Bound::Unbounded);
        let is_below = |name: &&Name| name.0.starts_with(&prefix);
        let dirs = self.dirs.range::<[u8], _>(from).take_while(is_below).cloned();
        let dirs: Vec<Name> = std::iter::once(dir.clone()).chain(dirs).collect();
        let files = self.files.range::<[u8], _>(from).map(|(name, _)| name);
        let files: Vec<Name> = files.take_while(is_below).cloned().collect();
        for dir in &dirs {
            self.dirs.remove(dir);
        }
        (dirs, files.into_iter().filter_map(|name| self.files.remove_entry(&name)).collect())
    }

    /// The entries of a directory, sorted by name.
    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let dir = Name::of(path);
        if !self.is_dir(&dir.0) {
            return Err(not_found(path));
        }
        let dirs = children(&dir, |from| self.dirs.range::<[u8], _>(from).next());
        let files =
            children(&dir, |from| self.files.range::<[u8], _>(from).next().map(|(name, _)| name));
        let dirs = dirs.into_iter().map(|name| DirEntry { name, is_dir: true });
        let files = files.into_iter().map(|name| DirEntry { name, is_dir: false });
        let mut entries: Vec<DirEntry> = dirs.chain(files).collect();
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(entries)
    }
}

type From<'b> = (Bound<&'b [u8]>, Bound<&'b [u8]>);

/// The last parts of the names that are directly in a directory. `next` returns the first name from
/// a bound on; deeper names are skipped.
fn children<'t>(dir: &Name, next: impl Fn(From<'_>) -> Option<&'t Name>) -> Vec<String> {
    let prefix = dir.prefix();
    let mut from = prefix.clone();
    let mut found = Vec::new();
    while let Some(name) = next((Bound::Included(&from), Bound::Unbounded)) {
        let Some(rest) = name.0.strip_prefix(&prefix[..]) else { break };
        let end = rest.iter().position(|byte| *byte == SEPARATOR);
        let part = &rest[..end.unwrap_or(rest.len())];
        if end.is_none() {
            found.extend(std::str::from_utf8(part).ok().map(str::to_owned));
        }
        // After everything below this part.
        from.truncate(prefix.len());
        from.extend_from_slice(part);
        from.push(if end.is_none() { SEPARATOR } else { AFTER_SEPARATOR });
    }
    found
}

fn already_exists(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{} already exists", path.display()))
}

pub(super) fn not_found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{} does not exist", path.display()))
}
