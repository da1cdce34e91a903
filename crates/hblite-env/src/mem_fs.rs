//! A file system in memory, for stores that leave nothing behind.
//!
//! Threads: one lock over the tree of names; the content of each file has its own.

mod tree;

use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use self::tree::{Name, Tree, not_found};
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
    pub(crate) fn owned(bytes: Vec<u8>) -> Self {
        Self::Bytes(FileBytes::Owned(Arc::new(bytes)))
    }

    fn shared(self) -> FileContent {
        Arc::new(RwLock::new(self))
    }

    pub(crate) fn length(&self) -> u64 {
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

type FileContent = Arc<RwLock<Content>>;

/// Files in memory.
#[derive(Debug, Clone, Default)]
pub struct MemFileSystem {
    tree: Arc<Mutex<Tree>>,
}

impl MemFileSystem {
    /// An empty file system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file with known content. Its directory exists.
    pub(crate) fn insert(&self, path: &Path, content: Content) {
        self.tree.lock().files.insert(Name::of(path), Content::shared(content));
    }
}

impl FileSystem for MemFileSystem {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        let mut tree = self.tree.lock();
        tree.check_free(path)?;
        let content = Content::shared(Content::owned(Vec::new()));
        tree.files.insert(Name::of(path), content.clone());
        let place = Place::new(&self.tree, path, &content);
        Ok(Box::new(MemWritableFile(place)))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        let content = self.tree.lock().file(path).cloned().ok_or_else(|| not_found(path))?;
        Ok(Arc::new(MemReadableFile(content)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.tree.lock().rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let removed = self.tree.lock().files.remove(&Name::of(path));
        removed.map(drop).ok_or_else(|| not_found(path))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.tree.lock().remove_dir(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.tree.lock().add_dirs(path);
        Ok(())
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.tree.lock().list(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.tree.lock().exists(path))
    }

    fn file_length(&self, path: &Path) -> io::Result<u64> {
        self.open(path)?.length()
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut tree = self.tree.lock();
        let content = tree.file(from).cloned().ok_or_else(|| not_found(from))?;
        tree.check_free(to)?;
        tree.files.insert(Name::of(to), content);
        Ok(())
    }

    fn take_space(&self, _: &Path, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn fork(&self) -> Option<Arc<dyn FileSystem>> {
        // No name changes while the tree is locked.
        let forked = self.tree.lock().fork();
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
        let name = Name::of(path);
        if !tree.locked.insert(name.clone()) {
            let other = tree
                .files
                .get(&name)
                .map_or(Ok(FileBytes::Owned(Arc::default())), |content| content.read().bytes())?;
            let message = String::from_utf8_lossy(&other).into_owned();
            return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
        }
        let content = Content::shared(Content::owned(holder.as_bytes().to_vec()));
        tree.files.insert(name, content.clone());
        Ok(Box::new(MemFileLock(Place::new(&self.tree, path, &content))))
    }

    fn lock_existing(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        let mut tree = self.tree.lock();
        let Some(content) = tree.file(path).cloned() else { return Ok(None) };
        if !tree.locked.insert(Name::of(path)) {
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
    name: Name,
    content: FileContent,
}

impl Place {
    fn new(tree: &Arc<Mutex<Tree>>, path: &Path, content: &FileContent) -> Self {
        Self { tree: tree.clone(), name: Name::of(path), content: content.clone() }
    }

    fn is_current(&self) -> bool {
        let tree = self.tree.lock();
        tree.files.get(&self.name).is_some_and(|found| Arc::ptr_eq(found, &self.content))
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
        self.0.tree.lock().locked.remove(&self.0.name);
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

    fn write_in_place(&mut self, length: usize, write: &mut dyn FnMut(&mut [u8])) -> bool {
        let written = self.change(|content| {
            let end = content.len();
            content.resize(end + length, 0);
            write(&mut content[end..]);
        });
        written.is_ok()
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
