//! The names that an engine changes in its store's directory.
//!
//! The files for the next rewind are made from those that a rewind replaced, which are the
//! checkpoint's except for what the engine changed meanwhile. The engine's file system is therefore
//! wrapped in one that records every name that is created, replaced or removed. Contents need no
//! record, because no file is written to after it got its final name, except those that are new
//! themselves.
//!
//! Invariant: a name is recorded before it changes. Threads: any.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::sync::Mutex;
use hblite_env::{
    Announcement, DirEntry, FileIdentity, FileLock, FileSystem, ReadableFile, ReaderWatch,
    WritableFile,
};

use crate::layout::{Layout, rewind};

/// With more names than this, staging everything again is about as fast, and the record would grow
/// with the life of the store.
const NAMES_MAX: usize = 10_000;

/// The names that were changed; `None` if there were too many.
#[derive(Debug)]
pub(super) struct Changes(Mutex<Option<BTreeSet<PathBuf>>>);

impl Changes {
    /// Ends the record. Later changes are not in it.
    pub(super) fn take(&self) -> Option<BTreeSet<PathBuf>> {
        self.0.lock().take()
    }

    fn add(&self, path: &Path) {
        let mut names = self.0.lock();
        if let Some(recorded) = &mut *names {
            recorded.insert(path.to_path_buf());
            if recorded.len() > NAMES_MAX {
                *names = None;
            }
        }
    }
}

/// A file system that records which names below the directories that a rewind replaces it changes.
#[derive(Debug)]
pub(super) struct RecordingFileSystem {
    inner: Arc<dyn FileSystem>,
    store: Layout,
    changes: Arc<Changes>,
}

impl RecordingFileSystem {
    /// Wraps the file system with the store in `root`. Nothing is recorded yet.
    pub(super) fn new(inner: Arc<dyn FileSystem>, root: &Path) -> Self {
        let changes = Arc::new(Changes(Mutex::new(Some(BTreeSet::new()))));
        Self { inner, store: Layout::new(root), changes }
    }

    /// What it records.
    pub(super) fn changes(&self) -> Arc<Changes> {
        Arc::clone(&self.changes)
    }

    fn record(&self, path: &Path) {
        if rewind::is_rewound(&self.store, path) {
            self.changes.add(path);
        }
    }
}

impl FileSystem for RecordingFileSystem {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WritableFile>> {
        self.record(path);
        self.inner.create(path)
    }

    fn create_log(&self, path: &Path, is_mapped: bool) -> io::Result<Box<dyn WritableFile>> {
        self.record(path);
        self.inner.create_log(path, is_mapped)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        self.inner.open(path)
    }

    fn open_finished(&self, path: &Path) -> io::Result<Arc<dyn ReadableFile>> {
        self.inner.open_finished(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.record(from);
        self.record(to);
        self.inner.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.record(path);
        self.inner.remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.record(path);
        self.inner.remove_dir_all(path)
    }

    /// Not recorded: what is new is found, and what was there stays.
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.create_dir_all(path)
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.inner.list_dir(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.inner.exists(path)
    }

    fn file_length(&self, path: &Path) -> io::Result<u64> {
        self.inner.file_length(path)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.record(to);
        self.inner.hard_link(from, to)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_file(path)
    }

    fn rewrite(&self, path: &Path, from: u64) -> io::Result<()> {
        self.record(path);
        self.inner.rewrite(path, from)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_dir(path)
    }

    fn lock(&self, path: &Path, holder: &str) -> io::Result<Box<dyn FileLock>> {
        self.inner.lock(path, holder)
    }

    fn lock_existing(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        self.inner.lock_existing(path)
    }

    fn announce_reader(&self, dir: &Path) -> Option<Box<dyn Announcement>> {
        self.inner.announce_reader(dir)
    }

    fn watch_readers(&self, dir: &Path) -> Option<Box<dyn ReaderWatch>> {
        self.inner.watch_readers(dir)
    }

    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.real_path(path)
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.absolute(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Option<FileIdentity>> {
        self.inner.identity(path)
    }

    fn take_space(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.inner.take_space(path, bytes)
    }

    fn renames_dirs_in_use(&self) -> bool {
        self.inner.renames_dirs_in_use()
    }

    fn fork(&self) -> Option<Arc<dyn FileSystem>> {
        self.inner.fork()
    }

    fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.record(to);
        self.inner.copy(from, to)
    }
}
