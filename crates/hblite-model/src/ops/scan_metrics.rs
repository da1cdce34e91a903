//! What a scan has done.

use super::RowResult;

/// What a scan has done so far, as HBase's `ScanMetrics` counts it.
///
/// An embedded store makes no calls and reads files in place, so there only the regions, rows and
/// bytes are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanMetrics {
    /// Regions in which a scanner was opened.
    pub regions_scanned: u64,
    /// Rows that were read completely.
    pub rows_scanned: u64,
    /// Rows of which nothing was returned.
    pub rows_filtered: u64,
    /// Bytes of the cells that were returned.
    pub bytes_in_results: u64,
    /// Bytes of the blocks that were read.
    pub block_bytes_scanned: u64,
    /// Milliseconds in which a server waited for its file system.
    pub fs_read_time_ms: u64,
    /// Calls that were answered.
    pub rpc_calls: u64,
    /// Calls that failed, and were made again.
    pub rpc_retries: u64,
    /// How many of those failed because the region was not on the server.
    pub not_serving_region_exceptions: u64,
    /// Milliseconds between the answer to a call and the next call.
    pub millis_between_nexts: u64,
    /// Bytes of the cells that servers on other hosts returned.
    pub bytes_in_remote_results: u64,
    /// Calls that servers on other hosts answered.
    pub remote_rpc_calls: u64,
    /// Calls to servers on other hosts that failed.
    pub remote_rpc_retries: u64,
}

impl ScanMetrics {
    /// The values by HBase's names, in the order of the names.
    pub fn values(&self) -> [(&'static str, u64); 13] {
        [
            ("BLOCK_BYTES_SCANNED", self.block_bytes_scanned),
            ("BYTES_IN_REMOTE_RESULTS", self.bytes_in_remote_results),
            ("BYTES_IN_RESULTS", self.bytes_in_results),
            ("FS_READ_TIME", self.fs_read_time_ms),
            ("MILLIS_BETWEEN_NEXTS", self.millis_between_nexts),
            ("NOT_SERVING_REGION_EXCEPTION", self.not_serving_region_exceptions),
            ("REGIONS_SCANNED", self.regions_scanned),
            ("REMOTE_RPC_CALLS", self.remote_rpc_calls),
            ("REMOTE_RPC_RETRIES", self.remote_rpc_retries),
            ("ROWS_FILTERED", self.rows_filtered),
            ("ROWS_SCANNED", self.rows_scanned),
            ("RPC_CALLS", self.rpc_calls),
            ("RPC_RETRIES", self.rpc_retries),
        ]
    }

    /// The size of a result in a call: each cell has its length before it.
    pub fn bytes_of_result(row: &RowResult) -> u64 {
        row.size_bytes() as u64 + row.len() as u64 * size_of::<u32>() as u64
    }

    /// Adds a value that a server returns by name. Unknown names are left out.
    pub fn add(&mut self, name: &str, value: u64) {
        let counter = match name {
            "BLOCK_BYTES_SCANNED" => &mut self.block_bytes_scanned,
            "FS_READ_TIME" => &mut self.fs_read_time_ms,
            "ROWS_FILTERED" => &mut self.rows_filtered,
            "ROWS_SCANNED" => &mut self.rows_scanned,
            _ => return,
        };
        *counter = counter.saturating_add(value);
    }
}
