//! Snapshots: what they hold and refuse, and how a table is restored or cloned. `crash` cuts each
//! procedure off or lets it fail, `files` damages snapshots and puts foreign files into them.

mod crash;
mod files;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hblite::{
    ColumnFamilyDescriptor, Connection, Delete, Env, Exception, FailSafeSnapshot, Finding,
    FindingKind, Get, ManualClock, Options, Put, Result, Scan, SnapshotKind, SnapshotOptions,
    TableDescriptor,
};
use hblite_env::{CrashFileSystem, FileSystem, MemFileSystem};

use crate::testkit::{self, STORE, durable_put, name, text};

const FAMILIES: [&str; 2] = ["a", "b"];

fn open_at(fs: impl FileSystem + 'static, clock: Arc<ManualClock>) -> Result<Connection> {
    let env = testkit::env(fs).with_clock(clock);
    testkit::by_hand().with_env(env).open(Path::new(STORE))
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(1_700_000_000_000))
}

fn open(fs: impl FileSystem + 'static) -> Result<Connection> {
    open_at(fs, clock())
}

fn check(fs: &(impl FileSystem + Clone + 'static), context: &str) {
    let report = testkit::check(fs);
    // The previous contents of a restored table go to the archive if a crash prevents their
    // removal.
    let is_before = |finding: &&Finding| finding.kind == FindingKind::UnknownDirectory;
    let defects: Vec<_> = report.defects.iter().filter(|d| !is_before(d)).collect();
    assert!(defects.is_empty(), "{context}: {defects:?}");
}

fn create(connection: &Connection, table: &str) -> Result<()> {
    let descriptor = testkit::descriptor(table, &FAMILIES);
    connection.admin().create_table_with_splits(&descriptor, &[b"m".to_vec()])
}

fn put(connection: &Connection, table: &str, row: &str, value: &str) -> Result<()> {
    connection.table(table)?.put(&durable_put(row, &FAMILIES, value))
}

/// Rows and values of a table, which are the same in both families.
fn rows(connection: &Connection, table: &str) -> Vec<(String, String)> {
    let scanner = connection.table(table).and_then(|table| table.scan(&Scan::new()));
    let row = |row: Result<hblite::RowResult>| {
        let row = row.expect("nothing is damaged");
        assert_eq!(row.value("a", "q"), row.value("b", "q"), "half of a row: {row:?}");
        let value = row.value("a", "q").unwrap_or_default();
        (text(row.row()), text(value))
    };
    scanner.unwrap_or_else(|error| panic!("{table}: {error}")).map(row).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(row, value)| ((*row).to_owned(), (*value).to_owned())).collect()
}

fn snapshot(connection: &Connection, snapshot: &str, table: &str) -> Result<()> {
    connection.admin().snapshot(snapshot, name(table), &SnapshotOptions::default())
}

fn names(connection: &Connection) -> Vec<String> {
    let list = connection.admin().list_snapshots().expect("they can be listed");
    list.into_iter().map(|snapshot| snapshot.name).collect()
}

fn refused(result: Result<()>) -> (Exception, String) {
    let error = result.expect_err("this is refused");
    (error.exception(), error.message().to_owned())
}

#[test]
fn a_snapshot_keeps_what_a_table_was_whatever_becomes_of_it() {
    let fs = MemFileSystem::new();
    let connection = open(fs.clone()).expect("an empty store");
    let admin = connection.admin();
    create(&connection, "t").expect("a new table");
    put(&connection, "t", "c", "1").expect("it takes it");
    put(&connection, "t", "x", "1").expect("it takes it");
    snapshot(&connection, "first", "t").expect("a snapshot");
    let first = pairs(&[("c", "1"), ("x", "1")]);

    put(&connection, "t", "c", "2").expect("it takes it");
    connection.table("t").and_then(|t| t.delete(&Delete::new("x"))).expect("it takes it");
    let skip = SnapshotOptions::default().with_skip_flush(true);
    admin.snapshot("files", name("t"), &skip).expect("a snapshot");
    snapshot(&connection, "second", "t").expect("a snapshot");
    admin.flush_table(name("t")).expect("room");
    admin.major_compact_table(name("t")).expect("room");
    assert_eq!(rows(&connection, "t"), pairs(&[("c", "2")]));

    admin.clone_snapshot("first", name("one")).expect("a clone");
    admin.clone_snapshot("files", name("two")).expect("a clone");
    admin.clone_snapshot("second", name("three")).expect("a clone");
    assert_eq!(rows(&connection, "one"), first);
    assert_eq!(rows(&connection, "two"), first, "memory was left out");
    assert_eq!(rows(&connection, "three"), pairs(&[("c", "2")]));
    assert_eq!(admin.regions(name("one")).expect("a table").len(), 2);

    put(&connection, "one", "c", "clone").expect("it takes it");
    admin.flush_table(name("one")).expect("room");
    admin.major_compact_table(name("one")).expect("room");
    assert_eq!(rows(&connection, "t"), pairs(&[("c", "2")]), "the other has changed");
    admin.disable_table(name("t")).expect("enabled");
    admin.delete_table(name("t")).expect("disabled");
    assert_eq!(names(&connection), ["files", "first", "second"]);
    let list = admin.list_snapshots().expect("they can be listed");
    assert_eq!(list[0].kind, SnapshotKind::SkipFlush);
    assert_eq!((list[1].kind, &list[1].table), (SnapshotKind::Flush, &name("t")));
    admin.restore_snapshot("first", FailSafeSnapshot::Take).expect("the table is made again");
    assert_eq!(rows(&connection, "t"), first);
    admin.delete_snapshot("first").expect("it is there");
    assert_eq!(rows(&connection, "t"), first);
    connection.close().expect("nothing fails");
    check(&fs, "closed");
    let connection = open(fs).expect("it opens");
    assert_eq!(rows(&connection, "t"), first);
    assert_eq!(names(&connection), ["files", "second"]);
}

#[test]
fn what_cannot_be_is_refused_in_hbases_words() {
    let connection = open(MemFileSystem::new()).expect("an empty store");
    let admin = connection.admin();
    create(&connection, "t").expect("a new table");
    snapshot(&connection, "s", "t").expect("a snapshot");
    assert_eq!(
        refused(snapshot(&connection, "s", "t")),
        (Exception::SnapshotExists, "Snapshot 's' already stored on the filesystem.".to_owned())
    );
    assert_eq!(
        refused(snapshot(&connection, "n", "no")),
        (Exception::SnapshotCreation, "Table 'no' doesn't exist, can't take snapshot.".to_owned())
    );
    let system = refused(snapshot(&connection, "n", "hbase:meta"));
    assert_eq!(
        system,
        (Exception::IllegalArgument, "System table snapshots are not allowed".into())
    );
    for illegal in ["", "-x", ".tmp", "a/b", "..", "a:b"] {
        let (exception, message) = refused(snapshot(&connection, illegal, "t"));
        assert_eq!(exception, Exception::IllegalArgument, "{illegal}: {message}");
    }
    for missing in ["no", "..", ".tmp", ""] {
        let not_there = format!("Snapshot '{missing}' doesn't exist on the filesystem");
        let not_there = (Exception::SnapshotDoesNotExist, not_there);
        assert_eq!(refused(admin.delete_snapshot(missing)), not_there);
        assert_eq!(refused(admin.clone_snapshot(missing, name("new"))), not_there);
    }
    assert_eq!(
        refused(admin.restore_snapshot("no", FailSafeSnapshot::Take)),
        (Exception::RestoreSnapshot, "The snapshot no does not exist.".to_owned())
    );
    let enabled = refused(admin.restore_snapshot("s", FailSafeSnapshot::Take));
    assert_eq!(enabled, (Exception::TableNotDisabled, "t".to_owned()));
    let exists = refused(admin.clone_snapshot("s", name("t")));
    assert_eq!(exists, (Exception::TableExists, "t".to_owned()));
    let nowhere = refused(admin.clone_snapshot("s", name("nowhere:t")));
    assert_eq!(nowhere.0, Exception::NamespaceNotFound);
    assert_eq!(names(&connection), ["s"]);
}

#[test]
fn a_restore_brings_settings_and_rows_and_leaves_no_fail_safe_behind() {
    let fs = CrashFileSystem::new();
    let connection = open(fs.clone()).expect("an empty store");
    let admin = connection.admin();
    create(&connection, "t").expect("a new table");
    put(&connection, "t", "c", "1").expect("it takes it");
    snapshot(&connection, "s", "t").expect("a snapshot");
    admin.delete_family(name("t"), b"b").expect("it is there");
    admin.add_family(name("t"), &ColumnFamilyDescriptor::new("later")).expect("a new one");
    let late = Put::new("c").add("later", "q", "2");
    connection.table("t").and_then(|table| table.put(&late)).expect("it takes it");
    admin.split_table(name("t"), Some(b"f")).expect("it can be split");
    admin.disable_table(name("t")).expect("enabled");
    admin.restore_snapshot("s", FailSafeSnapshot::Take).expect("it is disabled");
    assert!(admin.is_table_disabled(name("t")).expect("a table"));
    let settle = |connection: &Connection| {
        assert_eq!(rows(connection, "t"), pairs(&[("c", "1")]));
        let table = connection.admin().describe_table(name("t")).expect("a table");
        let families: Vec<String> = table.families().map(|f| f.name_as_string()).collect();
        assert_eq!(families, FAMILIES);
        assert_eq!(connection.admin().regions(name("t")).expect("a table").len(), 2);
        assert_eq!(names(connection), ["s"]);
    };
    admin.enable_table(name("t")).expect("disabled");
    settle(&connection);
    put(&connection, "t", "x", "3").expect("it takes it");
    connection.table("t").and_then(|t| t.delete(&Delete::new("x"))).expect("it takes it");
    drop(connection);
    let connection = open(fs.after_kill()).expect("it opens");
    settle(&connection);
    assert_eq!(connection.table("t").and_then(|t| t.get(&Get::new("x"))).expect("").len(), 0);
}

#[test]
fn regions_that_were_just_split_or_disabled_are_kept_too() {
    let fs = MemFileSystem::new();
    let connection = open(fs.clone()).expect("an empty store");
    let admin = connection.admin();
    create(&connection, "t").expect("a new table");
    let expected: Vec<(String, String)> =
        ["b", "d", "f", "h"].map(|row| (row.to_owned(), "1".to_owned())).to_vec();
    for (row, value) in &expected {
        put(&connection, "t", row, value).expect("it takes it");
    }
    admin.flush_table(name("t")).expect("room");
    admin.split_table(name("t"), Some(b"e")).expect("it can be split");
    snapshot(&connection, "split", "t").expect("a snapshot");
    admin.disable_table(name("t")).expect("enabled");
    snapshot(&connection, "disabled", "t").expect("a snapshot");
    admin.delete_table(name("t")).expect("disabled");
    for from in ["split", "disabled"] {
        admin.clone_snapshot(from, name(from)).expect("a clone");
        assert_eq!(rows(&connection, from), expected, "{from}");
        assert_eq!(admin.regions(name(from)).expect("a table").len(), 3);
        // No reference is left: it can be split immediately.
        admin.split_table(name(from), Some(b"c")).expect("it can be split");
        assert_eq!(rows(&connection, from), expected, "{from}");
    }
    let kinds: Vec<SnapshotKind> =
        admin.list_snapshots().expect("a list").iter().map(|s| s.kind).collect();
    assert_eq!(kinds, [SnapshotKind::Disabled, SnapshotKind::Flush]);
    connection.close().expect("nothing fails");
    check(&fs, "closed");
}

#[test]
fn a_snapshot_goes_when_its_time_is_over() {
    let (fs, clock) = (MemFileSystem::new(), clock());
    let connection = open_at(fs.clone(), clock.clone()).expect("an empty store");
    create(&connection, "t").expect("a new table");
    let options = SnapshotOptions::default().with_time_to_live(Duration::from_secs(60));
    let admin = connection.admin();
    admin.snapshot("short", name("t"), &options).expect("a snapshot");
    snapshot(&connection, "long", "t").expect("a snapshot");
    clock.advance(60_000);
    assert_eq!(names(&connection), ["long", "short"]);
    clock.advance(1);
    let expired = refused(admin.clone_snapshot("short", name("new")));
    let message = "TTL for snapshot 'short' has already expired.".to_owned();
    assert_eq!(expired, (Exception::SnapshotTtlExpired, message));
    assert_eq!(names(&connection), ["long"]);
    assert!(!fs.exists(Path::new("/store/.hbase-snapshot/short")).expect("an answer"));
}

/// A writer writes rows in order; a snapshot of the only region has all up to some row, each whole,
/// at least up to the one that was acknowledged before.
#[test]
fn a_snapshot_under_load_has_one_moment_of_a_region() {
    let connection = Options::new()
        .with_env(Env::in_memory())
        .with_memstore_flush_size_bytes(64 * 1024)
        .open(STORE)
        .expect("an empty store");
    let mut descriptor = TableDescriptor::new(name("t"));
    for family in FAMILIES {
        descriptor = descriptor.with_family(ColumnFamilyDescriptor::new(family));
    }
    connection.admin().create_table(&descriptor).expect("a new table");
    let (is_over, written) = (AtomicBool::new(false), std::sync::atomic::AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let table = connection.table("t").expect("a name");
            for number in 0_usize.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let mut put = Put::new(format!("{number:08}"));
                for family in FAMILIES {
                    put = put.add(family, "q", format!("{number:0100}"));
                }
                table.put(&put).expect("it takes it");
                written.store(number + 1, Ordering::SeqCst);
            }
        });
        let _end = testkit::SetOnDrop(&is_over);
        for round in 0..12 {
            let known = written.load(Ordering::SeqCst);
            snapshot(&connection, &format!("s{round}"), "t").expect("a snapshot");
            let table = format!("c{round}");
            connection.admin().clone_snapshot(&format!("s{round}"), name(&table)).expect("a clone");
            let rows = rows(&connection, &table);
            assert!(rows.len() >= known, "{} rows, and {known} were acknowledged", rows.len());
            for (number, (row, _)) in rows.iter().enumerate() {
                assert_eq!(*row, format!("{number:08}"), "round {round}");
            }
        }
    });
}

#[test]
fn a_backup_has_the_snapshots_in_it() {
    let fs = MemFileSystem::new();
    let connection = open(fs.clone()).expect("an empty store");
    create(&connection, "t").expect("a new table");
    put(&connection, "t", "c", "1").expect("it takes it");
    snapshot(&connection, "s", "t").expect("a snapshot");
    connection.admin().backup("/copy").expect("room");
    let env = Env::in_memory().with_fs(Arc::new(fs));
    let copy = Options::new().with_env(env).open("/copy").expect("it opens");
    copy.admin().clone_snapshot("s", name("again")).expect("it is there");
    assert_eq!(rows(&copy, "again"), pairs(&[("c", "1")]));
}
