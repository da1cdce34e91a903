//! The embedded engine as a backend: a directory, or memory, in this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_engine::{Engine, FileNote, OpenReport, ReplayReport, TableHandle};
use hblite_model::{
    Action, BackupReport, BulkLoadOptions, BulkLoadReport, CheckAndMutate, CheckAndMutateResult,
    ColumnFamilyDescriptor, CompactRequest, Durability, FailSafeSnapshot, FlushRequest, Get,
    MergeKind, Mutation, NamespaceDescriptor, Nonce, RegionInfo, RegionLocation, Result,
    RowMutations, RowResult, Scan, ScrubStatus, SplitPoints, StoreStatus, SystemTables,
    TableDescriptor, TableName, TableState,
};
use hblite_model::{SnapshotDescription, SnapshotOptions};

use crate::backend::{Backend, Rows, TableBackend};

/// A store that this process has open.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) engine: Arc<Engine>,
    /// The directory, as it was given.
    pub(crate) dir: PathBuf,
}

impl Backend for Embedded {
    fn table(&self, name: TableName) -> Arc<dyn TableBackend> {
        Arc::new(self.engine.table(name))
    }

    fn now_millis(&self) -> i64 {
        self.engine.now_millis()
    }

    fn dir(&self) -> Option<&Path> {
        Some(&self.dir)
    }

    fn recovery(&self) -> Option<&ReplayReport> {
        Some(self.engine.recovery())
    }

    fn open_report(&self) -> Option<&OpenReport> {
        Some(self.engine.catalog().open_report())
    }

    fn file_notes(&self) -> Vec<FileNote> {
        self.engine.file_notes()
    }

    fn close(&self) -> Result<()> {
        self.engine.close()
    }

    fn create_table(&self, table: &TableDescriptor, split_keys: &[Vec<u8>]) -> Result<()> {
        self.engine.procedures().create_table(table, split_keys)
    }

    fn drop_table(&self, table: &TableName) -> Result<()> {
        self.engine.procedures().drop_table(table)
    }

    fn truncate_table(&self, table: &TableName, splits: SplitPoints) -> Result<()> {
        self.engine.procedures().truncate_table(table, splits)
    }

    fn enable_table(&self, table: &TableName) -> Result<()> {
        self.engine.procedures().enable_table(table)
    }

    fn disable_table(&self, table: &TableName) -> Result<()> {
        self.engine.procedures().disable_table(table)
    }

    fn table_exists(&self, table: &TableName) -> Result<bool> {
        Ok(self.engine.catalog().table_exists(table))
    }

    fn table_state(&self, table: &TableName) -> Result<TableState> {
        self.engine.catalog().table_state(table)
    }

    fn describe_table(&self, table: &TableName) -> Result<TableDescriptor> {
        Ok(self.engine.catalog().descriptor(table)?.as_ref().clone())
    }

    fn list_tables(&self, system: SystemTables) -> Result<Vec<TableDescriptor>> {
        Ok(self.engine.catalog().list_tables(system))
    }

    fn modify_table(&self, table: &TableDescriptor) -> Result<()> {
        self.engine.procedures().modify_table(table)
    }

    fn add_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        self.engine.procedures().add_family(table, family)
    }

    fn modify_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        self.engine.procedures().modify_family(table, family)
    }

    fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        self.engine.procedures().delete_family(table, family)
    }

    fn regions(&self, table: &TableName) -> Result<Vec<RegionInfo>> {
        Ok(self.engine.catalog().region_infos(table))
    }

    fn locate_region(&self, table: &TableName, row: &[u8]) -> Result<RegionLocation> {
        self.engine.catalog().locate_region(table, row)
    }

    fn split_table(&self, table: &TableName, split_key: Option<&[u8]>) -> Result<()> {
        self.engine.procedures().split_table(table, split_key)
    }

    fn split_region(&self, region: &str, split_key: Option<&[u8]>) -> Result<()> {
        self.engine.procedures().split_region(region, split_key)
    }

    fn merge_regions(&self, regions: &[&str], kind: MergeKind) -> Result<()> {
        self.engine.procedures().merge_regions(regions, kind)
    }

    fn truncate_region(&self, region: &str) -> Result<()> {
        self.engine.procedures().truncate_region(region)
    }

    fn flush(&self, request: FlushRequest) -> Result<()> {
        self.engine.flush(request)
    }

    fn compact(&self, request: CompactRequest) -> Result<()> {
        self.engine.compact(request)
    }

    fn status(&self) -> Result<StoreStatus> {
        self.engine.status()
    }

    fn scrub(&self) -> Result<ScrubStatus> {
        self.engine.scrub()
    }

    fn create_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.engine.procedures().create_namespace(namespace)
    }

    fn modify_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.engine.procedures().modify_namespace(namespace)
    }

    fn drop_namespace(&self, name: &str) -> Result<()> {
        self.engine.procedures().drop_namespace(name)
    }

    fn describe_namespace(&self, name: &str) -> Result<NamespaceDescriptor> {
        self.engine.catalog().namespace(name)
    }

    fn list_namespaces(&self) -> Result<Vec<NamespaceDescriptor>> {
        Ok(self.engine.catalog().namespaces())
    }

    fn list_namespace_tables(&self, name: &str) -> Result<Vec<TableName>> {
        self.engine.catalog().namespace_tables(name)
    }

    fn snapshot(&self, name: &str, table: &TableName, options: &SnapshotOptions) -> Result<()> {
        self.engine.procedures().snapshot(name, table, options)
    }

    fn list_snapshots(&self) -> Result<Vec<SnapshotDescription>> {
        self.engine.procedures().list_snapshots()
    }

    fn clone_snapshot(&self, name: &str, table: &TableName) -> Result<()> {
        self.engine.procedures().clone_snapshot(name, table, &Ok)
    }

    fn restore_snapshot(&self, name: &str, fail_safe: FailSafeSnapshot) -> Result<()> {
        self.engine.procedures().restore_snapshot(name, fail_safe)
    }

    fn delete_snapshot(&self, name: &str) -> Result<()> {
        self.engine.procedures().delete_snapshot(name)
    }

    fn bulk_load(
        &self,
        table: &TableName,
        folder: &Path,
        options: &BulkLoadOptions,
    ) -> Result<BulkLoadReport> {
        self.engine.procedures().bulk_load(table, folder, &options.into())
    }

    fn bulk_load_region(
        &self,
        region: &str,
        files: &[(Vec<u8>, PathBuf)],
        options: &BulkLoadOptions,
    ) -> Result<bool> {
        self.engine.procedures().bulk_load_region(region, files, &options.into())
    }

    fn backup(&self, to: &Path) -> Result<BackupReport> {
        self.engine.procedures().backup(to)
    }
}

impl TableBackend for TableHandle {
    fn name(&self) -> &TableName {
        self.name()
    }

    fn descriptor(&self) -> Result<TableDescriptor> {
        self.descriptor()
    }

    fn regions(&self) -> Result<Vec<RegionInfo>> {
        self.regions()
    }

    fn get(&self, get: &Get) -> Result<RowResult> {
        self.get(get)
    }

    fn exists(&self, get: &Get) -> Result<bool> {
        self.exists(get)
    }

    fn scan(&self, scan: &Scan) -> Result<Rows> {
        Ok(Rows::Embedded(self.scan(scan)?))
    }

    fn mutate(&self, mutation: &Mutation) -> Result<()> {
        self.mutate(mutation)
    }

    fn mutate_all(&self, mutations: &[&Mutation]) -> Result<()> {
        self.mutate_all(mutations)
    }

    fn read_modify_write(&self, mutation: &Mutation, nonce: Option<Nonce>) -> Result<RowResult> {
        self.read_modify_write(mutation, nonce)
    }

    fn increment_column(
        &self,
        row: &[u8],
        family: &[u8],
        qualifier: &[u8],
        amount: i64,
    ) -> Result<i64> {
        self.increment_column(row, family, qualifier, amount, Durability::UseDefault)
    }

    fn mutate_row(&self, mutations: &RowMutations, nonce: Option<Nonce>) -> Result<RowResult> {
        self.mutate_row(mutations, nonce)
    }

    fn check_and_mutate(
        &self,
        check: &CheckAndMutate,
        nonce: Option<Nonce>,
    ) -> Result<CheckAndMutateResult> {
        self.check_and_mutate(check, nonce)
    }

    fn batch(&self, actions: &[Action]) -> Result<Vec<Result<RowResult>>> {
        self.batch(actions)
    }
}
