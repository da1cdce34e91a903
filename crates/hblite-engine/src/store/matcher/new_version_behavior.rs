//! NEW_VERSION_BEHAVIOR: versions and deletes in the order of writes.
//!
//! A marker masks only what was written before it, and a version pushed out by VERSIONS newer ones
//! stays out even if one of those is deleted. So sequence ids decide, and this tracker has to
//! remember more of a row than the others: for each span of sequence ids between two markers, which
//! puts were visible in it.
//!
//! ```text
//! sequence ids   ──────┤ DeleteColumn@5 ├───────────┤ DeleteFamily@9 ├──────▶ now
//!                 span 1                  span 2                    last span
//! ```
//!
//! A cell is evaluated in the span of its write and in every later one. Markers of the family are
//! known before the first column; each column begins with a copy of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hblite_model::cell::{CellRef, CellType};

use super::MatchCode;
use super::columns::{ExplicitColumns, VersionLimits};
use super::deletes::DeleteResult;

/// The key of the span after the last marker.
const NOW: u64 = u64::MAX;

/// Tracks columns, versions and markers (`NewVersionBehaviorTracker`).
#[derive(Debug)]
pub(super) struct NewVersionTracker {
    columns: Option<ExplicitColumns>,
    column_index: usize,
    /// VERSIONS and MIN_VERSIONS of the family.
    limits: VersionLimits,
    /// Versions allowed in the answer.
    result_max: i32,
    /// Versions of the column that were included.
    count: i32,
    last: Option<LastCell>,
    /// Spans, keyed by the sequence id of the marker that ends them: of the family, and of the
    /// column.
    family_spans: BTreeMap<u64, Span>,
    column_spans: BTreeMap<u64, Span>,
}

/// The previous cell.
#[derive(Debug)]
struct LastCell {
    qualifier: Vec<u8>,
    timestamp: i64,
    sequence_id: u64,
    type_code: u8,
}

/// What was written between two markers.
#[derive(Debug, Clone)]
struct Span {
    /// The marker that ends the span masks up to this timestamp.
    timestamp: i64,
    /// Markers of single versions: timestamp to sequence ids.
    version_deletes: HashMap<i64, BTreeSet<u64>>,
    /// Up to each sequence id of such a marker, the puts that were visible before it.
    visible_puts: BTreeMap<u64, BTreeSet<u64>>,
}

impl Span {
    fn new(timestamp: i64) -> Self {
        let visible_puts = BTreeMap::from([(NOW, BTreeSet::new())]);
        Self { timestamp, version_deletes: HashMap::new(), visible_puts }
    }

    fn add_version_delete(&mut self, marker: &CellRef<'_>) {
        let sequence_id = marker.sequence_id();
        self.version_deletes.entry(marker.timestamp()).or_default().insert(sequence_id);
        // Puts after this marker do not count before it: its delete may bring one back.
        let later = self.visible_puts.range(sequence_id..).next().map(|(_, puts)| puts);
        let visible = later.map(|puts| puts.range(..sequence_id).copied().collect());
        self.visible_puts.insert(sequence_id, visible.unwrap_or_default());
    }

    /// The first marker of exactly this version written at or after `sequence_id`.
    fn version_delete_of(&self, timestamp: i64, sequence_id: u64) -> Option<u64> {
        self.version_deletes.get(&timestamp)?.range(sequence_id..).next().copied()
    }

    /// Counts a put as visible up to `until`; false if VERSIONS others were visible before it.
    fn count_put(&mut self, sequence_id: u64, until: u64, versions_max: usize) -> bool {
        if until < sequence_id {
            return true;
        }
        for puts in self.visible_puts.range_mut(sequence_id..=until).map(|(_, puts)| puts) {
            if puts.len() >= versions_max {
                return false;
            }
            puts.insert(sequence_id);
        }
        true
    }
}

impl NewVersionTracker {
    pub(super) fn new(
        columns: Option<ExplicitColumns>,
        limits: VersionLimits,
        result_max: i32,
    ) -> Self {
        Self {
            columns,
            column_index: 0,
            limits,
            result_max,
            count: 0,
            last: None,
            family_spans: BTreeMap::from([(NOW, Span::new(i64::MIN))]),
            column_spans: BTreeMap::new(),
        }
    }

    pub(super) fn reset(&mut self) {
        self.column_index = 0;
        self.count = 0;
        self.last = None;
        self.column_spans.clear();
        self.family_spans.clear();
        self.family_spans.insert(NOW, Span::new(i64::MIN));
    }

    pub(super) fn is_row_done(&self) -> bool {
        self.columns.as_ref().is_some_and(|columns| self.column_index >= columns.len())
    }

    pub(super) fn hint(&self) -> Option<&[u8]> {
        self.columns.as_ref()?.get(self.column_index)
    }

    /// Records a marker.
    pub(super) fn add(&mut self, marker: &CellRef<'_>) {
        self.prepare(marker);
        let sequence_id = marker.sequence_id();
        let is_version =
            matches!(marker.cell_type(), Some(CellType::DeleteFamilyVersion | CellType::Delete));
        let is_family = matches!(
            marker.cell_type(),
            Some(CellType::DeleteFamily | CellType::DeleteFamilyVersion)
        );
        if !is_family && self.column_spans.is_empty() {
            // Only under the empty qualifier, where the family's markers are found as well.
            self.column_spans = self.family_spans.clone();
        }
        let spans = if is_family { &mut self.family_spans } else { &mut self.column_spans };
        if !is_version {
            spans.insert(sequence_id, Span::new(marker.timestamp()));
        } else if let Some((_, span)) = spans.range_mut(sequence_id..).next() {
            span.add_version_delete(marker);
        }
    }

    /// Whether `cell` is deleted or has too many newer versions. Counts the cell, so call it once
    /// per cell.
    pub(super) fn is_deleted(&mut self, cell: &CellRef<'_>) -> DeleteResult {
        let duplicate_of = self.prepare(cell);
        let (timestamp, sequence_id) = (cell.timestamp(), cell.sequence_id());
        let versions_max = usize::try_from(self.limits.max).unwrap_or(0);
        for (_, span) in self.column_spans.range_mut(sequence_id..) {
            let deleted_at = span.version_delete_of(timestamp, sequence_id);
            let until = deleted_at.unwrap_or(NOW).min(duplicate_of.unwrap_or(NOW));
            if !span.count_put(sequence_id, until, versions_max)
                || deleted_at.is_some()
                || timestamp <= span.timestamp
            {
                // Never "and all older ones": an older version may have been written later.
                return DeleteResult::Deleted;
            }
        }
        match duplicate_of {
            Some(_) => DeleteResult::Deleted,
            None => DeleteResult::Alive,
        }
    }

    /// Prepares for `cell`. If it has the coordinates of the previous put, returns that one's
    /// sequence id.
    fn prepare(&mut self, cell: &CellRef<'_>) -> Option<u64> {
        if self.is_new_column(cell) {
            self.column_spans = self.family_spans.clone();
            self.count = 0;
        } else if let Some(last) = &self.last
            && !CellType::is_delete_code(last.type_code)
            && (last.type_code, last.timestamp) == (cell.type_code(), cell.timestamp())
        {
            return Some(last.sequence_id);
        }
        let mut qualifier = self.last.take().map(|last| last.qualifier).unwrap_or_default();
        qualifier.clear();
        qualifier.extend_from_slice(cell.qualifier());
        self.last = Some(LastCell {
            qualifier,
            timestamp: cell.timestamp(),
            sequence_id: cell.sequence_id(),
            type_code: cell.type_code(),
        });
        None
    }

    /// At the beginning of a row, HBase takes the empty qualifier for the previous column, unless a
    /// marker of that column comes first: its puts are then not counted in spans.
    fn is_new_column(&self, cell: &CellRef<'_>) -> bool {
        match &self.last {
            Some(last) => last.qualifier != cell.qualifier(),
            None => {
                let is_column_marker =
                    matches!(cell.cell_type(), Some(CellType::DeleteColumn | CellType::Delete));
                !cell.qualifier().is_empty() || is_column_marker
            }
        }
    }

    pub(super) fn check_column(&mut self, qualifier: &[u8]) -> MatchCode {
        let Some(columns) = &self.columns else {
            return MatchCode::Include;
        };
        while let Some(wanted) = columns.get(self.column_index) {
            match qualifier.cmp(wanted) {
                std::cmp::Ordering::Less => return MatchCode::SeekNextColumn,
                std::cmp::Ordering::Equal => return MatchCode::Include,
                std::cmp::Ordering::Greater => self.column_index += 1,
            }
        }
        MatchCode::SeekNextRow
    }

    pub(super) fn check_versions(&mut self, timestamp: i64, ignore_count: bool) -> MatchCode {
        if ignore_count {
            return MatchCode::Include;
        }
        self.count += 1;
        if timestamp < self.limits.oldest_unexpired {
            if self.count == self.limits.min {
                return MatchCode::IncludeAndSeekNextColumn;
            }
            if self.count > self.limits.min {
                return MatchCode::SeekNextColumn;
            }
        }
        match self.count.cmp(&self.result_max) {
            std::cmp::Ordering::Less => MatchCode::Include,
            std::cmp::Ordering::Equal => MatchCode::IncludeAndSeekNextColumn,
            std::cmp::Ordering::Greater => MatchCode::SeekNextColumn,
        }
    }
}
