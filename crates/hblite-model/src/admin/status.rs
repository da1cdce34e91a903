//! The state of a store and its regions at one moment.

use crate::RegionInfo;

/// A store at one moment.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StoreStatus {
    /// When the store was opened, in milliseconds since 1970-01-01 UTC.
    pub opened_at_ms: i64,
    /// Every region in service.
    pub regions: Vec<RegionStatus>,
    /// Bytes in all memstores.
    pub memstore_size_bytes: usize,
    /// The last background failure that has not been followed by a success.
    pub last_error: Option<String>,
}

/// A region at one moment.
#[derive(Debug, Clone)]
pub struct RegionStatus {
    /// The region.
    pub region: RegionInfo,
    /// Requests since the region was opened.
    pub load: RegionLoad,
    /// Number of families.
    pub store_count: usize,
    /// Number of store files of all families.
    pub store_file_count: usize,
    /// Bytes of these files.
    pub store_file_size_bytes: u64,
    /// Bytes in memory.
    pub memstore_size_bytes: usize,
}

/// Requests of a region, and what they moved, since the region was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RegionLoad {
    /// Gets, and rows of scans, that were answered.
    pub read_requests: u64,
    /// Rows written.
    pub write_requests: u64,
    /// Cells returned to readers.
    pub cells_read: u64,
    /// Cells that readers examined, returned or not.
    pub cells_examined: u64,
    /// Bytes of the cells returned to readers.
    pub bytes_read: u64,
    /// Cells written, delete markers included.
    pub cells_written: u64,
    /// Bytes of the cells written.
    pub bytes_written: u64,
    /// Flushes.
    pub flushes: u64,
    /// Compactions.
    pub compactions: u64,
}

/// Where a region is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionLocation {
    /// The region.
    pub region: RegionInfo,
    /// `host:port` of its server. An embedded store has no server; it returns the name that it
    /// has in hbase:meta.
    pub server: String,
}
