//! The matcher of reads: normal scans and raw ones.

use hblite_model::cell::{CellRef, CellType};
use hblite_model::filter::{FilterState, ReturnCode};
use hblite_model::{KeepDeletedCells, Qualifiers, Result, Scan, TimeRange};

use super::columns::ExplicitColumns;
use super::trackers::{Trackers, WantedVersions, to_count};
use super::{Markers, MatchCode, OWN_COLUMNS, ScanInfo, is_cell_expired};

/// Decides which cells of a family a scan returns (`UserScanQueryMatcher`, its normal and raw
/// kinds).
#[derive(Debug)]
pub(crate) struct UserScanMatcher {
    trackers: Trackers,
    time_range: TimeRange,
    is_raw: bool,
    /// KEEP_DELETED_CELLS: markers count only for time ranges that include them.
    sees_past_markers: bool,
    now: i64,
    hides_own_columns: bool,
    has_filter: bool,
    /// With a filter: versions of the answer, counted after it.
    versions_after_filter: i32,
    filtered: FilteredVersions,
}

/// The rules for puts without tags when there are no markers: every column is selected.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainRules {
    /// Versions of a column, at least one.
    pub(crate) versions_max: i32,
    /// Cells with a lower timestamp need a closer look.
    pub(crate) oldest_unexpired: i64,
}

impl PlainRules {
    /// Whether these rules apply to the cell, which has this timestamp.
    #[inline(always)]
    pub(crate) fn is_plain(&self, cell: &CellRef<'_>, timestamp: i64) -> bool {
        cell.type_code() == CellType::Put.code()
            && timestamp >= self.oldest_unexpired
            && cell.tags().is_empty()
    }
}

/// The versions of the current column that passed a filter.
#[derive(Debug, Default)]
struct FilteredVersions {
    has_column: bool,
    qualifier: Vec<u8>,
    count: i32,
}

impl UserScanMatcher {
    /// The matcher of `scan` for one family at `now`.
    pub(crate) fn new(scan: &Scan, info: &ScanInfo, now: i64) -> Self {
        let has_filter = scan.filter().is_some();
        let oldest_unexpired = if scan.is_raw() { 0 } else { info.oldest_unexpired(now) };
        let (result_max, ceiling) = if scan.is_raw() {
            (to_count(scan.versions()), i32::MAX)
        } else {
            let family_max = to_count(info.versions_max);
            (to_count(scan.versions()).min(family_max), family_max)
        };
        let wanted = WantedVersions {
            result_max,
            checked_max: if has_filter { ceiling } else { result_max },
            obeys_new_version_behavior: !scan.is_raw(),
        };
        let columns = match scan.columns().get(&info.family) {
            Some(Qualifiers::Some(qualifiers)) => {
                Some(ExplicitColumns::new(qualifiers.iter().map(Vec::as_slice)))
            }
            _ => None,
        };
        Self {
            trackers: Trackers::new(info, columns, wanted, oldest_unexpired),
            time_range: scan.time_range_of(&info.family),
            is_raw: scan.is_raw(),
            sees_past_markers: info.keep_deleted_cells != KeepDeletedCells::False,
            now,
            hides_own_columns: info.hides_own_columns,
            has_filter,
            versions_after_filter: result_max,
            filtered: FilteredVersions::default(),
        }
    }

    /// The plain rules, if no other rules apply to this scan.
    pub(crate) fn plain_rules(&self) -> Option<PlainRules> {
        let limits = self.trackers.wildcard_limits()?;
        let is_plain = !self.is_raw
            && !self.has_filter
            && !self.hides_own_columns
            && self.time_range.is_all()
            && limits.max > 0;
        is_plain.then_some(PlainRules {
            versions_max: limits.max,
            oldest_unexpired: limits.oldest_unexpired,
        })
    }

    /// Continues in a row after puts that obeyed the plain rules: after `versions` versions of the
    /// column `qualifier`, of which the last included one has this timestamp.
    pub(crate) fn resume_row(&mut self, qualifier: &[u8], versions: i32, timestamp: i64) {
        self.trackers.resume_column(qualifier, versions, timestamp);
    }

    /// Continues in a row after these markers, of which one may be of the last column, `qualifier`.
    pub(crate) fn resume_markers(&mut self, qualifier: &[u8], markers: &Markers) {
        self.trackers.resume_markers(qualifier, markers);
    }

    /// Begins a new row.
    #[inline]
    pub(crate) fn begin_row(&mut self) {
        self.trackers.reset();
        self.filtered.has_column = false;
    }

    /// The next selected column, `None` if that is whichever follows.
    pub(crate) fn column_hint(&self) -> Option<&[u8]> {
        self.trackers.column_hint()
    }

    /// Decides on a cell of the current row.
    ///
    /// # Errors
    /// Those of the filter; columns that do not ascend.
    #[inline]
    pub(crate) fn match_cell(
        &mut self,
        cell: &CellRef<'_>,
        filter: Option<&mut FilterState>,
    ) -> Result<MatchCode> {
        if self.trackers.is_row_done() {
            return Ok(MatchCode::SeekNextRow);
        }
        if self.hides_own_columns && cell.qualifier().starts_with(OWN_COLUMNS.as_bytes()) {
            return Ok(MatchCode::Skip);
        }
        let timestamp = cell.timestamp();
        if self.trackers.is_column_done(timestamp) {
            return Ok(self.trackers.next_row_or_next_column(cell));
        }
        if is_cell_expired(cell, self.now) {
            return Ok(MatchCode::Skip);
        }
        if !self.is_raw {
            if CellType::is_delete_code(cell.type_code()) {
                if self.is_marker_in_force(timestamp) {
                    self.trackers.add_delete(cell);
                }
                return Ok(MatchCode::Skip);
            }
            if let Some(code) = self.trackers.check_deleted(cell) {
                return Ok(code);
            }
        }
        self.match_column(cell, timestamp, filter)
    }

    fn is_marker_in_force(&self, timestamp: i64) -> bool {
        if self.sees_past_markers {
            self.time_range.contains(timestamp)
        } else {
            self.time_range.is_all() || timestamp >= self.time_range.min()
        }
    }

    #[inline]
    fn match_column(
        &mut self,
        cell: &CellRef<'_>,
        timestamp: i64,
        filter: Option<&mut FilterState>,
    ) -> Result<MatchCode> {
        if !self.time_range.contains(timestamp) {
            if timestamp >= self.time_range.max() {
                return Ok(MatchCode::Skip);
            }
            return Ok(self.trackers.next_row_or_next_column(cell));
        }
        let code = self.trackers.check_column(cell);
        if code != MatchCode::Include {
            return Ok(code);
        }
        let code = self.trackers.check_versions(cell, false)?;
        match filter {
            Some(filter) if !matches!(code, MatchCode::Skip | MatchCode::SeekNextColumn) => {
                let answer = filter.filter_cell(cell)?;
                Ok(self.merge_filter_answer(cell, code, answer))
            }
            _ => Ok(code),
        }
    }

    /// Combines the answers of the trackers (some kind of include) and the filter.
    fn merge_filter_answer(
        &mut self,
        cell: &CellRef<'_>,
        code: MatchCode,
        answer: ReturnCode,
    ) -> MatchCode {
        use MatchCode as M;
        let mut code = match (answer, code) {
            (ReturnCode::Skip, M::IncludeAndSeekNextColumn) => return M::SeekNextColumn,
            (ReturnCode::Skip | ReturnCode::NextColumn, M::IncludeAndSeekNextRow)
            | (ReturnCode::NextRow, _) => return M::SeekNextRow,
            (ReturnCode::Skip, _) => return M::Skip,
            (ReturnCode::NextColumn, _) => return self.trackers.next_row_or_next_column(cell),
            (ReturnCode::SeekNextUsingHint, _) => return M::SeekNextUsingHint,
            (ReturnCode::IncludeAndNextColumn, M::Include) => M::IncludeAndSeekNextColumn,
            (ReturnCode::IncludeAndSeekNextRow, _) => M::IncludeAndSeekNextRow,
            (ReturnCode::Include | ReturnCode::IncludeAndNextColumn, code) => code,
        };
        if self.filtered.count(cell.qualifier()) > self.versions_after_filter {
            code = match code {
                M::IncludeAndSeekNextRow => M::SeekNextRow,
                _ => M::SeekNextColumn,
            };
        }
        if matches!(code, M::IncludeAndSeekNextColumn | M::SeekNextColumn) {
            // The next seek goes to the tracker's column, so the tracker must have advanced.
            self.trackers.finish_column(cell);
        }
        code
    }
}

impl FilteredVersions {
    /// Counts a version of this column and returns the number so far.
    fn count(&mut self, qualifier: &[u8]) -> i32 {
        if !self.has_column || self.qualifier != qualifier {
            self.has_column = true;
            self.qualifier.clear();
            self.qualifier.extend_from_slice(qualifier);
            self.count = 0;
        }
        self.count += 1;
        self.count
    }
}
