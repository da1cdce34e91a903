//! State that the parts of an open store share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crossbeam_utils::CachePadded;
use hblite_env::sync::Mutex;
use hblite_env::{Env, KeepingFileSystem};
use hblite_hfile::BlockCache;
use hblite_model::{Error, Exception, RegionInfo, Result};

use crate::chore_queue::ChoreSender;
use crate::given_times::WriteClock;
use crate::layout::{Layout, Reserve, Retired};
use crate::memstore::ChunkPool;
use crate::nonces::Nonces;
use crate::options::EngineOptions;
use crate::row_counts::RowCounting;
use crate::signal::Signal;
use crate::switches::Switches;
use crate::wal::{ReplayOptions, Wal};

/// Environment, settings, log and workers of one open store.
pub(crate) struct EngineContext {
    pub(crate) env: Env,
    /// The clock of `env`, as writes see it.
    pub(crate) write_clock: CachePadded<WriteClock>,
    /// The file system of `env`, if it keeps files for readers.
    pub(crate) keeping: Option<KeepingFileSystem>,
    pub(crate) layout: Layout,
    pub(crate) options: Arc<EngineOptions>,
    pub(crate) wal: Wal,
    pub(crate) reserve: Reserve,
    pub(crate) block_cache: Option<Arc<BlockCache>>,
    pub(crate) chores: ChoreSender,
    pub(crate) nonces: Nonces,
    pub(crate) switches: Switches,
    pub(crate) row_counting: RowCounting,
    pub(crate) memory: CachePadded<MemoryUse>,
    /// Notified when regions come into service, or when no more will.
    pub(crate) region_changes: Signal,
    /// Memory of flushed memstores, for reuse.
    pub(crate) chunks: Arc<ChunkPool>,
    /// Whether regions that stop serving stay out of service: the store is closed or closing, or
    /// the state on disk is unknown until it is opened again.
    pub(crate) is_closed: AtomicBool,
    /// Whether changes are refused. False while the store is being opened, since an open makes
    /// changes.
    pub(crate) is_read_only: AtomicBool,
    /// Set while the engine is a standby, whose clock is not yet that of the store: what seems to
    /// be due or expired may not be.
    pub(crate) is_standby: AtomicBool,
    /// Set while a store that a killed HBase left is being opened: regions may have files that
    /// HBase wrote and their manifests do not list.
    pub(crate) has_hbase_logs: AtomicBool,
    /// Set once the catalog can be written.
    pub(crate) naming: OnceLock<Box<dyn Naming>>,
    /// What salvage dropped or accepted, and what was set aside.
    pub(crate) notes: Mutex<Vec<FileNote>>,
}

/// Where it is recorded which regions have a manifest: hbase:meta.
pub(crate) trait Naming: Send + Sync {
    /// Records that the region has a manifest, and which `.seqid` file that has recorded.
    ///
    /// # Errors
    /// Those of a write to hbase:meta.
    fn name(&self, region: &RegionInfo, recorded: Option<u64>) -> Result<()>;
}

/// A file that an open with salvage dropped or accepted, or a directory that was set aside because
/// hblite did not write everything in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileNote {
    /// The file.
    pub path: PathBuf,
    /// What was wrong with it, and what was done.
    pub what: String,
}

impl EngineContext {
    /// Refuses work after the store was closed.
    ///
    /// # Errors
    /// `RegionServerStopped`.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(Error::new(Exception::RegionServerStopped, "the store is closed"));
        }
        Ok(())
    }

    /// Refuses a change if the store was opened read-only.
    ///
    /// # Errors
    /// `DoNotRetryIo`.
    pub(crate) fn check_not_read_only(&self) -> Result<()> {
        if self.is_read_only() {
            let dir = self.layout.root().display();
            return Err(Error::do_not_retry(format!("{dir} is open read-only")));
        }
        Ok(())
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.is_read_only.load(Ordering::Acquire)
    }

    /// Records what salvage did.
    pub(crate) fn note(&self, path: &Path, what: impl Into<String>) {
        self.notes.lock().push(FileNote { path: path.to_path_buf(), what: what.into() });
    }

    /// Records that `dir` was set aside because it contains something that no store writes.
    pub(crate) fn note_moved(&self, dir: &Path, to: Option<&Path>, foreign: &Path) {
        if let Some(to) = to {
            let (to, foreign) = (to.display(), foreign.display());
            self.note(dir, format!("moved to {to}, because hblite did not write {foreign}"));
        }
    }

    /// Notes that `dir` was set aside, if it was, because hblite did not write all of it.
    pub(crate) fn note_retired(&self, dir: &Path, retired: &Retired) {
        if let Retired::SetAside(to) = retired {
            let what = format!("moved to {}: hblite did not write all of it", to.display());
            self.note(dir, what);
        }
    }

    /// Notes that something could not be removed that does no harm.
    pub(crate) fn note_if_left(&self, path: &Path, removed: Result<()>) {
        if let Err(error) = removed {
            let what =
                format!("{}; it does no harm, and the next open tries again", error.message());
            self.note(path, what);
        }
    }

    /// Sets aside a file that must not be served, and records it.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn put_aside(&self, path: &Path, what: &str) -> Result<()> {
        let place = self.layout.set_aside(self.env.fs.as_ref(), path)?;
        let place = place.unwrap_or_default();
        self.note(path, format!("{what}; it was moved to {}", place.display()));
        Ok(())
    }

    /// How the log is read: as the log of this store.
    pub(crate) fn replay_options(&self) -> ReplayOptions {
        ReplayOptions { store: self.layout.store_id(), salvage: self.options.salvage }
    }

    /// A random name for a file: 32 hex digits.
    pub(crate) fn random_name(&self) -> String {
        let random = &self.env.random;
        format!("{:016x}{:016x}", random.next_u64(), random.next_u64())
    }

    /// Whether regions are to be flushed because their total memory is high: from 95 % of the limit
    /// on (`hbase.regionserver.global.memstore.size.lower.limit`).
    pub(crate) fn is_memory_short(&self) -> bool {
        self.memory.bytes() > self.options.memstore_total_size_bytes / 20 * 19
    }

    /// Whether writes have to wait for memory.
    pub(crate) fn is_memory_full(&self) -> bool {
        self.memory.bytes() > self.options.memstore_total_size_bytes
    }
}

/// Bytes in the memstores of all regions.
///
/// Invariant: never more is subtracted than was added.
#[derive(Debug, Default)]
pub(crate) struct MemoryUse {
    bytes: AtomicUsize,
    freed: Signal,
}

impl MemoryUse {
    pub(crate) fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Wakes the writes that wait for memory.
    pub(crate) fn subtract(&self, bytes: usize) {
        let before = self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        assert!(before >= bytes, "memstores give back {bytes} bytes and hold {before}");
        self.freed.notify();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Notified when memory has become free.
    pub(crate) fn freed(&self) -> &Signal {
        &self.freed
    }
}
