//! The write-ahead log: one per open directory, shared by all regions.
//!
//! A write is appended before it is applied, and acknowledged when the log has reached what the
//! write's [`Durability`] promises. After the process ended, [`replay`] gives back what the log
//! holds. The log is a row of files, the segments; a full one is followed by a new one, and the
//! oldest are removed when every region has flushed what stands in them.
//!
//! ```text
//! WALs/hblite-wal.0000000007
//! ┌────────────┬─────────┬──────┬────────┬──────────────┬─────────────┬─────────┬───┬───────┐
//! │ "hbliteWL" │ u32     │ u32  │ u64    │ u64 segment, │ u64 oldest  │ i64     │ 0 │ u32   │
//! │            │ version │ salt │ number │ u64 offset:  │ segment     │ created │   │ crc32 │
//! │            │ 1       │      │        │ where the    │ that is     │ in ms   │   │       │
//! │            │         │      │        │ log so far   │ still       │         │   │       │
//! │            │         │      │        │ ends         │ needed      │         │   │       │
//! │ 8          │ 4       │ 4    │ 8      │ 8 + 8        │ 8           │ 8       │ 4 │ 4     │
//! └────────────┴─────────┴──────┴────────┴──────────────┴─────────────┴─────────┴───┴───────┘
//! record*  u32 length of payload │ u32 crc32 of payload │ payload
//!   edit   u8 1 │ u8 length, region │ u64 sequence id │ i64 write time in ms │ u32 cells │ cell*
//!     cell   u32 key length │ u32 value length │ flat key │ value │ u16 tags length │ tags
//!   edit with nonce  u8 3 │ … i64 write time in ms │ u64 nonce's group │ u64 number │ u32 cells …
//!   mark   u8 2 │ u64 segment, u64 offset: synced so far │ u64 oldest segment still needed
//! ```
//!
//! All numbers are big-endian. The checksum of a record starts from
//! `salt ^ low 32 bits of the record's offset ^ (length rotated left by 16)` instead of 0. A cell
//! is HBase's `KeyValue`, then its tags. One edit is one atomic write to one region.
//!
//! Invariants:
//! 1. Of one region, the order of the records is the order of the sequence ids.
//! 2. A segment's header and name are durable before its first record is written.
//! 3. Segments become durable in order, and are removed in order, after they became durable.
//!    Before a removal a mark says durably that the segment is not needed, so a missing segment
//!    is noticed, and one that comes back after a power cut is not.
//! 4. A write or sync that failed is never tried again: the log refuses everything from then on.
//!
//! What a replay calls a torn tail and what it calls damage: see `replay.rs`.
//!
//! Threads: a [`Wal`] is shared by all writers. The log's lock is held for a copy of the record;
//! writing and syncing are done outside of it by one thread for all (see `syncer.rs`).

mod accounting;
mod background;
mod chain;
mod entry;
mod hold;
mod reader;
mod replay;
mod segment;
mod syncer;
mod writer;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use hblite_env::Env;
use hblite_env::sync::Mutex;
use hblite_model::{CellBuffer, Durability, Error, Result};

pub use accounting::WalRegion;
pub use entry::{EditOrigin, WalCells, WalEntry};
pub use hold::SegmentHold;
pub use replay::{ReplayOptions, ReplayReport, Salvaged, TornTail, replay};

use self::accounting::Accounting;
use self::background::Background;
use self::entry::REGION_NAME_LENGTH_MAX;
use self::segment::segment_path;
use self::syncer::{Goal, Syncer};
use self::writer::Tail;

/// The greatest size at which a segment may be declared full: 1 GiB.
const ROLL_SIZE_BYTES_MAX: u64 = 1 << 30;

/// Settings of a log.
#[derive(Debug, Clone)]
pub struct WalOptions {
    /// A segment that has reached this size gets no more records; 1 KiB to 1 GiB, default 64 MiB
    /// (`hbase.regionserver.logroll.multiplier` times the block size).
    pub roll_size_bytes: u64,
    /// With more segments than this, [`Wal::regions_to_flush`] names regions; default 32
    /// (`hbase.regionserver.maxlogs`).
    pub segments_max: usize,
    /// An append that finds more than this waiting to be written writes it itself; default 1 MiB.
    pub buffer_size_bytes: usize,
}

impl Default for WalOptions {
    fn default() -> Self {
        Self { roll_size_bytes: 64 << 20, segments_max: 32, buffer_size_bytes: 1 << 20 }
    }
}

/// The place of an appended record, to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalTicket(u64);

/// A write-ahead log, open for appends.
///
/// Dropping it writes what was appended, as [`Durability::AsyncWal`] promises, and leaves the
/// files; [`Wal::close`] also makes them durable or, if nothing in them is needed, removes them.
#[derive(Debug)]
pub struct Wal {
    syncer: Arc<Syncer>,
    background: Background,
    options: WalOptions,
    /// Held while segments are removed.
    removal: Mutex<Removal>,
}

/// Who wants segments to stay although nobody needs them.
#[derive(Debug, Default)]
struct Removal {
    holds: usize,
}

impl Wal {
    /// Continues the log in `dir` that `found` is the replay of.
    ///
    /// The first segment is created by the first append, so that opening costs nothing. The caller
    /// holds the lock of the directory and tells [`Wal::region_flushed`] or
    /// [`Wal::region_removed`] of each of [`ReplayReport::regions`] when it no longer needs it.
    ///
    /// # Errors
    /// `IllegalArgument` for settings out of range. `Io`, or `RegionServerStopped` if left-over
    /// files could not be removed.
    pub fn open(env: &Env, dir: &Path, options: WalOptions, found: &ReplayReport) -> Result<Self> {
        if !(1 << 10..=ROLL_SIZE_BYTES_MAX).contains(&options.roll_size_bytes) {
            return Err(Error::illegal_argument("roll_size_bytes is not within 1 KiB and 1 GiB"));
        }
        env.fs.create_dir_all(dir).map_err(|error| Error::io("create", dir, error))?;
        let found = &found.log;
        let tail = Tail::new(found.end(), found.highest_number + 1, options.roll_size_bytes);
        let accounting = Accounting::with_segments(found.segments.iter().cloned());
        let syncer = Syncer::new(env.clone(), dir.to_path_buf(), tail, accounting);
        syncer.add_found(found.ends.iter().copied().filter(|end| *end > found.synced));
        let wal = Self {
            syncer: Arc::new(syncer),
            background: Background::default(),
            options,
            removal: Mutex::default(),
        };
        if !found.left_over.is_empty() {
            // They may only go when a new segment says durably where the log ended before them.
            wal.mark(Goal::Synced)?;
            wal.remove_segments(&found.left_over)?;
            wal.sync_dir()?;
        }
        Ok(wal)
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
    /// sequence ids are not looked at.
    ///
    /// `assign` gives the sequence id. It is called under the log's lock, so that log order is id
    /// order; it must be quick and must not use the log. Nothing is promised until [`Wal::sync`].
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed before or is closed, `IllegalArgument` if the cells
    /// are larger than 1 GiB; `assign` was not called then.
    /// After `assign` was called an append does not fail.
    #[inline]
    pub fn append(
        &self,
        region: &WalRegion,
        origin: EditOrigin,
        edit: &CellBuffer,
        assign: impl FnOnce() -> u64,
    ) -> Result<WalTicket> {
        self.syncer.check()?;
        entry::check_edit(edit)?;
        let context = self.syncer.context();
        let mut tail = self.syncer.tail.lock();
        let follows_another = tail.append(context, region, origin, edit, assign);
        let (ticket, waiting) = (WalTicket(tail.appended()), tail.unwritten_bytes());
        drop(tail);
        if waiting > self.options.buffer_size_bytes {
            // A failure is remembered, and whoever waits for the record hears of it.
            let _ = self.syncer.reach(ticket.0, Goal::Written);
        }
        if follows_another {
            self.background.ring(&self.syncer);
        }
        Ok(ticket)
    }

    /// Waits until the record, and all before it, are as safe as `durability` says.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed. Whether the record will be found by a replay is
    /// unknown then.
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

    /// An error if the log has failed, and refuses all that follows.
    ///
    /// # Errors
    /// `RegionServerStopped` that says why.
    pub fn check(&self) -> Result<()> {
        self.syncer.check()
    }

    /// Begins a new segment, unless the active one has no entries.
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

    /// Notes that all entries of the region up to this sequence id are in HFiles, durably, and
    /// removes the segments that nobody needs any more.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed, `Io` if a file could not be removed.
    pub fn region_flushed(&self, encoded_name: &str, up_to_sequence_id: u64) -> Result<()> {
        self.syncer.accounting.lock().flushed(encoded_name, up_to_sequence_id);
        self.remove_unneeded()
    }

    /// Notes that nothing of the region in the log is needed: it was flushed and closed, or its
    /// table is gone. To append for it again, ask [`Wal::region`] again.
    ///
    /// # Errors
    /// As [`Wal::region_flushed`].
    pub fn region_removed(&self, encoded_name: &str) -> Result<()> {
        self.syncer.accounting.lock().removed(encoded_name);
        self.remove_unneeded()
    }

    /// The regions whose flush lets the log get back to [`WalOptions::segments_max`] segments,
    /// sorted by name; none if it is not above.
    pub fn regions_to_flush(&self) -> Vec<String> {
        let excess = self.segment_count().saturating_sub(self.options.segments_max);
        self.syncer.accounting.lock().regions_of_oldest(excess)
    }

    /// Number of segments, the active one included.
    pub fn segment_count(&self) -> usize {
        let tail = self.syncer.tail.lock();
        let closed = self.syncer.accounting.lock().closed_count();
        closed + usize::from(tail.active_number().is_some())
    }

    /// Makes the log durable and refuses all that follows. If every region has flushed, the files
    /// are removed.
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed, `Io` if a file could not be removed.
    pub fn close(&self) -> Result<()> {
        self.background.stop();
        self.syncer.check()?;
        self.sync_all()?;
        self.remove_unneeded()?;
        let tail = self.syncer.tail.lock();
        let Some(active) = tail.active_number() else {
            self.syncer.close();
            return Ok(());
        };
        let is_needed = self.syncer.accounting.lock().oldest().is_some()
            || tail.active_regions().iter().any(WalRegion::is_needed);
        drop(tail);
        if is_needed {
            // The mark tells the next replay that nothing before it can be missing.
            self.mark(Goal::Written)?;
        }
        self.syncer.close();
        if !is_needed {
            // Older segments must not come back without this one, which says that they are dead.
            self.sync_dir()?;
            self.remove_segments(&[active])?;
            self.sync_dir()?;
        }
        Ok(())
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
        // To the end: who holds segments must find those that are left marked as the oldest.
        let removal = self.removal.lock();
        if removal.holds > 0 {
            return Ok(());
        }
        let removable = self.syncer.accounting.lock().take_removable();
        if removable.is_empty() {
            return Ok(());
        }
        self.mark(Goal::Synced)?;
        for (index, number) in removable.iter().enumerate() {
            if let Err(error) = self.remove_segments(&[*number]) {
                self.syncer.accounting.lock().put_back(&removable[index..]);
                return Err(error);
            }
        }
        Ok(())
    }

    fn remove_segments(&self, numbers: &[u64]) -> Result<()> {
        for number in numbers {
            let path = segment_path(&self.syncer.dir, *number);
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
        let appended = self.syncer.tail.lock().appended();
        // Nobody is left to be told of a failure; who had to know has waited for the sync.
        let _ = self.syncer.reach(appended, Goal::Written);
    }
}
