//! Compaction: merges several files of a store into one.
//!
//! 1. choose files (all of them for a major compaction)
//! 2. merge them into a new file, without cells that no reader can see
//! 3. move the new file into place: it names the files that it replaces
//! 4. swap it for them in the store's list, then in the region's manifest, then delete them
//!
//! The new file also contains the values that HBase keeps in files of their own (see `mob`).
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
//! Which files: `selection.rs`. Threads: several, see `turns.rs`.

mod pace;
mod policy;
mod selection;
mod settings;
mod turns;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_hfile::{BlockUse, StoreFileInfo};
use hblite_model::{CompactionKind, Result};

use self::pace::wait_after;
pub(crate) use self::settings::CompactionSettings;
use self::turns::Chosen;
pub(super) use self::turns::{Exclusive, Turns};
use super::Store;
use super::file_list::FileList;
use super::key_value_scanner::SourceScanner;
use super::new_file::NewFile;
use super::store_file::StoreFile;
use super::store_scanner::{CompactionScanner, ScanType};
use crate::pace::Pace;

/// Five days.
const SEQUENCE_IDS_KEPT_MS: i64 = 5 * 24 * 60 * 60 * 1000;
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

/// Called with the step in which a compaction's result takes the place of its files, if it may
/// lack delete markers that they have. It runs the step.
pub(crate) type AroundSwap<'a> = &'a dyn Fn(&mut dyn FnMut());

impl Store {
    /// Compacts what `trigger` requires. Returns whether there was anything to do.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`: the store is unchanged, or compacted with old files that could not be
    /// removed yet. `RegionServerStopped` if the log failed.
    pub(crate) fn compact(
        &self,
        trigger: CompactionTrigger,
        read_point: u64,
        around_swap: AroundSwap<'_>,
    ) -> Result<bool> {
        match trigger {
            CompactionTrigger::Background => {
                let mut turn = self.turns.shared();
                self.prepare_compaction()?;
                let choose = |files: &FileList, taken| self.choose(files, taken, trigger);
                let Some(chosen) = turn.take(self, choose) else { return Ok(false) };
                let announce = |file: &_| turn.take_result(file);
                self.replace(chosen, trigger, read_point, announce, around_swap)
            }
            CompactionTrigger::Requested(kind) => {
                let _exclusive = self.wait_for_turn(kind);
                self.prepare_compaction()?;
                let files = self.files();
                let Some(range) = self.choose(&files, 0, trigger) else { return Ok(false) };
                let chosen = Chosen { files, range };
                self.replace(chosen, trigger, read_point, |_| {}, around_swap)
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
        around_swap: AroundSwap<'_>,
    ) -> Result<bool> {
        let is_all = range.len() == files.len();
        let chosen = &files[range];
        let Some(newest) = chosen.last() else { return Ok(false) };
        let pace = self.pace(trigger, &files);
        // Does not become false again before this compaction has ended.
        let gives_way =
            || trigger == CompactionTrigger::Background && self.turns.is_awaited_for_all();
        let is_stopped = || self.is_compaction_stopped() || gives_way();
        let Some(compacted) = self.merge(chosen, is_all, trigger, read_point, pace, &is_stopped)?
        else {
            return Ok(false);
        };
        announce(&compacted.file);
        let mut swap = || self.swap(chosen, newest, &compacted.file);
        if is_all {
            around_swap(&mut swap);
        } else {
            swap();
        }
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

    /// Puts the result of a compaction in the place of its files.
    fn swap(&self, chosen: &[Arc<StoreFile>], newest: &Arc<StoreFile>, result: &Arc<StoreFile>) {
        self.change_files(|current| {
            // Meanwhile flushes and loads only append, and older files may have been compacted.
            let mut list: Vec<_> = current.to_vec();
            let end = list.iter().position(|file| Arc::ptr_eq(file, newest)).map(|at| at + 1);
            let start = end.and_then(|end| end.checked_sub(chosen.len()));
            let place = start.zip(end).map(|(start, end)| start..end);
            let there = place.clone().and_then(|place| list.get(place)).unwrap_or_default();
            let is_same = |(now, then): (&Arc<StoreFile>, &Arc<StoreFile>)| Arc::ptr_eq(now, then);
            let is_there = there.len() == chosen.len() && there.iter().zip(chosen).all(is_same);
            let place = place.filter(|_| is_there).expect("what is replaced is there");
            list.splice(place, [Arc::clone(result)]);
            list
        });
    }

    /// How fast a compaction may write: without limit if a caller waits for it, or if there are so
    /// many files, or so little memory left, that all writers wait.
    fn pace(&self, trigger: CompactionTrigger, files: &FileList) -> Pace {
        let options = &self.context.options;
        let is_urgent = trigger != CompactionTrigger::Background
            || self.is_crowd(files)
            || self.context.is_memory_short();
        Pace::new(options.compaction_bytes_per_second_max.filter(|_| !is_urgent))
    }

    fn merge(
        &self,
        files: &[Arc<StoreFile>],
        is_all: bool,
        trigger: CompactionTrigger,
        read_point: u64,
        mut pace: Pace,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<NewFile>> {
        let now = self.context.env.clock.now_millis();
        let are_expired = trigger == CompactionTrigger::Background
            && files.iter().all(|file| self.is_expired(file, now));
        // Of files without a visible cell, only the sequence id is kept.
        let read = if are_expired { &[] } else { files };
        let has_tags = read.iter().any(|file| file.reader().has_tags_and_mvcc().0);
        let fs = self.context.env.fs.as_ref();
        let reopened = read.iter().map(|file| Ok(Arc::new(file.reopen(fs)?)));
        let list = Arc::new(FileList::new(reopened.collect::<Result<_>>()?, self.comparator));
        let source =
            |run| SourceScanner::of_run(&list, list.range(run), u64::MAX, BlockUse::Verify, None);
        // The newest first.
        let sources: Vec<SourceScanner> = (0..list.run_count()).rev().map(source).collect();
        let scan_type =
            if is_all { ScanType::CompactDropDeletes } else { ScanType::CompactRetainDeletes };
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
