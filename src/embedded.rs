//! The embedded engine as a backend: a directory, or memory, in this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_engine::{FileNote, OpenReport, ReplayReport, TableHandle, Timeline};
use hblite_env::Clock as _;
use hblite_env::sync::RwLock;
use hblite_model::{
    Action, ActionResult, BackupReport, BulkLoadOptions, BulkLoadReport, CheckAndMutate,
    CheckAndMutateResult, ColumnFamilyDescriptor, CompactRequest, Durability, FailSafeSnapshot,
    FlushRequest, Get, MergeKind, Mutation, NamespaceDescriptor, Nonce, RegionInfo, RegionLocation,
    Result, RowMutations, RowResult, Scan, ScrubStatus, SplitPoints, StoreStatus, SystemTables,
    TableDescriptor, TableName, TableState,
};
use hblite_model::{SnapshotDescription, SnapshotOptions};

use crate::backend::{Backend, Rows, TableBackend, WriteBuffer};
use crate::embedded_scanner::EmbeddedScanner;

/// A store that this process has open.
#[derive(Debug)]
pub(crate) struct Embedded(pub(crate) Arc<Timeline>);

impl Backend for Embedded {
    fn table(&self, name: TableName) -> Arc<dyn TableBackend> {
        Arc::new(EmbeddedTable::new(&self.0, name))
    }

    fn now_millis(&self) -> i64 {
        self.0.now_millis()
    }

    fn dir(&self) -> Option<&Path> {
        Some(self.0.dir())
    }

    fn recovery(&self) -> Option<&ReplayReport> {
        Some(self.0.recovery())
    }

    fn open_report(&self) -> Option<&OpenReport> {
        Some(self.0.open_report())
    }

    fn file_notes(&self) -> Vec<FileNote> {
        self.0.engine().file_notes()
    }

    fn close(&self) -> Result<()> {
        self.0.close()
    }

    fn create_table(&self, table: &TableDescriptor, split_keys: &[Vec<u8>]) -> Result<()> {
        self.0.engine().procedures().create_table(table, split_keys)
    }

    fn drop_table(&self, table: &TableName) -> Result<()> {
        self.0.engine().procedures().drop_table(table)
    }

    fn truncate_table(&self, table: &TableName, splits: SplitPoints) -> Result<()> {
        self.0.engine().procedures().truncate_table(table, splits)
    }

    fn enable_table(&self, table: &TableName) -> Result<()> {
        self.0.engine().procedures().enable_table(table)
    }

    fn disable_table(&self, table: &TableName) -> Result<()> {
        self.0.engine().procedures().disable_table(table)
    }

    fn table_exists(&self, table: &TableName) -> Result<bool> {
        Ok(self.0.engine().catalog().table_exists(table))
    }

    fn table_state(&self, table: &TableName) -> Result<TableState> {
        self.0.engine().catalog().table_state(table)
    }

    fn describe_table(&self, table: &TableName) -> Result<TableDescriptor> {
        Ok(self.0.engine().catalog().descriptor(table)?.as_ref().clone())
    }

    fn list_tables(&self, system: SystemTables) -> Result<Vec<TableDescriptor>> {
        Ok(self.0.engine().catalog().list_tables(system))
    }

    fn modify_table(&self, table: &TableDescriptor) -> Result<()> {
        self.0.engine().procedures().modify_table(table)
    }

    fn add_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        self.0.engine().procedures().add_family(table, family)
    }

    fn modify_family(&self, table: &TableName, family: &ColumnFamilyDescriptor) -> Result<()> {
        self.0.engine().procedures().modify_family(table, family)
    }

    fn delete_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        self.0.engine().procedures().delete_family(table, family)
    }

    fn regions(&self, table: &TableName) -> Result<Vec<RegionInfo>> {
        Ok(self.0.engine().catalog().region_infos(table))
    }

    fn locate_region(&self, table: &TableName, row: &[u8]) -> Result<RegionLocation> {
        self.0.engine().catalog().locate_region(table, row)
    }

    fn split_table(&self, table: &TableName, split_key: Option<&[u8]>) -> Result<()> {
        self.0.engine().procedures().split_table(table, split_key)
    }

    fn split_region(&self, region: &str, split_key: Option<&[u8]>) -> Result<()> {
        self.0.engine().procedures().split_region(region, split_key)
    }

    fn merge_regions(&self, regions: &[&str], kind: MergeKind) -> Result<()> {
        self.0.engine().procedures().merge_regions(regions, kind)
    }

    fn truncate_region(&self, region: &str) -> Result<()> {
        self.0.engine().procedures().truncate_region(region)
    }

    fn flush(&self, request: FlushRequest) -> Result<()> {
        self.0.engine().flush(request)
    }

    fn compact(&self, request: CompactRequest) -> Result<()> {
        self.0.engine().compact(request)
    }

    fn status(&self) -> Result<StoreStatus> {
        self.0.engine().status()
    }

    fn scrub(&self) -> Result<ScrubStatus> {
        self.0.engine().scrub()
    }

    fn create_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.0.engine().procedures().create_namespace(namespace)
    }

    fn modify_namespace(&self, namespace: &NamespaceDescriptor) -> Result<()> {
        self.0.engine().procedures().modify_namespace(namespace)
    }

    fn drop_namespace(&self, name: &str) -> Result<()> {
        self.0.engine().procedures().drop_namespace(name)
    }

    fn describe_namespace(&self, name: &str) -> Result<NamespaceDescriptor> {
        self.0.engine().catalog().namespace(name)
    }

    fn list_namespaces(&self) -> Result<Vec<NamespaceDescriptor>> {
        Ok(self.0.engine().catalog().namespaces())
    }

    fn list_namespace_tables(&self, name: &str) -> Result<Vec<TableName>> {
        self.0.engine().catalog().namespace_tables(name)
    }

    fn snapshot(&self, name: &str, table: &TableName, options: &SnapshotOptions) -> Result<()> {
        self.0.engine().procedures().snapshot(name, table, options)
    }

    fn list_snapshots(&self) -> Result<Vec<SnapshotDescription>> {
        self.0.engine().procedures().list_snapshots()
    }

    fn clone_snapshot(&self, name: &str, table: &TableName) -> Result<()> {
        self.0.engine().procedures().clone_snapshot(name, table, &Ok)
    }

    fn restore_snapshot(&self, name: &str, fail_safe: FailSafeSnapshot) -> Result<()> {
        self.0.engine().procedures().restore_snapshot(name, fail_safe)
    }

    fn delete_snapshot(&self, name: &str) -> Result<()> {
        self.0.engine().procedures().delete_snapshot(name)
    }

    fn bulk_load(
        &self,
        table: &TableName,
        folder: &Path,
        options: &BulkLoadOptions,
    ) -> Result<BulkLoadReport> {
        self.0.engine().procedures().bulk_load(table, folder, &options.into())
    }

    fn bulk_load_region(
        &self,
        region: &str,
        files: &[(Vec<u8>, PathBuf)],
        options: &BulkLoadOptions,
    ) -> Result<bool> {
        self.0.engine().procedures().bulk_load_region(region, files, &options.into())
    }

    fn backup(&self, to: &Path) -> Result<BackupReport> {
        self.0.engine().procedures().backup(to)
    }
}

/// A table of the store, whichever engine serves the store.
///
/// Invariant: an operation uses a single engine. Until the first rewind, finding it costs a
/// comparison.
#[derive(Debug)]
struct EmbeddedTable {
    timeline: Arc<Timeline>,
    generation: u64,
    first: TableHandle,
    /// After a rewind: the table in the latest generation used so far.
    latest: RwLock<Option<(u64, TableHandle)>>,
}

impl EmbeddedTable {
    fn new(timeline: &Arc<Timeline>, name: TableName) -> Self {
        let (generation, engine) = timeline.present();
        let (timeline, first) = (Arc::clone(timeline), engine.table(name));
        Self { timeline, generation, first, latest: RwLock::default() }
    }

    /// Runs `work` on the current table.
    #[inline]
    fn now<T>(&self, work: impl FnOnce(&TableHandle) -> T) -> T {
        if self.timeline.generation() == self.generation {
            return work(&self.first);
        }
        work(&self.rewound().1)
    }

    /// The table in the current generation, and the number of that generation.
    #[cold]
    fn rewound(&self) -> (u64, TableHandle) {
        let generation = self.timeline.generation();
        if let Some((latest, handle)) = self.latest.read().as_ref()
            && *latest == generation
        {
            return (generation, handle.clone());
        }
        let (generation, engine) = self.timeline.present();
        let handle = engine.table(self.first.name().clone());
        *self.latest.write() = Some((generation, handle.clone()));
        (generation, handle)
    }
}

impl TableBackend for EmbeddedTable {
    fn name(&self) -> &TableName {
        self.first.name()
    }

    fn descriptor(&self) -> Result<TableDescriptor> {
        self.now(|table| table.descriptor())
    }

    fn regions(&self) -> Result<Vec<RegionInfo>> {
        self.now(|table| table.regions())
    }

    fn get(&self, get: &Get) -> Result<RowResult> {
        self.now(|table| table.get(get))
    }

    fn exists(&self, get: &Get) -> Result<bool> {
        self.now(|table| table.exists(get))
    }

    fn scan(&self, scan: &Scan) -> Result<Rows> {
        let generation = self.timeline.generation();
        let (generation, scanner) = match generation == self.generation {
            true => (generation, self.first.scan(scan)?),
            false => {
                let (generation, table) = self.rewound();
                (generation, table.scan(scan)?)
            }
        };
        let timeline = Arc::clone(&self.timeline);
        Ok(Rows::Embedded(EmbeddedScanner::new(scanner, timeline, generation)))
    }

    fn mutate(&self, mutation: &Mutation) -> Result<()> {
        self.now(|table| table.mutate(mutation))
    }

    fn mutate_all(&self, mutations: &[&Mutation]) -> Result<()> {
        self.now(|table| table.mutate_all(mutations))
    }

    fn read_modify_write(&self, mutation: &Mutation, nonce: Option<Nonce>) -> Result<RowResult> {
        self.now(|table| table.read_modify_write(mutation, nonce))
    }

    fn increment_column(
        &self,
        row: &[u8],
        family: &[u8],
        qualifier: &[u8],
        amount: i64,
    ) -> Result<i64> {
        self.now(|table| {
            table.increment_column(row, family, qualifier, amount, Durability::UseDefault)
        })
    }

    fn mutate_row(&self, mutations: &RowMutations, nonce: Option<Nonce>) -> Result<RowResult> {
        self.now(|table| table.mutate_row(mutations, nonce))
    }

    fn check_and_mutate(
        &self,
        check: &CheckAndMutate,
        nonce: Option<Nonce>,
    ) -> Result<CheckAndMutateResult> {
        self.now(|table| table.check_and_mutate(check, nonce))
    }

    fn write_buffer(&self) -> WriteBuffer {
        WriteBuffer::default()
    }

    fn batch(&self, actions: &[Action]) -> Result<Vec<Result<ActionResult>>> {
        self.now(|table| table.batch(actions))
    }
}
