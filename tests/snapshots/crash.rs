//! Snapshots, clones, restores and deletions that are cut off at every operation of the disk, or
//! of which single operations fail: each is done as a whole or not at all.

use std::sync::Arc;

use hblite::{ColumnFamilyDescriptor, Connection, FailSafeSnapshot, Get, Put, Result};
use hblite_env::{CrashFileSystem, Fault, FaultFileSystem, MemFileSystem, Operation};

use super::testkit::cuts;
use super::{check, clock, create, name, names, open, open_at, pairs, put, rows, snapshot};

/// A store with a table of two rows.
fn prepared() -> (CrashFileSystem, Connection) {
    let fs = CrashFileSystem::new();
    let connection = open(fs.clone()).expect("an empty disk opens");
    create(&connection, "t").expect("a new table");
    for row in ["c", "x"] {
        put(&connection, "t", row, "old").expect("it takes it");
    }
    (fs, connection)
}

/// Cuts `step`, which follows `before`, at each of its operations. `look` gets the store that a
/// kill or a power cut leaves, and the place of the cut; it returns whether the step was done.
fn cut_everywhere(
    before: impl Fn(&Connection) -> Result<()>,
    step: impl Fn(&Connection) -> Result<()>,
    look: impl Fn(&Connection, &str) -> bool,
) {
    let (mut done, mut undone) = (0, 0);
    let prepare = || {
        let (fs, connection) = prepared();
        before(&connection).expect("nothing fails");
        (fs, connection)
    };
    let work = |connection: Connection| step(&connection).is_ok();
    cuts::at_every_operation(1, prepare, work, |fs, is_acknowledged, cut| {
        for seed in 0..4_u64 {
            let rest =
                if seed == 3 { fs.after_kill() } else { fs.after_power_cut(seed * cut.after) };
            let context = format!("{cut}, seed {seed}");
            if seed == 3 {
                check(&rest, &context);
            }
            let connection = open(rest.clone()).unwrap_or_else(|e| panic!("{context}: {e}"));
            let is_done = look(&connection, &context);
            assert!(is_done || !is_acknowledged, "{context}: it was acknowledged");
            (done, undone) = (done + u64::from(is_done), undone + u64::from(!is_done));
            connection.close().unwrap_or_else(|error| panic!("{context}: {error}"));
            check(&rest, &format!("{context}, closed"));
        }
    });
    assert!(done > 0 && undone > 0, "both happen: {done}, {undone}");
}

#[test]
fn a_crash_leaves_a_snapshot_whole_or_away() {
    let expected = pairs(&[("c", "old"), ("x", "old")]);
    cut_everywhere(
        |_| Ok(()),
        |connection| snapshot(connection, "s", "t"),
        |connection, context| {
            assert_eq!(rows(connection, "t"), expected, "{context}");
            let is_there = names(connection) == ["s"];
            if !is_there {
                snapshot(connection, "s", "t").unwrap_or_else(|e| panic!("{context}: {e}"));
            }
            let cloned = connection.admin().clone_snapshot("s", name("copy"));
            cloned.unwrap_or_else(|error| panic!("{context}: {error}"));
            assert_eq!(rows(connection, "copy"), expected, "{context}");
            is_there
        },
    );
}

fn change(connection: &Connection) -> Result<()> {
    snapshot(connection, "s", "t")?;
    connection.admin().delete_family(name("t"), b"b")?;
    connection.admin().add_family(name("t"), &ColumnFamilyDescriptor::new("late"))?;
    let put = Put::new("c").add("a", "q", "new").add("late", "q", "new");
    connection.table("t")?.put(&put)?;
    connection.admin().split_table(name("t"), Some(b"f"))?;
    connection.admin().disable_table(name("t"))
}

#[test]
fn a_crash_leaves_a_restore_done_or_undone() {
    cut_everywhere(
        change,
        |connection| connection.admin().restore_snapshot("s", FailSafeSnapshot::Take),
        |connection, context| {
            let admin = connection.admin();
            let table = admin.describe_table(name("t")).expect("a table");
            let is_restored = table.has_family(b"b");
            assert_ne!(is_restored, table.has_family(b"late"), "{context}: half of the settings");
            admin.enable_table(name("t")).unwrap_or_else(|e| panic!("{context}: {e}"));
            if is_restored {
                let expected = pairs(&[("c", "old"), ("x", "old")]);
                assert_eq!(rows(connection, "t"), expected, "{context}");
                return true;
            }
            let row = connection.table("t").and_then(|t| t.get(&Get::new("c"))).expect("a row");
            assert_eq!(row.value("late", "q"), Some(&b"new"[..]), "{context}");
            assert_eq!(row.value("a", "q"), Some(&b"new"[..]), "{context}");
            admin.disable_table(name("t")).expect("enabled");
            for left in names(connection).iter().filter(|name| name.starts_with("hbase-failsafe")) {
                admin.delete_snapshot(left).unwrap_or_else(|e| panic!("{context}: {e}"));
            }
            admin
                .restore_snapshot("s", FailSafeSnapshot::Take)
                .unwrap_or_else(|e| panic!("{context}: {e}"));
            false
        },
    );
}

#[test]
fn a_crash_leaves_a_clone_whole_or_away() {
    let expected = pairs(&[("c", "old"), ("x", "old")]);
    cut_everywhere(
        |connection| snapshot(connection, "s", "t"),
        |connection| connection.admin().clone_snapshot("s", name("copy")),
        |connection, context| {
            let is_there = connection.admin().table_exists(name("copy")).expect("an answer");
            if !is_there {
                let cloned = connection.admin().clone_snapshot("s", name("copy"));
                cloned.unwrap_or_else(|error| panic!("{context}: {error}"));
            }
            assert_eq!(rows(connection, "copy"), expected, "{context}");
            assert_eq!(rows(connection, "t"), expected, "{context}");
            is_there
        },
    );
}

#[test]
fn a_crash_leaves_a_snapshot_there_or_deletes_it() {
    cut_everywhere(
        |connection| snapshot(connection, "s", "t"),
        |connection| connection.admin().delete_snapshot("s"),
        |connection, context| {
            let left = names(connection);
            if left == ["s"] {
                let cloned = connection.admin().clone_snapshot("s", name("copy"));
                cloned.unwrap_or_else(|error| panic!("{context}: {error}"));
            }
            left.is_empty()
        },
    );
}

/// Each operation of a snapshot, a clone and a restore fails once, and the process continues: the
/// step can be repeated, or the store must be opened again first.
#[test]
fn what_failed_half_way_can_be_done_again() {
    let expected = pairs(&[("c", "old"), ("x", "old")]);
    let steps: [fn(&Connection) -> Result<()>; 3] = [
        |connection| snapshot(connection, "s", "t"),
        |connection| connection.admin().clone_snapshot("kept", name("copy")),
        |connection| connection.admin().restore_snapshot("kept", FailSafeSnapshot::Take),
    ];
    let operations = [
        Operation::Create,
        Operation::Write,
        Operation::Sync,
        Operation::SyncDir,
        Operation::Rename,
    ];
    let mut refused = 0;
    for (number, step) in steps.iter().enumerate() {
        for operation in operations {
            for nth in 0.. {
                let context = format!("step {number}, {operation:?} {nth}");
                let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
                let clock = clock();
                let connection = open_at(fs.clone(), clock.clone()).expect("an empty store");
                create(&connection, "t").expect("a new table");
                for row in ["c", "x"] {
                    put(&connection, "t", row, "old").expect("it takes it");
                }
                snapshot(&connection, "kept", "t").expect("a snapshot");
                let is_restore = number == 2;
                if is_restore {
                    put(&connection, "t", "c", "new").expect("it takes it");
                    connection.admin().disable_table(name("t")).expect("enabled");
                }
                let before = fs.count(operation);
                fs.inject(Fault::on(operation).nth(nth));
                let outcome = step(&connection);
                let is_over = fs.count(operation) - before <= nth && outcome.is_ok();
                fs.heal();
                refused += u64::from(outcome.is_err());
                clock.advance(1);
                let is_closed =
                    outcome.as_ref().is_err_and(|e| e.kind() == hblite::ErrorKind::Closed);
                let connection = if is_closed {
                    drop(connection);
                    open_at(fs, clock).unwrap_or_else(|error| panic!("{context}: {error}"))
                } else {
                    connection
                };
                let again = outcome.is_err().then(|| step(&connection)).transpose();
                if let Err(error) = again {
                    // The step with an unknown outcome did happen.
                    assert!(is_closed, "{context}: again: {error}");
                }
                if is_restore {
                    connection.admin().enable_table(name("t")).expect("disabled");
                }
                let table = if number == 1 { "copy" } else { "t" };
                assert_eq!(rows(&connection, table), expected, "{context}");
                if is_over {
                    break;
                }
            }
        }
    }
    assert!(refused > 50, "{refused}");
}
