//! Reads many rows in order.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::attributes::Attributes;
use super::scan_range::ScanRange;
use super::{ColumnSelection, Consistency, TimeRange};
use crate::direction::Direction;
use crate::error::{Error, Exception, Result};
use crate::filter::Filter;

/// HBase's numbers of versions are Java's `int`.
const VERSIONS_MAX: u32 = i32::MAX as u32;

/// Reads rows in key order, or in reverse.
///
/// A reversed scan starts at `start_row` and descends to `stop_row`.
///
/// ```
/// # use hblite_model as hblite;
/// use hblite::Scan;
/// let scan = Scan::new().with_prefix("a").with_column("f", "q").with_limit(30);
/// let backwards = Scan::new().with_start_row("m").with_stop_row("a").with_reversed(true);
/// # let _ = (scan, backwards);
/// ```
#[derive(Debug, Clone)]
pub struct Scan {
    range: ScanRange,
    direction: Direction,
    columns: ColumnSelection,
    versions: u32,
    time_range: TimeRange,
    family_time_ranges: BTreeMap<Vec<u8>, TimeRange>,
    filter: Option<Filter>,
    is_raw: bool,
    limit: Option<u32>,
    batch: Option<u32>,
    caching: Option<u32>,
    size_max_bytes: Option<u64>,
    family_limit: Option<u32>,
    family_offset: u32,
    allows_partial_results: bool,
    loads_families_on_demand: bool,
    caches_blocks: bool,
    consistency: Consistency,
    replica_id: Option<u16>,
    async_prefetch: Option<bool>,
    tracks_metrics: bool,
    attributes: Attributes,
    is_get: bool,
}

impl Default for Scan {
    fn default() -> Self {
        Self {
            range: ScanRange::default(),
            direction: Direction::Forward,
            columns: ColumnSelection::default(),
            versions: 1,
            time_range: TimeRange::ALL,
            family_time_ranges: BTreeMap::new(),
            filter: None,
            is_raw: false,
            limit: None,
            batch: None,
            caching: None,
            size_max_bytes: None,
            family_limit: None,
            family_offset: 0,
            allows_partial_results: false,
            loads_families_on_demand: true,
            caches_blocks: true,
            consistency: Consistency::Strong,
            replica_id: None,
            async_prefetch: None,
            tracks_metrics: false,
            attributes: Attributes::default(),
            is_get: false,
        }
    }
}

/// The bound at `row`, inclusive or not, for [`Scan::with_start_bound`] and
/// [`Scan::with_stop_bound`].
///
/// ```
/// use std::ops::Bound;
/// assert_eq!(hblite_model::row_bound("r", true), Bound::Included("r"));
/// ```
pub fn row_bound<R>(row: R, is_inclusive: bool) -> Bound<R> {
    if is_inclusive { Bound::Included(row) } else { Bound::Excluded(row) }
}

/// Builds a scan. Each `with_x` sets what `x()` or `is_x()` reads, in any order; `with_family` and
/// `with_column` add to the selection.
impl Scan {
    /// The newest version of every column of every row.
    pub fn new() -> Self {
        Self::default()
    }

    /// The scan of one row that represents a get.
    pub(super) fn of_row(row: &[u8]) -> Self {
        Self { range: ScanRange::of_row(row), is_get: true, ..Self::default() }
    }

    /// Begins at this row, inclusive.
    #[must_use]
    pub fn with_start_row(self, row: impl AsRef<[u8]>) -> Self {
        self.with_start_bound(Bound::Included(row))
    }

    /// Begins after this row.
    #[must_use]
    pub fn with_start_row_exclusive(self, row: impl AsRef<[u8]>) -> Self {
        self.with_start_bound(Bound::Excluded(row))
    }

    /// Begins at this row, after it, or at the first row in scan direction.
    ///
    /// ```
    /// use std::ops::Bound;
    /// # use hblite_model as hblite;
    /// use hblite::Scan;
    /// let scan = Scan::new().with_start_bound(Bound::Excluded("a"));
    /// assert_eq!((scan.start_row(), scan.is_start_inclusive()), (&b"a"[..], false));
    /// ```
    #[must_use]
    pub fn with_start_bound(mut self, start: Bound<impl AsRef<[u8]>>) -> Self {
        self.range.set_start(start);
        self
    }

    /// Ends before this row.
    #[must_use]
    pub fn with_stop_row(self, row: impl AsRef<[u8]>) -> Self {
        self.with_stop_bound(Bound::Excluded(row))
    }

    /// Ends at this row, inclusive.
    #[must_use]
    pub fn with_stop_row_inclusive(self, row: impl AsRef<[u8]>) -> Self {
        self.with_stop_bound(Bound::Included(row))
    }

    /// Ends after this row, before it, or at the last row in scan direction.
    #[must_use]
    pub fn with_stop_bound(mut self, stop: Bound<impl AsRef<[u8]>>) -> Self {
        self.range.set_stop(stop);
        self
    }

    /// Only rows with this prefix, in either direction. A start or stop row limits them further.
    ///
    /// ```
    /// # use hblite_model as hblite;
    /// use hblite::Scan;
    /// // The page after the row u7, backwards: from u69… to u.
    /// let scan = Scan::new().with_prefix("u").with_reversed(true).with_start_row_exclusive("u7");
    /// assert_eq!((scan.start_row(), scan.stop_row()), (&b"u7"[..], &b"u"[..]));
    /// ```
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl AsRef<[u8]>) -> Self {
        self.range.set_prefix(prefix.as_ref());
        self
    }

    /// Rows in descending order.
    #[must_use]
    pub fn with_reversed(self, reversed: bool) -> Self {
        let direction = if reversed { Direction::Reverse } else { Direction::Forward };
        Self { direction, ..self }
    }

    /// Selects a family. Further calls add to the selection.
    #[must_use]
    pub fn with_family(mut self, family: impl AsRef<[u8]>) -> Self {
        self.columns.add_family(family.as_ref());
        self
    }

    /// Selects a column. Further calls add to the selection.
    #[must_use]
    pub fn with_column(mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        self.columns.add_column(family.as_ref(), qualifier.as_ref());
        self
    }

    /// Up to this many versions of each column; 0 returns nothing, as in HBase.
    #[must_use]
    pub fn with_versions(self, versions: u32) -> Self {
        Self { versions: versions.min(VERSIONS_MAX), ..self }
    }

    /// All versions.
    #[must_use]
    pub fn with_all_versions(self) -> Self {
        self.with_versions(VERSIONS_MAX)
    }

    /// Only cells in this time range.
    #[must_use]
    pub fn with_time_range(self, time_range: TimeRange) -> Self {
        Self { time_range, ..self }
    }

    /// Only cells of one family in this time range.
    #[must_use]
    pub fn with_family_time_range(
        mut self,
        family: impl AsRef<[u8]>,
        time_range: TimeRange,
    ) -> Self {
        self.family_time_ranges.insert(family.as_ref().to_vec(), time_range);
        self
    }

    /// Only cells that pass the filter.
    #[must_use]
    pub fn with_filter(self, filter: Filter) -> Self {
        Self { filter: Some(filter), ..self }
    }

    /// Includes delete markers and the cells that they delete.
    #[must_use]
    pub fn with_raw(self, raw: bool) -> Self {
        Self { is_raw: raw, ..self }
    }

    /// At most this many rows. With 0 the scan ends after the first fetch, as in HBase's client: it
    /// returns at most as many rows as [`Scan::with_caching`] says, from one region.
    #[must_use]
    pub fn with_limit(self, rows: u32) -> Self {
        Self { limit: Some(rows), ..self }
    }

    /// At most this many cells per result; a wide row comes in several. 0 for no limit.
    #[must_use]
    pub fn with_batch(self, cells: u32) -> Self {
        Self { batch: (cells > 0).then_some(cells), ..self }
    }

    /// Rows per fetch from a remote server; has no effect on an embedded store. 0 for the default.
    #[must_use]
    pub fn with_caching(self, rows: u32) -> Self {
        Self { caching: (rows > 0).then_some(rows), ..self }
    }

    /// Bytes per fetch; with [`Scan::with_partial_results`], also the size at which a wide row is
    /// divided. 0 for the default.
    #[must_use]
    pub fn with_size_max_bytes(self, bytes: u64) -> Self {
        Self { size_max_bytes: (bytes > 0).then_some(bytes), ..self }
    }

    /// At most this many cells of each family and row (0 gives one, as in HBase).
    #[must_use]
    pub fn with_family_limit(self, cells: u32) -> Self {
        Self { family_limit: Some(cells), ..self }
    }

    /// Skips this many cells at the beginning of each family and row.
    #[must_use]
    pub fn with_family_offset(self, cells: u32) -> Self {
        Self { family_offset: cells, ..self }
    }

    /// Whether a row larger than the size limit may come as several partial results.
    #[must_use]
    pub fn with_partial_results(self, allow: bool) -> Self {
        Self { allows_partial_results: allow, ..self }
    }

    /// Whether families that the filter does not use are read only for rows that pass.
    #[must_use]
    pub fn with_families_on_demand(self, on_demand: bool) -> Self {
        Self { loads_families_on_demand: on_demand, ..self }
    }

    /// Whether blocks that are read stay in the block cache; true by default. A scan without
    /// caching reads every block from its file and verifies the checksums, even if it is cached or
    /// was verified before: for exports, and for large scans that should not empty the cache.
    #[must_use]
    pub fn with_cache_blocks(self, cache: bool) -> Self {
        Self { caches_blocks: cache, ..self }
    }

    /// Whether replicas of regions on a cluster may answer. A directory has only the regions
    /// themselves, so there it changes nothing.
    #[must_use]
    pub fn with_consistency(self, consistency: Consistency) -> Self {
        Self { consistency, ..self }
    }

    /// With [`Consistency::Timeline`], reads only the replica with this id; 0 is the region itself.
    #[must_use]
    pub fn with_replica_id(self, id: u16) -> Self {
        Self { replica_id: Some(id), ..self }
    }

    /// An attribute, for coprocessors of a cluster's servers. A store has no use for it.
    #[must_use]
    pub fn with_attribute(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.attributes.set(name, value.into());
        self
    }

    /// Reads as one who has only these of the user's visibility labels, on a cluster with labels.
    #[must_use]
    pub fn with_authorizations<'a>(mut self, labels: impl IntoIterator<Item = &'a str>) -> Self {
        self.attributes.set_labels(labels);
        self
    }

    /// Whether servers of a cluster count rows and bytes for [`ScanMetrics`](crate::ScanMetrics).
    /// A directory always counts them.
    #[must_use]
    pub fn with_metrics(self, tracks_metrics: bool) -> Self {
        Self { tracks_metrics, ..self }
    }

    /// Whether the next rows are fetched from a cluster while the caller processes those before
    /// them. The default is the client's setting `hbase.client.scanner.async.prefetch`.
    #[must_use]
    pub fn with_async_prefetch(self, prefetch: bool) -> Self {
        Self { async_prefetch: Some(prefetch), ..self }
    }
}

/// The scan's settings.
impl Scan {
    /// The row where the scan begins, by its start row and prefix; empty to begin at the first row
    /// in scan direction.
    #[inline]
    pub fn start_row(&self) -> &[u8] {
        self.range.start(self.direction).0
    }

    /// Whether the row of [`Scan::start_row`] is included.
    #[inline]
    pub fn is_start_inclusive(&self) -> bool {
        self.range.start(self.direction).1
    }

    /// The row where the scan ends, by its stop row and prefix; empty to end after the last row in
    /// scan direction.
    #[inline]
    pub fn stop_row(&self) -> &[u8] {
        self.range.stop(self.direction).0
    }

    /// Whether the row of [`Scan::stop_row`] is included.
    #[inline]
    pub fn is_stop_inclusive(&self) -> bool {
        self.range.stop(self.direction).1
    }

    /// Forward or reverse.
    #[inline]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The selected columns.
    #[inline]
    pub fn columns(&self) -> &ColumnSelection {
        &self.columns
    }

    /// Versions of each column.
    #[inline]
    pub fn versions(&self) -> u32 {
        self.versions
    }

    /// The time range of families without one of their own.
    pub fn time_range(&self) -> TimeRange {
        self.time_range
    }

    /// The time ranges of single families.
    pub fn family_time_ranges(&self) -> impl ExactSizeIterator<Item = (&[u8], TimeRange)> {
        self.family_time_ranges.iter().map(|(family, range)| (family.as_slice(), *range))
    }

    /// The time range for `family`.
    pub fn time_range_of(&self, family: &[u8]) -> TimeRange {
        self.family_time_ranges.get(family).copied().unwrap_or(self.time_range)
    }

    /// The filter.
    #[inline]
    pub fn filter(&self) -> Option<&Filter> {
        self.filter.as_ref()
    }

    /// Whether delete markers are included.
    #[inline]
    pub fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// Whether blocks that are read stay in the block cache.
    pub fn caches_blocks(&self) -> bool {
        self.caches_blocks
    }

    /// Maximum number of rows; `None` for all.
    pub fn limit(&self) -> Option<u32> {
        self.limit
    }

    /// Cells per result; `None` for no limit.
    pub fn batch(&self) -> Option<u32> {
        self.batch
    }

    /// Rows per fetch; `None` for the default.
    pub fn caching(&self) -> Option<u32> {
        self.caching
    }

    /// Bytes per fetch; `None` for the default.
    pub fn size_max_bytes(&self) -> Option<u64> {
        self.size_max_bytes
    }

    /// Cells of each family and row; `None` for all.
    pub fn family_limit(&self) -> Option<u32> {
        self.family_limit
    }

    /// Cells skipped at the beginning of each family and row.
    pub fn family_offset(&self) -> u32 {
        self.family_offset
    }

    /// Whether partial results are allowed.
    pub fn allows_partial_results(&self) -> bool {
        self.allows_partial_results
    }

    /// Whether families are loaded on demand.
    pub fn loads_families_on_demand(&self) -> bool {
        self.loads_families_on_demand
    }

    /// Whether replicas may answer.
    pub fn consistency(&self) -> Consistency {
        self.consistency
    }

    /// The only replica that may answer; `None` for any.
    pub fn replica_id(&self) -> Option<u16> {
        self.replica_id
    }

    /// Whether rows are fetched in advance; `None` to leave it to the client's settings.
    pub fn async_prefetch(&self) -> Option<bool> {
        self.async_prefetch
    }

    /// Whether servers count what the scan does.
    pub fn tracks_metrics(&self) -> bool {
        self.tracks_metrics
    }

    /// What coprocessors of a cluster's servers may read, by name. A store has no use for it.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.attributes.iter()
    }

    /// Whether the scan answers a get.
    #[inline]
    pub fn is_get(&self) -> bool {
        self.is_get
    }

    /// Refuses whatever HBase's client refuses.
    ///
    /// # Errors
    /// `IllegalArgument` (row lengths, start and stop rows without any row of the prefix),
    /// `IncompatibleFilter` (batch with a filter of rows).
    pub fn check(&self) -> Result<()> {
        self.range.check(self.direction)?;
        if self.batch.is_some()
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
