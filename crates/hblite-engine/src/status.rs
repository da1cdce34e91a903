//! What a store tells of itself.

use hblite_model::RegionInfo;

use crate::region::RegionLoad;

/// A store at one moment.
#[derive(Debug, Clone)]
pub struct StoreStatus {
    /// When it was opened, in milliseconds since 1970-01-01 UTC.
    pub opened_at_ms: i64,
    /// Every region in service.
    pub regions: Vec<RegionStatus>,
    /// Bytes in all memstores.
    pub memstore_size_bytes: usize,
    /// What last went wrong in the background and has not succeeded since.
    pub last_error: Option<String>,
}

/// A region at one moment.
#[derive(Debug, Clone)]
pub struct RegionStatus {
    /// Which one.
    pub region: RegionInfo,
    /// Requests since it was opened.
    pub load: RegionLoad,
    /// Families.
    pub store_count: usize,
    /// Files of all families.
    pub store_file_count: usize,
    /// Bytes of these files.
    pub store_file_size_bytes: u64,
    /// Bytes in memory.
    pub memstore_size_bytes: usize,
}

/// Where a region is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionLocation {
    /// Which one.
    pub region: RegionInfo,
    /// `host:port` of its server; of an embedded store the name by which HBase's tools would
    /// know it.
    pub server: String,
}

/// What a crash of regions came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CrashReport {
    /// Regions that were lost and are in service again.
    pub regions: usize,
    /// Entries that the log had of them, those that are in files as well among them.
    pub log_entries: u64,
}
