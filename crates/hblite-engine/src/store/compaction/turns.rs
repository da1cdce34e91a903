//! Which compactions of a store may run at the same time.
//!
//! Several compactions in the background may run at once. Each has files of its own, all newer than
//! those of the ones that run already (as in HBase's `SortedCompactionPolicy`), so that new files
//! do not pile up during a long one. A compaction on request, a bulk load between older files, and
//! the end of the region's service exclude all others.
//!
//! Threads: any.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hblite_env::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::store::Store;
use crate::store::file_list::FileList;
use crate::store::store_file::StoreFile;

/// The compactions of a store that run or wait.
#[derive(Default)]
pub(crate) struct Turns {
    gate: RwLock<()>,
    /// The newest files of the compactions that share the store, and their results.
    newest_taken: Mutex<Vec<Arc<StoreFile>>>,
    /// How many threads wait to exclude compactions; those that run speed up meanwhile.
    waiting: AtomicUsize,
    /// How many of them will merge all files; compactions in the background then give way.
    waiting_for_all: AtomicUsize,
}

/// A range of a store's files, to be compacted.
pub(super) struct Chosen {
    /// The oldest first.
    pub(super) files: Arc<FileList>,
    pub(super) range: Range<usize>,
}

/// No other compaction runs while this lives.
pub(crate) type Exclusive<'t> = RwLockWriteGuard<'t, ()>;

/// The turn of a compaction that may share the store with others.
pub(super) struct Shared<'t> {
    turns: &'t Turns,
    taken: Vec<Arc<StoreFile>>,
    _gate: RwLockReadGuard<'t, ()>,
}

impl Turns {
    /// Waits for all compactions, and excludes others. With `merges_all`, compactions in the
    /// background end soon and without a result.
    pub(super) fn exclusive(&self, merges_all: bool) -> Exclusive<'_> {
        let all = usize::from(merges_all);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.waiting_for_all.fetch_add(all, Ordering::Relaxed);
        let guard = self.gate.write();
        self.waiting_for_all.fetch_sub(all, Ordering::Relaxed);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        guard
    }

    /// Waits while others are excluded.
    pub(super) fn shared(&self) -> Shared<'_> {
        Shared { turns: self, taken: Vec::new(), _gate: self.gate.read() }
    }

    pub(super) fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    pub(super) fn is_awaited_for_all(&self) -> bool {
        self.waiting_for_all.load(Ordering::Relaxed) > 0
    }

    /// How many of these files, from the oldest on, no other compaction may choose.
    pub(super) fn count_taken(&self, files: &[Arc<StoreFile>]) -> usize {
        count_taken(&self.newest_taken.lock(), files)
    }
}

impl Shared<'_> {
    /// Takes some of the store's files, the oldest first: `choose` gets them, and the number of
    /// those from the oldest on that it must leave out.
    pub(super) fn take(
        &mut self,
        store: &Store,
        choose: impl FnOnce(&FileList, usize) -> Option<Range<usize>>,
    ) -> Option<Chosen> {
        let mut taken = self.turns.newest_taken.lock();
        // Under the lock: what is in the list now and is not taken belongs to no other compaction.
        let files = store.files();
        let range = choose(&files, count_taken(&taken, &files))?;
        let newest = files[..range.end].last()?;
        taken.push(Arc::clone(newest));
        self.taken.push(Arc::clone(newest));
        Some(Chosen { files, range })
    }

    /// Takes the new file, too, until those that it replaces are removed: it explains them to the
    /// next open. Called before others can see it.
    pub(super) fn take_result(&mut self, file: &Arc<StoreFile>) {
        self.turns.newest_taken.lock().push(Arc::clone(file));
        self.taken.push(Arc::clone(file));
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        let is_own = |file: &Arc<StoreFile>| self.taken.iter().any(|own| Arc::ptr_eq(own, file));
        self.turns.newest_taken.lock().retain(|file| !is_own(file));
    }
}

fn count_taken(taken: &[Arc<StoreFile>], files: &[Arc<StoreFile>]) -> usize {
    let is_taken = |file: &Arc<StoreFile>| taken.iter().any(|one| Arc::ptr_eq(one, file));
    files.iter().rposition(is_taken).map_or(0, |newest| newest + 1)
}
