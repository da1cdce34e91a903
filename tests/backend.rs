//! The API over a second backend: answers recorded from the embedded engine, then played back.
//!
//! A program runs twice. The first time every call goes to an embedded store and onto a tape; the
//! second time there is no store, and the tape answers. Both runs must print the same, and the
//! second must make the same calls in the same order.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hblite::backend::{
    Backend, BackendTable, OperatorBackend, Rows, ScannerBackend, TableBackend, WriteBuffer,
    unsupported,
};
use hblite::{
    Action, ActionResult, BackupReport, BalanceReport, BalanceRequest, BalancerLog, BalancerRecord,
    BulkLoadOptions, BulkLoadReport, CacheEviction, CellRef, CheckAndMutate, CheckAndMutateResult,
    ClusterServers, ColumnFamilyDescriptor, CompactRequest, CompactionState, Connection, Delete,
    Error, ErrorKind, Exception, FailSafeSnapshot, FlushRequest, Get, GroupMember, GroupWork,
    Increment, LabelQuery, LabelWork, LockedResource, LoggedCall, MasterReport, MasterWork,
    MergeKind, Mutation, MutationKind, NamespaceDescriptor, Nonce, PeerConfig, PeerWork,
    PermissionPlace, PermissionWork, ProcedureStatus, Put, Quota, RegionInfo, RegionLocation,
    ReplicationPeer, Result, RowCounts, RowMutations, RowResult, Scan, ScanStep, ScrubStatus,
    ServerGroup, ServerLogRequest, ServerStatus, ServerWork, SnapshotDescription, SnapshotOptions,
    SnapshotRights, SpaceUsage, SplitPoints, StoreStatus, Switch, SystemTables, TableDescriptor,
    TableName, TableState, UserPermission, ZooKeeperReport,
};

/// A call, and its answer.
type Take = (String, std::result::Result<Box<dyn Any + Send>, (Exception, String)>);

/// Calls and answers in order. With a store, it records; without one, it plays back.
#[derive(Clone)]
struct Tape {
    store: Option<Connection>,
    takes: Arc<Mutex<VecDeque<Take>>>,
}

impl Tape {
    fn answer<T: Clone + Send + 'static>(
        &self,
        call: String,
        ask: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        let mut takes = self.takes.lock().expect("no test thread panicked");
        let Some(store) = &self.store else {
            let (expected, answer) = takes.pop_front().expect("the tape has no more calls");
            assert_eq!(call, expected);
            let answer = answer.map_err(|(class, message)| Error::new(class, message))?;
            return Ok(*answer.downcast::<T>().expect("the call fixes the type"));
        };
        let answer = ask(store);
        let kept = match &answer {
            Ok(answer) => Ok(Box::new(answer.clone()) as Box<dyn Any + Send>),
            Err(error) => Err((error.exception(), error.message().to_owned())),
        };
        takes.push_back((call, kept));
        answer
    }

    fn admin<T: Clone + Send + 'static>(
        &self,
        call: String,
        ask: impl FnOnce(hblite::Admin) -> Result<T>,
    ) -> Result<T> {
        self.answer(call, |store| ask(store.admin()))
    }
}

impl Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tape")
    }
}

/// Forwards administrative calls to the tape, each with its name and arguments.
macro_rules! taped {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> Result<$result> {
            let call = format!(concat!(stringify!($name), " {:?}"), ($(&$argument,)*));
            self.admin(call, |admin| admin.$name($($argument),*))
        })*
    };
}

impl Backend for Tape {
    fn table(self: Arc<Self>, name: TableName) -> BackendTable {
        BackendTable::new(Arc::new(TapedTable { tape: Self::clone(&self), name }))
    }

    fn now_millis(&self) -> i64 {
        self.answer("now".to_owned(), |store| Ok(store.now_millis())).expect("a clock answers")
    }

    fn dir(&self) -> Option<&Path> {
        None
    }

    fn close(&self) -> Result<()> {
        self.answer("close".to_owned(), |store| store.clone().close())
    }

    fn create_table(&self, table: &TableDescriptor, split_keys: &[Vec<u8>]) -> Result<()> {
        let call = format!("create {} {split_keys:?}", table.name());
        self.admin(call, |admin| admin.create_table_with_splits(table, split_keys))
    }

    fn modify_table(&self, table: &TableDescriptor) -> Result<()> {
        self.admin(format!("modify {}", table.name()), |admin| admin.modify_table(table))
    }

    fn table_state(&self, table: &TableName) -> Result<TableState> {
        self.admin(format!("state {table}"), |admin| admin.table_state(table))
    }

    fn backup(&self, _: &Path) -> Result<BackupReport> {
        Err(unsupported("backup", "a tape"))
    }

    fn scrub(&self) -> Result<ScrubStatus> {
        Err(unsupported("scrub", "a tape"))
    }

    taped! {
        delete_table(table: &TableName) -> ();
        truncate_table(table: &TableName, splits: SplitPoints) -> ();
        enable_table(table: &TableName) -> ();
        disable_table(table: &TableName) -> ();
        table_exists(table: &TableName) -> bool;
        describe_table(table: &TableName) -> TableDescriptor;
        list_tables(system: SystemTables) -> Vec<TableDescriptor>;
        add_family(table: &TableName, family: &ColumnFamilyDescriptor) -> ();
        modify_family(table: &TableName, family: &ColumnFamilyDescriptor) -> ();
        delete_family(table: &TableName, family: &[u8]) -> ();
        regions(table: &TableName) -> Vec<RegionInfo>;
        locate_region(table: &TableName, row: &[u8]) -> RegionLocation;
        split_table(table: &TableName, split_key: Option<&[u8]>) -> ();
        split_region(region: &str, split_key: Option<&[u8]>) -> ();
        merge_regions(regions: &[&str], kind: MergeKind) -> ();
        truncate_region(region: &str) -> ();
        is_switched_on(switch: Switch) -> bool;
        set_switch(switch: Switch, on: bool) -> bool;
        servers() -> ClusterServers;
        server_statuses() -> Vec<ServerStatus>;
        run_on_master(work: &MasterWork) -> bool;
        run_catalog_janitor() -> u32;
        master_report() -> MasterReport;
        list_peers() -> Vec<ReplicationPeer>;
        peer_config(id: &str) -> PeerConfig;
        change_peer(work: &PeerWork) -> ();
        clear_dead_servers(servers: &[String]) -> Vec<String>;
        clear_block_cache(table: &TableName) -> CacheEviction;
        run_on_servers(servers: &[&str], work: &ServerWork) -> Vec<(String, bool)>;
        compaction_state(table: &TableName) -> CompactionState;
        flush(request: &FlushRequest) -> ();
        compact(request: &CompactRequest) -> ();
        status() -> StoreStatus;
        row_counts(after: u64) -> Option<RowCounts>;
        create_namespace(namespace: &NamespaceDescriptor) -> ();
        modify_namespace(namespace: &NamespaceDescriptor) -> ();
        delete_namespace(name: &str) -> ();
        describe_namespace(name: &str) -> NamespaceDescriptor;
        list_namespaces() -> Vec<NamespaceDescriptor>;
        list_namespace_tables(name: &str) -> Vec<TableName>;
        snapshot(name: &str, table: &TableName, options: &SnapshotOptions) -> ();
        list_snapshots() -> Vec<SnapshotDescription>;
        clone_snapshot_with(name: &str, table: &TableName, rights: SnapshotRights) -> ();
        restore_snapshot_with(
            name: &str, fail_safe: FailSafeSnapshot, rights: SnapshotRights
        ) -> ();
        delete_snapshot(name: &str) -> ();
        bulk_load(table: &TableName, folder: &Path, options: &BulkLoadOptions) -> BulkLoadReport;
        bulk_load_region(
            region: &str, files: &[(Vec<u8>, PathBuf)], options: &BulkLoadOptions
        ) -> bool;
    }
}

impl OperatorBackend for Tape {
    taped! {
        list_tables_by_state(is_enabled: bool) -> Vec<TableName>;
        modify_file_tracker(table: &TableName, family: Option<&[u8]>, tracker: &str) -> ();
        modify_table_lazily(table: &TableDescriptor) -> ();
        enable_table_replication(table: &TableName) -> ();
        zookeeper() -> ZooKeeperReport;
        set_quota(quota: &Quota) -> ();
        list_quotas() -> Vec<Quota>;
        quota_table_sizes() -> Vec<(TableName, u64)>;
        space_usages(server: Option<&str>) -> Vec<SpaceUsage>;
        snapshot_sizes() -> Vec<(String, u64)>;
        list_procedures() -> Vec<ProcedureStatus>;
        list_locks() -> Vec<LockedResource>;
        logged_calls(servers: &[String], request: &ServerLogRequest) -> Vec<LoggedCall>;
        change_permission(work: &PermissionWork) -> ();
        user_permissions(place: &PermissionPlace) -> Vec<UserPermission>;
        labels(query: &LabelQuery) -> Vec<Vec<u8>>;
        change_labels(work: &LabelWork) -> Vec<String>;
        list_groups() -> Vec<ServerGroup>;
        find_group(member: &GroupMember) -> Option<ServerGroup>;
        change_group(work: &GroupWork) -> ();
        balance(request: &BalanceRequest) -> BalanceReport;
        balancer_log(log: BalancerLog, limit: u32) -> Vec<BalancerRecord>;
    }
}

#[derive(Debug)]
struct TapedTable {
    tape: Tape,
    name: TableName,
}

impl TapedTable {
    fn answer<T: Clone + Send + 'static>(
        &self,
        call: String,
        ask: impl FnOnce(hblite::Table) -> Result<T>,
    ) -> Result<T> {
        self.tape.answer(format!("{}: {call}", self.name), |store| ask(store.table(&self.name)?))
    }
}

impl TableBackend for TapedTable {
    fn name(&self) -> &TableName {
        &self.name
    }

    fn descriptor(&self) -> Result<TableDescriptor> {
        self.answer("descriptor".to_owned(), |table| table.descriptor())
    }

    fn regions(&self) -> Result<Vec<RegionInfo>> {
        self.answer("regions".to_owned(), |table| table.regions())
    }

    fn get(&self, get: &Get) -> Result<RowResult> {
        self.answer(format!("{get:?}"), |table| table.get(get))
    }

    fn exists(&self, get: &Get) -> Result<bool> {
        self.answer(format!("exists {get:?}"), |table| table.exists(get))
    }

    fn scan(&self, scan: &Scan) -> Result<Rows> {
        let rows: Vec<RowResult> =
            self.answer(format!("{scan:?}"), |table| table.scan(scan)?.collect())?;
        Ok(Rows::new(Box::new(TapedRows(rows.into()))))
    }

    fn mutate(&self, mutation: &Mutation) -> Result<()> {
        self.answer(format!("{mutation:?}"), |table| {
            table.mutate_all(std::slice::from_ref(mutation))
        })
    }

    fn mutate_all(&self, mutations: &[&Mutation]) -> Result<()> {
        let mutations: Vec<Mutation> = mutations.iter().map(|one| (*one).clone()).collect();
        self.answer(format!("{mutations:?}"), |table| table.mutate_all(&mutations))
    }

    fn read_modify_write(&self, mutation: &Mutation, nonce: Option<Nonce>) -> Result<RowResult> {
        assert_eq!(mutation.kind(), MutationKind::Increment, "the program appends nothing");
        self.answer(format!("{mutation:?} {nonce:?}"), |table| {
            let mut answers = table.batch(&[Action::Mutation(mutation.clone())])?;
            answers.remove(0).map(ActionResult::into_row)
        })
    }

    fn increment_column(&self, row: &[u8], f: &[u8], q: &[u8], amount: i64) -> Result<i64> {
        let call = format!("increment {row:?} {f:?} {q:?} {amount}");
        self.answer(call, |table| table.increment_column(row, f, q, amount))
    }

    fn mutate_row(&self, mutations: &RowMutations, nonce: Option<Nonce>) -> Result<RowResult> {
        self.answer(format!("{mutations:?} {nonce:?}"), |table| table.mutate_row(mutations))
    }

    fn check_and_mutate(
        &self,
        check: &CheckAndMutate,
        nonce: Option<Nonce>,
    ) -> Result<CheckAndMutateResult> {
        self.answer(format!("{check:?} {nonce:?}"), |table| table.check_and_mutate(check))
    }

    fn write_buffer(&self) -> WriteBuffer {
        WriteBuffer::default()
    }

    fn batch(&self, _: &[Action]) -> Result<Vec<Result<ActionResult>>> {
        Err(unsupported("batch", "a tape"))
    }
}

#[derive(Debug)]
struct TapedRows(VecDeque<RowResult>);

impl ScannerBackend for TapedRows {
    fn next_row(&mut self, row: &mut RowResult) -> Result<bool> {
        let next = self.0.pop_front();
        let has_row = next.is_some();
        *row = next.unwrap_or_default();
        Ok(has_row)
    }

    fn next_row_within(&mut self, row: &mut RowResult, _: Duration) -> Result<ScanStep> {
        Ok(if self.next_row(row)? { ScanStep::Row(()) } else { ScanStep::End })
    }

    fn for_each_cell(
        &mut self,
        visit: &mut dyn FnMut(&CellRef<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        while let Some(row) = self.0.pop_front() {
            if row.cells().try_for_each(|cell| visit(&cell)).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Uses tables, scans of every kind, counters, conditions, regions and snapshots.
fn program(connection: &Connection) -> Result<Vec<String>> {
    let (admin, mut log) = (connection.admin(), Vec::new());
    let family = ColumnFamilyDescriptor::new("f").with_versions(3);
    let descriptor = TableDescriptor::new("t".parse()?).with_family(family);
    admin.create_table_with_splits(&descriptor, &[b"m".to_vec()])?;
    log.push(format!("{:?}", admin.create_table(&descriptor).map_err(|e| e.to_string())));
    let table = connection.table("t")?;
    let puts: Vec<Put> = ["a", "b", "x"].map(|row| Put::new(row).add("f", "q", row)).to_vec();
    table.put_all(&puts)?;
    table.put(&Put::new("a").add("f", "n", 7_i64.to_be_bytes()))?;
    table.delete(&Delete::new("b"))?;
    log.push(format!("{:?}", table.increment_column("a", "f", "n", 1)?));
    log.push(format!("{}", table.increment(&Increment::new("a").add("f", "n", 1))?.len()));
    let claim =
        CheckAndMutate::new("x").if_not_exists("f", "o").then(Put::new("x").add("f", "o", "me"));
    log.push(format!("{}", table.check_and_mutate(&claim)?.is_success));
    log.push(format!("{}", table.check_and_mutate(&claim)?.is_success));
    log.push(format!("{:?}", table.exists(&Get::new("b"))?));
    log.push(format!("{:?}", table.get(&Get::new("x"))?.value("f", "o")));
    for row in table.scan(&Scan::new().with_reversed(true))? {
        log.push(format!("{:?}", row?.row()));
    }
    table.scan(&Scan::new())?.for_each_cell(|cell| log.push(format!("{:?}", cell.value())))?;
    let mut scanner = table.scan(&Scan::new())?;
    while let ScanStep::Row(row) = scanner.next_row_within(Duration::from_secs(60))? {
        log.push(format!("{:?}", row.row()));
    }
    admin.flush_table("t")?;
    admin.major_compact_table("t")?;
    admin.snapshot("s", "t", &SnapshotOptions::default())?;
    log.push(format!("{:?}", admin.list_snapshots()?.iter().map(|s| &s.name).collect::<Vec<_>>()));
    log.push(format!("{}", admin.regions("t")?.len()));
    log.push(admin.locate_region("t", b"z")?.server);
    log.push(format!("{}", admin.is_table_enabled("t")?));
    let missing = connection.table("no")?.get(&Get::new("r")).expect_err("there is no such table");
    log.push(format!("{:?} {}", missing.exception(), missing.message()));
    admin.disable_table("t")?;
    admin.delete_table("t")?;
    log.push(format!("{}", admin.list_tables(SystemTables::Exclude)?.len()));
    Ok(log)
}

#[test]
fn a_program_runs_unchanged_on_another_backend() {
    let store = hblite::open_in_memory().unwrap();
    let directly = program(&store).unwrap();

    let takes = Arc::new(Mutex::new(VecDeque::new()));
    let fresh = hblite::open_in_memory().unwrap();
    let recorder = Tape { store: Some(fresh), takes: Arc::clone(&takes) };
    let recorded = program(&Connection::from_backend(Arc::new(recorder))).unwrap();
    assert_eq!(recorded, directly);
    assert!(takes.lock().unwrap().len() > 20);

    let player = Tape { store: None, takes: Arc::clone(&takes) };
    let connection = Connection::from_backend(Arc::new(player));
    assert_eq!(program(&connection).unwrap(), directly);
    assert!(takes.lock().unwrap().is_empty(), "the same calls, and no others");
}

#[test]
fn what_a_backend_cannot_do_is_an_error_that_names_it() {
    let tape = Tape { store: None, takes: Arc::default() };
    let connection = Connection::from_backend(Arc::new(tape));
    let error = connection.admin().backup("/anywhere").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.message(), "a tape does not support backup");
    let table = connection.table("t").unwrap();
    assert_eq!(table.batch(&[]).unwrap_err().message(), "a tape does not support batch");
}

#[test]
fn only_an_embedded_store_has_a_directory_and_a_recovery() {
    let tape = Tape { store: None, takes: Arc::default() };
    let connection = Connection::from_backend(Arc::new(tape));
    assert!(connection.dir().is_none() && connection.recovery().is_none());
    assert!(connection.backend_as::<hblite_engine::Timeline>().is_none());
    let embedded = hblite::open_in_memory().unwrap();
    assert!(embedded.dir().is_some() && embedded.recovery().is_some());
}
