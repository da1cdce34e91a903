//! A file system in memory, for stores that leave nothing behind.
//!
//! Threads: one lock over the tree of names; the content of each file has its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::fs::{DirEntry, FileBytes, FileLock, FileSystem, ReadableFile, WritableFile, read_all};

/// The content of a file.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// These bytes. Mappings of the file share them until it is written to.
    Bytes(FileBytes),
    /// The first `length` bytes of a file of another file system.
    Open { file: Arc<dyn ReadableFile>, length: u64 },
}

impl Content {
    fn owned(bytes: Vec<u8>) -> Self {
        Self::Bytes(FileBytes::Owned(Arc::new(bytes)))
    }

    fn length(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Open { length, .. } => *length,
        }
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64).filter(|end| *end <= self.length());
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        match self {
            // Within the bytes, so within `usize`.
            Self::Bytes(bytes) => buffer.copy_from_slice(&bytes[offset as usize..end as usize]),
            Self::Open { file, .. } => file.read_exact_at(buffer, offset)?,
        }
        Ok(())
    }

    /// All of it, in memory.
    fn bytes(&self) -> io::Result<FileBytes> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.clone()),
            Self::Open { file, length } => {
                Ok(FileBytes::Owned(Arc::new(read_all(file.as_ref(), *length)?)))
            }
        }
    }
}

/// A path; forks share it.
type Name = Arc<Path>;
type FileContent = Arc<RwLock<Content>>;

/// Files in memory.
#[derive(Debug, Clone, Default)]
pub struct MemFileSystem {
    tree: Arc<Mutex<Tree>>,
}

#[derive(Debug, Default)]
struct Tree {
    files: BTreeMap<Name, FileContent>,
    dirs: BTreeSet<Name>,
    locked: BTreeSet<PathBuf>,
}

impl MemFileSystem {
    /// An empty file system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file with known content. Its directory exists.
    pub(crate) fn insert(&self, path: &Path, content: Content) {
        self.tree.lock().files.insert(path.into(), Arc::new(RwLock::new(content)));
    }
}

impl Tree {
    /// Refuses a name that exists or whose directory does not exist.
    fn check_free(&self, path: &Path) -> io::Result<()> {
        if self.files.contains_key(path) || self.dirs.contains(path) {
            return Err(already_exists(path));
        }
        match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() && !self.dirs.contains(parent) => {
                Err(not_found(parent))
            }
            _ => Ok(()),
        }
    }

    fn is_empty_dir(&self, path: &Path) -> bool {
        self.dirs.contains(path) && self.below(path).next().is_none()
    }

    /// The entries below a directory, at any depth, and whether they are directories. Paths are
    /// sorted by their parts, so entries follow their directory.
    fn below<'t>(&'t self, path: &'t Path) -> impl Iterator<Item = (&'t Path, bool)> {
        let after = (Bound::Excluded(path), Bound::Unbounded);
        let dirs = self.dirs.range::<Path, _>(after).map(Arc::as_ref);
        let files = self.files.range::<Path, _>(after).map(|(file, _)| file.as_ref());
        let dirs = dirs.take_while(move |dir| dir.starts_with(path)).map(|dir| (dir, true));
        dirs.chain(files.take_while(move |file| file.starts_with(path)).map(|file| (file, false)))
    }

    /// Removes a directory and everything below it, and returns both. The time depends on how much
    /// is removed, not on the size of the file system.
    fn take(&mut self, dir: &Path) -> (Vec<Name>, Vec<(Name, FileContent)>) {
        let below = self.below(dir).map(|(path, is_dir)| (path.to_path_buf(), is_dir));
        let all: Vec<(PathBuf, bool)> =
            std::iter::once((dir.to_path_buf(), true)).chain(below).collect();
        let (mut dirs, mut files) = (Vec::new(), Vec::new());
        for (path, is_dir) in all {
            if is_dir {
                dirs.extend(self.dirs.take(path.as_path()));
            } else {
                files.extend(self.files.remove_entry(path.as_path()));
            }
        }
        (dirs, files)
    }
}

/// The names of the paths that are directly in a directory. `next` returns the first path from a
/// bound on; deeper paths are skipped.
fn children<'t>(dir: &Path, next: impl Fn(Bound<&Path>) -> Option<&'t Path>) -> Vec<String> {
    let mut names = Vec::new();
    let mut from = Bound::Excluded(dir.to_path_buf());
    while let Some(path) = next(from.as_ref().map(PathBuf::as_path)) {
        let Ok(rest) = path.strip_prefix(dir) else { break };
        let mut parts = rest.components();
        let Some(name) = parts.next() else { break };
        if parts.next().is_none() {
            names.extend(name.as_os_str().to_str().map(str::to_owned));
        }
        // After everything below this name: no name contains a zero byte.
        let mut after = dir.join(name).into_os_string();
        after.push("\0");
        from = Bound::Included(PathBuf::from(after));
    }
    names
}

fn already_exists(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("{} already exists", path.display()))
}

fn not_found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{} does not exist", path.display()))
}

impl FileSystem for MemFileSystem {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let mut tree = self.tree.lock();
        tree.check_free(path)?;
        let content = Arc::new(RwLock::new(Content::owned(Vec::new())));
        tree.files.insert(path.into(), content.clone());
        let place = Place::new(&self.tree, path, &content);
        Ok(Box::new(MemWritableFile(place)))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        let content = self.tree.lock().files.get(path).cloned().ok_or_else(|| not_found(path))?;
        Ok(Arc::new(MemReadableFile(content)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut tree = self.tree.lock();
        if let Some(content) = tree.files.remove(from) {
            tree.files.insert(to.into(), content);
            return Ok(());
        }
        if !tree.dirs.contains(from) {
            return Err(not_found(from));
        }
        if !tree.is_empty_dir(to) {
            tree.check_free(to)?;
        }
        let (dirs, files) = tree.take(from);
        let moved = |path: Name| {
            path.strip_prefix(from).map_or_else(|_| Arc::clone(&path), |rest| to.join(rest).into())
        };
        tree.dirs.extend(dirs.into_iter().map(moved));
        tree.files.extend(files.into_iter().map(|(path, content)| (moved(path), content)));
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.tree.lock().files.remove(path).map(drop).ok_or_else(|| not_found(path))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree.lock();
        if !tree.dirs.contains(path) {
            return Err(not_found(path));
        }
        tree.take(path);
        Ok(())
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree.lock();
        for dir in path.ancestors().filter(|dir| !dir.as_os_str().is_empty()) {
            tree.dirs.insert(dir.into());
        }
        Ok(())
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let tree = self.tree.lock();
        if !tree.dirs.contains(path) {
            return Err(not_found(path));
        }
        let dirs = children(path, |from| {
            tree.dirs.range::<Path, _>((from, Bound::Unbounded)).next().map(Arc::as_ref)
        });
        let files = children(path, |from| {
            tree.files
                .range::<Path, _>((from, Bound::Unbounded))
                .next()
                .map(|(file, _)| file.as_ref())
        });
        let dirs = dirs.into_iter().map(|name| DirEntry { name, is_dir: true });
        let files = files.into_iter().map(|name| DirEntry { name, is_dir: false });
        let mut entries: Vec<DirEntry> = dirs.chain(files).collect();
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(entries)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let tree = self.tree.lock();
        Ok(tree.files.contains_key(path) || tree.dirs.contains(path))
    }

    fn file_length(&self, path: &Path) -> io::Result<u64> {
        self.open(path)?.length()
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut tree = self.tree.lock();
        let content = tree.files.get(from).cloned().ok_or_else(|| not_found(from))?;
        tree.check_free(to)?;
        tree.files.insert(to.into(), content);
        Ok(())
    }

    fn fork(&self) -> Option<Arc<dyn FileSystem>> {
        let tree = self.tree.lock();
        // No name changes while the tree is locked. Contents are shared until one side writes.
        let mut files = tree.files.clone();
        for content in files.values_mut() {
            let own = Arc::new(RwLock::new(content.read().clone()));
            *content = own;
        }
        let forked = Tree { files, dirs: tree.dirs.clone(), locked: BTreeSet::new() };
        Some(Arc::new(Self { tree: Arc::new(Mutex::new(forked)) }))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.open(path).map(drop)
    }

    fn rewrite(&self, path: &Path, _: u64) -> io::Result<()> {
        self.sync_file(path)
    }

    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, path: &Path, holder: &str) -> io::Result<Box<dyn FileLock>> {
        let mut tree = self.tree.lock();
        if !tree.locked.insert(path.to_path_buf()) {
            let other = tree
                .files
                .get(path)
                .map_or(Ok(FileBytes::Owned(Arc::default())), |content| content.read().bytes())?;
            let message = String::from_utf8_lossy(&other).into_owned();
            return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
        }
        let content = Arc::new(RwLock::new(Content::owned(holder.as_bytes().to_vec())));
        tree.files.insert(path.into(), content.clone());
        Ok(Box::new(MemFileLock(Place::new(&self.tree, path, &content))))
    }

    fn lock_existing(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        let mut tree = self.tree.lock();
        let Some(content) = tree.files.get(path).cloned() else { return Ok(None) };
        if !tree.locked.insert(path.to_path_buf()) {
            let message = String::from_utf8_lossy(&content.read().bytes()?).into_owned();
            return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
        }
        Ok(Some(Box::new(MemFileLock(Place::new(&self.tree, path, &content)))))
    }
}

/// The path of an open file when it was opened.
#[derive(Debug)]
struct Place {
    tree: Arc<Mutex<Tree>>,
    path: PathBuf,
    content: FileContent,
}

impl Place {
    fn new(tree: &Arc<Mutex<Tree>>, path: &Path, content: &FileContent) -> Self {
        Self { tree: tree.clone(), path: path.to_path_buf(), content: content.clone() }
    }

    fn is_current(&self) -> bool {
        let tree = self.tree.lock();
        tree.files.get(self.path.as_path()).is_some_and(|found| Arc::ptr_eq(found, &self.content))
    }
}

#[derive(Debug)]
struct MemFileLock(Place);

impl FileLock for MemFileLock {
    fn is_in_place(&self) -> io::Result<bool> {
        Ok(self.0.is_current())
    }
}

impl Drop for MemFileLock {
    fn drop(&mut self) {
        self.0.tree.lock().locked.remove(&self.0.path);
    }
}

#[derive(Debug)]
struct MemWritableFile(Place);

impl MemWritableFile {
    /// Changes the content: in place, or in a copy if it is mapped or shared.
    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let mut content = self.0.content.write();
        if let Content::Bytes(FileBytes::Owned(owned)) = &mut *content {
            change(Arc::make_mut(owned));
            return Ok(());
        }
        let mut copy = content.bytes()?.to_vec();
        change(&mut copy);
        *content = Content::owned(copy);
        Ok(())
    }
}

impl WritableFile for MemWritableFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.change(|content| content.extend_from_slice(bytes))
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        self.change(|content| content.truncate(length))
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn is_in_place(&self) -> io::Result<bool> {
        Ok(self.0.is_current())
    }
}

#[derive(Debug)]
struct MemReadableFile(FileContent);

impl ReadableFile for MemReadableFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.read().length())
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read().read_exact_at(buffer, offset)
    }

    fn map(&self) -> io::Result<FileBytes> {
        self.0.read().bytes()
    }
}
