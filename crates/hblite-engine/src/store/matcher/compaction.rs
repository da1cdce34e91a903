//! The matcher of flushes and compactions: which cells are written.
//!
//! - A minor compaction, and a flush, keep every marker and drop what the markers mask, versions
//!   beyond VERSIONS and expired cells.
//! - A major compaction sees all files, so it also drops the markers, unless KEEP_DELETED_CELLS
//!   keeps them.
//! - With NEW_VERSION_BEHAVIOR only a major compaction may drop cells: the others write all.
//!
//! Cells that some open scanner may not see yet (sequence id above the smallest read point) mask
//! nothing and do not count as versions.

use hblite_model::cell::{CellRef, CellType};
use hblite_model::{KeepDeletedCells, Result};

use super::trackers::{Trackers, WantedVersions, to_count};
use super::{MatchCode, ScanInfo, is_cell_expired};

/// What a scan that writes a file does with markers (`ScanType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScanType {
    /// Major compactions.
    CompactDropDeletes,
    /// Minor compactions and flushes.
    CompactRetainDeletes,
}

/// What a flush or compaction knows in addition to the family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CompactionSettings {
    /// How markers are treated.
    pub(crate) scan_type: ScanType,
    /// The lowest read point of all open scanners.
    pub(crate) smallest_read_point: u64,
    /// Timestamp of the oldest put in the files: markers below it have nothing left to mask. 0 if
    /// unknown.
    pub(crate) earliest_put_timestamp: i64,
    /// The time in milliseconds.
    pub(crate) now: i64,
}

/// Decides which cells are written (`CompactionScanQueryMatcher`, its minor, major and
/// include-all kinds).
#[derive(Debug)]
pub(crate) struct CompactionMatcher {
    trackers: Trackers,
    settings: CompactionSettings,
    includes_all: bool,
    keep_deleted_cells: KeepDeletedCells,
    time_to_purge_deletes_ms: i64,
    oldest_unexpired: i64,
}

impl CompactionMatcher {
    pub(crate) fn new(info: &ScanInfo, settings: CompactionSettings) -> Self {
        let oldest_unexpired = info.oldest_unexpired(settings.now);
        let versions = to_count(info.versions_max);
        let wanted = WantedVersions {
            result_max: versions,
            checked_max: versions,
            obeys_new_version_behavior: true,
        };
        Self {
            trackers: Trackers::new(info, None, wanted, oldest_unexpired),
            settings,
            includes_all: info.new_version_behavior
                && settings.scan_type == ScanType::CompactRetainDeletes,
            keep_deleted_cells: info.keep_deleted_cells,
            time_to_purge_deletes_ms: info.time_to_purge_deletes_ms,
            oldest_unexpired,
        }
    }

    pub(crate) fn set_earliest_put_timestamp(&mut self, timestamp: i64) {
        self.settings.earliest_put_timestamp = timestamp;
    }

    /// Begins a new row.
    #[inline]
    pub(crate) fn begin_row(&mut self) {
        self.trackers.reset();
    }

    /// Decides on a cell of the current row.
    ///
    /// # Errors
    /// Columns that do not ascend.
    pub(crate) fn match_cell(&mut self, cell: &CellRef<'_>) -> Result<MatchCode> {
        if self.includes_all {
            return Ok(MatchCode::Include);
        }
        if self.trackers.is_column_done(cell.timestamp()) {
            return Ok(self.trackers.next_row_or_next_column(cell));
        }
        if is_cell_expired(cell, self.settings.now) {
            return Ok(MatchCode::Skip);
        }
        let is_too_new = cell.sequence_id() > self.settings.smallest_read_point;
        if CellType::is_delete_code(cell.type_code()) {
            if is_too_new {
                return Ok(MatchCode::Include);
            }
            self.track_marker(cell);
            if let Some(code) = self.judge_marker(cell) {
                return Ok(code);
            }
        } else if let Some(code) = self.trackers.check_deleted(cell) {
            return Ok(code);
        }
        self.trackers.check_versions(cell, is_too_new)
    }

    /// With KEEP_DELETED_CELLS, markers mask nothing that is written: only versions and time to
    /// live remove cells. With the value TTL, that ends when the marker has expired.
    fn track_marker(&mut self, marker: &CellRef<'_>) {
        let masks = match self.keep_deleted_cells {
            KeepDeletedCells::False => true,
            KeepDeletedCells::Ttl => marker.timestamp() < self.oldest_unexpired,
            KeepDeletedCells::True => false,
        };
        if masks {
            self.trackers.add_delete(marker);
        }
    }

    /// The decision on a marker; `None` if it is counted like the puts that it masks.
    fn judge_marker(&mut self, marker: &CellRef<'_>) -> Option<MatchCode> {
        if self.settings.scan_type == ScanType::CompactRetainDeletes {
            return Some(MatchCode::Include);
        }
        let timestamp = marker.timestamp();
        let age_ms = self.settings.now.saturating_sub(timestamp);
        if self.time_to_purge_deletes_ms > 0 && age_ms <= self.time_to_purge_deletes_ms {
            return Some(MatchCode::Include);
        }
        let keeps = match self.keep_deleted_cells {
            KeepDeletedCells::False => false,
            KeepDeletedCells::Ttl => timestamp >= self.oldest_unexpired,
            KeepDeletedCells::True => true,
        };
        if !keeps {
            return Some(MatchCode::Skip);
        }
        (timestamp < self.settings.earliest_put_timestamp)
            .then(|| self.trackers.next_row_or_next_column(marker))
    }
}
