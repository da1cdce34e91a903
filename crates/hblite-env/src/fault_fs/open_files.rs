//! Which files are open, and where they are now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

#[derive(Debug, Default)]
struct Paths {
    /// By the number of the open.
    open: BTreeMap<u64, PathBuf>,
    opened: u64,
}

/// The open files of a file system; clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenFiles(Arc<Mutex<Paths>>);

impl OpenFiles {
    /// A file is open until the result is dropped.
    pub(super) fn add(&self, path: &Path) -> OpenFile {
        let mut paths = self.0.lock();
        paths.opened += 1;
        let number = paths.opened;
        paths.open.insert(number, path.to_path_buf());
        OpenFile { number, files: self.clone() }
    }

    /// One of the open files below a directory, at any depth.
    pub(super) fn below(&self, dir: &Path) -> Option<PathBuf> {
        let paths = self.0.lock();
        paths.open.values().find(|open| *open != dir && open.starts_with(dir)).cloned()
    }

    /// A file or a directory was renamed.
    pub(super) fn renamed(&self, from: &Path, to: &Path) {
        for open in self.0.lock().open.values_mut() {
            if open == from {
                *open = to.to_path_buf();
            } else if let Ok(rest) = open.strip_prefix(from) {
                *open = to.join(rest);
            }
        }
    }
}

/// An open file, until it is dropped.
#[derive(Debug)]
pub(super) struct OpenFile {
    number: u64,
    files: OpenFiles,
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.files.0.lock().open.remove(&self.number);
    }
}
