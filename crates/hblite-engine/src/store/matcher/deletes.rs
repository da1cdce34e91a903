//! The delete tracker: which cells the markers of a row mask.
//!
//! Markers precede what they mask: family markers come first, under the empty qualifier, and column
//! markers precede the versions that they delete.

use hblite_model::cell::{CellRef, CellType};

use super::{Hides, Markers};

/// Whether and how a cell is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeleteResult {
    /// It lives.
    Alive,
    /// It is deleted with all older versions of its column.
    DeletedWithOlder,
    /// This version is deleted, or hidden by newer ones.
    Deleted,
}

/// Tracks the markers of a row (`ScanDeleteTracker`).
#[derive(Debug, Default)]
pub(super) struct DeleteTracker {
    /// The newest `DeleteFamily`.
    family_timestamp: Option<i64>,
    /// Timestamps of the `DeleteFamilyVersion`s, descending.
    family_version_timestamps: Vec<i64>,
    /// Whether a column marker is known; the fields below describe it.
    has_column: bool,
    qualifier: Vec<u8>,
    type_code: u8,
    timestamp: i64,
}

impl DeleteTracker {
    /// Whether no marker is known.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        !self.has_column
            && self.family_timestamp.is_none()
            && self.family_version_timestamps.is_empty()
    }

    /// Removes the markers; called between rows.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.family_timestamp = None;
        self.family_version_timestamps.clear();
        self.has_column = false;
    }

    /// Continues after these markers, of which one may be of the last column, `qualifier`.
    pub(super) fn resume(&mut self, qualifier: &[u8], markers: &Markers) {
        for hides in markers.iter() {
            match hides {
                Hides::Family(timestamp) => self.family_timestamp = Some(timestamp),
                Hides::FamilyVersion(timestamp) => self.add_family_version(timestamp),
                Hides::Column(timestamp) => {
                    self.set_column(qualifier, CellType::DeleteColumn.code(), timestamp);
                }
                Hides::Version(timestamp) => {
                    self.set_column(qualifier, CellType::Delete.code(), timestamp);
                }
            }
        }
    }

    /// Records a marker.
    pub(super) fn add(&mut self, marker: &CellRef<'_>) {
        let timestamp = marker.timestamp();
        if self.family_timestamp.is_some_and(|family| timestamp <= family) {
            return;
        }
        match marker.cell_type() {
            Some(CellType::DeleteFamily) => self.family_timestamp = Some(timestamp),
            Some(CellType::DeleteFamilyVersion) => self.add_family_version(timestamp),
            _ => self.add_column_marker(marker, timestamp),
        }
    }

    fn add_family_version(&mut self, timestamp: i64) {
        let place = self.family_version_timestamps.binary_search_by(|known| timestamp.cmp(known));
        if let Err(index) = place {
            self.family_version_timestamps.insert(index, timestamp);
        }
    }

    fn add_column_marker(&mut self, marker: &CellRef<'_>, timestamp: i64) {
        let type_code = marker.type_code();
        let is_less_specific = self.has_column && type_code < self.type_code;
        if is_less_specific && self.qualifier == marker.qualifier() {
            return;
        }
        self.set_column(marker.qualifier(), type_code, timestamp);
    }

    fn set_column(&mut self, qualifier: &[u8], type_code: u8, timestamp: i64) {
        self.has_column = true;
        self.qualifier.clear();
        self.qualifier.extend_from_slice(qualifier);
        self.type_code = type_code;
        self.timestamp = timestamp;
    }

    /// Whether the markers so far mask `cell`.
    pub(super) fn is_deleted(&mut self, cell: &CellRef<'_>) -> DeleteResult {
        let timestamp = cell.timestamp();
        if self.family_timestamp.is_some_and(|family| timestamp <= family) {
            return DeleteResult::DeletedWithOlder;
        }
        let family_versions = &self.family_version_timestamps;
        if family_versions.binary_search_by(|known| timestamp.cmp(known)).is_ok() {
            return DeleteResult::Deleted;
        }
        if self.has_column {
            if self.qualifier == cell.qualifier() {
                if self.type_code == CellType::DeleteColumn.code() {
                    return DeleteResult::DeletedWithOlder;
                }
                if timestamp == self.timestamp {
                    return DeleteResult::Deleted;
                }
            }
            // After the marker's version or column: it masks nothing more.
            self.has_column = false;
        }
        DeleteResult::Alive
    }
}
