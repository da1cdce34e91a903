//! The interface between the API and an engine.
//!
//! [`Connection`](crate::Connection), [`Table`](crate::Table), [`Admin`](crate::Admin) and
//! [`ResultScanner`](crate::ResultScanner) hold a backend and nothing that belongs to an engine, so
//! a program runs unchanged on any of them. The embedded engine is one backend (`src/embedded.rs`);
//! a client of a cluster is another. `tests/backend.rs` has a third, which plays back recorded
//! answers.
//!
//! ```text
//! Connection ── Backend ──────── tables, regions, namespaces, snapshots
//!                 ├─ OperatorBackend ─ what operators ask of a cluster
//!                 └─ TableBackend ── rows of one table
//!                       └─ Rows ──────── the rows of one scan
//! ```
//!
//! No method has a default body: a backend that cannot do something returns [`unsupported`], and a
//! new operation does not compile until every backend implements it.
//!
//! Threads: any for `Backend` and `TableBackend`; a `ScannerBackend` belongs to one at a time.

use std::any::Any;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hblite_engine::{TableHandle, TableScanner};
use hblite_model::{
    Action, ActionResult, BackupReport, BulkLoadOptions, BulkLoadReport, CacheEviction, CellRef,
    CheckAndMutate, CheckAndMutateResult, ClusterServers, ColumnFamilyDescriptor, CompactRequest,
    CompactionState, Error, Exception, FailSafeSnapshot, FlushRequest, Get, MasterReport,
    MasterWork, MergeKind, Mutation, NamespaceDescriptor, Nonce, PeerConfig, PeerWork, RegionInfo,
    RegionLocation, ReplicationPeer, Result, RowCounts, RowMutations, RowResult, Scan, ScanMetrics,
    ScanStep, ScrubStatus, ServerStatus, ServerWork, SnapshotRights, SplitPoints, StoreStatus,
    Switch, SystemTables, TableDescriptor, TableName, TableState,
};
use hblite_model::{SnapshotDescription, SnapshotOptions};

pub use crate::operator_backend::OperatorBackend;

/// An engine as a [`Connection`](crate::Connection) sees it.
///
/// Errors carry HBase's exception class and message, whichever engine they come from.
#[allow(missing_docs, reason = "each method is the one of the same name in Connection or Admin")]
pub trait Backend: OperatorBackend + Any + Debug + Send + Sync {
    fn table(self: Arc<Self>, name: TableName) -> BackendTable;
    fn now_millis(&self) -> i64;
    fn dir(&self) -> Option<&Path>;
    fn close(&self) -> Result<()>;

    fn create_table(&self, table: &TableDescriptor, split_keys: &[Vec<u8>]) -> Result<()>;
    fn delete_table(&self, table: &TableName) -> Result<()>;
    fn truncate_table(&self, table: &TableName, splits: SplitPoints) -> Result<()>;
    fn enable_table(&self, table: &TableName) -> Result<()>;
    fn disable_table(&self, table: &TableName) -> Result<()>;
    fn table_exists(&self, table: &TableName) -> Result<bool>;
    fn table_state(&self, table: &TableName) -> Result<TableState>;
    fn describe_table(&self, table: &TableName) -> Result<TableDescriptor>;
    fn list_tables(&self, system: SystemTables) -> Result<Vec<TableDescriptor>>;
    fn modify_table(&self, table: &TableDescriptor) -> Result<()>;
    fn add_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()>;
    fn modify_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()>;
    fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<()>;

    fn regions(&self, table: &TableName) -> Result<Vec<RegionInfo>>;
    fn locate_region(&self, table: &TableName, row: &[u8]) -> Result<RegionLocation>;
    fn split_table(&self, table: &TableName, split_key: Option<&[u8]>) -> Result<()>;
    fn split_region(&self, region: &str, split_key: Option<&[u8]>) -> Result<()>;
    fn merge_regions(&self, regions: &[&str], kind: MergeKind) -> Result<()>;
    fn truncate_region(&self, region: &str) -> Result<()>;
    fn flush(&self, request: &FlushRequest) -> Result<()>;
    fn compact(&self, request: &CompactRequest) -> Result<()>;
    fn status(&self) -> Result<StoreStatus>;
    fn row_counts(&self, after: u64) -> Result<Option<RowCounts>>;
    fn scrub(&self) -> Result<ScrubStatus>;

    fn is_switched_on(&self, switch: Switch) -> Result<bool>;
    fn set_switch(&self, switch: Switch, on: bool) -> Result<bool>;
    fn servers(&self) -> Result<ClusterServers>;
    fn server_statuses(&self) -> Result<Vec<ServerStatus>>;
    fn run_on_master(&self, work: &MasterWork) -> Result<bool>;
    fn run_catalog_janitor(&self) -> Result<u32>;
    fn master_report(&self) -> Result<MasterReport>;
    fn list_peers(&self) -> Result<Vec<ReplicationPeer>>;
    fn peer_config(&self, id: &str) -> Result<PeerConfig>;
    fn change_peer(&self, work: &PeerWork) -> Result<()>;
    fn clear_dead_servers(&self, servers: &[String]) -> Result<Vec<String>>;
    fn clear_block_cache(&self, table: &TableName) -> Result<CacheEviction>;
    fn run_on_servers(&self, servers: &[&str], work: &ServerWork) -> Result<Vec<(String, bool)>>;
    fn compaction_state(&self, table: &TableName) -> Result<CompactionState>;

    fn create_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()>;
    fn modify_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()>;
    fn delete_namespace(&self, name: &str) -> Result<()>;
    fn describe_namespace(&self, name: &str) -> Result<NamespaceDescriptor>;
    fn list_namespaces(&self) -> Result<Vec<NamespaceDescriptor>>;
    fn list_namespace_tables(&self, name: &str) -> Result<Vec<TableName>>;

    fn snapshot(&self, name: &str, table: &TableName, options: &SnapshotOptions) -> Result<()>;
    fn list_snapshots(&self) -> Result<Vec<SnapshotDescription>>;
    fn clone_snapshot_with(
        &self,
        name: &str,
        table: &TableName,
        rights: SnapshotRights,
    ) -> Result<()>;
    fn restore_snapshot_with(
        &self,
        name: &str,
        fail_safe: FailSafeSnapshot,
        rights: SnapshotRights,
    ) -> Result<()>;
    fn delete_snapshot(&self, name: &str) -> Result<()>;

    fn bulk_load(
        &self,
        table: &TableName,
        folder: &Path,
        options: &BulkLoadOptions,
    ) -> Result<BulkLoadReport>;
    fn bulk_load_region(
        &self,
        region: &str,
        files: &[(Vec<u8>, PathBuf)],
        options: &BulkLoadOptions,
    ) -> Result<bool>;
    fn backup(&self, to: &Path) -> Result<BackupReport>;
}

/// One table of an engine as a [`Table`](crate::Table) sees it.
///
/// A `nonce` identifies a write, so that a retry of it has no further effect.
#[allow(missing_docs, reason = "each method is the one of the same name in Table")]
pub trait TableBackend: Debug + Send + Sync {
    fn name(&self) -> &TableName;
    fn descriptor(&self) -> Result<TableDescriptor>;
    fn regions(&self) -> Result<Vec<RegionInfo>>;
    fn get(&self, get: &Get) -> Result<RowResult>;
    fn exists(&self, get: &Get) -> Result<bool>;
    fn scan(&self, scan: &Scan) -> Result<Rows>;
    fn mutate(&self, mutation: &Mutation) -> Result<()>;
    fn mutate_all(&self, mutations: &[&Mutation]) -> Result<()>;
    fn read_modify_write(&self, mutation: &Mutation, nonce: Option<Nonce>) -> Result<RowResult>;
    fn increment_column(
        &self,
        row: &[u8],
        family: &[u8],
        qualifier: &[u8],
        amount: i64,
    ) -> Result<i64>;
    fn mutate_row(&self, mutations: &RowMutations, nonce: Option<Nonce>) -> Result<RowResult>;
    fn check_and_mutate(
        &self,
        check: &CheckAndMutate,
        nonce: Option<Nonce>,
    ) -> Result<CheckAndMutateResult>;
    fn write_buffer(&self) -> WriteBuffer;
    fn batch(&self, actions: &[Action]) -> Result<Vec<Result<ActionResult>>>;
}

/// A table of a backend.
///
/// The embedded engine's has a variant of its own: it is called directly.
#[derive(Debug, Clone)]
pub struct BackendTable(pub(crate) AnyTable);

#[derive(Debug, Clone)]
pub(crate) enum AnyTable {
    Embedded(TableHandle),
    Other(Arc<dyn TableBackend>),
}

impl BackendTable {
    /// The table of a backend.
    pub fn new(table: Arc<dyn TableBackend>) -> Self {
        Self(AnyTable::Other(table))
    }
}

/// When a [`BufferedMutator`](crate::BufferedMutator) sends its writes, unless its caller says
/// otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteBuffer {
    /// The size of the buffered cells, in bytes, at which they are sent.
    pub size_max_bytes: u64,
    /// The age of the oldest write at which all are sent; `None` for no limit.
    pub age_max: Option<Duration>,
}

impl Default for WriteBuffer {
    /// HBase's defaults: 2 MiB, and no age limit.
    fn default() -> Self {
        Self { size_max_bytes: 2 << 20, age_max: None }
    }
}

/// The rows of one scan as a [`ResultScanner`](crate::ResultScanner) sees them.
///
/// After an error the scan is over.
pub trait ScannerBackend: Debug + Send {
    /// Puts the next row, or with a batch limit the next part of one, into `row`. Returns `false`
    /// after the last one.
    fn next_row(&mut self, row: &mut RowResult) -> Result<bool>;

    /// As [`ScannerBackend::next_row`], but returns a cursor once it has searched for `limit`.
    /// Every call advances the scan by at least one row.
    fn next_row_within(&mut self, row: &mut RowResult, limit: Duration) -> Result<ScanStep>;

    /// What the scan has done so far.
    fn metrics(&self) -> ScanMetrics {
        ScanMetrics::default()
    }

    /// Calls `visit` with every remaining cell until it breaks, and skips the rest of that row.
    fn for_each_cell(
        &mut self,
        visit: &mut dyn FnMut(&CellRef<'_>) -> ControlFlow<()>,
    ) -> Result<()>;
}

/// The scan of a backend.
///
/// The embedded engine's scanner has a variant of its own, so that a loop over its cells compiles
/// into the caller's: behind a trait object every cell would cost an indirect call.
#[derive(Debug)]
pub struct Rows(Scanner);

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a scan is moved once, and its cells are hot")]
enum Scanner {
    Embedded(TableScanner),
    Other(Box<dyn ScannerBackend>),
}

/// The error for an operation that a backend cannot do.
///
/// ```
/// let error = hblite::backend::unsupported("backup", "a cluster");
/// assert_eq!(error.kind(), hblite::ErrorKind::Unsupported);
/// assert_eq!(error.message(), "a cluster does not support backup");
/// ```
pub fn unsupported(operation: &str, backend: &str) -> Error {
    let message = format!("{backend} does not support {operation}");
    Error::new(Exception::UnsupportedOperation, message)
}

impl Rows {
    /// The rows that a scanner returns.
    pub fn new(scanner: Box<dyn ScannerBackend>) -> Self {
        Self(Scanner::Other(scanner))
    }

    pub(crate) fn embedded(scanner: TableScanner) -> Self {
        Self(Scanner::Embedded(scanner))
    }

    pub(crate) fn next_row(&mut self, row: &mut RowResult) -> Result<bool> {
        match &mut self.0 {
            Scanner::Embedded(scanner) => scanner.next_row(row),
            Scanner::Other(scanner) => scanner.next_row(row),
        }
    }

    pub(crate) fn next_row_within(
        &mut self,
        row: &mut RowResult,
        limit: Duration,
    ) -> Result<ScanStep> {
        match &mut self.0 {
            Scanner::Embedded(scanner) => scanner.next_row_within(row, limit),
            Scanner::Other(scanner) => scanner.next_row_within(row, limit),
        }
    }

    pub(crate) fn metrics(&self) -> ScanMetrics {
        match &self.0 {
            Scanner::Embedded(scanner) => scanner.metrics(),
            Scanner::Other(scanner) => scanner.metrics(),
        }
    }

    pub(crate) fn for_each_cell(&mut self, mut visit: impl FnMut(&CellRef<'_>)) -> Result<()> {
        match &mut self.0 {
            Scanner::Embedded(scanner) => scanner.for_each_cell(visit),
            Scanner::Other(scanner) => scanner.for_each_cell(&mut |cell| {
                visit(cell);
                ControlFlow::Continue(())
            }),
        }
    }

    pub(crate) fn try_for_each_cell<B>(
        &mut self,
        mut visit: impl FnMut(&CellRef<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        let scanner = match &mut self.0 {
            Scanner::Embedded(scanner) => return scanner.try_for_each_cell(visit),
            Scanner::Other(scanner) => scanner,
        };
        let mut end = ControlFlow::Continue(());
        scanner.for_each_cell(&mut |cell| {
            end = visit(cell);
            if end.is_continue() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(end)
    }
}
