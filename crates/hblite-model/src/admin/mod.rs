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
mod large;
mod master_work;
mod operation;
mod peer;
mod permission;
mod quota;
mod region_locator;
mod request;
mod row_counts;
mod server_log;
mod snapshot;
mod space_saving;
mod status;
mod switch;
mod table_state;

pub use backup::BackupReport;
pub use bulk_load::{BulkLoadOptions, BulkLoadReport, FileTransfer};
pub use callers::{CALLERS_MAX, Caller, CallerCounts, Operation, Protocol, USER_MAX};
pub use choice::{FailSafeSnapshot, MergeKind, SnapshotRights, SplitPoints, SystemTables};
pub use large::{LARGE_CELL_BYTES, LARGE_ROW_BYTES, LargeItem};
pub use master_work::{LockedResource, ProcedureStatus, ResourceLock};
pub use operation::{
    CacheEviction, ClusterServers, CompactionState, MasterReport, MasterWork, RegionInTransition,
    ServerWork, ZooKeeperReport, check_pattern,
};
pub use peer::{PeerConfig, PeerTables, PeerWork, ReplicationPeer, unreachable_peer};
pub use permission::{
    BalanceReport, BalanceRequest, GroupMember, GroupWork, LabelQuery, LabelWork, PermissionPlace,
    PermissionWork, ServerGroup, UserPermission,
};
pub use quota::{
    Quota, QuotaLimit, QuotaOwner, QuotaScope, Rate, RateUnit, SpaceLimit, SpaceUsage,
    SpaceViolationPolicy, ThrottleType,
};
pub use region_locator::RegionLocator;
pub use request::{CompactRequest, CompactionKind, FlushRequest, RequestTarget};
pub use row_counts::{
    HEAVY_ROWS_MAX, HeavyRows, LARGE_MAX, ROW_MAX, RegionRows, RowCounts, RowWaits, SampledRow,
    WAITED_ROWS_MAX, WaitedRow,
};
pub use server_log::{BalancerLog, BalancerRecord, LoggedCall, ServerLog, ServerLogRequest};
pub use snapshot::{SnapshotDescription, SnapshotKind, SnapshotOptions};
pub use space_saving::SpaceSaving;
pub use status::{
    DamagedFile, RegionLoad, RegionLocation, RegionStatus, ReplicationLoad, ReplicationSource,
    ScrubStatus, ServerStatus, ServerTask, StoreStatus,
};
pub use switch::Switch;
pub use table_state::TableState;
