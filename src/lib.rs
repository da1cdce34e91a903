//! HBase's data model in one small process, or inside yours.
//!
//! hblite is a sorted, versioned key-value store with HBase's data model: tables with column
//! families, rows sorted by key, versioned cells, scans in both directions, filters, counters and
//! atomic checks. It keeps its data in a directory in HBase's layout, and returns the same answers
//! as Apache HBase 2.6.
//!
//! ```
//! use hblite::{ColumnFamilyDescriptor, Get, Put, Scan, TableDescriptor};
//!
//! # fn main() -> hblite::Result<()> {
//! let connection = hblite::open_in_memory()?; // or hblite::open("./hblite-data")
//! let table = TableDescriptor::new("users".parse()?)
//!     .with_family(ColumnFamilyDescriptor::new("info").with_versions(3));
//! connection.admin().create_table(&table)?;
//!
//! let users = connection.table("users")?;
//! users.put(&Put::new("u1").add("info", "name", "Ada").add("info", "city", "London"))?;
//! users.put(&Put::new("u2").add("info", "name", "Grace"))?;
//!
//! let row = users.get(&Get::new("u1"))?;
//! assert_eq!(row.text("info", "name")?, Some("Ada"));
//!
//! let mut scanner = users.scan(&Scan::new().with_reversed(true))?;
//! while let Some(row) = scanner.next_row()? {
//!     println!("{}", String::from_utf8_lossy(row.row()));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Overview
//!
//! [`Connection`] is an open store. [`Table`] reads and writes rows, [`Admin`] changes tables and
//! namespaces. Operations ([`Put`], [`Get`], [`Scan`], …) are plain values from `hblite-model`.
//! All three handles are cheap to clone and may be used from any thread.
//!
//! [`check`] reads every file of a closed store and reports all damage; [`Admin::backup`] and
//! [`backup`] copy a store; [`Admin::bulk_load`] loads HFiles. `docs/operations.md` in the
//! repository shows how to use them.
//!
//! # What a write promises
//!
//! An acknowledged write survives a kill of the process ([`Durability::SyncWal`], the default). To
//! survive a power cut too, use [`Durability::FsyncWal`]; to write faster with weaker guarantees,
//! use [`Durability::AsyncWal`] or [`Durability::SkipWal`]. A write to one row is stored completely
//! or not at all. The exception is a write without the log: after a crash, it may be present only
//! in the families that were flushed.
//!
//! `docs/data-model.md` in the repository describes what is stored and what reads return.

#![forbid(unsafe_code)]

mod admin;
pub mod backend;
mod buffered_mutator;
mod bulk_load;
mod checkpoints;
#[cfg(feature = "cluster")]
mod cluster;
mod connection;
mod embedded;
mod embedded_master;
mod embedded_operator;
mod operator_admin;
mod operator_backend;
mod options;
mod result_scanner;
mod snapshot;
mod table;
mod table_name;

pub use admin::Admin;
pub use buffered_mutator::{BufferedMutator, FailedMutation, FailedMutations};
#[cfg(feature = "cluster")]
pub use cluster::{ClusterOptions, connect};
pub use connection::{
    Connection, backup, check, check_with_progress, clean, export_snapshot, import_snapshot,
};
#[cfg(feature = "cluster")]
pub use hblite_client::{CallMetrics, ClientMetrics, Latencies};
pub use hblite_engine::{
    CatalogRebuild, CheckProgress, CheckReport, Cleaned, ClientScanners, FileNote, Finding,
    FindingKind, Moved, OpenReport, ReplayReport, Salvaged, StoreId, TornTail, UnclosedLog,
};
pub use hblite_env::{Clock, ClockMode, Env, ManualClock, SystemClock};
pub use hblite_model::{
    Action, ActionResult, Append, BackupReport, BalanceReport, BalanceRequest, BalancerLog,
    BalancerRecord, BloomType, BulkLoadOptions, BulkLoadReport, CacheEviction, Caller,
    CallerCounts, Cell, CellBuffer, CellRef, CellType, CheckAndMutate, CheckAndMutateResult,
    ClusterServers, ColumnFamilyDescriptor, ColumnSelection, CompactRequest, CompactionKind,
    CompactionState, Compression, Condition, Consistency, DamagedFile, DataBlockEncoding, Delete,
    Direction, Durability, Error, ErrorKind, Exception, FailSafeSnapshot, FileTransfer,
    FlushRequest, FromValue, Get, GroupMember, GroupWork, HBASE_VERSION, HEAVY_ROWS_MAX, HeavyRows,
    Increment, IntoValue, KeepDeletedCells, LARGE_CELL_BYTES, LARGE_ROW_BYTES, LATEST_TIMESTAMP,
    LabelQuery, LabelWork, LargeItem, LockedResource, LoggedCall, MasterReport, MasterWork,
    MergeKind, Mutation, MutationKind, NamespaceDescriptor, Nonce, Operation, PeerConfig,
    PeerTables, PeerWork, PermissionAction, PermissionPlace, PermissionWork, ProcedureStatus,
    Protocol, Put, Qualifiers, Quota, QuotaLimit, QuotaOwner, QuotaScope, ROW_MAX, Rate, RateUnit,
    RegionInTransition, RegionInfo, RegionLoad, RegionLocation, RegionLocator, RegionRows,
    RegionStatus, ReplicationLoad, ReplicationPeer, ReplicationSource, RequestTarget, ResourceLock,
    Result, RowCounts, RowMutations, RowResult, RowWaits, SampledRow, Scan, ScanMetrics, ScanStep,
    ScrubStatus, ServerGroup, ServerLog, ServerLogRequest, ServerStatus, ServerTask, ServerWork,
    SnapshotDescription, SnapshotKind, SnapshotOptions, SnapshotRights, SpaceLimit, SpaceUsage,
    SpaceViolationPolicy, SplitPoints, StoreStatus, Switch, SystemTables, TableDescriptor,
    TableName, TableState, ThrottleType, TimeRange, UserPermission, WaitedRow, ZooKeeperReport,
    bytes, check_pattern, descriptor, filter, region_split, row_bound,
};
pub use options::{Options, open, open_in_memory};
pub use result_scanner::ResultScanner;
pub use table::{Once, Table};
pub use table_name::IntoTableName;

/// Compiles the example in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Compiles the examples of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/data-model.md")]
struct DataModel;

/// Runs the examples of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
struct Embedding;

/// Compiles the examples of the document.
#[cfg(doctest)]
#[doc = include_str!("../docs/operations.md")]
struct Operations;

/// Compiles the examples of the document.
#[cfg(all(doctest, feature = "cluster"))]
#[doc = include_str!("../docs/cluster.md")]
struct Cluster;
