//! Compaction: several files of a store become one.
//!
//! 1. choose files (all of them for a major compaction)
//! 2. merge them into a new file, leaving out what no reader can see any more
//! 3. move the new file into place: it names the files that it replaces
//! 4. swap it for them in the store's list, then delete them
//!
//! A crash after step 3 leaves both; the store sees by the new file's `COMPACTION_EVENT_KEY` which
//! ones are replaced when it is opened, and deletes them then. Readers that hold the old files
//! read on.
//!
//! Threads: one compaction of a store at a time; `compacting` sees to it.

mod policy;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_hfile::StoreFileInfo;
use hblite_hfile::file_info::COMPACTION_EVENT;
use hblite_model::{Result, protobuf};

use super::Store;
use super::key_value_scanner::SourceScanner;
use super::scanner::{CompactionScanner, ScanType};
use super::store_file::StoreFile;

const COMPACTED_FILE_FIELD: u32 = 1;
/// Five days.
const SEQUENCE_IDS_KEPT_MS: i64 = 5 * 24 * 60 * 60 * 1000;
/// How many cells a compaction writes before it looks whether it is to stop.
const CELLS_BETWEEN_LOOKS: u64 = 4096;

impl Store {
    /// Compacts what the policy chooses, or everything if `is_major`. Says whether there was
    /// anything to do.
    ///
    /// # Errors
    /// `Io`, `CorruptHFile`: the store is as it was before.
    pub(crate) fn compact(&self, is_major: bool, read_point: u64) -> Result<bool> {
        let _one = self.compacting.lock();
        // Only the file that replaced them tells that they are gone, and it may be replaced now.
        self.remove_dead_files()?;
        let files = self.files();
        let Some(range) = self.choose(&files, is_major) else {
            return Ok(false);
        };
        let is_all = range.len() == files.len();
        let chosen = &files[range.clone()];
        let Some(compacted) = self.merge(chosen, is_all, read_point)? else {
            return Ok(false);
        };
        let mut current = self.files.write();
        // Flushes only append, so the chosen files still stand where they stood.
        let mut list: Vec<_> = current.to_vec();
        list.splice(range, [compacted]);
        *current = list.into();
        drop(current);
        self.remove_files(chosen)?;
        Ok(true)
    }

    /// Whether a compaction has something to do: asked before one is queued.
    pub(crate) fn needs_compaction(&self) -> bool {
        self.choose(&self.files(), false).is_some()
    }

    fn choose(&self, files: &[Arc<StoreFile>], is_major: bool) -> Option<std::ops::Range<usize>> {
        if files.is_empty() || self.is_compaction_stopped.load(Ordering::Relaxed) {
            return None;
        }
        // Halves of a parent's files are rewritten as soon as possible, so that it can go.
        if is_major || files.iter().any(|file| file.is_reference()) {
            return Some(0..files.len());
        }
        let options = &self.context.options;
        let rules = policy::CompactionRules {
            files_min: options.compaction_files_min,
            files_max: options.compaction_files_max,
            ratio: options.compaction_ratio,
            small_bytes: options.compaction_small_file_bytes,
            blocking_files: options.blocking_store_files,
        };
        let sizes: Vec<u64> = files.iter().map(|file| file.size_bytes()).collect();
        policy::select(&sizes, &rules)
    }

    fn merge(
        &self,
        files: &[Arc<StoreFile>],
        is_all: bool,
        read_point: u64,
    ) -> Result<Option<Arc<StoreFile>>> {
        let has_tags = files.iter().any(|file| file.reader().has_tags_and_mvcc().0);
        let source =
            |file: &Arc<StoreFile>| SourceScanner::File(file.scanner(u64::MAX).without_caching());
        // The newest first.
        let sources = files.iter().rev().map(source).collect();
        let scan_type =
            if is_all { ScanType::CompactDropDeletes } else { ScanType::CompactRetainDeletes };
        let now = self.context.env.clock.now_millis();
        let earliest_put = files.iter().map(|file| file.reader().earliest_put()).min();
        let mut scanner =
            CompactionScanner::new(sources, &self.scan_info, scan_type, read_point, now)?
                .with_earliest_put_timestamp(earliest_put.unwrap_or(i64::MAX));
        if is_all && let Some(sequence_id) = oldest_needed_by_nobody(files, now) {
            scanner = scanner.clearing_sequence_ids(sequence_id.min(read_point));
        }
        self.create_file(has_tags, |writer| {
            while let Some(cell) = scanner.next()? {
                writer.append(&cell)?;
                let is_look_due = writer.cells().is_multiple_of(CELLS_BETWEEN_LOOKS);
                if is_look_due && self.is_compaction_stopped.load(Ordering::Relaxed) {
                    return Ok(None);
                }
            }
            Ok(Some(StoreFileInfo {
                max_sequence_id: files.iter().map(|file| file.sequence_id_max()).max(),
                major_compaction: is_all,
                compacted_files: files.iter().map(|file| file.name().to_owned()).collect(),
            }))
        })
    }

    /// Ends a compaction that is under way and waits for its end; none begins until
    /// [`Store::allow_compactions`]. Before the store's directory changes hands.
    pub(crate) fn stop_compactions(&self) {
        self.is_compaction_stopped.store(true, Ordering::Relaxed);
        drop(self.compacting.lock());
    }

    /// The region is back in service.
    pub(crate) fn allow_compactions(&self) {
        self.is_compaction_stopped.store(false, Ordering::Relaxed);
    }
}

/// Sequence ids up to this one tell nobody anything any more: their cells are in files that are
/// older than HBase keeps ids (`hbase.hstore.compaction.keep.seqId.period`). Of two equal keys the
/// higher id wins, and NEW_VERSION_BEHAVIOR goes by them, so younger ids stay.
fn oldest_needed_by_nobody(files: &[Arc<StoreFile>], now: i64) -> Option<u64> {
    let is_old = |file: &&Arc<StoreFile>| {
        file.reader().create_time().is_some_and(|time| time < now - SEQUENCE_IDS_KEPT_MS)
    };
    files.iter().filter(is_old).map(|file| file.reader().max_cell_sequence_id()).max()
}

/// Names of the files that a file says it replaces.
pub(super) fn replaced_files(file: &StoreFile) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(event) = file.reader().file_info(COMPACTION_EVENT) {
        // A list that cannot be read names nothing: both generations stay, which is safe.
        let _ = protobuf::read_message(protobuf::strip_magic(event), |field, value| {
            if field == COMPACTED_FILE_FIELD {
                names.push(value.as_text());
            }
            Ok(())
        });
    }
    names
}
