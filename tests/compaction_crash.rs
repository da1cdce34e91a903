//! Kills the process, or cuts the power, at every step of a compaction.
//!
//! A table has a large old file and small young ones, with rows that live, rows that were deleted
//! in a younger file than their put, and rows that were deleted and written again. Whatever is left
//! of the compaction, the store must open, every live row must exist in its newest version, and no
//! deleted row may: not immediately, not after everything has been compacted, and not after that
//! store has been opened again.
//!
//! A compaction's error says which step the cut fell into; the test fails if one of [`STEPS`] was
//! never cut.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hblite::{
    ColumnFamilyDescriptor, Connection, Delete, Durability, Result, Scan, TableDescriptor,
};
use hblite_env::{CrashFileSystem, FileSystem};

use crate::testkit::{self, cuts, durable_put, name};

const FAMILIES: [&str; 2] = ["a", "b"];

/// What a compaction does to the disk, as its errors call it; `old` and `new` are store files.
const STEPS: [&str; 10] = [
    "opening old",
    "create .tmp/new",
    "write .tmp/new",
    "sync .tmp/new",
    "rename .tmp/new",
    "sync family",
    "write manifest",
    "sync region",
    "remove old",
    "sync family after the removal",
];

fn open(fs: impl FileSystem + 'static) -> Result<Connection> {
    // So that a minor compaction leaves the large file alone.
    testkit::open(fs, testkit::by_hand().with_compaction_small_file_bytes(1))
}

fn put(connection: &Connection, row: &str, value: &str) {
    let put = durable_put(row, &FAMILIES, value);
    connection.table("t").and_then(|table| table.put(&put)).expect("nothing fails yet");
}

fn delete(connection: &Connection, row: &str) {
    let delete = Delete::new(row).with_durability(Durability::FsyncWal);
    connection.table("t").and_then(|table| table.delete(&delete)).expect("nothing fails yet");
}

fn flush(connection: &Connection) {
    connection.admin().flush_table(name("t")).expect("nothing fails yet");
}

/// The table described at the top of this file, and its expected contents.
fn prepare() -> (CrashFileSystem, Connection, BTreeMap<String, String>) {
    let fs = CrashFileSystem::new();
    let connection = open(fs.clone()).expect("an empty disk opens");
    let mut table = TableDescriptor::new(name("t"));
    for family in FAMILIES {
        table = table.with_family(ColumnFamilyDescriptor::new(family).with_versions(2));
    }
    connection.admin().create_table(&table).expect("a new table");
    let mut expected = BTreeMap::new();
    for number in 0..60 {
        let (row, value) = (format!("row-{number:02}"), format!("{number:0300}"));
        put(&connection, &row, &value);
        expected.insert(row, value);
    }
    flush(&connection);
    for round in 0..3 {
        // Deleted for good; deleted in the next round; written again where it was deleted.
        for (row, is_deleted) in [(round, true), (10 + round, false), (20 + round, true)] {
            let (row, value) = (format!("row-{row:02}"), format!("round {round}"));
            if is_deleted {
                delete(&connection, &row);
                expected.remove(&row);
            } else {
                put(&connection, &row, &value);
                expected.insert(row, value);
            }
        }
        if round > 0 {
            let (gone, back) = (format!("row-{}", 9 + round), format!("row-{}", 19 + round));
            delete(&connection, &gone);
            expected.remove(&gone);
            put(&connection, &back, "back");
            expected.insert(back, "back".to_owned());
        }
        flush(&connection);
    }
    (fs, connection, expected)
}

fn check(connection: &Connection, expected: &BTreeMap<String, String>, context: &str) {
    let rows = connection.table("t").and_then(|table| table.scan(&Scan::new()));
    let mut found = BTreeMap::new();
    for row in rows.unwrap_or_else(|error| panic!("{context}: {error}")) {
        let row = row.unwrap_or_else(|error| panic!("{context}: {error}"));
        let name = String::from_utf8_lossy(row.row()).into_owned();
        assert_eq!(row.value("a", "q"), row.value("b", "q"), "{context}: half of row {name}");
        let value = row.value("a", "q").unwrap_or_default();
        found.insert(name, String::from_utf8_lossy(value).into_owned());
    }
    for (row, value) in &found {
        let wanted = expected.get(row);
        assert!(wanted.is_some(), "{context}: deleted row {row} is back");
        assert_eq!(wanted, Some(value), "{context}: row {row} has an old version");
    }
    let lost: Vec<&String> = expected.keys().filter(|row| !found.contains_key(*row)).collect();
    assert!(lost.is_empty(), "{context}: rows are lost: {lost:?}");
}

/// The step that failed, from the error: a verb, and a path with random names in it.
fn step_of(message: &str, has_removed: bool) -> String {
    let (verb, rest) = message.split_once(" /store/").unwrap_or((message, ""));
    let path = rest.split_once(": ").map_or(rest, |(path, _)| path);
    let parts: Vec<&str> = path.split('/').skip_while(|part| *part != "t").skip(2).collect();
    let what = match parts.as_slice() {
        [] => "region",
        [".manifest"] => "manifest",
        [".tmp"] | [".tmp", _] => ".tmp",
        [".tmp", _, _] => ".tmp/new",
        [_] => "family",
        [_, _] => "old",
        _ => path,
    };
    let verb = match verb {
        "creating" => "create",
        "writing" => "write",
        "cannot write" => "write",
        "syncing" | "cannot sync directory" => "sync",
        verb => verb,
    };
    let is_last_sync = verb == "sync" && what == "family" && has_removed;
    format!("{verb} {what}{}", if is_last_sync { " after the removal" } else { "" })
}

/// The number of store files.
fn file_count(fs: &dyn FileSystem, dir: &Path) -> usize {
    let entries = fs.list_dir(dir).unwrap_or_default();
    let visible = entries.iter().filter(|entry| !entry.name.starts_with('.'));
    visible.map(|e| if e.is_dir { file_count(fs, &dir.join(&e.name)) } else { 1 }).sum()
}

fn crash_at_every_step(is_major: bool) {
    let compact = |connection: &Connection| match is_major {
        true => connection.admin().major_compact_table(name("t")),
        false => connection.admin().compact_table(name("t")),
    };
    let table_dir = Path::new("/store/data/default/t");
    let mut steps = BTreeSet::new();
    let prepare = || {
        let (fs, connection, expected) = prepare();
        (fs, (connection, expected))
    };
    let work = |(connection, expected)| {
        let outcome = compact(&connection);
        if outcome.is_ok() {
            check(&connection, &expected, "not cut off");
        }
        (outcome, expected)
    };
    cuts::at_every_operation(1, prepare, work, |fs, (outcome, expected), cut| {
        let killed = fs.after_kill();
        if outcome.is_ok() {
            let left = file_count(&killed, table_dir);
            assert_eq!(left, if is_major { 2 } else { 4 });
        }
        // Of the family that the cut fell into, at least the new file has come by then.
        let has_removed = {
            let gone = |family: &str| {
                let region = killed.list_dir(table_dir).expect("it is there").into_iter();
                let dirs = region.filter(|e| !e.name.starts_with('.'));
                dirs.map(|e| file_count(&killed, &table_dir.join(e.name).join(family)))
                    .any(|count| count < 4)
            };
            let message = outcome.as_ref().err().map(|error| error.message().to_owned());
            FAMILIES.iter().any(|family| {
                let ends = message.as_ref().is_some_and(|m| m.contains(&format!("/{family}:")));
                ends && gone(family)
            })
        };
        let step = match &outcome {
            Ok(()) => "after the end".to_owned(),
            Err(error) => step_of(error.message(), has_removed),
        };
        let context = format!("{cut}: {step}");
        steps.insert(step);
        for seed in 0..=8_u64 {
            let rest = match seed {
                8 => killed.after_kill(),
                0 => fs.after_power_cut(0),
                seed => fs.after_power_cut(100 * cut.after + seed),
            };
            let context = format!("{context}, seed {seed}");
            let connection =
                open(rest.clone()).unwrap_or_else(|error| panic!("{context}: {error}"));
            check(&connection, &expected, &context);
            compact(&connection).unwrap_or_else(|error| panic!("{context}, again: {error}"));
            check(&connection, &expected, &format!("{context}, compacted again"));
            drop(connection);
            let connection =
                open(rest.after_power_cut(seed)).unwrap_or_else(|e| panic!("{context}: {e}"));
            connection.admin().major_compact_table(name("t")).expect("nothing fails");
            check(&connection, &expected, &format!("{context}, opened again"));
        }
    });
    let missed: Vec<&&str> = STEPS.iter().filter(|step| !steps.contains(**step)).collect();
    assert!(missed.is_empty(), "no cut fell into {missed:?}, only into {steps:#?}");
    assert!(steps.contains("after the end"));
}

#[test]
fn a_minor_compaction_survives_a_crash_at_every_step() {
    crash_at_every_step(false);
}

#[test]
fn a_major_compaction_survives_a_crash_at_every_step() {
    crash_at_every_step(true);
}
