//! Readers of a directory announce themselves to its writer, by a shared lock on the directory.
//!
//! The lock is on the directory and not on a file in it, so that it works without permission to
//! write, disturbs no other lock, and leaves nothing behind. It ends with its process. The writer
//! tries the exclusive lock: if it gets it, no reader is there, and it gives it back at once.
//!
//! Windows locks no directories, and network file systems grant such a lock only to who may write,
//! if at all: readers are not announced there.
//!
//! Threads: any.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::fs::{Announcement, ReaderWatch};
use crate::thread;
use crate::time::Duration;

/// How often a reader tries to announce itself. A writer has the lock for a moment only.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(1);

/// An announced reader.
#[derive(Debug)]
pub(crate) struct Announced(File);

impl Announced {
    /// `None` if the directory cannot be locked.
    pub(crate) fn at(dir: &Path) -> Option<Self> {
        let file = File::open(dir).ok()?;
        for _ in 0..ATTEMPTS {
            match file.try_lock_shared() {
                Ok(()) => return Some(Self(file)),
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
                Err(TryLockError::Error(_)) => return None,
            }
        }
        None
    }
}

impl Announcement for Announced {}

impl Drop for Announced {
    /// A child process that was started meanwhile has the open file as well.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Looks for announced readers.
#[derive(Debug)]
pub(crate) struct DirectoryWatch(File);

impl DirectoryWatch {
    /// `None` if the directory cannot be opened.
    pub(crate) fn of(dir: &Path) -> Option<Self> {
        File::open(dir).ok().map(Self)
    }
}

impl ReaderWatch for DirectoryWatch {
    /// Threads that ask at the same time share the lock, and with it the answer.
    fn has_reader(&self) -> bool {
        match self.0.try_lock() {
            Ok(()) => {
                let _ = self.0.unlock();
                false
            }
            Err(error) => matches!(error, TryLockError::WouldBlock),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn readers_are_seen_while_they_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let watch = DirectoryWatch::of(dir.path()).unwrap();
        assert!(!watch.has_reader());
        let readers = [0; 2].map(|_| Announced::at(dir.path()).unwrap());
        assert!(watch.has_reader());
        let [first, second] = readers;
        drop(first);
        assert!(watch.has_reader());
        drop(second);
        assert!(!watch.has_reader());
        assert!(Announced::at(&dir.path().join("missing")).is_none());
    }
}
