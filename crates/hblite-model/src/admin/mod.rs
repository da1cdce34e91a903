//! The requests, options and reports of administrative calls.
//!
//! All are plain values. The embedded engine and a client of a cluster use the same types, so a
//! caller does not have to know which of the two it talks to.

/// The release of HBase whose answers hblite gives.
pub const HBASE_VERSION: &str = "2.6.1";

mod backup;
mod bulk_load;
mod callers;
mod choice;
mod operation;
mod peer;
mod region_locator;
mod request;
mod row_counts;
mod snapshot;
mod space_saving;
mod status;
mod switch;
mod table_state;

pub use backup::BackupReport;
pub use bulk_load::{BulkLoadOptions, BulkLoadReport, FileTransfer};
pub use callers::{CALLERS_MAX, Caller, CallerCounts, Operation, Protocol, USER_MAX};
pub use choice::{FailSafeSnapshot, MergeKind, SplitPoints, SystemTables};
pub use operation::{
    CacheEviction, ClusterServers, CompactionState, MasterReport, MasterWork, RegionInTransition,
    ServerWork, ZooKeeperReport,
};
pub use peer::{PeerConfig, PeerTables, PeerWork, ReplicationPeer, unreachable_peer};
pub use region_locator::RegionLocator;
pub use request::{CompactRequest, CompactionKind, FlushRequest, RequestTarget};
pub use row_counts::{
    HEAVY_ROWS_MAX, HeavyRows, ROW_MAX, RegionRows, RowCounts, RowWaits, SampledRow,
    WAITED_ROWS_MAX, WaitedRow,
};
pub use snapshot::{SnapshotDescription, SnapshotKind, SnapshotOptions};
pub use space_saving::SpaceSaving;
pub use status::{
    DamagedFile, RegionLoad, RegionLocation, RegionStatus, ScrubStatus, ServerStatus, StoreStatus,
};
pub use switch::Switch;
pub use table_state::TableState;
