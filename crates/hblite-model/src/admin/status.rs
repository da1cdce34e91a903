//! The state of a store and its regions at one moment.

use std::path::PathBuf;

use crate::{RegionInfo, TableName};

/// A store at one moment.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct StoreStatus {
    /// When the store was opened, in milliseconds since 1970-01-01 UTC.
    pub opened_at_ms: i64,
    /// Every region in service.
    pub regions: Vec<RegionStatus>,
    /// Bytes in all memstores.
    pub memstore_size_bytes: u64,
    /// Bytes that memstores and cached blocks may take. Of a cluster: the heaps of its servers.
    pub memory_max_bytes: u64,
    /// The last background failure that has not been followed by a success.
    pub last_error: Option<String>,
    /// What the scrubber verified and found.
    pub scrub: ScrubStatus,
}

/// What the scrubber has done since the store was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScrubStatus {
    /// How often it has verified every file of every region in service.
    pub rounds: u64,
    /// Files that it has verified, counted again in every round.
    pub files: u64,
    /// Bytes of the blocks that it has verified.
    pub bytes: u64,
    /// When the last round ended, in milliseconds since 1970-01-01 UTC.
    pub last_round_at_ms: Option<i64>,
    /// Files that are damaged, at most 1,000. A file is removed from the list when it verifies
    /// again or is no longer in service.
    pub damaged: Vec<DamagedFile>,
}

/// A store file that is damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedFile {
    /// The table that the file belongs to.
    pub table: TableName,
    /// The encoded name of the region.
    pub region: String,
    /// The family.
    pub family: Vec<u8>,
    /// Where it is.
    pub file: PathBuf,
    /// Where the damaged block begins, if part of the file can be read.
    pub offset: Option<u64>,
    /// File, offset and what is wrong.
    pub message: String,
}

/// A region at one moment.
#[derive(Debug, Clone)]
pub struct RegionStatus {
    /// The region.
    pub region: RegionInfo,
    /// Requests since the region was opened.
    pub load: RegionLoad,
    /// Number of families.
    pub store_count: u64,
    /// Number of store files of all families.
    pub store_file_count: u64,
    /// Bytes of these files.
    pub store_file_size_bytes: u64,
    /// Bytes in memory.
    pub memstore_size_bytes: u64,
}

/// A region server at one moment.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ServerStatus {
    /// `host,port,start code`.
    pub name: String,
    /// Requests in a second, of the time since its last report.
    pub requests_per_second: u64,
    /// Bytes of its memory in use.
    pub memory_used_bytes: u64,
    /// Bytes of memory that it may take.
    pub memory_max_bytes: u64,
    /// Its regions, in the order of their names.
    pub regions: Vec<RegionStatus>,
    /// The last background failure that has not been followed by a success, of a store.
    pub last_error: Option<String>,
    /// What it is doing; empty for a store.
    pub tasks: Vec<ServerTask>,
    /// What it gets from other clusters and sends to them, if it says so.
    pub replication: Option<ReplicationLoad>,
}

/// What a server gets from other clusters, and what it sends to peers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplicationLoad {
    /// Since when it takes writes of other clusters, in milliseconds.
    pub started_ms: i64,
    /// The time of the last such write, in milliseconds; `started_ms` if there was none.
    pub applied_ms: i64,
    /// How old that write was, in milliseconds.
    pub applied_age_ms: i64,
    /// Its queues of writes for peers.
    pub sources: Vec<ReplicationSource>,
}

/// A queue of writes for a peer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplicationSource {
    /// The peer.
    pub peer: String,
    /// The name of the queue.
    pub queue: String,
    /// Whether it was taken over from a server that is gone.
    pub is_recovered: bool,
    /// Whether it is being sent.
    pub is_running: bool,
    /// The time of the last write that was sent, in milliseconds; 0 if there was none.
    pub shipped_ms: i64,
    /// How old that write was, in milliseconds.
    pub shipped_age_ms: i64,
    /// How far the peer is behind, in milliseconds.
    pub lag_ms: i64,
    /// Logs in the queue.
    pub logs: u32,
    /// Writes that were read from logs.
    pub writes_read: u64,
    /// Writes that were sent.
    pub writes_shipped: u64,
    /// Whether there were any writes.
    pub has_writes: bool,
    /// The time of the next one, in milliseconds.
    pub next_ms: i64,
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
    /// `host:port` of its server. For an embedded store, which has no server, this is the name that
    /// hbase:meta has for it.
    pub server: String,
}

/// A task of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTask {
    /// What it is.
    pub description: String,
    /// What it is doing.
    pub status: String,
    /// HBase's name of its state: `RUNNING`, `WAITING`, `COMPLETE` or `ABORTED`.
    pub state: String,
    /// When it began, in milliseconds.
    pub started_ms: i64,
    /// Since when it is in its state, in milliseconds.
    pub since_ms: i64,
    /// When it ended, in milliseconds; -1 if it has not.
    pub completed_ms: i64,
}
