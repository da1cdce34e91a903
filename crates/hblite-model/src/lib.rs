//! HBase's data model as values.
//!
//! Cells and their order, the operations of the client API and their results, filters, table
//! descriptors, names and errors. Nothing here does I/O: the files, the engine and the client API
//! share these types.

#![forbid(unsafe_code)]

pub mod admin;
pub mod bytes;
pub mod cell;
pub mod descriptor;
pub mod error;
pub mod filter;
pub mod name;
pub mod ops;
pub mod protobuf;
pub mod region_split;

mod direction;
mod region_info;
mod setters;
mod text;

pub use admin::{
    BackupReport, BalanceReport, BalanceRequest, BalancerLog, BalancerRecord, BulkLoadOptions,
    BulkLoadReport, CALLERS_MAX, CacheEviction, Caller, CallerCounts, ClusterServers,
    CompactRequest, CompactionKind, CompactionState, DamagedFile, FailSafeSnapshot, FileTransfer,
    FlushRequest, GroupMember, GroupWork, HBASE_VERSION, HEAVY_ROWS_MAX, HeavyRows,
    LARGE_CELL_BYTES, LARGE_MAX, LARGE_ROW_BYTES, LabelQuery, LabelWork, LargeItem, LockedResource,
    LoggedCall, MasterReport, MasterWork, MergeKind, Operation, PeerConfig, PeerTables, PeerWork,
    PermissionPlace, PermissionWork, ProcedureStatus, Protocol, Quota, QuotaLimit, QuotaOwner,
    QuotaScope, ROW_MAX, Rate, RateUnit, RegionInTransition, RegionLoad, RegionLocation,
    RegionLocator, RegionRows, RegionStatus, ReplicationLoad, ReplicationPeer, ReplicationSource,
    RequestTarget, ResourceLock, RowCounts, RowWaits, SampledRow, ScrubStatus, ServerGroup,
    ServerLog, ServerLogRequest, ServerStatus, ServerTask, ServerWork, SnapshotDescription,
    SnapshotKind, SnapshotOptions, SnapshotRights, SpaceLimit, SpaceSaving, SpaceUsage,
    SpaceViolationPolicy, SplitPoints, StoreStatus, Switch, SystemTables, TableState, ThrottleType,
    USER_MAX, UserPermission, WAITED_ROWS_MAX, WaitedRow, ZooKeeperReport, check_pattern,
    unreachable_peer,
};
pub use cell::{Cell, CellBuffer, CellComparator, CellRef, CellType, LATEST_TIMESTAMP};
pub use descriptor::{
    BloomType, ColumnFamilyDescriptor, Compression, Coprocessor, DataBlockEncoding,
    KeepDeletedCells, TableDescriptor,
};
pub use direction::Direction;
pub use error::{Error, ErrorKind, Exception, Result};
pub use name::{NamespaceDescriptor, TableName};
pub use ops::{
    Action, ActionResult, Append, CheckAndMutate, CheckAndMutateResult, ColumnSelection, Condition,
    Consistency, Delete, Durability, FromValue, Get, Increment, IntoValue, Mutation, MutationKind,
    Nonce, PermissionAction, Put, Qualifiers, RowMutations, RowPart, RowResult, Scan, ScanMetrics,
    ScanStep, TimeRange, row_bound,
};
pub use region_info::{META_ENCODED_NAME, RegionInfo};
pub use text::counted;
