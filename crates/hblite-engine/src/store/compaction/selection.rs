//! Which files of a store to compact, and whether there are too many.
//!
//! - Files whose cells have all expired, which no scan returns again: none of them is left.
//! - All of them: for a major compaction on request, or when one is due; when there are many delete
//!   markers; when values in other files are to be brought in.
//! - Halves of a parent's files, as soon as possible, so that the parent can be removed.
//! - Otherwise what the policy chooses by sizes and sorted runs.
//!
//! Threads: any.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use hblite_hfile::file_info::{EXCLUDE_FROM_MINOR_COMPACTION, MAJOR_COMPACTION, is_true};
use hblite_model::{CompactionKind, KeepDeletedCells};

use super::CompactionTrigger;
use super::policy::{self, Candidate, CompactionRules, FILES_AT_REST_MAX, FILES_MAX};
use crate::store::Store;
use crate::store::file_list::FileList;
use crate::store::store_file::StoreFile;

/// A store with fewer delete markers is not compacted because of them: a scan passes this many in
/// less than a millisecond.
const MARKERS_MIN: u64 = 10_000;
/// A store is compacted once it has a delete marker for this many cells. Each marker hides a cell
/// or more, so at least half of what the compaction reads need not be written, and deleting a whole
/// store bit by bit rewrites each cell twice at most.
const CELLS_PER_MARKER_MAX: u64 = 4;

/// A file with expired cells only is kept for this long after it was written: a raw scan may look
/// for what was written just now with old timestamps.
const EXPIRED_MS_MIN: i64 = 30 * 1000;

/// A store whose newest file is older is at rest.
const REST_MS: i64 = 10 * 60 * 1000;

impl Store {
    /// Whether there are so many files that compactions are urgent.
    pub(crate) fn is_crowded(&self) -> bool {
        self.is_crowd(&self.files())
    }

    /// Whether a compaction is due, whoever wrote the files: there are too many, or much in them is
    /// invisible to everybody.
    pub(crate) fn is_compaction_urgent(&self) -> bool {
        let files = self.files();
        self.is_crowd(&files) || self.has_many_markers(&files)
    }

    /// Whether files have many cells that no client can see.
    pub(crate) fn has_dead_cells(&self, files: &FileList) -> bool {
        self.has_many_markers(files) || self.expired(files, 0).is_some()
    }

    pub(super) fn is_crowd(&self, files: &FileList) -> bool {
        self.weight(files) >= self.compaction_settings.rules.blocking_files
    }

    /// How many of these files there are too many because compactions have fallen behind, if large
    /// ones of a run count as one. None if there is nothing to compact.
    pub(in crate::store) fn count_excess(&self, files: &FileList) -> usize {
        let blocking = self.compaction_settings.rules.blocking_files;
        let excess = (self.weight(files) + 1).saturating_sub(blocking);
        let is_behind =
            excess > 0 && self.choose(files, 0, CompactionTrigger::Background).is_some();
        if is_behind { excess } else { 0 }
    }

    fn weight(&self, files: &FileList) -> usize {
        policy::weight(&candidates(files), &self.compaction_settings.rules)
    }

    /// Whether a compaction would have something to do; checked before one is queued.
    pub(crate) fn needs_compaction(&self) -> bool {
        let files = self.files();
        let taken = self.turns.count_taken(&files);
        self.choose(&files, taken, CompactionTrigger::Background).is_some()
    }

    /// The files to compact, none of them among the oldest that are `taken`.
    pub(super) fn choose(
        &self,
        files: &FileList,
        taken: usize,
        trigger: CompactionTrigger,
    ) -> Option<Range<usize>> {
        if taken == files.len() || self.is_compaction_stopped() {
            return None;
        }
        if trigger == CompactionTrigger::Background
            && let Some(expired) = self.expired(files, taken)
        {
            return Some(expired);
        }
        let is_due = || {
            trigger == CompactionTrigger::Background
                && (self.is_major_compaction_due(files) || self.has_many_markers(files))
        };
        // Values in other files are brought into the store's own, so that other readers find them.
        let is_incomplete = || files.iter().any(|file| file.mob_files().is_some());
        let is_major = trigger == CompactionTrigger::Requested(CompactionKind::Major);
        if is_major || (taken == 0 && (is_incomplete() || is_due())) {
            return Some(0..files.len());
        }
        let rules = &self.compaction_settings.rules;
        if taken == 0
            && let Some(references) = references(files, rules)
        {
            return Some(references);
        }
        let kept_max = if self.is_at_rest(files) { FILES_AT_REST_MAX } else { FILES_MAX };
        let candidates = candidates(files);
        let is_crowded = policy::weight(&candidates, rules) >= rules.blocking_files;
        let range = policy::select(&candidates[taken..], kept_max, is_crowded, rules)?;
        Some(taken + range.start..taken + range.end)
    }

    /// The first files, not among the oldest that are `taken`, whose cells have all expired
    /// (`hbase.store.delete.expired.storefile`).
    fn expired(&self, files: &[Arc<StoreFile>], taken: usize) -> Option<Range<usize>> {
        let now = self.context.env.clock.now_millis();
        let is_expired = |file: &Arc<StoreFile>| self.is_expired(file, now);
        let of_others = files.iter().skip(taken);
        let first = taken
            + of_others.clone().position(|file| file.reader().entries() > 0 && is_expired(file))?;
        let count = files[first..].iter().take_while(|file| is_expired(file)).count();
        Some(first..first + count)
    }

    /// Whether the file is not new, and no cell in it is visible, because all are past the family's
    /// time to live.
    pub(super) fn is_expired(&self, file: &StoreFile, now: i64) -> bool {
        let (_, latest) = file.reader().time_range();
        let is_new = file.since().is_some_and(|since| since > now.saturating_sub(EXPIRED_MS_MIN));
        self.scan_info.versions_min == 0
            && latest < self.scan_info.oldest_unexpired(now)
            && !(is_new && file.reader().entries() > 0)
    }

    /// Whether nothing was written to the store for a while.
    fn is_at_rest(&self, files: &FileList) -> bool {
        // The result of a compaction is seldom the newest by age.
        let newest = files.last().and_then(|newest| newest.since());
        let now = self.context.env.clock.now_millis();
        newest.is_none_or(|newest| newest < now.saturating_sub(REST_MS))
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
}

/// The files as the policy sees them.
fn candidates(files: &FileList) -> Vec<Candidate> {
    let by_row = files.by_row().iter().enumerate();
    let places: HashMap<_, _> = by_row.map(|(place, file)| (Arc::as_ptr(file), place)).collect();
    let of_run = |run| files.range(run).map(move |at| (run, at));
    let candidate = |(run, at): (usize, usize)| {
        let file = &files[at];
        let size = (!is_for_major_compactions_only(file)).then(|| file.size_bytes());
        Candidate { size, run, place: places[&Arc::as_ptr(file)] }
    };
    (0..files.run_count()).flat_map(of_run).map(candidate).collect()
}

/// The files to compact so that no reference is left: all of them, as in HBase, unless the others
/// are not small and no two files have a row in common, as after a load in the order of keys. Then
/// delete markers are kept.
fn references(files: &FileList, rules: &CompactionRules) -> Option<Range<usize>> {
    let first = files.iter().position(|file| file.is_reference())?;
    let last = files.iter().rposition(|file| file.is_reference())?;
    let others = files.iter().filter(|file| !file.is_reference());
    let is_much = others.map(|file| file.size_bytes()).sum::<u64>() >= rules.small_bytes;
    let are_apart = files.run_count() == 1 && is_much;
    Some(if are_apart { first..last + 1 } else { 0..files.len() })
}

/// Whether minor compactions leave the file alone.
fn is_for_major_compactions_only(file: &StoreFile) -> bool {
    is_true(file.reader().file_info(EXCLUDE_FROM_MINOR_COMPACTION))
}
