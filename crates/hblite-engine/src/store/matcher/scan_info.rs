//! What scans and compactions need to know about a family.

use std::time::Duration;

use hblite_model::{CellComparator, ColumnFamilyDescriptor, KeepDeletedCells};

/// The settings of a family that decide which of its cells are alive, and how they are read
/// (HBase's `ScanInfo`).
#[derive(Debug, Clone)]
pub(crate) struct ScanInfo {
    /// Name of the family.
    pub(crate) family: Vec<u8>,
    /// The order of the family's cells.
    pub(crate) comparator: CellComparator,
    /// VERSIONS.
    pub(crate) versions_max: u32,
    /// MIN_VERSIONS.
    pub(crate) versions_min: u32,
    /// TTL in milliseconds, `i64::MAX` for no limit.
    pub(crate) time_to_live_ms: i64,
    /// KEEP_DELETED_CELLS.
    pub(crate) keep_deleted_cells: KeepDeletedCells,
    /// NEW_VERSION_BEHAVIOR.
    pub(crate) new_version_behavior: bool,
    /// How long a major compaction keeps markers (`hbase.hstore.time.to.purge.deletes`), in
    /// milliseconds.
    pub(crate) time_to_purge_deletes_ms: i64,
    /// BLOCKCACHE.
    pub(crate) is_block_cache_enabled: bool,
    /// Reads leave out the columns of hbase:meta that begin with [`OWN_COLUMNS`].
    pub(crate) hides_own_columns: bool,
}

/// How the columns of hbase:meta begin that only hblite has, and only the catalog reads.
pub(crate) const OWN_COLUMNS: &str = "hblite.";

/// `i64::MAX` for a family whose cells do not expire.
fn time_to_live_ms(family: &ColumnFamilyDescriptor) -> i64 {
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    family.time_to_live().map_or(i64::MAX, millis)
}

impl ScanInfo {
    /// The settings of `family`.
    pub(crate) fn new(family: &ColumnFamilyDescriptor, comparator: CellComparator) -> Self {
        Self {
            family: family.name().to_vec(),
            comparator,
            versions_max: family.versions(),
            versions_min: family.min_versions(),
            time_to_live_ms: time_to_live_ms(family),
            keep_deleted_cells: family.keep_deleted_cells(),
            new_version_behavior: family.new_version_behavior(),
            time_to_purge_deletes_ms: 0,
            is_block_cache_enabled: family.is_block_cache_enabled(),
            hides_own_columns: comparator == CellComparator::Meta,
        }
    }

    /// The same settings, for a reader of all columns.
    pub(crate) fn with_own_columns(&self) -> Self {
        Self { hides_own_columns: false, ..self.clone() }
    }

    /// Cells with a lower timestamp are past the family's time to live at `now`.
    pub(crate) fn oldest_unexpired(&self, now: i64) -> i64 {
        now.saturating_sub(self.time_to_live_ms)
    }
}
