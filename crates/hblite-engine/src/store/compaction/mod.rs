//! Compaction: merges several files of a store into one.
//!
//! 1. choose files (all of them for a major compaction)
//! 2. merge them into a new file, without cells that no reader can see
//! 3. move the new file into place: it names the files that it replaces
//! 4. swap it for them in the store's list, then in the region's manifest, then delete them
//!
//! Values that HBase keeps in other files are among the cells of the new one.
//!
//! Step 2 reads every block from its file and verifies it, whatever was read or cached before: a
//! damaged block must not get a new, valid checksum. The compaction fails, and the files stay.
//!
//! A compaction in the background gives way to a major one that a caller waits for: that one reads
//! and writes all of its cells again, and what it had merged so far would be of no use.
//!
//! A crash after step 3 leaves both. When the store is opened, the new file's
//! `COMPACTION_EVENT_KEY` says which files are replaced, and they are deleted. Readers that hold
//! the old files continue to read them.
//!
//! Threads: several, see `turns.rs`.

mod pace;
mod policy;
mod settings;
mod turns;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_hfile::file_info::{EXCLUDE_FROM_MINOR_COMPACTION, MAJOR_COMPACTION, is_true};
use hblite_hfile::{BlockUse, StoreFileInfo};
use hblite_model::{CompactionKind, KeepDeletedCells, Result};

use self::pace::wait_after;
pub(crate) use self::settings::CompactionSettings;
use self::turns::Chosen;
pub(super) use self::turns::{Exclusive, Turns};
use super::Store;
use super::key_value_scanner::SourceScanner;
use super::new_file::NewFile;
use super::store_file::StoreFile;
use super::store_scanner::{CompactionScanner, ScanType};
use crate::pace::Pace;

/// Five days.
const SEQUENCE_IDS_KEPT_MS: i64 = 5 * 24 * 60 * 60 * 1000;
/// A store with fewer delete markers is not compacted because of them: a scan passes this many in
/// less than a millisecond.
const MARKERS_MIN: u64 = 10_000;
/// A store is compacted once it has a delete marker for this many cells. Each marker hides a cell
/// or more, so at least half of what the compaction reads need not be written, and deleting a whole
/// store bit by bit rewrites each cell twice at most.
const CELLS_PER_MARKER_MAX: u64 = 4;
/// How many bytes a compaction writes between two checks whether to stop or to wait.
const BYTES_BETWEEN_LOOKS: u64 = 256 << 10;

/// A caller does not wait for the removal of more bytes, which takes the operating system longer
/// than a few milliseconds.
const REMOVED_AT_ONCE_MAX: u64 = 16 << 20;

/// Why a store is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompactionTrigger {
    /// Routine maintenance: what the policy chooses, or all files if the last major compaction was
    /// long ago. It leaves as much disk bandwidth to others as it can.
    Background,
    /// A caller waits for it.
    Requested(CompactionKind),
}

impl Store {
    /// Compacts what `trigger` requires. Returns whether there was anything to do.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`: the store is unchanged, or compacted with old files that could not be
    /// removed yet. `RegionServerStopped` if the log failed.
    pub(crate) fn compact(&self, trigger: CompactionTrigger, read_point: u64) -> Result<bool> {
        match trigger {
            CompactionTrigger::Background => {
                let mut turn = self.turns.shared();
                self.prepare_compaction()?;
                let choose = |files: &[_], taken| self.choose(files, taken, trigger);
                let Some(chosen) = turn.take(self, choose) else { return Ok(false) };
                self.replace(chosen, trigger, read_point, |file| turn.take_result(file))
            }
            CompactionTrigger::Requested(kind) => {
                let _exclusive = self.wait_for_turn(kind);
                self.prepare_compaction()?;
                let files = self.files();
                let Some(range) = self.choose(&files, 0, trigger) else { return Ok(false) };
                self.replace(Chosen { files, range }, trigger, read_point, |_| {})
            }
        }
    }

    /// Removes what earlier compactions replaced.
    ///
    /// # Errors
    /// As [`Store::compact`].
    pub(crate) fn remove_replaced_files(&self) -> Result<()> {
        let _turn = self.turns.shared();
        if self.is_compaction_stopped() { Ok(()) } else { self.prepare_compaction() }
    }

    fn prepare_compaction(&self) -> Result<()> {
        // After a commit of unknown outcome, the files may belong to another region.
        self.context.wal.check()?;
        // Only the file that replaced them says that they are gone, and it may be replaced now.
        self.remove_dead_files()
    }

    /// Merges files that no other compaction has, and puts the result in their place; calls
    /// `announce` with it before. Returns false if the compaction ended without a result.
    fn replace(
        &self,
        Chosen { files, range }: Chosen,
        trigger: CompactionTrigger,
        read_point: u64,
        announce: impl FnOnce(&Arc<StoreFile>),
    ) -> Result<bool> {
        let is_all = range.len() == files.len();
        let chosen = &files[range];
        let Some(newest) = chosen.last() else { return Ok(false) };
        let pace = self.pace(trigger, files.len());
        // Does not become false again before this compaction has ended.
        let gives_way =
            || trigger == CompactionTrigger::Background && self.turns.is_awaited_for_all();
        let is_stopped = || self.is_compaction_stopped() || gives_way();
        let Some(compacted) = self.merge(chosen, is_all, read_point, pace, &is_stopped)? else {
            return Ok(false);
        };
        announce(&compacted.file);
        let mut current = self.files.write();
        // Meanwhile flushes and loads only append, and older files may have been compacted.
        let mut list: Vec<_> = current.to_vec();
        let end = list.iter().position(|file| Arc::ptr_eq(file, newest)).map(|at| at + 1);
        let start = end.and_then(|end| end.checked_sub(chosen.len()));
        let place = start.zip(end).map(|(start, end)| start..end);
        let there = place.clone().and_then(|place| list.get(place)).unwrap_or_default();
        let is_same = |(now, then): (&Arc<StoreFile>, &Arc<StoreFile>)| Arc::ptr_eq(now, then);
        let is_there = there.len() == chosen.len() && there.iter().zip(chosen).all(is_same);
        let place = place.filter(|_| is_there).expect("what is replaced is there");
        list.splice(place, [Arc::clone(&compacted.file)]);
        self.set_files(&mut current, list);
        drop(current);
        self.list_file(&compacted, chosen);
        drop(compacted);
        self.add_dead_files(chosen);
        let size: u64 = chosen.iter().map(|file| file.size_bytes()).sum();
        if trigger == CompactionTrigger::Background || size <= REMOVED_AT_ONCE_MAX {
            self.remove_dead_files()?;
        } else {
            self.context.chores.compact(self.region.encoded_name());
        }
        Ok(true)
    }

    /// Whether there are so many files that compactions are urgent.
    pub(crate) fn is_crowded(&self) -> bool {
        self.files().len() >= self.compaction_settings.rules.blocking_files
    }

    /// How many of these files there are too many because compactions have fallen behind. None if
    /// there is nothing to compact.
    pub(super) fn count_excess(&self, files: &[Arc<StoreFile>]) -> usize {
        let blocking = self.compaction_settings.rules.blocking_files;
        let is_behind = files.len() >= blocking
            && self.choose(files, 0, CompactionTrigger::Background).is_some();
        if is_behind { files.len() - blocking + 1 } else { 0 }
    }

    /// Whether a compaction would have something to do; checked before one is queued.
    pub(crate) fn needs_compaction(&self) -> bool {
        let files = self.files();
        let taken = self.turns.count_taken(&files);
        self.choose(&files, taken, CompactionTrigger::Background).is_some()
    }

    /// The files to compact, none of them among the oldest that are `taken`.
    fn choose(
        &self,
        files: &[Arc<StoreFile>],
        taken: usize,
        trigger: CompactionTrigger,
    ) -> Option<Range<usize>> {
        if taken == files.len() || self.is_compaction_stopped() {
            return None;
        }
        // Halves of a parent's files are rewritten as soon as possible, so that the parent can be
        // removed.
        let is_due = || {
            trigger == CompactionTrigger::Background
                && (self.is_major_compaction_due(files) || self.has_many_markers(files))
        };
        // Values in other files are brought into the store's own, so that other readers find them.
        let is_incomplete = |file: &Arc<StoreFile>| file.mob_files().is_some();
        let has_references = files.iter().any(|file| file.is_reference() || is_incomplete(file));
        let is_major = trigger == CompactionTrigger::Requested(CompactionKind::Major);
        if is_major || (taken == 0 && (has_references || is_due())) {
            return Some(0..files.len());
        }
        let size = |file: &Arc<StoreFile>| {
            (!is_for_major_compactions_only(file)).then(|| file.size_bytes())
        };
        let sizes: Vec<Option<u64>> = files[taken..].iter().map(size).collect();
        let is_crowded = files.len() >= self.compaction_settings.rules.blocking_files;
        let range = policy::select_between(&sizes, is_crowded, &self.compaction_settings.rules)?;
        Some(taken + range.start..taken + range.end)
    }

    /// Whether a major compaction is due: the last one was too long ago, or the only file has too
    /// many expired cells (`SortedCompactionPolicy.shouldPerformMajorCompaction`).
    fn is_major_compaction_due(&self, files: &[Arc<StoreFile>]) -> bool {
        let Some(period) = self.compaction_settings.major_period_ms else { return false };
        let now = self.context.env.clock.now_millis();
        let oldest = files.iter().filter_map(|file| file.since()).min();
        if oldest.is_none_or(|oldest| oldest >= now.saturating_sub(period)) {
            return false;
        }
        let time_to_live = self.scan_info.time_to_live_ms;
        let first_timestamp = files.iter().map(|file| file.reader().earliest_put()).min();
        let has_expired = first_timestamp.is_some_and(|first| {
            time_to_live != i64::MAX && first < now.saturating_sub(time_to_live)
        });
        files.len() > 1 || has_expired
    }

    /// Whether there are so many delete markers that all files should be compacted now, which drops
    /// them and what they hide. Those in the result of a major compaction do not count: what kept
    /// them may keep them again, and the store would be compacted without end.
    fn has_many_markers(&self, files: &[Arc<StoreFile>]) -> bool {
        let keeps_deleted_cells = self.scan_info.keep_deleted_cells != KeepDeletedCells::False;
        if keeps_deleted_cells || self.compaction_settings.major_period_ms.is_none() {
            return false;
        }
        let is_newer = |file: &&Arc<StoreFile>| !is_true(file.reader().file_info(MAJOR_COMPACTION));
        let markers: u64 = files.iter().filter(is_newer).map(|file| file.delete_markers()).sum();
        let cells: u64 = files.iter().map(|file| file.reader().entries()).sum();
        markers >= MARKERS_MIN && markers >= cells / CELLS_PER_MARKER_MAX
    }

    /// How fast a compaction may write: without limit if a caller waits for it, or if there are so
    /// many files, or so little memory left, that all writers wait.
    fn pace(&self, trigger: CompactionTrigger, file_count: usize) -> Pace {
        let options = &self.context.options;
        let is_urgent = trigger != CompactionTrigger::Background
            || file_count >= self.compaction_settings.rules.blocking_files
            || self.context.is_memory_short();
        Pace::new(options.compaction_bytes_per_second_max.filter(|_| !is_urgent))
    }

    fn merge(
        &self,
        files: &[Arc<StoreFile>],
        is_all: bool,
        read_point: u64,
        mut pace: Pace,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<NewFile>> {
        let has_tags = files.iter().any(|file| file.reader().has_tags_and_mvcc().0);
        let fs = self.context.env.fs.as_ref();
        let source = |file: &Arc<StoreFile>| {
            let scanner = file.reopen(fs)?.scanner(u64::MAX).with_block_use(BlockUse::Verify);
            Ok(SourceScanner::File(scanner))
        };
        // The newest first.
        let sources = files.iter().rev().map(source).collect::<Result<_>>()?;
        let scan_type =
            if is_all { ScanType::CompactDropDeletes } else { ScanType::CompactRetainDeletes };
        let now = self.context.env.clock.now_millis();
        let earliest_put = files.iter().map(|file| file.reader().earliest_put()).min();
        let mut scanner =
            CompactionScanner::new(sources, &self.scan_info, scan_type, read_point, now)?
                .with_earliest_put_timestamp(earliest_put.unwrap_or(i64::MAX))
                .stopped_by(is_stopped);
        if is_all && let Some(sequence_id) = unneeded_sequence_id_max(files, now) {
            scanner = scanner.clearing_sequence_ids(sequence_id.min(read_point));
        }
        let mut unseen = 0;
        self.create_file(has_tags, |writer| {
            while let Some(cell) = scanner.next()? {
                writer.append(&cell)?;
                unseen += (cell.serialized_size() + cell.tags().len()) as u64;
                if unseen < BYTES_BETWEEN_LOOKS {
                    continue;
                }
                let is_hurried = || self.turns.is_awaited() || self.excess_files() > 0;
                if !wait_after(&mut pace, unseen, is_stopped, is_hurried) {
                    return Ok(None);
                }
                unseen = 0;
            }
            if is_stopped() {
                return Ok(None);
            }
            Ok(Some(StoreFileInfo {
                max_sequence_id: files.iter().map(|file| file.sequence_id_max()).max(),
                major_compaction: is_all,
                compacted_files: files.iter().map(|file| file.name().to_owned()).collect(),
            }))
        })
    }

    /// Waits for compactions in progress. They give way to a major one, unless there are so many
    /// files that writers wait for their end.
    fn wait_for_turn(&self, kind: CompactionKind) -> Exclusive<'_> {
        self.turns.exclusive(kind == CompactionKind::Major && !self.is_crowded())
    }

    /// Waits for compactions in progress, which speed up meanwhile. None begins while the result
    /// lives.
    pub(super) fn wait_for_compactions(&self) -> Exclusive<'_> {
        self.turns.exclusive(false)
    }

    fn is_compaction_stopped(&self) -> bool {
        self.is_compaction_stopped.load(Ordering::Relaxed)
            || self.context.is_closed.load(Ordering::Relaxed)
    }

    /// Stops compactions in progress and waits for their end; none begins until
    /// [`Store::allow_compactions`]. Called before the store's directory is handed over.
    pub(crate) fn stop_compactions(&self) {
        self.is_compaction_stopped.store(true, Ordering::Relaxed);
        drop(self.wait_for_compactions());
    }

    /// Allows compactions again: the region is back in service.
    pub(crate) fn allow_compactions(&self) {
        self.is_compaction_stopped.store(false, Ordering::Relaxed);
    }
}

/// Sequence ids up to this one are no longer needed: their cells are in files that are
/// older than HBase keeps ids (`hbase.hstore.compaction.keep.seqId.period`). Newer ids stay: of two
/// equal keys the one with the higher id wins, and NEW_VERSION_BEHAVIOR depends on ids.
fn unneeded_sequence_id_max(files: &[Arc<StoreFile>], now: i64) -> Option<u64> {
    let is_old =
        |file: &&Arc<StoreFile>| file.since().is_some_and(|time| time < now - SEQUENCE_IDS_KEPT_MS);
    files.iter().filter(is_old).map(|file| file.cell_sequence_id_max()).max()
}

/// Whether minor compactions leave the file alone.
fn is_for_major_compactions_only(file: &StoreFile) -> bool {
    is_true(file.reader().file_info(EXCLUDE_FROM_MINOR_COMPACTION))
}
