//! The files of a store as values: taken from a file system, changed, and laid out again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::{CrashFileSystem, FileSystem, MemFileSystem};

/// Where the store is, in every file system of this test.
pub(crate) const STORE: &str = "/store";

/// Directories and files, by their paths below the store.
#[derive(Debug, Clone, Default)]
pub(crate) struct Image {
    dirs: BTreeSet<PathBuf>,
    pub(crate) files: BTreeMap<PathBuf, Arc<Vec<u8>>>,
}

impl Image {
    /// What a file system has below the store's directory.
    pub(crate) fn take(fs: &dyn FileSystem) -> Self {
        let mut image = Self::default();
        image.add_dir(fs, Path::new(STORE));
        image
    }

    fn add_dir(&mut self, fs: &dyn FileSystem, dir: &Path) {
        let relative = |path: &Path| path.strip_prefix(STORE).expect("below it").to_path_buf();
        for entry in fs.list_dir(dir).expect("a directory") {
            let path = dir.join(&entry.name);
            if entry.is_dir {
                self.dirs.insert(relative(&path));
                self.add_dir(fs, &path);
            } else {
                let content = fs.read(&path).expect("a file");
                self.files.insert(relative(&path), Arc::new(content));
            }
        }
    }

    /// Adds the directories of all files.
    pub(crate) fn add_parents(&mut self) {
        let parents = self.files.keys().flat_map(|path| path.ancestors().skip(1));
        let parents = parents.filter(|parent| !parent.as_os_str().is_empty());
        self.dirs.extend(parents.map(Path::to_path_buf));
    }

    /// Writes everything to an empty file system.
    fn write_to(&self, fs: &dyn FileSystem) {
        fs.create_dir_all(Path::new(STORE)).expect("room");
        for dir in &self.dirs {
            fs.create_dir_all(&Path::new(STORE).join(dir)).expect("room");
        }
        for (path, content) in &self.files {
            let file = fs.create(&Path::new(STORE).join(path));
            file.and_then(|mut file| file.write_all(content)).expect("room");
        }
    }

    /// A file system in memory with these files.
    pub(crate) fn to_memory(&self) -> MemFileSystem {
        let fs = MemFileSystem::new();
        self.write_to(&fs);
        fs
    }

    /// A disk with these files, all of them synced.
    pub(crate) fn to_disk(&self) -> CrashFileSystem {
        let fs = CrashFileSystem::new();
        self.write_to(&fs);
        fs.sync_everything();
        fs
    }
}
