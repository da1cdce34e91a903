//! Changes tables, regions and namespaces.

use std::path::Path;
use std::sync::Arc;

use hblite_model::{
    BackupReport, CacheEviction, ClusterServers, ColumnFamilyDescriptor, CompactRequest,
    CompactionState, FlushRequest, MasterReport, MasterWork, MergeKind, NamespaceDescriptor,
    PeerConfig, PeerWork, RegionInfo, RegionLocation, ReplicationPeer, Result, RowCounts,
    ScrubStatus, ServerStatus, ServerWork, SplitPoints, StoreStatus, Switch, SystemTables,
    TableDescriptor, TableName, TableState,
};

use crate::backend::Backend;
use crate::table_name::IntoTableName;

/// Changes tables, regions and namespaces.
///
/// # Errors
/// All methods return HBase's exception class and message: `TableNotFound`, `TableExists`,
/// `TableNotDisabled`, `NamespaceNotFound`, `Constraint`, `IllegalArgument` and so on.
#[derive(Debug, Clone)]
pub struct Admin {
    pub(crate) backend: Arc<dyn Backend>,
}

/// Tables.
impl Admin {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend }
    }

    /// Creates a table with one region.
    pub fn create_table(&self, table: &TableDescriptor) -> Result<()> {
        self.backend.create_table(table, &[])
    }

    /// Creates a table that is split at these keys.
    pub fn create_table_with_splits(
        &self,
        table: &TableDescriptor,
        split_keys: &[impl AsRef<[u8]>],
    ) -> Result<()> {
        let split_keys: Vec<Vec<u8>> = split_keys.iter().map(|key| key.as_ref().to_vec()).collect();
        self.backend.create_table(table, &split_keys)
    }

    /// Deletes a disabled table with everything in it.
    pub fn delete_table(&self, table: impl IntoTableName) -> Result<()> {
        self.backend.delete_table(&table.into_table_name()?)
    }

    /// Empties a disabled table and enables it.
    pub fn truncate_table(&self, table: impl IntoTableName, splits: SplitPoints) -> Result<()> {
        self.backend.truncate_table(&table.into_table_name()?, splits)
    }

    /// Puts a disabled table back in service.
    pub fn enable_table(&self, table: impl IntoTableName) -> Result<()> {
        self.backend.enable_table(&table.into_table_name()?)
    }

    /// Takes a table out of service; its memory is flushed.
    pub fn disable_table(&self, table: impl IntoTableName) -> Result<()> {
        self.backend.disable_table(&table.into_table_name()?)
    }

    /// Whether the table exists.
    pub fn table_exists(&self, table: impl IntoTableName) -> Result<bool> {
        self.backend.table_exists(&table.into_table_name()?)
    }

    /// Whether the table is enabled, disabled, or changing from one to the other.
    pub fn table_state(&self, table: impl IntoTableName) -> Result<TableState> {
        self.backend.table_state(&table.into_table_name()?)
    }

    /// Whether the table is enabled.
    pub fn is_table_enabled(&self, table: impl IntoTableName) -> Result<bool> {
        Ok(self.backend.table_state(&table.into_table_name()?)? == TableState::Enabled)
    }

    /// Whether the table is disabled.
    pub fn is_table_disabled(&self, table: impl IntoTableName) -> Result<bool> {
        Ok(self.backend.table_state(&table.into_table_name()?)? == TableState::Disabled)
    }

    /// The settings of a table.
    pub fn describe_table(&self, table: impl IntoTableName) -> Result<TableDescriptor> {
        self.backend.describe_table(&table.into_table_name()?)
    }

    /// Tables in order of their names: those of the default namespace first, then by namespace.
    pub fn list_tables(&self, system: SystemTables) -> Result<Vec<TableDescriptor>> {
        self.backend.list_tables(system)
    }

    /// Replaces the settings of a table, families included.
    pub fn modify_table(&self, table: &TableDescriptor) -> Result<()> {
        self.backend.modify_table(table)
    }

    /// Adds a family.
    pub fn add_family(
        &self,
        table: impl IntoTableName,
        family: &ColumnFamilyDescriptor,
    ) -> Result<()> {
        self.backend.add_family(&table.into_table_name()?, family)
    }

    /// Replaces the settings of a family.
    pub fn modify_family(
        &self,
        table: impl IntoTableName,
        family: &ColumnFamilyDescriptor,
    ) -> Result<()> {
        self.backend.modify_family(&table.into_table_name()?, family)
    }

    /// Deletes a family with its cells.
    pub fn delete_family(&self, table: impl IntoTableName, family: impl AsRef<[u8]>) -> Result<()> {
        self.backend.delete_family(&table.into_table_name()?, family.as_ref())
    }
}

/// Regions and files.
impl Admin {
    /// The regions of a table in order of their start keys; none if the table does not exist.
    pub fn regions(&self, table: impl IntoTableName) -> Result<Vec<RegionInfo>> {
        self.backend.regions(&table.into_table_name()?)
    }

    /// The region that holds a row.
    pub fn locate_region(
        &self,
        table: impl IntoTableName,
        row: impl AsRef<[u8]>,
    ) -> Result<RegionLocation> {
        self.backend.locate_region(&table.into_table_name()?, row.as_ref())
    }

    /// Splits the region that holds `split_key` at that key. Without a key, splits every region of
    /// the table at the middle of its largest file; a region whose files are too small to have a
    /// middle is refused: `DoNotRetryIo`.
    pub fn split_table(&self, table: impl IntoTableName, split_key: Option<&[u8]>) -> Result<()> {
        self.backend.split_table(&table.into_table_name()?, split_key)
    }

    /// Splits a region, named by its full or encoded name.
    pub fn split_region(&self, region: &str, split_key: Option<&[u8]>) -> Result<()> {
        self.backend.split_region(region, split_key)
    }

    /// Merges regions, named by their full or encoded names.
    pub fn merge_regions(&self, regions: &[&str], kind: MergeKind) -> Result<()> {
        self.backend.merge_regions(regions, kind)
    }

    /// Removes all cells of a region, named by its full or encoded name, while its table stays in
    /// service.
    pub fn truncate_region(&self, region: &str) -> Result<()> {
        self.backend.truncate_region(region)
    }

    /// Flushes a table or region, or one family of it: writes its cells in memory to files.
    ///
    /// As in HBase, flushing a region also starts a compaction in the background if the region has
    /// enough files. Flushing a table does so only for regions with too many.
    ///
    /// ```
    /// # use hblite::*;
    /// # let connection = open_in_memory()?;
    /// # connection.admin().create_table(&TableDescriptor::new("t".parse()?)
    /// #     .with_family(ColumnFamilyDescriptor::new("f")))?;
    /// let admin = connection.admin();
    /// for region in admin.regions("t")? {
    ///     admin.flush(&FlushRequest::region(region.encoded_name()).with_family("f"))?;
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn flush(&self, request: &FlushRequest) -> Result<()> {
        self.backend.flush(request)
    }

    /// Flushes a table: writes its cells in memory to files.
    pub fn flush_table(&self, table: impl IntoTableName) -> Result<()> {
        self.flush(&FlushRequest::table(table.into_table_name()?))
    }

    /// Merges files of a table or region, or of one family of it. Returns when that is done.
    pub fn compact(&self, request: &CompactRequest) -> Result<()> {
        self.backend.compact(request)
    }

    /// Merges the files of a table that the policy chooses. Returns when that is done.
    pub fn compact_table(&self, table: impl IntoTableName) -> Result<()> {
        self.compact(&CompactRequest::table(table.into_table_name()?))
    }

    /// Merges all files of each store of a table, and drops deleted and expired cells. Returns
    /// when that is done.
    pub fn major_compact_table(&self, table: impl IntoTableName) -> Result<()> {
        self.compact(&CompactRequest::table(table.into_table_name()?).major())
    }

    /// Regions, requests, memory and files.
    pub fn status(&self) -> Result<StoreStatus> {
        self.backend.status()
    }

    /// Which rows were requested since an earlier call, whose [`until`](RowCounts::until) is
    /// `after`; with [`u64::MAX`], nothing yet. Rows are counted from the first call on. `None` for
    /// a cluster of Apache HBase, which does not count them.
    ///
    /// ```
    /// # use hblite::*;
    /// # let connection = open_in_memory()?;
    /// # connection.admin().create_table(&TableDescriptor::new("t".parse()?)
    /// #     .with_family(ColumnFamilyDescriptor::new("f")))?;
    /// let admin = connection.admin();
    /// let start = admin.row_counts(u64::MAX)?.expect("hblite counts rows");
    /// connection.table("t")?.put(&Put::new("row").add("f", "q", "v"))?;
    /// let counts = admin.row_counts(start.until)?.expect("hblite counts rows");
    /// let writes = &counts.regions.iter().find(|region| region.table.qualifier() == "t")
    ///     .expect("the table had requests").writes;
    /// assert_eq!(writes.rows, [(b"row".to_vec(), 1)]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn row_counts(&self, after: u64) -> Result<Option<RowCounts>> {
        self.backend.row_counts(after)
    }
}

/// Background work.
impl Admin {
    /// Whether work of this kind is switched on.
    ///
    /// # Errors
    /// `UnsupportedOperation` for [`Switch::Compaction`] of a cluster, whose servers have one each.
    pub fn is_switched_on(&self, switch: Switch) -> Result<bool> {
        self.backend.is_switched_on(switch)
    }

    /// Switches work of this kind on or off. Returns whether it was on. A store that is opened
    /// again has all switches on.
    pub fn set_switch(&self, switch: Switch, on: bool) -> Result<bool> {
        self.backend.set_switch(switch, on)
    }

    /// The region servers.
    pub fn servers(&self) -> Result<ClusterServers> {
        self.backend.servers()
    }

    /// The region servers at work, and their regions, in the order of their names.
    pub fn server_statuses(&self) -> Result<Vec<ServerStatus>> {
        self.backend.server_statuses()
    }

    /// Has the master do some work. Returns whether it did.
    pub fn run_on_master(&self, work: &MasterWork) -> Result<bool> {
        self.backend.run_on_master(work)
    }

    /// Removes what splits and merges leave in hbase:meta. Returns how many regions that were.
    pub fn run_catalog_janitor(&self) -> Result<u32> {
        self.backend.run_catalog_janitor()
    }

    /// What the master says about itself and about regions.
    pub fn master_report(&self) -> Result<MasterReport> {
        self.backend.master_report()
    }

    /// Forgets servers that are gone. Returns those that it could not forget.
    pub fn clear_dead_servers(&self, servers: &[String]) -> Result<Vec<String>> {
        self.backend.clear_dead_servers(servers)
    }

    /// Removes the blocks of a table from the block caches of its servers.
    pub fn clear_block_cache(&self, table: impl IntoTableName) -> Result<CacheEviction> {
        self.backend.clear_block_cache(&table.into_table_name()?)
    }

    /// Has region servers do some work, all of them if none is named. Returns the result of each.
    ///
    /// # Errors
    /// `IllegalArgument` for a name that is not `host,port,start code`; `Io` if there is no such
    /// server.
    pub fn run_on_servers(
        &self,
        servers: &[&str],
        work: &ServerWork,
    ) -> Result<Vec<(String, bool)>> {
        self.backend.run_on_servers(servers, work)
    }

    /// Whether files of a table are being merged.
    pub fn compaction_state(&self, table: impl IntoTableName) -> Result<CompactionState> {
        self.backend.compaction_state(&table.into_table_name()?)
    }
}

/// Replication peers. A store has none, and refuses to add one.
impl Admin {
    /// The peers.
    pub fn list_peers(&self) -> Result<Vec<ReplicationPeer>> {
        self.backend.list_peers()
    }

    /// What a peer gets, and where it is.
    ///
    /// # Errors
    /// `ReplicationPeerNotFound`.
    pub fn peer_config(&self, id: &str) -> Result<PeerConfig> {
        self.backend.peer_config(id)
    }

    /// Adds, changes or forgets a peer.
    pub fn change_peer(&self, work: &PeerWork) -> Result<()> {
        self.backend.change_peer(work)
    }
}

/// Verification.
impl Admin {
    /// Reads every store file of the tables in service and verifies every block, at full speed,
    /// while reads and writes continue. The store also does this automatically, at a limited rate:
    /// [`Options::with_scrub_period`](crate::Options::with_scrub_period).
    ///
    /// # Errors
    /// `RegionServerStopped` if the store is closed. Damage is not an error: it is reported in the
    /// result.
    pub fn scrub(&self) -> Result<ScrubStatus> {
        self.backend.scrub()
    }
}

/// Copies.
impl Admin {
    /// Copies the store to the new directory `to`, in the store's file system, while reads and
    /// writes continue. On return the copy is durable; if the call fails, there is no copy.
    ///
    /// The copy is the store at one moment during the call. It contains every write acknowledged
    /// before the call, each row whole. Writes without the log that are made during the call may be
    /// missing. Regions are flushed first. Changes to tables wait until all files are linked, or
    /// copied if `to` is on another file system.
    ///
    /// # Errors
    /// `Io` if `to` exists and is not an empty directory, or if the file system fails,
    /// `IllegalArgument` if `to` is within the store.
    pub fn backup(&self, to: impl AsRef<Path>) -> Result<BackupReport> {
        self.backend.backup(to.as_ref())
    }
}

/// Namespaces.
impl Admin {
    /// Creates a namespace.
    pub fn create_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.backend.create_namespace(namespace)
    }

    /// Replaces the properties of a namespace.
    pub fn modify_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.backend.modify_namespace(namespace)
    }

    /// Deletes a namespace without tables.
    pub fn delete_namespace(&self, name: &str) -> Result<()> {
        self.backend.delete_namespace(name)
    }

    /// The properties of a namespace.
    pub fn describe_namespace(&self, name: &str) -> Result<NamespaceDescriptor> {
        self.backend.describe_namespace(name)
    }

    /// Namespaces in order of their names.
    pub fn list_namespaces(&self) -> Result<Vec<NamespaceDescriptor>> {
        self.backend.list_namespaces()
    }

    /// Tables of a namespace.
    pub fn list_namespace_tables(&self, name: &str) -> Result<Vec<TableName>> {
        self.backend.list_namespace_tables(name)
    }
}
