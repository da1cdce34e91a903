//! The gate that readers of a region pass, so that the files of a bulk load become visible in all
//! families in one step.
//!
//! Threads: any number of readers. They wait only while a few lists are changed.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the beginnings and ends of changes.
///
/// Invariant: the count is odd while files are being added.
#[derive(Debug, Default)]
pub(crate) struct FileGate(AtomicU64);

impl FileGate {
    /// Waits until no files are being added.
    #[inline]
    pub(crate) fn enter(&self) -> u64 {
        loop {
            let count = self.0.load(Ordering::Acquire);
            if count.is_multiple_of(2) {
                return count;
            }
            hblite_env::thread::yield_now();
        }
    }

    /// Whether no files were added since [`FileGate::enter`] returned `passed`.
    #[inline]
    pub(crate) fn was_open_since(&self, passed: u64) -> bool {
        // A reader that saw a store's new files sees what the count was when they were added: odd.
        self.0.load(Ordering::Acquire) == passed
    }

    /// Keeps readers out during `change`.
    ///
    /// # Panics
    /// If another change is in progress: the region's loads follow each other.
    pub(super) fn close_while(&self, change: impl FnOnce()) {
        let before = self.0.fetch_add(1, Ordering::AcqRel);
        assert!(before.is_multiple_of(2), "loads add their files one after the other");
        change();
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}
