//! Reads many rows in order.

use std::collections::BTreeMap;

use super::{ColumnSelection, TimeRange};
use crate::bytes::next_after_prefix;
use crate::cell::key::ROW_LENGTH_MAX;
use crate::direction::Direction;
use crate::error::{Error, Exception, Result};
use crate::filter::Filter;

/// Reads rows in key order, or in reverse.
///
/// A reversed scan starts at `start_row` and descends to `stop_row`.
///
/// ```
/// use hblite_model::Scan;
/// let scan = Scan::new().start_row("a").stop_row_inclusive("m").column("f", "q").limit(30);
/// let backwards = Scan::new().start_row("m").stop_row("a").reversed(true);
/// # let _ = (scan, backwards);
/// ```
#[derive(Debug, Clone)]
pub struct Scan {
    start_row: Vec<u8>,
    is_start_inclusive: bool,
    stop_row: Vec<u8>,
    is_stop_inclusive: bool,
    direction: Direction,
    columns: ColumnSelection,
    versions: i32,
    time_range: TimeRange,
    family_time_ranges: BTreeMap<Vec<u8>, TimeRange>,
    filter: Option<Filter>,
    is_raw: bool,
    limit: i32,
    batch: i32,
    caching: i32,
    size_max_bytes: i64,
    family_limit: i32,
    family_offset: i32,
    allows_partial_results: bool,
    loads_families_on_demand: bool,
    caches_blocks: bool,
    is_get: bool,
}

impl Default for Scan {
    fn default() -> Self {
        Self {
            start_row: Vec::new(),
            is_start_inclusive: true,
            stop_row: Vec::new(),
            is_stop_inclusive: false,
            direction: Direction::Forward,
            columns: ColumnSelection::default(),
            versions: 1,
            time_range: TimeRange::ALL,
            family_time_ranges: BTreeMap::new(),
            filter: None,
            is_raw: false,
            limit: -1,
            batch: -1,
            caching: -1,
            size_max_bytes: -1,
            family_limit: -1,
            family_offset: 0,
            allows_partial_results: false,
            loads_families_on_demand: true,
            caches_blocks: true,
            is_get: false,
        }
    }
}

/// Builds a scan.
impl Scan {
    /// The newest version of every column of every row.
    pub fn new() -> Self {
        Self::default()
    }

    /// The scan of one row that represents a get.
    pub(super) fn of_row(row: &[u8]) -> Self {
        Self {
            start_row: row.to_vec(),
            stop_row: row.to_vec(),
            is_stop_inclusive: true,
            is_get: true,
            ..Self::default()
        }
    }

    /// Begins at this row, inclusive.
    #[must_use]
    pub fn start_row(self, row: impl AsRef<[u8]>) -> Self {
        self.start_row_with(row, true)
    }

    /// Begins after this row.
    #[must_use]
    pub fn start_row_exclusive(self, row: impl AsRef<[u8]>) -> Self {
        self.start_row_with(row, false)
    }

    /// Begins at this row, inclusive or exclusive.
    #[must_use]
    pub fn start_row_with(self, row: impl AsRef<[u8]>, inclusive: bool) -> Self {
        Self { start_row: row.as_ref().to_vec(), is_start_inclusive: inclusive, ..self }
    }

    /// Ends before this row.
    #[must_use]
    pub fn stop_row(self, row: impl AsRef<[u8]>) -> Self {
        self.stop_row_with(row, false)
    }

    /// Ends at this row, inclusive.
    #[must_use]
    pub fn stop_row_inclusive(self, row: impl AsRef<[u8]>) -> Self {
        self.stop_row_with(row, true)
    }

    /// Ends at this row, inclusive or exclusive.
    #[must_use]
    pub fn stop_row_with(self, row: impl AsRef<[u8]>, inclusive: bool) -> Self {
        Self { stop_row: row.as_ref().to_vec(), is_stop_inclusive: inclusive, ..self }
    }

    /// Only rows with this prefix (`setStartStopRowForPrefixScan`). This sets start and stop row
    /// for a forward scan; a reversed scan finds nothing, as in HBase.
    #[must_use]
    pub fn prefix(self, prefix: impl AsRef<[u8]>) -> Self {
        let stop_row = next_after_prefix(prefix.as_ref());
        self.start_row(prefix).stop_row(stop_row)
    }

    /// Rows in descending order.
    #[must_use]
    pub fn reversed(self, reversed: bool) -> Self {
        let direction = if reversed { Direction::Reverse } else { Direction::Forward };
        Self { direction, ..self }
    }

    /// Only this family (and others that are added).
    #[must_use]
    pub fn family(mut self, family: impl AsRef<[u8]>) -> Self {
        self.columns.add_family(family.as_ref());
        self
    }

    /// Only this column (and others that are added).
    #[must_use]
    pub fn column(mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        self.columns.add_column(family.as_ref(), qualifier.as_ref());
        self
    }

    /// Up to this many versions of each column; 0 returns nothing, as in HBase.
    #[must_use]
    pub fn versions(self, versions: i32) -> Self {
        Self { versions, ..self }
    }

    /// All versions.
    #[must_use]
    pub fn all_versions(self) -> Self {
        self.versions(i32::MAX)
    }

    /// Only cells in this time range.
    #[must_use]
    pub fn time_range(self, time_range: TimeRange) -> Self {
        Self { time_range, ..self }
    }

    /// Only cells of one family in this time range.
    #[must_use]
    pub fn family_time_range(mut self, family: impl AsRef<[u8]>, time_range: TimeRange) -> Self {
        self.family_time_ranges.insert(family.as_ref().to_vec(), time_range);
        self
    }

    /// Only cells that pass the filter.
    #[must_use]
    pub fn filter(self, filter: Filter) -> Self {
        Self { filter: Some(filter), ..self }
    }

    /// Includes delete markers and the cells that they delete.
    #[must_use]
    pub fn raw(self, raw: bool) -> Self {
        Self { is_raw: raw, ..self }
    }

    /// At most this many rows; negative for no limit. 0 reads the first region that has rows, as
    /// HBase's client does.
    #[must_use]
    pub fn limit(self, rows: i32) -> Self {
        Self { limit: rows, ..self }
    }

    /// At most this many cells per result; a wide row comes in several. 0 or negative for no limit.
    #[must_use]
    pub fn batch(self, cells: i32) -> Self {
        Self { batch: cells, ..self }
    }

    /// Rows per fetch from a remote server; has no effect on an embedded store.
    #[must_use]
    pub fn caching(self, rows: i32) -> Self {
        Self { caching: rows, ..self }
    }

    /// Bytes per fetch; with [`Scan::allow_partial_results`], also the size at which a wide row is
    /// divided.
    #[must_use]
    pub fn size_max_bytes(self, bytes: i64) -> Self {
        Self { size_max_bytes: bytes, ..self }
    }

    /// At most this many cells of each family and row (0 gives one, negative all, as in HBase).
    #[must_use]
    pub fn family_limit(self, limit: i32) -> Self {
        Self { family_limit: limit, ..self }
    }

    /// Skips this many cells at the beginning of each family and row.
    #[must_use]
    pub fn family_offset(self, offset: i32) -> Self {
        Self { family_offset: offset, ..self }
    }

    /// Whether a row larger than the size limit may come as several partial results.
    #[must_use]
    pub fn allow_partial_results(self, allow: bool) -> Self {
        Self { allows_partial_results: allow, ..self }
    }

    /// Whether families that the filter does not use are read only for rows that pass.
    #[must_use]
    pub fn load_families_on_demand(self, on_demand: bool) -> Self {
        Self { loads_families_on_demand: on_demand, ..self }
    }

    /// Whether blocks that are read stay in the block cache; true by default. A scan without
    /// caching reads every block from its file and verifies the checksums, even if it is cached or
    /// was verified before: for exports, and for large scans that should not empty the cache.
    #[must_use]
    pub fn cache_blocks(self, cache: bool) -> Self {
        Self { caches_blocks: cache, ..self }
    }
}

/// The scan's settings.
impl Scan {
    /// The row where the scan begins; empty for the first end of the table in scan direction.
    pub fn start(&self) -> &[u8] {
        &self.start_row
    }

    /// Whether the start row is included.
    pub fn is_start_inclusive(&self) -> bool {
        self.is_start_inclusive
    }

    /// The row where the scan ends; empty for the other end of the table.
    pub fn stop(&self) -> &[u8] {
        &self.stop_row
    }

    /// Whether the stop row is included.
    pub fn is_stop_inclusive(&self) -> bool {
        self.is_stop_inclusive
    }

    /// Forward or reverse.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The selected columns.
    pub fn columns(&self) -> &ColumnSelection {
        &self.columns
    }

    /// Versions of each column.
    pub fn versions_max(&self) -> i32 {
        self.versions
    }

    /// The time range for `family`.
    pub fn time_range_of(&self, family: &[u8]) -> TimeRange {
        self.family_time_ranges.get(family).copied().unwrap_or(self.time_range)
    }

    /// The filter.
    pub fn filter_ref(&self) -> Option<&Filter> {
        self.filter.as_ref()
    }

    /// Whether delete markers are included.
    pub fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// Whether blocks that are read stay in the block cache.
    pub fn caches_blocks(&self) -> bool {
        self.caches_blocks
    }

    /// Maximum number of rows, negative for all.
    pub fn row_limit(&self) -> i32 {
        self.limit
    }

    /// Cells per result, `None` for no limit.
    pub fn batch_limit(&self) -> Option<usize> {
        usize::try_from(self.batch).ok().filter(|batch| *batch > 0)
    }

    /// Rows per fetch, not positive if unset.
    pub fn rows_per_fetch(&self) -> i32 {
        self.caching
    }

    /// Bytes per fetch, not positive if unset.
    pub fn size_limit_bytes(&self) -> i64 {
        self.size_max_bytes
    }

    /// Cells of each family and row, negative for all.
    pub fn cells_per_family(&self) -> i32 {
        self.family_limit
    }

    /// Cells skipped at the beginning of each family and row.
    pub fn family_skip(&self) -> i32 {
        // Clients never send a negative offset.
        self.family_offset.max(0)
    }

    /// Whether partial results are allowed.
    pub fn are_partial_results_allowed(&self) -> bool {
        self.allows_partial_results
    }

    /// Whether families are loaded on demand.
    pub fn is_on_demand(&self) -> bool {
        self.loads_families_on_demand
    }

    /// Whether the scan answers a get.
    pub fn is_get(&self) -> bool {
        self.is_get
    }

    /// Refuses whatever HBase's client refuses.
    ///
    /// # Errors
    /// `IllegalArgument` (row lengths), `IncompatibleFilter` (batch with a filter of rows).
    pub fn check(&self) -> Result<()> {
        for (name, row) in [("startRow", &self.start_row), ("stopRow", &self.stop_row)] {
            if row.len() > ROW_LENGTH_MAX {
                return Err(Error::illegal_argument(format!(
                    "{name}'s length must be less than or equal to 32767 to meet the criteria \
                     for a row key."
                )));
            }
        }
        if self.batch > 0
            && let Some(filter) = &self.filter
            && filter.has_filter_row()
        {
            return Err(Error::new(
                Exception::IncompatibleFilter,
                "Cannot set batch on a scan using a filter that returns true for \
                 filter.hasFilterRow",
            ));
        }
        Ok(())
    }
}
