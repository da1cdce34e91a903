//! A store whose names change all the time is opened for reading.
//!
//! Several threads create, fill, flush, truncate and drop tables, and take and restore snapshots,
//! without a pause. Each open sees the store as it was at one moment, and ends at the first attempt
//! or the second.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use hblite::{
    Connection, FailSafeSnapshot, Get, Options, Put, Scan, SnapshotOptions, SplitPoints,
    SystemTables,
};
use hblite_env::{Env, FileSystem as _, StdFileSystem};

use crate::testkit;

/// Regions that are flushed.
const REGIONS: usize = 16;
/// Tables of the history that exist at the same time.
const TABLES: u64 = 3;

fn put(connection: &Connection, table: &str, row: &str) {
    connection.table(table).unwrap().put(&Put::new(row).add("f", "q", row.to_owned())).unwrap();
}

fn delete_table(connection: &Connection, table: &str) {
    connection.admin().disable_table(table).unwrap();
    connection.admin().delete_table(table).unwrap();
}

fn row(number: u64) -> String {
    format!("{number:06}")
}

/// A history in which each step follows from the one before: row n of `log`, then table un with its
/// row, then the end of the table [`TABLES`] before it.
fn make_history(writer: &Connection, acknowledged: &AtomicU64, is_over: &AtomicBool) {
    for number in 0.. {
        put(writer, "log", &row(number));
        acknowledged.store(number + 1, Ordering::Release);
        let table = format!("u{number}");
        testkit::create(writer, &table, &["f"]).unwrap();
        put(writer, &table, &row(number));
        if number % 2 == 0 {
            writer.admin().flush_table(&table).unwrap();
        }
        if let Some(old) = number.checked_sub(TABLES) {
            delete_table(writer, &format!("u{old}"));
        }
        if is_over.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Checks that a store is as it was at one moment of the history. Returns the rows of `log`.
fn check_moment(store: &Connection) -> u64 {
    let mut count = 0_u64;
    for found in store.table("log").unwrap().scan(&Scan::new()).unwrap() {
        assert_eq!(found.unwrap().row(), row(count).as_bytes(), "a row is missing");
        count += 1;
    }
    let tables = store.admin().list_tables(SystemTables::Exclude).unwrap();
    let names = tables.iter().map(|table| table.name().qualifier().to_owned());
    let mut numbers: Vec<u64> =
        names.filter_map(|name| name.strip_prefix('u')?.parse().ok()).collect();
    numbers.sort_unstable();
    // The newest table may not exist yet, and the last one to go may be there.
    let (oldest, newest) = (count.saturating_sub(TABLES), count.saturating_sub(1));
    assert!((oldest..newest).all(|number| numbers.contains(&number)), "{count}: {numbers:?}");
    let may_be_there = oldest.saturating_sub(1)..=newest;
    assert!(numbers.iter().all(|number| may_be_there.contains(number)), "{count}: {numbers:?}");
    for number in oldest..newest {
        let table = store.table(format!("u{number}")).unwrap();
        // A table that is being dropped is disabled.
        match table.get(&Get::new(row(number))) {
            Ok(found) => assert!(!found.is_empty(), "{count}: u{number} is empty"),
            Err(error) => assert!(number == oldest, "{count}: u{number}: {error}"),
        }
    }
    count
}

/// Puts a row into each region and flushes the table, again and again.
fn flush(writer: &Connection, table: &str, is_over: &AtomicBool) {
    for number in 0..u64::MAX {
        for region in 0..REGIONS {
            put(writer, table, &format!("{region:02}-{number}"));
        }
        writer.admin().flush_table(table).unwrap();
        if is_over.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Renames directories: with snapshots, and by truncation.
fn rename(writer: &Connection, is_over: &AtomicBool) {
    let (admin, name) = (writer.admin(), testkit::name("s"));
    while !is_over.load(Ordering::Relaxed) {
        put(writer, "s", "row");
        admin.snapshot("moment", &name, &SnapshotOptions::default()).unwrap();
        admin.disable_table(&name).unwrap();
        admin.truncate_table(&name, SplitPoints::Discard).unwrap();
        admin.disable_table(&name).unwrap();
        admin.restore_snapshot("moment", FailSafeSnapshot::Skip).unwrap();
        admin.enable_table(&name).unwrap();
        admin.delete_snapshot("moment").unwrap();
    }
}

fn create(writer: &Connection) {
    testkit::create(writer, "log", &["f"]).unwrap();
    testkit::create(writer, "s", &["f"]).unwrap();
    let splits: Vec<Vec<u8>> =
        (1..REGIONS).map(|region| format!("{region:02}").into_bytes()).collect();
    for table in ["t0", "t1"] {
        let descriptor = testkit::descriptor(table, &["f"]);
        writer.admin().create_table_with_splits(&descriptor, &splits).unwrap();
    }
}

fn while_busy(dir: &Path, read: impl Fn(&AtomicU64)) {
    let writer = hblite::open(dir).unwrap();
    create(&writer);
    let (acknowledged, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| make_history(&writer, &acknowledged, &is_over));
        for table in ["t0", "t1"] {
            let (writer, is_over) = (&writer, &is_over);
            scope.spawn(move || flush(writer, table, is_over));
        }
        scope.spawn(|| rename(&writer, &is_over));
        let _end = testkit::SetOnDrop(&is_over);
        read(&acknowledged);
    });
    writer.close().unwrap();
    let kept = std::fs::read_dir(dir.join(".tmp")).unwrap();
    assert_eq!(kept.count(), 0, "what was kept for readers is removed");
}

#[test]
fn every_open_sees_one_moment_though_names_never_rest() {
    let dir = tempfile::tempdir().unwrap();
    while_busy(dir.path(), |acknowledged| {
        for index in 0..20 {
            let before = acknowledged.load(Ordering::Acquire);
            let reader = match index % 2 {
                0 => Options::new().with_read_only(true).open(dir.path()).unwrap(),
                _ => Options::new().open_copy(dir.path()).unwrap(),
            };
            let count = check_moment(&reader);
            assert!(count >= before, "{count} of {before} rows");
        }
    });
}

/// What is kept for readers is in the way of nothing after a kill.
#[test]
fn a_kill_while_files_are_kept_for_a_reader_leaves_a_sound_store() {
    let dir = tempfile::tempdir().unwrap();
    let (living, store) = (dir.path().join("living"), dir.path().join("store"));
    let writer = hblite::open(&living).unwrap();
    testkit::create(&writer, "t", &["f"]).unwrap();
    let reader = StdFileSystem.announce_reader(&living).unwrap();
    for number in 0..3 {
        put(&writer, "t", &row(number));
        writer.admin().flush_table("t").unwrap();
    }
    writer.admin().major_compact_table("t").unwrap();
    put(&writer, "t", &row(3));
    let kept = |dir: &Path| {
        let files = testkit::files_below(&StdFileSystem, &dir.join(".tmp"));
        files.iter().filter(|file| file.to_str().unwrap().contains("kept")).count()
    };
    for file in testkit::files_below(&StdFileSystem, &living) {
        let copy = store.join(file.strip_prefix(&living).unwrap());
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(&file, copy).unwrap();
    }
    drop(reader);
    writer.close().unwrap();
    assert!(kept(&store) > 1, "the journal, and files");
    let report = hblite_engine::check(&Env::system(), &store, &mut |_| {}).unwrap();
    assert!(report.is_clean(), "{:?}", report.defects);
    let count = |store: &Connection| {
        let rows = store.table("t").unwrap().scan(&Scan::new()).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>().len()
    };
    assert_eq!(count(&Options::new().with_read_only(true).open(&store).unwrap()), 4);
    let opened = hblite::open(&store).unwrap();
    assert_eq!((count(&opened), kept(&store)), (4, 0));
}
