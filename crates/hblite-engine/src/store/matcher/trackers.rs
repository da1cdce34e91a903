//! The trackers of a matcher, behind one interface.

use hblite_model::Result;
use hblite_model::cell::CellRef;

use super::columns::{
    ExplicitColumnTracker, ExplicitColumns, VersionLimits, WildcardColumnTracker,
};
use super::deletes::{DeleteResult, DeleteTracker};
use super::new_version_behavior::NewVersionTracker;
use super::{Markers, MatchCode, ScanInfo};

/// The state of the current row.
#[derive(Debug)]
pub(super) enum Trackers {
    /// All columns.
    Wildcard { columns: WildcardColumnTracker, deletes: DeleteTracker },
    /// Named columns.
    Explicit { columns: ExplicitColumnTracker, deletes: DeleteTracker },
    /// NEW_VERSION_BEHAVIOR.
    NewVersions(Box<NewVersionTracker>),
}

/// How many versions a reader requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedVersions {
    /// Versions allowed in the answer.
    pub(super) result_max: i32,
    /// Versions examined: more than in the answer if a filter may reject some.
    pub(super) checked_max: i32,
    /// Whether the family's NEW_VERSION_BEHAVIOR applies.
    pub(super) obeys_new_version_behavior: bool,
}

impl Trackers {
    /// Trackers of a family. If `columns` is `None` or empty, all columns are selected.
    pub(super) fn new(
        info: &ScanInfo,
        columns: Option<ExplicitColumns>,
        wanted: WantedVersions,
        oldest_unexpired: i64,
    ) -> Self {
        let columns = columns.filter(|columns| columns.len() > 0);
        let min = to_count(info.versions_min);
        if info.new_version_behavior && wanted.obeys_new_version_behavior {
            let family_limits =
                VersionLimits { max: to_count(info.versions_max), min, oldest_unexpired };
            let tracker = NewVersionTracker::new(columns, family_limits, wanted.result_max);
            return Self::NewVersions(Box::new(tracker));
        }
        let limits = VersionLimits { max: wanted.checked_max, min, oldest_unexpired };
        let deletes = DeleteTracker::default();
        match columns {
            Some(columns) => {
                Self::Explicit { columns: ExplicitColumnTracker::new(columns, limits), deletes }
            }
            None => Self::Wildcard { columns: WildcardColumnTracker::new(limits), deletes },
        }
    }

    /// The limits, if all columns are selected and versions are counted in the ordinary way.
    pub(super) fn wildcard_limits(&self) -> Option<VersionLimits> {
        match self {
            Self::Wildcard { columns, .. } => Some(columns.limits()),
            _ => None,
        }
    }

    /// Continues after `versions` puts of a column, the last with this timestamp.
    pub(super) fn resume_column(&mut self, qualifier: &[u8], versions: i32, timestamp: i64) {
        if let Self::Wildcard { columns, .. } = self {
            columns.resume(qualifier, versions, timestamp);
        }
    }

    /// Continues after these markers, of which one may be of the last column, `qualifier`.
    pub(super) fn resume_markers(&mut self, qualifier: &[u8], markers: &Markers) {
        if let Self::Wildcard { deletes, .. } = self {
            deletes.resume(qualifier, markers);
        }
    }

    /// Resets the state for the next row.
    #[inline]
    pub(super) fn reset(&mut self) {
        match self {
            Self::Wildcard { columns, deletes } => {
                columns.reset();
                deletes.reset();
            }
            Self::Explicit { columns, deletes } => {
                columns.reset();
                deletes.reset();
            }
            Self::NewVersions(tracker) => tracker.reset(),
        }
    }

    /// Whether the rest of the row is not selected.
    #[inline]
    pub(super) fn is_row_done(&self) -> bool {
        match self {
            Self::Wildcard { .. } => false,
            Self::Explicit { columns, .. } => columns.is_done(),
            Self::NewVersions(tracker) => tracker.is_row_done(),
        }
    }

    /// Whether a cell with this timestamp, and all older ones of its column, are not selected.
    #[inline]
    pub(super) fn is_column_done(&self, timestamp: i64) -> bool {
        match self {
            Self::Wildcard { columns, .. } => columns.limits().is_done(timestamp),
            Self::Explicit { columns, .. } => columns.limits().is_done(timestamp),
            Self::NewVersions(_) => false,
        }
    }

    /// The next selected column, `None` if that is whichever follows.
    pub(super) fn column_hint(&self) -> Option<&[u8]> {
        match self {
            Self::Wildcard { .. } => None,
            Self::Explicit { columns, .. } => columns.hint(),
            Self::NewVersions(tracker) => tracker.hint(),
        }
    }

    /// Records a marker.
    pub(super) fn add_delete(&mut self, marker: &CellRef<'_>) {
        match self {
            Self::Wildcard { deletes, .. } | Self::Explicit { deletes, .. } => deletes.add(marker),
            Self::NewVersions(tracker) => tracker.add(marker),
        }
    }

    /// What the markers imply for `cell`; `None` if nothing.
    #[inline]
    pub(super) fn check_deleted(&mut self, cell: &CellRef<'_>) -> Option<MatchCode> {
        let result = match self {
            Self::Wildcard { deletes, .. } | Self::Explicit { deletes, .. } => {
                if deletes.is_empty() {
                    return None;
                }
                deletes.is_deleted(cell)
            }
            Self::NewVersions(tracker) => tracker.is_deleted(cell),
        };
        match result {
            DeleteResult::Alive => None,
            DeleteResult::Deleted => Some(MatchCode::Skip),
            DeleteResult::DeletedWithOlder => Some(self.next_row_or_next_column(cell)),
        }
    }

    /// Whether the column of `cell` is selected: `Include`, or where to go.
    #[inline]
    pub(super) fn check_column(&mut self, cell: &CellRef<'_>) -> MatchCode {
        match self {
            Self::Wildcard { .. } => MatchCode::Include,
            Self::Explicit { columns, .. } => columns.check_column(cell.qualifier()),
            Self::NewVersions(tracker) => tracker.check_column(cell.qualifier()),
        }
    }

    /// Counts the version. With `ignore_count` it is too new to be counted.
    #[inline]
    pub(super) fn check_versions(
        &mut self,
        cell: &CellRef<'_>,
        ignore_count: bool,
    ) -> Result<MatchCode> {
        match self {
            Self::Wildcard { columns, .. } => columns.check_versions(cell, ignore_count),
            Self::Explicit { columns, .. } => {
                Ok(columns.check_versions(cell.timestamp(), ignore_count))
            }
            Self::NewVersions(tracker) => {
                Ok(tracker.check_versions(cell.timestamp(), ignore_count))
            }
        }
    }

    /// Records that the rest of the column of `cell` is not needed.
    pub(super) fn finish_column(&mut self, cell: &CellRef<'_>) {
        if let Self::Explicit { columns, .. } = self {
            columns.finish_column(cell.qualifier());
        }
    }

    /// Where to go when the rest of the column of `cell` is not needed.
    pub(super) fn next_row_or_next_column(&mut self, cell: &CellRef<'_>) -> MatchCode {
        match self {
            Self::Explicit { columns, .. } => columns.next_row_or_next_column(cell.qualifier()),
            Self::Wildcard { .. } | Self::NewVersions(_) => MatchCode::SeekNextColumn,
        }
    }
}

/// Versions as the trackers count them.
pub(super) fn to_count(versions: u32) -> i32 {
    i32::try_from(versions).unwrap_or(i32::MAX)
}
