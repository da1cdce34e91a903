//! Column trackers: which columns are selected, and how many versions of each.
//!
//! Within a row columns ascend, and the versions of a column descend. A tracker is reset between
//! rows.

use std::cmp::Ordering;

use hblite_model::cell::{CellRef, CellType, LATEST_TIMESTAMP};
use hblite_model::{Error, Result};

use super::MatchCode;

/// How many versions count, and until when.
#[derive(Debug, Clone, Copy)]
pub(super) struct VersionLimits {
    /// Versions selected per column; less than one selects none.
    pub(super) max: i32,
    /// Versions that outlive the time to live.
    pub(super) min: i32,
    /// Cells with a lower timestamp are past the family's time to live.
    pub(super) oldest_unexpired: i64,
}

impl VersionLimits {
    #[inline]
    fn is_expired(self, timestamp: i64) -> bool {
        timestamp < self.oldest_unexpired
    }

    /// Whether neither this version nor any older one of the column can be selected.
    #[inline]
    pub(super) fn is_done(self, timestamp: i64) -> bool {
        self.min <= 0 && self.is_expired(timestamp)
    }
}

/// Qualifiers in ascending order, stored contiguously: at least one.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExplicitColumns {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl ExplicitColumns {
    /// `qualifiers` must ascend.
    pub(crate) fn new<'a>(qualifiers: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut columns = Self::default();
        for qualifier in qualifiers {
            columns.bytes.extend_from_slice(qualifier);
            columns.ends.push(columns.bytes.len());
        }
        columns
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The qualifier at `index`.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[start..end])
    }
}

/// Tracks named columns (`ExplicitColumnTracker`).
#[derive(Debug)]
pub(super) struct ExplicitColumnTracker {
    limits: VersionLimits,
    columns: ExplicitColumns,
    /// The column to look for.
    index: usize,
    /// Versions of it that were seen.
    count: i32,
    /// Timestamp of the last included version, to skip duplicates.
    last_timestamp: i64,
}

impl ExplicitColumnTracker {
    pub(super) fn new(columns: ExplicitColumns, limits: VersionLimits) -> Self {
        debug_assert!(columns.len() > 0);
        Self { limits, columns, index: 0, count: 0, last_timestamp: LATEST_TIMESTAMP }
    }

    pub(super) fn limits(&self) -> VersionLimits {
        self.limits
    }

    pub(super) fn reset(&mut self) {
        self.index = 0;
        self.count = 0;
        self.last_timestamp = LATEST_TIMESTAMP;
    }

    /// Whether the rest of the row is not selected.
    pub(super) fn is_done(&self) -> bool {
        self.index >= self.columns.len()
    }

    /// The next selected column.
    pub(super) fn hint(&self) -> Option<&[u8]> {
        self.columns.get(self.index)
    }

    fn move_to_next(&mut self) {
        self.index += 1;
        self.count = 0;
    }

    /// Whether the column `qualifier` is selected: `Include`, or where to go.
    pub(super) fn check_column(&mut self, qualifier: &[u8]) -> MatchCode {
        while let Some(wanted) = self.columns.get(self.index) {
            match qualifier.cmp(wanted) {
                Ordering::Equal => return MatchCode::Include,
                Ordering::Less => {
                    self.last_timestamp = LATEST_TIMESTAMP;
                    return MatchCode::SeekNextColumn;
                }
                Ordering::Greater => {
                    self.last_timestamp = LATEST_TIMESTAMP;
                    self.move_to_next();
                }
            }
        }
        MatchCode::SeekNextRow
    }

    /// Counts a version and decides on it. With `ignore_count` it is too new to be counted.
    pub(super) fn check_versions(&mut self, timestamp: i64, ignore_count: bool) -> MatchCode {
        if ignore_count {
            return MatchCode::Include;
        }
        if timestamp == self.last_timestamp {
            return MatchCode::Skip;
        }
        self.count += 1;
        let is_last = self.count >= self.limits.max
            || (self.count >= self.limits.min && self.limits.is_expired(timestamp));
        if !is_last {
            self.last_timestamp = timestamp;
            return MatchCode::Include;
        }
        self.last_timestamp = LATEST_TIMESTAMP;
        self.move_to_next();
        if self.is_done() {
            MatchCode::IncludeAndSeekNextRow
        } else {
            MatchCode::IncludeAndSeekNextColumn
        }
    }

    /// Records that the rest of the column `qualifier` is not needed.
    pub(super) fn finish_column(&mut self, qualifier: &[u8]) {
        while let Some(wanted) = self.columns.get(self.index) {
            let order = qualifier.cmp(wanted);
            self.last_timestamp = LATEST_TIMESTAMP;
            if order != Ordering::Less {
                self.move_to_next();
            }
            if order != Ordering::Greater {
                return;
            }
        }
    }

    /// Where to go when the rest of the column `qualifier` is not needed.
    pub(super) fn next_row_or_next_column(&mut self, qualifier: &[u8]) -> MatchCode {
        self.finish_column(qualifier);
        if self.is_done() { MatchCode::SeekNextRow } else { MatchCode::SeekNextColumn }
    }
}

/// Tracks all columns (`ScanWildcardColumnTracker`).
#[derive(Debug)]
pub(super) struct WildcardColumnTracker {
    limits: VersionLimits,
    /// Whether a cell of the row was seen.
    has_column: bool,
    /// The last column.
    qualifier: Vec<u8>,
    /// Puts of it that were seen.
    count: i32,
    /// Timestamp and type of the last included version, to skip duplicates.
    last_version: (i64, u8),
}

const NO_VERSION: (i64, u8) = (LATEST_TIMESTAMP, 0);

impl WildcardColumnTracker {
    pub(super) fn new(limits: VersionLimits) -> Self {
        let qualifier = Vec::new();
        Self { limits, has_column: false, qualifier, count: 0, last_version: NO_VERSION }
    }

    #[inline]
    pub(super) fn limits(&self) -> VersionLimits {
        self.limits
    }

    #[inline]
    pub(super) fn reset(&mut self) {
        self.has_column = false;
        self.last_version = NO_VERSION;
    }

    /// Continues after `versions` puts of a column, of which the last included one has this
    /// timestamp.
    pub(super) fn resume(&mut self, qualifier: &[u8], versions: i32, timestamp: i64) {
        self.has_column = true;
        self.qualifier.clear();
        self.qualifier.extend_from_slice(qualifier);
        self.count = versions;
        self.last_version = (timestamp, CellType::Put.code());
    }

    /// Counts a version and decides on it. Markers pass through here too, but do not count.
    ///
    /// # Errors
    /// If the columns do not ascend: the store contains a cell of another family, or a file is
    /// damaged.
    #[inline]
    pub(super) fn check_versions(
        &mut self,
        cell: &CellRef<'_>,
        ignore_count: bool,
    ) -> Result<MatchCode> {
        let qualifier = cell.qualifier();
        let is_same_column = self.has_column && self.qualifier == qualifier;
        if !is_same_column {
            if self.has_column {
                if qualifier < self.qualifier.as_slice() {
                    return Err(out_of_order(qualifier));
                }
                self.last_version = NO_VERSION;
            }
            self.has_column = true;
            self.qualifier.clear();
            self.qualifier.extend_from_slice(qualifier);
            self.count = 0;
        }
        if ignore_count {
            return Ok(MatchCode::Include);
        }
        let version = (cell.timestamp(), cell.type_code());
        if is_same_column && version == self.last_version {
            return Ok(MatchCode::Skip);
        }
        Ok(self.check_version(version))
    }

    #[inline]
    fn check_version(&mut self, (timestamp, type_code): (i64, u8)) -> MatchCode {
        if !CellType::is_delete_code(type_code) {
            self.count += 1;
        }
        let is_wanted = self.count <= self.limits.max
            && (self.count <= self.limits.min || !self.limits.is_expired(timestamp));
        if !is_wanted {
            return MatchCode::SeekNextColumn;
        }
        self.last_version = (timestamp, type_code);
        MatchCode::Include
    }
}

#[cold]
fn out_of_order(qualifier: &[u8]) -> Error {
    let qualifier = hblite_model::bytes::to_string_binary(qualifier);
    Error::malformed(format!(
        "ScanWildcardColumnTracker.checkColumn ran into a column actually smaller than the \
         previous column: {qualifier}"
    ))
}
