//! The write-ahead log: one per open directory, shared by all regions.
//!
//! A write is appended before it is applied, and acknowledged when the log has reached what the
//! write's [`Durability`] promises. After the process has ended, [`replay`] returns what the log
//! holds. The log is a sequence of files; a full one is followed by a new one, and the oldest are
//! removed when every region has flushed its entries in them.
//!
//! ```text
//! WALs/hblite-wal.0000000007
//! ┌────────────┬─────────┬──────┬────────┬──────────┬──────────────┬──────────┬─────────────┬───┐
//! │ "hbliteWL" │ u32     │ u32  │ u64    │ 16 bytes │ u64 file,    │ u32 salt │ u64 oldest  │ … │
//! │            │ version │ salt │ number │ id of    │ u64 offset:  │ of that  │ file        │   │
//! │            │ 2       │      │        │ the      │ where the    │ file     │ that is     │   │
//! │            │         │      │        │ store    │ log so far   │          │ still       │   │
//! │            │         │      │        │          │ ends         │          │ needed      │   │
//! │ 8          │ 4       │ 4    │ 8      │ 16       │ 8 + 8        │ 4        │ 8           │   │
//! └────────────┴─────────┴──────┴────────┴──────────┴──────────────┴──────────┴─────────────┴───┘
//!   … i64 created in ms │ zeros up to byte 92 │ u32 crc32 of these 92 bytes
//! record*  u32 length of payload │ u32 crc32 of payload │ payload
//!   edit   u8 1 │ u8 length, region │ u64 sequence id │ i64 write time in ms │ u32 cells │ cell*
//!     cell   u32 key length │ u32 value length │ flat key │ value │ u16 tags length │ tags
//!   edit with nonce  u8 3 │ … i64 write time in ms │ u64 nonce's group │ u64 number │ u32 cells …
//!   mark   u8 2 │ u64 file, u64 offset: synced so far │ u64 oldest file still needed
//! ```
//!
//! The newest log file is named by the log's head (see `head.rs`).
//!
//! All numbers are big-endian. The checksum of a record starts from
//! `salt ^ low 32 bits of the record's offset ^ (length rotated left by 16)` instead of 0. A cell
//! is HBase's `KeyValue`, then its tags. One edit is one atomic write to one region.
//!
//! Invariants:
//! 1. Within a region, the order of the records is the order of the sequence ids.
//! 2. A log file is durable before its successor is created, so a power cut can explain damage only
//!    in the newest one.
//! 3. A log file's header and name are durable, and the head names it, before its first record is
//!    written; so a file that is missing, older or from another store is detected.
//! 4. Log files are removed in order. Before a removal, a durable mark says that the log file is
//!    not needed, so one that reappears after a power cut is not read.
//! 5. A record is in the log if its write succeeded, and absent if its write failed, because a
//!    failed write is undone. A failed sync of records or names is never retried: the log refuses
//!    everything from then on. New files without records are abandoned instead.
//!
//! For the difference between a torn tail and damage, see `replay.rs`.
//!
//! Threads: a [`Wal`] is shared by all writers. The log's lock is held while a record is written to
//! memory; writing and syncing files are done outside it, by one thread for all (see `syncer.rs`).

mod accounting;
mod background;
mod chain;
mod entry;
pub(crate) mod hbase;
mod head;
mod hold;
mod log_file;
mod options;
mod output;
mod progress;
mod reader;
mod replay;
mod report;
mod syncer;
mod watch;
mod writer;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use hblite_env::sync::Mutex;
use hblite_env::{Env, FileLock, FileSystem};
use hblite_model::{Durability, Error, Result};

pub use accounting::WalRegion;
pub use entry::{EditOrigin, WalCells, WalEdit, WalEntry};
pub use hold::{LogFileHold, SealedLog};
pub use options::WalOptions;
pub use replay::{ReplayReport, replay};
pub use report::{ReplayOptions, Salvaged, TornTail, UnclosedLog};

use self::accounting::Accounting;
use self::background::Background;
use self::entry::REGION_NAME_LENGTH_MAX;
use self::head::{Head, HeadState};
use self::log_file::log_file_path;
use self::replay::FoundLog;
use self::syncer::{Goal, Syncer};
use self::writer::{EditRecord, Previous, Tail};
use crate::layout::{Layout, RootFiles, StoreId};

/// The position of an appended record, to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalTicket(u64);

/// A write-ahead log, open for appends.
///
/// Dropping it writes what was appended, as [`Durability::AsyncWal`] promises, and keeps the files;
/// [`Wal::close`] also makes them durable or, if nothing in them is needed, removes them.
#[derive(Debug)]
pub struct Wal {
    syncer: Arc<Syncer>,
    background: Background,
    options: WalOptions,
    /// Held while log files are removed.
    removal: Mutex<Removal>,
}

/// How many holders keep log files that the regions no longer need.
#[derive(Debug, Default)]
struct Removal {
    holds: usize,
}

/// The store that the log in `dir` belongs to; `None` if there is no log, or it does not say.
///
/// # Errors
/// `Io`; `CorruptWal` if the log's head is damaged.
pub fn store_of(fs: &dyn FileSystem, dir: &Path) -> Result<Option<StoreId>> {
    Ok(Head::read(fs, dir)?.map(|head| head.store))
}

/// The content of the head with which a log begins: it names no log file. `None` if the log that
/// was found is continued.
pub(crate) fn first_head(found: &ReplayReport) -> Option<Vec<u8>> {
    // A salvage continues without the log files that the head names.
    let has_head = found.log.head.is_some() && found.salvaged.is_empty();
    let is_continued = has_head || !found.log.log_files.is_empty();
    (!is_continued).then(|| Head::first(found.log.store).encode().to_vec())
}

/// The path of the file that names the newest log file in `dir`.
pub fn head_file(dir: &Path) -> PathBuf {
    head::head_path(dir)
}

impl Wal {
    /// Continues the log in `dir`; `found` is the result of its replay.
    ///
    /// The first log file is created by the first append, so that opening costs nothing. The caller
    /// holds the lock of the directory, and calls [`Wal::region_flushed`] or
    /// [`Wal::region_removed`] for each of [`ReplayReport::regions`] when its entries are no longer
    /// needed.
    ///
    /// # Errors
    /// `IllegalArgument` for settings out of range, or if any store's log was replayed
    /// ([`StoreId::NIL`]). `Io`, or `RegionServerStopped` if leftover files could not be removed.
    pub fn open(env: &Env, dir: &Path, options: WalOptions, found: &ReplayReport) -> Result<Self> {
        Self::open_in_store(env, dir, options, found, None)
    }

    /// Like [`Wal::open`], and makes the files of the store's root durable before this process
    /// creates its first log file, which the removal of leftovers may do.
    pub(crate) fn open_in_store(
        env: &Env,
        dir: &Path,
        options: WalOptions,
        found: &ReplayReport,
        root: Option<RootFiles>,
    ) -> Result<Self> {
        options.check()?;
        if found.log.store == StoreId::NIL {
            return Err(Error::illegal_argument(
                "a log is continued with the id of its store: replay it with \
                 ReplayOptions::with_store",
            ));
        }
        env.fs.create_dir_all(dir).map_err(|error| Error::io("create", dir, error))?;
        let found = &found.log;
        let previous = Previous { end: found.end(), salt: found.end_salt() };
        let next_number = found.highest_number + 1;
        let tail = Tail::new(found.store, previous, next_number, options.roll_size_bytes);
        let log_files = found.log_files.iter().map(|log_file| log_file.closed.clone());
        let accounting = Accounting::with_log_files(log_files);
        let syncer = Syncer::new(env.clone(), dir.to_path_buf(), tail, accounting);
        syncer.resume(found.head.is_some(), found.unsynced(), options.are_files_mapped);
        syncer.begin_with(root);
        let wal = Self {
            syncer: Arc::new(syncer),
            background: Background::default(),
            options,
            removal: Mutex::default(),
        };
        wal.tidy_up(found)?;
        Ok(wal)
    }

    /// Removes files that are no longer part of the log, and moves away those that never were.
    fn tidy_up(&self, found: &FoundLog) -> Result<()> {
        let fs = self.syncer.env.fs.as_ref();
        if let Some(root) = self.syncer.dir.parent() {
            let layout = Layout::new(root).with_store_id(found.store);
            for number in &found.strays {
                layout.set_aside(fs, &log_file_path(&self.syncer.dir, *number))?;
            }
        }
        if found.left_over.is_empty() {
            return Ok(());
        }
        // The head or a mark says that they are not needed, but the process that wrote it may have
        // been killed before it synced it.
        self.sync_all()?;
        let dir = &self.syncer.dir;
        let named = Head::make_durable(self.syncer.env.fs.as_ref(), dir);
        named.map_err(|error| Error::io("sync", &head_file(dir), error))?;
        let is_newest = |number: &u64| found.head.is_none_or(|head| head.newest == *number);
        let is_empty = found.head.is_some_and(|head| head.state == HeadState::Empty);
        if !is_empty && found.left_over.iter().any(is_newest) {
            // The newest log file may be removed only when the head names another one.
            self.mark(Goal::Synced)?;
        }
        self.remove_log_files(&found.left_over)?;
        self.sync_dir()
    }

    /// Refuses all writes once the file at `path` is no longer the store's lock, which means that
    /// the directory was removed, moved or replaced.
    pub fn watch(&self, lock: Weak<dyn FileLock>, path: PathBuf) {
        self.syncer.watch.watch(lock, path);
    }

    /// The region of this encoded name, for appends.
    ///
    /// # Errors
    /// `IllegalArgument` if the name is empty, longer than 64 bytes or not of ASCII letters and
    /// digits.
    pub fn region(&self, encoded_name: &str) -> Result<WalRegion> {
        let is_valid = (1..=REGION_NAME_LENGTH_MAX).contains(&encoded_name.len())
            && encoded_name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_valid {
            let message = format!("not the encoded name of a region: {encoded_name:?}");
            return Err(Error::illegal_argument(message));
        }
        Ok(self.syncer.accounting.lock().region(encoded_name))
    }

    /// Appends an edit, the cells of one atomic write to one region, as one record. Their own
    /// sequence ids are ignored.
    ///
    /// `assign` returns the sequence id. It is called under the log's lock, so that log order is id
    /// order; it must be fast and must not use the log. Nothing is durable until [`Wal::sync`].
    ///
    /// `durability` is that of the [`Wal::sync`] that follows: records that no caller waits for are
    /// kept, if they cannot be written, until they can be.
    ///
    /// # Errors
    /// `RegionTooBusy` if a recent write of the log failed and writing is still not possible,
    /// `RegionServerStopped` if it failed before or is closed, `IllegalArgument` if the cells are
    /// larger than 1 GiB; in these cases `assign` was not called. After the call of `assign`, an
    /// append does not fail.
    #[inline]
    pub fn append(
        &self,
        region: &WalRegion,
        origin: EditOrigin,
        edit: &WalEdit<'_>,
        durability: Durability,
        assign: impl FnOnce() -> u64,
    ) -> Result<WalTicket> {
        self.syncer.admit()?;
        let size = entry::record_size(region.name(), origin, edit)?;
        let context = self.syncer.context();
        let is_awaited = !matches!(durability, Durability::SkipWal | Durability::AsyncWal);
        let mut tail = self.syncer.tail.lock();
        let is_in_place = matches!(durability, Durability::UseDefault | Durability::SyncWal);
        let in_place = |end, write: &mut dyn FnMut(&mut [u8])| {
            is_in_place && self.syncer.write_in_place(size, end, write)
        };
        let write = |out: &mut [u8], place, sequence_id| {
            entry::write_edit(out, place, region.name(), sequence_id, origin, edit);
        };
        let record = EditRecord { region, size, is_awaited };
        let is_sync_due = tail.append(context, record, assign, write, in_place);
        let (ticket, waiting) = (WalTicket(tail.appended()), tail.unwritten_bytes());
        drop(tail);
        if waiting > self.options.buffer_size_bytes {
            // A failure is recorded, and returned to whoever waits for the record.
            let _ = self.syncer.reach(ticket.0, Goal::Written);
        }
        if is_sync_due {
            self.background.ring(&self.syncer);
        }
        Ok(ticket)
    }

    /// Waits until the record, and all before it, are as durable as `durability` requires.
    ///
    /// # Errors
    /// `RegionTooBusy` if it could not be written, for lack of space for example: it is not in the
    /// log, and the write can be retried. `RegionServerStopped` if the log failed: whether the
    /// record will be found by a replay is unknown.
    #[inline]
    pub fn sync(&self, ticket: WalTicket, durability: Durability) -> Result<()> {
        match durability {
            Durability::SkipWal => Ok(()),
            Durability::AsyncWal => {
                self.background.ring(&self.syncer);
                self.syncer.check()
            }
            Durability::UseDefault | Durability::SyncWal => {
                self.syncer.reach(ticket.0, Goal::Written)
            }
            Durability::FsyncWal => self.syncer.reach(ticket.0, Goal::Synced),
        }
    }

    /// Makes durable what was found when the log was opened, and what was appended since.
    ///
    /// # Errors
    /// As [`Wal::sync`].
    pub fn sync_all(&self) -> Result<()> {
        self.syncer.sync_all()
    }

    /// Fails if the log has failed; it then refuses everything that follows. Also checks whether
    /// the store's directory is still in place, so this is called before files are created or
    /// removed.
    ///
    /// # Errors
    /// `RegionServerStopped` that says why.
    pub fn check(&self) -> Result<()> {
        self.syncer.check_place()
    }

    /// Like [`Wal::check`], for a write that is not logged: checks only at intervals.
    ///
    /// # Errors
    /// As [`Wal::check`].
    #[inline]
    pub fn admit_unlogged(&self) -> Result<()> {
        if self.syncer.watch.is_due() { self.syncer.check_place() } else { self.syncer.check() }
    }

    /// Refuses everything from now on: a thread panicked between the append and the end of a write,
    /// so the log may have what no reader sees until it is replayed.
    pub(crate) fn fail_after_panic(&self) {
        self.syncer.fail_after_panic();
    }

    /// Begins a new log file, unless the active one has no entries.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed.
    pub fn roll(&self) -> Result<()> {
        self.syncer.check()?;
        let mut tail = self.syncer.tail.lock();
        if tail.active_regions().is_empty() {
            return Ok(());
        }
        tail.request_roll();
        drop(tail);
        self.mark(Goal::Written)?;
        self.background.ring(&self.syncer);
        self.remove_unneeded()
    }

    /// Records that all entries of the region up to this sequence id are durably in HFiles, and
    /// removes the log files that are no longer needed.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed, `Io` if a file could not be removed.
    pub fn region_flushed(&self, encoded_name: &str, up_to_sequence_id: u64) -> Result<()> {
        self.syncer.accounting.lock().flushed(encoded_name, up_to_sequence_id);
        self.remove_unneeded()
    }

    /// Records that none of the region's entries in the log is needed: it was flushed and closed,
    /// or its table was dropped. To append for it again, call [`Wal::region`] again.
    ///
    /// # Errors
    /// As [`Wal::region_flushed`].
    pub fn region_removed(&self, encoded_name: &str) -> Result<()> {
        self.syncer.accounting.lock().removed(encoded_name);
        self.remove_unneeded()
    }

    /// The regions whose flush brings the log back to [`WalOptions::files_max`] log files, sorted
    /// by name; none if it is not above.
    pub fn regions_to_flush(&self) -> Vec<String> {
        let excess = self.log_file_count().saturating_sub(self.options.files_max);
        self.syncer.accounting.lock().regions_of_oldest(excess)
    }

    /// The regions that keep older log files than the active one, sorted by name.
    pub(crate) fn regions_in_old_log_files(&self) -> Vec<String> {
        self.syncer.accounting.lock().regions_of_oldest(usize::MAX)
    }

    /// Number of log files, including the active one.
    pub fn log_file_count(&self) -> usize {
        let tail = self.syncer.tail.lock();
        let closed = self.syncer.accounting.lock().closed_count();
        closed + usize::from(tail.active_number().is_some())
    }

    /// Makes the log durable and refuses everything from then on. If every region has flushed, the
    /// files are removed. Returns whether nothing is left.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed, `Io` if a file could not be removed.
    pub fn close(&self) -> Result<bool> {
        self.background.stop();
        self.syncer.check_place()?;
        self.sync_all()?;
        self.remove_unneeded()?;
        let tail = self.syncer.tail.lock();
        let last = tail.active_end().unwrap_or(tail.previous());
        let (store, appended) = (tail.store(), tail.live_end());
        let is_needed = self.syncer.accounting.lock().oldest().is_some()
            || tail.active_regions().iter().any(WalRegion::is_needed);
        drop(tail);
        self.syncer.reach(appended, Goal::Synced)?;
        self.syncer.trim();
        self.syncer.close();
        let Previous { end, salt } = last;
        if end.log_file == 0 {
            return Ok(true);
        }
        let state =
            if is_needed { HeadState::Closed { end: end.offset } } else { HeadState::Empty };
        let head = Head { store, newest: end.log_file, salt, state };
        head.write(self.syncer.env.fs.as_ref(), &self.syncer.dir)?;
        if is_needed {
            return Ok(false);
        }
        self.remove_log_files(&[end.log_file])?;
        Ok(true)
    }

    /// Refuses everything from now on, and makes nothing durable: another store takes the place of
    /// this one. After the call, no file is created, written or removed.
    pub fn abandon(&self) {
        self.background.stop();
        self.syncer.abandon();
        drop(self.removal.lock());
    }

    /// Appends a mark and waits for it.
    fn mark(&self, goal: Goal) -> Result<()> {
        let mut tail = self.syncer.tail.lock();
        tail.append_mark(self.syncer.context());
        let appended = tail.appended();
        drop(tail);
        self.syncer.reach(appended, goal)
    }

    fn remove_unneeded(&self) -> Result<()> {
        // Locked to the end: a holder of log files must find the remaining ones marked as the
        // oldest.
        let removal = self.removal.lock();
        if removal.holds > 0 {
            return Ok(());
        }
        let removable = self.syncer.accounting.lock().take_removable();
        if removable.is_empty() {
            return Ok(());
        }
        let is_oldest_first = removable.is_sorted_by(|left, right| left < right);
        assert!(is_oldest_first, "a crash between removals leaves no gap: {removable:?}");
        self.mark(Goal::Synced)
            .inspect_err(|_| self.syncer.accounting.lock().put_back(&removable))?;
        for (index, number) in removable.iter().enumerate() {
            if let Err(error) = self.remove_log_files(&[*number]) {
                self.syncer.accounting.lock().put_back(&removable[index..]);
                return Err(error);
            }
        }
        Ok(())
    }

    fn remove_log_files(&self, numbers: &[u64]) -> Result<()> {
        for number in numbers {
            let path = log_file_path(&self.syncer.dir, *number);
            let removed = self.syncer.env.fs.remove_file(&path);
            removed.map_err(|error| Error::io("remove", &path, error))?;
        }
        Ok(())
    }

    fn sync_dir(&self) -> Result<()> {
        let dir = &self.syncer.dir;
        self.syncer.env.fs.sync_dir(dir).map_err(|error| Error::io("sync", dir, error))
    }
}

impl Drop for Wal {
    fn drop(&mut self) {
        self.background.stop();
        let appended = self.syncer.tail.lock().live_end();
        // There is no caller left for an error; callers that depend on the write have waited for
        // the sync.
        let _ = self.syncer.reach(appended, Goal::Written);
        self.syncer.trim();
    }
}
