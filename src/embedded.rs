//! The embedded engine as a backend: a directory, or memory, in this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_engine::Timeline;
use hblite_env::Clock;
use hblite_model::{
    BackupReport, BulkLoadOptions, BulkLoadReport, CacheEviction, ClusterServers,
    ColumnFamilyDescriptor, CompactRequest, CompactionKind, CompactionState, Error, Exception,
    FailSafeSnapshot, FlushRequest, MasterReport, MasterWork, MergeKind, NamespaceDescriptor,
    PeerConfig, PeerWork, RegionInfo, RegionLocation, ReplicationPeer, Result, RowCounts,
    ScrubStatus, ServerStatus, ServerWork, SnapshotRights, SplitPoints, StoreStatus, Switch,
    SystemTables, TableDescriptor, TableName, TableState,
};
use hblite_model::{SnapshotDescription, SnapshotOptions};

use crate::backend::{AnyTable, Backend, BackendTable};
use crate::embedded_master;

/// A store that this process has open.
impl Backend for Timeline {
    fn table(self: Arc<Self>, name: TableName) -> BackendTable {
        BackendTable(AnyTable::Embedded(Self::table(&self, name)))
    }

    fn now_millis(&self) -> i64 {
        Clock::now_millis(self)
    }

    fn dir(&self) -> Option<&Path> {
        Some(Self::dir(self))
    }

    fn close(&self) -> Result<()> {
        Self::close(self)
    }

    fn create_table(&self, table: &TableDescriptor, split_keys: &[Vec<u8>]) -> Result<()> {
        self.engine().procedures().create_table(table, split_keys)
    }

    fn delete_table(&self, table: &TableName) -> Result<()> {
        self.engine().procedures().drop_table(table)
    }

    fn truncate_table(&self, table: &TableName, splits: SplitPoints) -> Result<()> {
        self.engine().procedures().truncate_table(table, splits)
    }

    fn enable_table(&self, table: &TableName) -> Result<()> {
        self.engine().procedures().enable_table(table)
    }

    fn disable_table(&self, table: &TableName) -> Result<()> {
        self.engine().procedures().disable_table(table)
    }

    fn table_exists(&self, table: &TableName) -> Result<bool> {
        Ok(self.engine().catalog().table_exists(table))
    }

    fn table_state(&self, table: &TableName) -> Result<TableState> {
        self.engine().catalog().table_state(table)
    }

    fn describe_table(&self, table: &TableName) -> Result<TableDescriptor> {
        Ok(self.engine().catalog().descriptor(table)?.as_ref().clone())
    }

    fn list_tables(&self, system: SystemTables) -> Result<Vec<TableDescriptor>> {
        Ok(self.engine().catalog().list_tables(system))
    }

    fn modify_table(&self, table: &TableDescriptor) -> Result<()> {
        self.engine().procedures().modify_table(table)
    }

    fn add_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        self.engine().procedures().add_family(table, family)
    }

    fn modify_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        self.engine().procedures().modify_family(table, family)
    }

    fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        self.engine().procedures().delete_family(table, family)
    }

    fn regions(&self, table: &TableName) -> Result<Vec<RegionInfo>> {
        Ok(self.engine().catalog().region_infos(table))
    }

    fn locate_region(&self, table: &TableName, row: &[u8]) -> Result<RegionLocation> {
        self.engine().catalog().locate_region(table, row)
    }

    fn split_table(&self, table: &TableName, split_key: Option<&[u8]>) -> Result<()> {
        if self.engine().catalog().table_state(table)? == TableState::Disabled {
            return Err(Error::new(Exception::TableNotEnabled, table.to_string()));
        }
        self.engine().procedures().split_table(table, split_key)
    }

    fn split_region(&self, region: &str, split_key: Option<&[u8]>) -> Result<()> {
        self.engine().procedures().split_region(region, split_key)
    }

    fn merge_regions(&self, regions: &[&str], kind: MergeKind) -> Result<()> {
        let names = regions.iter().map(|name| RegionInfo::encoded_name_of(name));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.engine().procedures().merge_regions(&names, kind)
    }

    fn truncate_region(&self, region: &str) -> Result<()> {
        self.engine().procedures().truncate_region(region)
    }

    fn flush(&self, request: &FlushRequest) -> Result<()> {
        self.engine().flush(request.clone())
    }

    fn compact(&self, request: &CompactRequest) -> Result<()> {
        self.engine().compact(request.clone())
    }

    fn status(&self) -> Result<StoreStatus> {
        self.engine().status()
    }

    fn row_counts(&self, after: u64) -> Result<Option<RowCounts>> {
        Ok(Some(self.engine().row_counts(after)))
    }

    fn scrub(&self) -> Result<ScrubStatus> {
        self.engine().scrub()
    }

    fn is_switched_on(&self, switch: Switch) -> Result<bool> {
        Ok(self.engine().switches().is_on(switch))
    }

    fn set_switch(&self, switch: Switch, on: bool) -> Result<bool> {
        Ok(self.engine().switches().set(switch, on))
    }

    fn servers(&self) -> Result<ClusterServers> {
        embedded_master::servers(&self.engine())
    }

    fn server_statuses(&self) -> Result<Vec<ServerStatus>> {
        embedded_master::server_status(&self.engine()).map(|server| vec![server])
    }

    fn run_on_master(&self, work: &MasterWork) -> Result<bool> {
        let is_done = embedded_master::run(&self.engine(), work)?;
        if *work == MasterWork::Stop {
            // The master and the region server of a store are the store.
            Self::close(self)?;
        }
        Ok(is_done)
    }

    fn master_report(&self) -> Result<MasterReport> {
        Ok(embedded_master::report())
    }

    fn list_peers(&self) -> Result<Vec<ReplicationPeer>> {
        Ok(Vec::new())
    }

    fn peer_config(&self, id: &str) -> Result<PeerConfig> {
        Err(Error::new(Exception::ReplicationPeerNotFound, id))
    }

    fn change_peer(&self, work: &PeerWork) -> Result<()> {
        Err(embedded_master::no_peer(&self.engine(), work))
    }

    fn clear_dead_servers(&self, servers: &[String]) -> Result<Vec<String>> {
        // A store has none, so none can be forgotten.
        Ok(servers.to_vec())
    }

    fn clear_block_cache(&self, table: &TableName) -> Result<CacheEviction> {
        embedded_master::clear_block_cache(&self.engine(), table)
    }

    fn run_catalog_janitor(&self) -> Result<u32> {
        self.engine().procedures().run_catalog_janitor()
    }

    fn run_on_servers(&self, servers: &[&str], work: &ServerWork) -> Result<Vec<(String, bool)>> {
        let engine = self.engine();
        let name = engine.server_name()?;
        embedded_master::check_servers(&engine, servers)?;
        let result = match work {
            ServerWork::SwitchCompaction(on) => engine.switches().set(Switch::Compaction, *on),
            ServerWork::Compact(kind) => {
                for region in engine.online_regions() {
                    let request = CompactRequest::region(region.info().encoded_name());
                    engine.compact(match kind {
                        CompactionKind::Major => request.major(),
                        CompactionKind::Minor => request,
                    })?;
                }
                true
            }
            ServerWork::RollWal => engine.roll_log().map(|()| true)?,
            // Requested compactions do not queue, options are fixed, and slow calls are not kept.
            ServerWork::ClearCompactionQueues(_) | ServerWork::UpdateConfiguration => true,
            ServerWork::ClearSlowLog => false,
            ServerWork::Stop(_) => Self::close(self).map(|()| true)?,
        };
        Ok(vec![(name, result)])
    }

    fn compaction_state(&self, table: &TableName) -> Result<CompactionState> {
        // A requested compaction is done when its call returns.
        self.engine().catalog().descriptor(table)?;
        Ok(CompactionState::None)
    }

    fn create_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.engine().procedures().create_namespace(namespace)
    }

    fn modify_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.engine().procedures().modify_namespace(namespace)
    }

    fn delete_namespace(&self, name: &str) -> Result<()> {
        self.engine().procedures().drop_namespace(name)
    }

    fn describe_namespace(&self, name: &str) -> Result<NamespaceDescriptor> {
        self.engine().catalog().namespace(name)
    }

    fn list_namespaces(&self) -> Result<Vec<NamespaceDescriptor>> {
        Ok(self.engine().catalog().namespaces())
    }

    fn list_namespace_tables(&self, name: &str) -> Result<Vec<TableName>> {
        self.engine().catalog().namespace_tables(name)
    }

    fn snapshot(&self, name: &str, table: &TableName, options: &SnapshotOptions) -> Result<()> {
        self.engine().procedures().snapshot(name, table, options)
    }

    fn list_snapshots(&self) -> Result<Vec<SnapshotDescription>> {
        self.engine().procedures().list_snapshots()
    }

    fn clone_snapshot_with(&self, name: &str, table: &TableName, _: SnapshotRights) -> Result<()> {
        self.engine().procedures().clone_snapshot(name, table, &Ok)
    }

    fn restore_snapshot_with(
        &self,
        name: &str,
        fail_safe: FailSafeSnapshot,
        _: SnapshotRights,
    ) -> Result<()> {
        self.engine().procedures().restore_snapshot(name, fail_safe)
    }

    fn delete_snapshot(&self, name: &str) -> Result<()> {
        self.engine().procedures().delete_snapshot(name)
    }

    fn bulk_load(
        &self,
        table: &TableName,
        folder: &Path,
        options: &BulkLoadOptions,
    ) -> Result<BulkLoadReport> {
        self.engine().procedures().bulk_load(table, folder, &options.into())
    }

    fn bulk_load_region(
        &self,
        region: &str,
        files: &[(Vec<u8>, PathBuf)],
        options: &BulkLoadOptions,
    ) -> Result<bool> {
        self.engine().procedures().bulk_load_region(region, files, &options.into())
    }

    fn backup(&self, to: &Path) -> Result<BackupReport> {
        self.engine().procedures().backup(to)
    }
}
