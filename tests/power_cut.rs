//! Cuts the power at every operation of a workload and checks what is left.
//!
//! The workload creates a table, writes rows with FSYNC_WAL, flushes, compacts, alters, splits and
//! merges, on a file system in memory that discards what was not synced. It is run once to count
//! its operations, then again and again, with a power cut after each of them. Every time, the store
//! must open and hold all acknowledged rows, and no partial row.
//!
//! `HBLITE_POWER_CUT_STEP` sets the number of operations between two cuts (1: a cut at each of
//! them).

use std::path::Path;
use std::sync::Arc;

use hblite::{
    Connection, Delete, Durability, Env, Get, MergeKind, Options, Put, Result, Scan,
    SnapshotOptions,
};
use hblite_env::{CrashFileSystem, Fault, FaultFileSystem, FileSystem, Operation};

use crate::testkit::{self, cuts, name};

const COLUMNS: [(&str, &str); 3] = [("a", "x"), ("b", "y"), ("b", "z")];
const STEP_DEFAULT: usize = 3;

fn open(fs: impl FileSystem + 'static) -> Result<Connection> {
    let engine = testkit::by_hand().with_wal_roll_size_bytes(4 * 1024);
    testkit::open(fs, engine)
}

/// Rows whose write, or delete, was acknowledged.
#[derive(Default)]
struct Acknowledged {
    is_created: bool,
    written: Vec<String>,
    deleted: Vec<String>,
}

fn write(connection: &Connection, row: &str, told: &mut Acknowledged) -> Result<()> {
    let mut put = Put::new(row).with_durability(Durability::FsyncWal);
    for (family, qualifier) in COLUMNS {
        put = put.add(family, qualifier, format!("{row}/{family}/{qualifier}"));
    }
    connection.table("t")?.put(&put)?;
    told.written.push(row.to_owned());
    Ok(())
}

fn create_table(connection: &Connection, told: &mut Acknowledged) -> Result<()> {
    testkit::create(connection, "t", &["a", "b"])?;
    told.is_created = true;
    Ok(())
}

/// Runs until something fails; `told` holds what was acknowledged.
fn workload(connection: &Connection, told: &mut Acknowledged) -> Result<()> {
    let admin = connection.admin();
    create_table(connection, told)?;
    for round in 0..3 {
        for number in 0..8 {
            write(connection, &format!("row-{number}-{round}"), told)?;
        }
        let row = format!("row-0-{round}");
        let delete = Delete::new(&row).with_durability(Durability::FsyncWal);
        told.written.retain(|written| *written != row);
        connection.table("t")?.delete(&delete)?;
        told.deleted.push(row);
        admin.flush_table(name("t"))?;
    }
    admin.major_compact_table(name("t"))?;
    admin.split_table(name("t"), Some(b"row-4"))?;
    write(connection, "row-5-split", told)?;
    admin.major_compact_table(name("t"))?;
    let regions = admin.regions(name("t"))?;
    let names: Vec<&str> = regions.iter().map(|region| region.encoded_name()).collect();
    admin.merge_regions(&names, MergeKind::Adjacent)?;
    write(connection, "row-6-merged", told)?;
    admin.major_compact_table(name("t"))
}

fn empty() -> (CrashFileSystem, CrashFileSystem) {
    let fs = CrashFileSystem::new();
    (fs.clone(), fs)
}

/// Opens the store and runs the workload until something fails.
fn work(fs: CrashFileSystem) -> Acknowledged {
    let mut told = Acknowledged::default();
    if let Ok(connection) = open(fs) {
        let _ = workload(&connection, &mut told);
    }
    told
}

fn verify(connection: &Connection, told: &Acknowledged, context: &str) {
    if !told.is_created {
        return;
    }
    let table = connection.table("t").expect("a legal name");
    for row in &told.written {
        let found = table.get(&Get::new(row)).unwrap_or_else(|e| panic!("{context}: {row}: {e}"));
        assert!(!found.is_empty(), "{context}: acknowledged row {row} is lost");
    }
    for row in &told.deleted {
        let found = table.get(&Get::new(row)).unwrap_or_else(|e| panic!("{context}: {row}: {e}"));
        assert!(found.is_empty(), "{context}: deleted row {row} is back: {found:?}");
    }
    let scanner = table.scan(&Scan::new()).unwrap_or_else(|e| panic!("{context}: {e}"));
    let mut last = Vec::new();
    for row in scanner {
        let row = row.unwrap_or_else(|error| panic!("{context}: {error}"));
        assert!(row.row() > last.as_slice(), "{context}: rows out of order");
        assert_eq!(row.len(), COLUMNS.len(), "{context}: a row is not whole: {row:?}");
        last = row.row().to_vec();
    }
}

#[test]
fn acknowledged_rows_survive_a_power_cut_at_any_moment() {
    let step = std::env::var("HBLITE_POWER_CUT_STEP")
        .ok()
        .and_then(|step| step.parse().ok())
        .unwrap_or(STEP_DEFAULT);
    cuts::at_every_operation(step, empty, work, |fs, told, cut| {
        assert!(cut.of > 100, "{cut}");
        for seed in [0, cut.after + 1] {
            let context = format!("power {cut}, seed {seed}");
            let rest = fs.after_power_cut(seed);
            let connection =
                open(rest.clone()).unwrap_or_else(|error| panic!("{context}: {error}"));
            verify(&connection, &told, &context);
            drop(connection);
            // The recovered rows exist, although the log was not written a second time.
            let connection =
                open(rest.after_kill()).unwrap_or_else(|error| panic!("{context}: {error}"));
            verify(&connection, &told, &format!("{context}, opened again"));
        }
    });
}

/// The process is killed after each operation in turn, the store is opened on what the operating
/// system still has, and closed; then the power is cut. Everything that the open relied on must be
/// durable by then: it removes the log and replaced files.
#[test]
fn acknowledged_rows_survive_a_kill_an_open_and_a_power_cut() {
    cuts::at_every_operation(1, empty, work, |fs, told, cut| {
        let killed = fs.after_kill();
        let engine = Options::new().with_compaction_enabled(false);
        let env = Env::in_memory().with_fs(Arc::new(killed.clone()));
        let opened = engine.with_env(env).open(Path::new("/store"));
        let connection = opened.unwrap_or_else(|error| panic!("killed, {cut}: {error}"));
        connection.close().unwrap_or_else(|error| panic!("killed, {cut}: {error}"));
        // Seed 0 loses everything that may be lost.
        let context = format!("killed, {cut}, opened, power cut");
        let connection = open(killed.after_power_cut(0));
        let connection = connection.unwrap_or_else(|error| panic!("{context}: {error}"));
        verify(&connection, &told, &context);
    });
}

/// The first open makes the store's directory and fails to make its name durable. The second one
/// finds the directory, and must not assume that its name is durable.
#[test]
fn a_store_whose_first_open_failed_survives_a_power_cut() {
    let disk = CrashFileSystem::new();
    let fs = FaultFileSystem::new(Arc::new(disk.clone()));
    fs.inject(Fault::on(Operation::SyncDir));
    assert!(open(fs.clone()).is_err(), "the directory's name cannot be made durable");
    let connection = open(fs).expect("the disk is well again");
    let mut told = Acknowledged::default();
    create_table(&connection, &mut told).expect("the table is new");
    write(&connection, "row", &mut told).expect("nothing fails");
    let connection = open(disk.after_power_cut(0)).expect("the store opens");
    verify(&connection, &told, "power cut after a failed first open");
}

/// An open makes directories above the store's own and is killed, or fails, before their names are
/// durable. The next one finds them, and must not assume that their names are durable. A backup
/// makes its directory in the same way.
#[test]
fn directories_of_an_open_or_backup_that_failed_survive_a_power_cut() {
    for failing in 1..4 {
        let disk = CrashFileSystem::new();
        let fs = FaultFileSystem::new(Arc::new(disk.clone()));
        let env = |fs: &dyn Fn() -> Arc<dyn FileSystem>| Env::in_memory().with_fs(fs());
        let deep = Path::new("/a/b/store");
        fs.inject(Fault::on(Operation::SyncDir).nth(failing));
        let options = testkit::by_hand();
        let faulty = || -> Arc<dyn FileSystem> { Arc::new(fs.clone()) };
        // The store may also have become complete before the failure.
        let _ = options.clone().with_env(env(&faulty)).open(deep);
        fs.heal();
        let connection =
            options.clone().with_env(env(&faulty)).open(deep).expect("the disk is well");
        let mut told = Acknowledged::default();
        create_table(&connection, &mut told).expect("the table is new");
        write(&connection, "row", &mut told).expect("nothing fails");
        fs.inject(Fault::on(Operation::SyncDir).nth(failing));
        let _ = connection.admin().backup("/c/d/first");
        fs.heal();
        connection.admin().backup("/c/d/second").expect("the disk is well");

        let after = disk.after_power_cut(0);
        for dir in ["/a/b/store", "/c/d/second"] {
            let context = format!("{dir}, sync {failing} of a directory failed");
            let copy = after.fork();
            let left = || -> Arc<dyn FileSystem> { Arc::new(copy.clone()) };
            let found =
                options.clone().with_env(env(&left)).with_create_if_missing(false).open(dir);
            let found = found.unwrap_or_else(|error| panic!("{context}: {error}"));
            verify(&found, &told, &context);
        }
    }
}

/// A row is written, flushed, deleted and compacted away. The power is cut in that compaction,
/// again in the next one, and a third time just after the store was opened. Each compaction's file
/// lists the files it replaces, and the first file must not outlive the one that lists it: the row
/// would reappear.
#[test]
fn what_two_compactions_replaced_stays_away_after_a_third_power_cut() {
    let prepare = || {
        let fs = CrashFileSystem::new();
        let connection = open(fs.clone()).expect("an empty disk opens");
        let mut told = Acknowledged::default();
        create_table(&connection, &mut told).expect("the table is new");
        write(&connection, "row", &mut told).expect("nothing fails yet");
        connection.admin().flush_table(name("t")).expect("nothing fails yet");
        let delete = Delete::new("row").with_durability(Durability::FsyncWal);
        connection.table("t").and_then(|t| t.delete(&delete)).expect("nothing fails yet");
        connection.admin().flush_table(name("t")).expect("nothing fails yet");
        (fs, connection)
    };
    // The point at which the new file has its name, but the name is not yet durable.
    let is_in_question = |cut: &u64| {
        let (fs, connection) = prepare();
        fs.power_off_after(*cut);
        let cut_short = connection.admin().major_compact_table(name("t"));
        cut_short.is_err_and(|error| error.message().starts_with("sync /store/data/default/t"))
    };
    let cuts: Vec<u64> = (1..60).filter(is_in_question).collect();
    assert!(!cuts.is_empty(), "a compaction syncs the directory");
    for cut in cuts {
        for seed in 1..60 {
            let (mut fs, mut connection) = prepare();
            for compaction in 0..2 {
                fs.power_off_after(cut);
                // If the first did finish, the second has less to do.
                let _ = connection.admin().major_compact_table(name("t"));
                drop(connection);
                fs = fs.after_power_cut(3 * seed + compaction);
                connection = open(fs.clone()).expect("the store opens");
            }
            drop(connection);
            let connection = open(fs.after_power_cut(3 * seed + 2)).expect("the store opens");
            let found = connection.table("t").and_then(|table| table.get(&Get::new("row")));
            let found = found.expect("the row can be looked for");
            assert!(found.is_empty(), "cut {cut}, seed {seed}: the row is back: {found:?}");
        }
    }
}

#[test]
fn a_full_disk_refuses_writes_and_loses_nothing() {
    let fs = FaultFileSystem::new(Arc::new(hblite_env::MemFileSystem::new()));
    let connection = open(fs.clone()).expect("an empty disk opens");
    let mut told = Acknowledged::default();
    create_table(&connection, &mut told).expect("there is room");
    fs.limit_space(20_000);
    let refused = (0..10_000)
        .find_map(|number| write(&connection, &format!("row-{number:05}"), &mut told).err());
    let refused = refused.expect("the disk becomes full");
    assert!(refused.message().contains("log"), "the message says what failed: {refused}");
    assert!(write(&connection, "row-later", &mut told).is_err(), "the log stays closed");
    verify(&connection, &told, "disk full, same handle");
    drop(connection);
    fs.heal();
    let connection = open(fs).expect("the store opens when there is room again");
    verify(&connection, &told, "disk full, opened again");
    write(&connection, "row-later", &mut told).expect("there is room again");
}

#[test]
fn a_flush_that_fails_loses_nothing_and_is_made_up_for() {
    let fs = FaultFileSystem::new(Arc::new(hblite_env::MemFileSystem::new()));
    let connection = open(fs.clone()).expect("an empty disk opens");
    let mut told = Acknowledged::default();
    create_table(&connection, &mut told).expect("the table is new");
    for operation in [Operation::Create, Operation::Write, Operation::Sync, Operation::Rename] {
        write(&connection, &format!("row-{operation:?}"), &mut told).expect("nothing fails yet");
        fs.inject(Fault::on(operation).in_path("/data/default/t/"));
        let flushed = connection.admin().flush_table(name("t"));
        assert!(flushed.is_err(), "{operation:?} was made to fail");
        verify(&connection, &told, &format!("after a failed {operation:?}"));
        write(&connection, &format!("row-{operation:?}-2"), &mut told).expect("writes go on");
        connection.admin().flush_table(name("t")).expect("the next flush goes through");
        verify(&connection, &told, &format!("after the flush that followed {operation:?}"));
    }
    drop(connection);
    let connection = open(fs).expect("the store opens again");
    verify(&connection, &told, "opened again");
}

#[test]
fn a_batch_is_as_durable_as_its_strongest_write() {
    let fs = CrashFileSystem::new();
    let connection = open(fs.clone()).expect("an empty disk opens");
    create_table(&connection, &mut Acknowledged::default()).expect("the table is new");
    let levels = [Durability::AsyncWal, Durability::FsyncWal, Durability::SyncWal];
    let put = |number: usize, durability| {
        Put::new(format!("row-{number}")).add("a", "x", "value").with_durability(durability)
    };
    let puts: Vec<Put> = (0..).zip(levels).map(|(number, level)| put(number, level)).collect();
    connection.table("t").and_then(|t| t.put_all(&puts)).expect("nothing fails");
    // Only synced data is kept.
    let connection = open(fs.after_power_cut(0)).expect("the store opens");
    let found = connection.table("t").and_then(|t| t.get(&Get::new("row-1")));
    assert_eq!(found.expect("it can be read").value("a", "x"), Some(b"value".as_slice()));
}

/// A process is killed between the rename of a flushed file and the sync of its directory. The next
/// one finds the file under its name, and may drop the log of its rows only after the name is
/// durable.
#[test]
fn names_of_a_killed_process_are_made_durable_before_its_log_goes() {
    let prepare = || {
        let fs = CrashFileSystem::new();
        let connection = open(fs.clone()).expect("an empty disk opens");
        let mut told = Acknowledged::default();
        create_table(&connection, &mut told).expect("the table is new");
        connection.admin().flush_table(name("t")).expect("nothing fails yet");
        write(&connection, "row", &mut told).expect("nothing fails yet");
        (fs, connection, told)
    };
    let is_in_question = |cut: &u64| {
        let (fs, connection, _) = prepare();
        fs.power_off_after(*cut);
        let flushed = connection.admin().flush_table(name("t"));
        flushed.is_err_and(|error| error.message().starts_with("sync /store/data/default/t"))
    };
    let cuts: Vec<u64> = (1..60).filter(is_in_question).collect();
    assert!(!cuts.is_empty(), "a flush syncs the directory");
    for cut in cuts {
        let (fs, connection, told) = prepare();
        fs.power_off_after(cut);
        assert!(connection.admin().flush_table(name("t")).is_err(), "it was cut off");
        let killed = fs.after_kill();
        let connection = open(killed.clone()).expect("the store opens");
        testkit::create(&connection, "other", &["a"]).expect("the table is new");
        // Several log files, all of which are flushed in the end.
        for number in 0..200 {
            let put = Put::new(format!("row-{number}")).add("a", "x", vec![7; 100]);
            connection.table("other").and_then(|table| table.put(&put)).expect("a put");
        }
        connection.admin().flush_table(name("other")).expect("a flush");
        let connection = open(killed.after_power_cut(0)).expect("the store opens");
        verify(&connection, &told, &format!("killed after {cut} operations, power cut"));
    }
}

#[test]
fn an_acknowledged_snapshot_survives_a_power_cut() {
    let fs = CrashFileSystem::new();
    let connection = open(fs.clone()).expect("an empty disk opens");
    let mut told = Acknowledged::default();
    create_table(&connection, &mut told).expect("the table is new");
    for number in 0..3 {
        write(&connection, &format!("row-{number}"), &mut told).expect("nothing fails");
    }
    let options = SnapshotOptions::default();
    connection.admin().snapshot("s", name("t"), &options).expect("a snapshot");
    // Only synced data is kept.
    let connection = open(fs.after_power_cut(0)).expect("the store opens");
    connection.admin().clone_snapshot("s", name("clone")).expect("the snapshot is there");
    let clone = connection.table("clone").expect("a legal name");
    for row in &told.written {
        let found = clone.get(&Get::new(row)).expect("it can be read");
        assert_eq!(found.len(), COLUMNS.len(), "{row} is not in the snapshot");
    }
}

/// The failed write has a sequence id and is in no memstore: a file that claims its id would hide
/// it from a replay.
#[test]
fn after_a_failed_log_nothing_is_flushed() {
    let fs = FaultFileSystem::new(Arc::new(hblite_env::MemFileSystem::new()));
    let connection = open(fs.clone()).expect("an empty disk opens");
    // Of one family: a flush of several syncs the log first, which would fail in any case.
    testkit::create(&connection, "t", &["a"]).expect("the table is new");
    let table = connection.table("t").expect("a legal name");
    let put = |row| testkit::durable_put(row, &["a"], "value");
    table.put(&put("row-0")).expect("nothing fails yet");
    fs.inject(Fault::on(Operation::Sync).in_path("/WALs/"));
    table.put(&put("row-1")).expect_err("the log was made to fail");
    let renames = fs.count(Operation::Rename);
    connection.admin().flush_table(name("t")).expect_err("the log has failed");
    assert_eq!(fs.count(Operation::Rename), renames, "a file was committed");
    drop((connection, table));
    let connection = open(fs).expect("the store opens again");
    let found = connection.table("t").and_then(|table| table.get(&Get::new("row-0")));
    assert!(!found.expect("it can be read").is_empty(), "an acknowledged row is lost");
}
