//! Detects that the store's directory was removed, moved or replaced while it is open.
//!
//! Writes through open files succeed after that, but no later open would find them, and a file that
//! is created or removed by its path may belong to another store. So before writes are
//! acknowledged, the log compares the store's lock and the active log file with the files at their
//! paths: with each sync, and otherwise at most once per [`PERIOD`]. That costs two file system
//! calls, about 2 µs.
//!
//! Threads: any.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, Weak};

use hblite_env::FileLock;
use hblite_env::time::{CoarseInstant, Duration};

/// How long unsynced writes may still be acknowledged after the directory is gone.
const PERIOD: Duration = Duration::from_millis(100);

/// What is compared, and the time of the last comparison.
#[derive(Debug)]
pub(super) struct Watch {
    lock: OnceLock<Lock>,
    began: CoarseInstant,
    /// In nanoseconds after `began`.
    looked_at: AtomicU64,
}

#[derive(Debug)]
struct Lock {
    /// Dropped when the store is closed.
    file: Weak<dyn FileLock>,
    path: PathBuf,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { lock: OnceLock::new(), began: CoarseInstant::now(), looked_at: AtomicU64::new(0) }
    }

    /// Watches the lock of the store, a file at `path`. Later calls have no effect.
    pub(super) fn watch(&self, file: Weak<dyn FileLock>, path: PathBuf) {
        let _ = self.lock.set(Lock { file, path });
    }

    /// Whether the last check was long enough ago. If so, the caller checks.
    pub(super) fn is_due(&self) -> bool {
        let due = self.due_at();
        if let Some(now) = due {
            let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
            self.looked_at.store(now, Ordering::Relaxed);
        }
        due.is_some()
    }

    /// Whether [`Watch::is_due`] will be true.
    #[inline]
    pub(super) fn is_nearly_due(&self) -> bool {
        self.due_at().is_some()
    }

    /// The time, if the last check was long enough ago.
    #[inline]
    fn due_at(&self) -> Option<Duration> {
        let now = self.began.elapsed();
        let last = Duration::from_nanos(self.looked_at.load(Ordering::Relaxed));
        (now.saturating_sub(last) >= PERIOD).then_some(now)
    }

    /// The path of the lock if another file is there. A check that fails proves nothing.
    pub(super) fn displaced_lock(&self) -> Option<PathBuf> {
        let lock = self.lock.get()?;
        let is_in_place = lock.file.upgrade()?.is_in_place().unwrap_or(true);
        (!is_in_place).then(|| lock.path.clone())
    }
}
