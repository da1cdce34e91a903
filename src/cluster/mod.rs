//! A cluster of Apache HBase as a backend: the blocking API on top of the asynchronous client.
//!
//! Each connection owns a small runtime. A call runs on it while the calling thread waits.
//!
//! Operations that HBase's protocol does not offer return [`unsupported`], which names the
//! operation; docs/cluster.md lists them.

mod operator;
mod runtime;
mod table;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_client::{Admin, Client, ClientMetrics};
use hblite_env::{Clock as _, SystemClock};
use hblite_model::{
    BackupReport, BulkLoadOptions, BulkLoadReport, CacheEviction, ClusterServers,
    ColumnFamilyDescriptor, CompactRequest, CompactionState, FailSafeSnapshot, FlushRequest,
    MasterReport, MasterWork, MergeKind, NamespaceDescriptor, PeerConfig, PeerWork, RegionInfo,
    RegionLocation, ReplicationPeer, Result, RowCounts, ScrubStatus, ServerStatus, ServerWork,
    SnapshotDescription, SnapshotOptions, SnapshotRights, SplitPoints, StoreStatus, Switch,
    SystemTables, TableDescriptor, TableName, TableState,
};

use self::runtime::Runtime;
use self::table::ClusterTable;
use crate::backend::{Backend, BackendTable, unsupported};
use crate::connection::Connection;

/// The name of this backend in errors.
const NAME: &str = "a cluster";

/// Connects to a cluster of Apache HBase.
///
/// The URL is `hbase://zookeeper-host:2181/hbase` or `hbase+rpc://host:16000`, either with a list
/// of hosts separated by commas, and with settings in its query: `?hbase.rpc.timeout=5000`.
/// Settings have HBase's names. `hbase://` alone takes the address from `hbase-site.xml` in the
/// directory that `HBASE_CONF_DIR` names; other settings of that file apply to every URL.
///
/// ```no_run
/// let connection = hblite::connect("hbase://zk1,zk2:2181/hbase")?;
/// let row = connection.table("users")?.get(&hblite::Get::new("u1"))?;
/// # Ok::<(), hblite::Error>(())
/// ```
///
/// # Errors
/// `IllegalArgument` for a URL or setting that is not valid; `Io` if the cluster does not answer
/// before `hbase.rpc.timeout`. The message names every server that was tried.
pub fn connect(url: &str) -> Result<Connection> {
    ClusterOptions::new().connect(url)
}

/// How to connect to a cluster.
///
/// ```no_run
/// let connection = hblite::ClusterOptions::new()
///     .with_setting("hbase.client.retries.number", "3")
///     .connect("hbase+rpc://host1:16000,host2:16000")?;
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ClusterOptions {
    settings: Vec<(String, String)>,
}

impl ClusterOptions {
    /// The defaults, which are HBase's.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what HBase calls `name`. It takes precedence over `hbase-site.xml`, but not
    /// over the query of the URL.
    #[must_use]
    pub fn with_setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Connects.
    ///
    /// # Errors
    /// As [`connect`].
    pub fn connect(&self, url: &str) -> Result<Connection> {
        let runtime = Runtime::start()?;
        let client = runtime.run(Client::connect_with(url, &self.settings))?;
        let admin = client.admin();
        Ok(Connection::from_backend(Arc::new(Cluster {
            admin,
            client,
            runtime: Arc::new(runtime),
        })))
    }
}

/// What the client of a cluster has done.
impl Connection {
    /// Calls, latencies, retries and lookups of this connection so far; `None` for a store of this
    /// process, which makes no calls.
    ///
    /// ```no_run
    /// let connection = hblite::connect("hbase://zk1:2181/hbase")?;
    /// connection.table("users")?.get(&hblite::Get::new("u1"))?;
    /// if let Some(metrics) = connection.client_metrics() {
    ///     println!("{} retries, {:?}", metrics.retries, metrics.get.latencies.mean());
    /// }
    /// # Ok::<(), hblite::Error>(())
    /// ```
    pub fn client_metrics(&self) -> Option<ClientMetrics> {
        self.backend_as::<Cluster>().map(|cluster| cluster.client.metrics())
    }
}

/// A connected cluster.
#[derive(Debug)]
struct Cluster {
    admin: Admin,
    client: Client,
    runtime: Arc<Runtime>,
}

impl Backend for Cluster {
    fn table(self: Arc<Self>, name: TableName) -> BackendTable {
        let (client, runtime) = (&self.client, Arc::clone(&self.runtime));
        let table = ClusterTable::new(client.table(name), client.admin(), runtime);
        BackendTable::new(Arc::new(table))
    }

    fn now_millis(&self) -> i64 {
        SystemClock.now_millis()
    }

    fn dir(&self) -> Option<&Path> {
        None
    }

    fn close(&self) -> Result<()> {
        self.runtime.close();
        self.client.close();
        Ok(())
    }

    fn create_table(&self, table: &TableDescriptor, split_keys: &[Vec<u8>]) -> Result<()> {
        self.runtime.run(self.admin.create_table(table, split_keys))
    }

    fn delete_table(&self, table: &TableName) -> Result<()> {
        self.runtime.run(self.admin.delete_table(table))
    }

    fn truncate_table(&self, table: &TableName, splits: SplitPoints) -> Result<()> {
        self.runtime.run(self.admin.truncate_table(table, splits))
    }

    fn enable_table(&self, table: &TableName) -> Result<()> {
        self.runtime.run(self.admin.enable_table(table))
    }

    fn disable_table(&self, table: &TableName) -> Result<()> {
        self.runtime.run(self.admin.disable_table(table))
    }

    fn table_exists(&self, table: &TableName) -> Result<bool> {
        self.runtime.run(self.admin.table_exists(table))
    }

    fn table_state(&self, table: &TableName) -> Result<TableState> {
        self.runtime.run(self.admin.table_state(table))
    }

    fn describe_table(&self, table: &TableName) -> Result<TableDescriptor> {
        self.runtime.run(self.admin.describe_table(table))
    }

    fn list_tables(&self, system: SystemTables) -> Result<Vec<TableDescriptor>> {
        self.runtime.run(self.admin.list_tables(system))
    }

    fn modify_table(&self, table: &TableDescriptor) -> Result<()> {
        self.runtime.run(self.admin.modify_table(table))
    }

    fn add_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        self.runtime.run(self.admin.add_family(table, family))
    }

    fn modify_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        self.runtime.run(self.admin.modify_family(table, family))
    }

    fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        self.runtime.run(self.admin.delete_family(table, family))
    }

    fn regions(&self, table: &TableName) -> Result<Vec<RegionInfo>> {
        self.runtime.run(self.admin.regions(table))
    }

    fn locate_region(&self, table: &TableName, row: &[u8]) -> Result<RegionLocation> {
        self.runtime.run(self.admin.locate_region(table, row))
    }

    fn split_table(&self, table: &TableName, split_key: Option<&[u8]>) -> Result<()> {
        self.runtime.run(self.admin.split_table(table, split_key))
    }

    fn split_region(&self, region: &str, split_key: Option<&[u8]>) -> Result<()> {
        self.runtime.run(self.admin.split_region(region, split_key))
    }

    fn merge_regions(&self, regions: &[&str], kind: MergeKind) -> Result<()> {
        self.runtime.run(self.admin.merge_regions(regions, kind))
    }

    fn truncate_region(&self, region: &str) -> Result<()> {
        self.runtime.run(self.admin.truncate_region(region))
    }

    fn flush(&self, request: &FlushRequest) -> Result<()> {
        self.runtime.run(self.admin.flush(request))
    }

    fn compact(&self, request: &CompactRequest) -> Result<()> {
        self.runtime.run(self.admin.compact(request))
    }

    fn status(&self) -> Result<StoreStatus> {
        self.runtime.run(self.admin.status())
    }

    fn row_counts(&self, after: u64) -> Result<Option<RowCounts>> {
        self.runtime.run(self.admin.row_counts(after))
    }

    fn scrub(&self) -> Result<ScrubStatus> {
        Err(unsupported("scrub", NAME))
    }

    fn is_switched_on(&self, switch: Switch) -> Result<bool> {
        self.runtime.run(self.admin.is_switched_on(switch))
    }

    fn set_switch(&self, switch: Switch, on: bool) -> Result<bool> {
        self.runtime.run(self.admin.set_switch(switch, on))
    }

    fn servers(&self) -> Result<ClusterServers> {
        self.runtime.run(self.admin.servers())
    }

    fn server_statuses(&self) -> Result<Vec<ServerStatus>> {
        self.runtime.run(self.admin.server_statuses())
    }

    fn run_on_master(&self, work: &MasterWork) -> Result<bool> {
        self.runtime.run(self.admin.run_on_master(work))
    }

    fn run_catalog_janitor(&self) -> Result<u32> {
        self.runtime.run(self.admin.run_catalog_janitor())
    }

    fn master_report(&self) -> Result<MasterReport> {
        self.runtime.run(self.admin.master_report())
    }

    fn list_peers(&self) -> Result<Vec<ReplicationPeer>> {
        self.runtime.run(self.admin.list_peers())
    }

    fn peer_config(&self, id: &str) -> Result<PeerConfig> {
        self.runtime.run(self.admin.peer_config(id))
    }

    fn change_peer(&self, work: &PeerWork) -> Result<()> {
        self.runtime.run(self.admin.change_peer(work))
    }

    fn clear_dead_servers(&self, servers: &[String]) -> Result<Vec<String>> {
        self.runtime.run(self.admin.clear_dead_servers(servers))
    }

    fn clear_block_cache(&self, table: &TableName) -> Result<CacheEviction> {
        self.runtime.run(self.admin.clear_block_cache(table))
    }

    fn run_on_servers(&self, servers: &[&str], work: &ServerWork) -> Result<Vec<(String, bool)>> {
        self.runtime.run(self.admin.run_on_servers(servers, work))
    }

    fn compaction_state(&self, table: &TableName) -> Result<CompactionState> {
        self.runtime.run(self.admin.compaction_state(table))
    }

    fn create_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.runtime.run(self.admin.create_namespace(namespace))
    }

    fn modify_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.runtime.run(self.admin.modify_namespace(namespace))
    }

    fn delete_namespace(&self, name: &str) -> Result<()> {
        self.runtime.run(self.admin.delete_namespace(name))
    }

    fn describe_namespace(&self, name: &str) -> Result<NamespaceDescriptor> {
        self.runtime.run(self.admin.describe_namespace(name))
    }

    fn list_namespaces(&self) -> Result<Vec<NamespaceDescriptor>> {
        self.runtime.run(self.admin.list_namespaces())
    }

    fn list_namespace_tables(&self, name: &str) -> Result<Vec<TableName>> {
        self.runtime.run(self.admin.list_namespace_tables(name))
    }

    fn snapshot(&self, name: &str, table: &TableName, options: &SnapshotOptions) -> Result<()> {
        self.runtime.run(self.admin.snapshot(name, table, options))
    }

    fn list_snapshots(&self) -> Result<Vec<SnapshotDescription>> {
        self.runtime.run(self.admin.list_snapshots())
    }

    fn clone_snapshot_with(
        &self,
        name: &str,
        table: &TableName,
        rights: SnapshotRights,
    ) -> Result<()> {
        self.runtime.run(self.admin.clone_snapshot(name, table, rights))
    }

    fn restore_snapshot_with(
        &self,
        name: &str,
        fail_safe: FailSafeSnapshot,
        rights: SnapshotRights,
    ) -> Result<()> {
        self.runtime.run(self.admin.restore_snapshot(name, fail_safe, rights))
    }

    fn delete_snapshot(&self, name: &str) -> Result<()> {
        self.runtime.run(self.admin.delete_snapshot(name))
    }

    fn bulk_load(&self, _: &TableName, _: &Path, _: &BulkLoadOptions) -> Result<BulkLoadReport> {
        Err(unsupported("bulk_load", NAME))
    }

    fn bulk_load_region(
        &self,
        _: &str,
        _: &[(Vec<u8>, PathBuf)],
        _: &BulkLoadOptions,
    ) -> Result<bool> {
        Err(unsupported("bulk_load_region", NAME))
    }

    fn backup(&self, _: &Path) -> Result<BackupReport> {
        Err(unsupported("backup", NAME))
    }
}
