//! Goal: a store whose directory is removed, moved or replaced while it is open refuses writes with
//! an error that says so. Reads continue, nothing that was acknowledged before is lost, and another
//! store in its place is not touched.
//!
//! Method: real directories. Writes with each durability are repeated until one is refused; the
//! documentation states the time limit.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use hblite::{CompactRequest, Connection, Durability, Error, Exception, Get, Put, Result, Scan};

use crate::testkit::{self, name};

const DURABILITIES: [Durability; 5] = [
    Durability::UseDefault,
    Durability::SkipWal,
    Durability::AsyncWal,
    Durability::SyncWal,
    Durability::FsyncWal,
];

/// The documented time, plus a second for a busy machine.
const NOTICED_WITHIN: Duration = Duration::from_millis(1100);

fn create(dir: &Path, name: &str) -> Connection {
    let connection = hblite::open(dir).expect("it opens");
    create_table(&connection, name).expect("created");
    connection
}

fn create_table(connection: &Connection, table: &str) -> Result<()> {
    testkit::create(connection, table, &["f"])
}

fn put(connection: &Connection, row: &str, durability: Durability) -> Result<()> {
    let put = Put::new(row).add("f", "q", row).with_durability(durability);
    connection.table("t")?.put(&put)
}

fn count(connection: &Connection, table: &str) -> usize {
    let rows = connection.table(table).expect("there").scan(&Scan::new()).expect("read");
    rows.collect::<Result<Vec<_>>>().expect("read").len()
}

/// Writes until a write is refused. Returns how many were accepted, the error, and how long that
/// took.
fn write_until_refused(connection: &Connection, durability: Durability) -> (usize, Error) {
    let began = Instant::now();
    for number in 0.. {
        match put(connection, &format!("{durability:?}{number}"), durability) {
            Ok(()) => assert!(began.elapsed() < NOTICED_WITHIN, "{durability:?} goes on"),
            Err(error) => return (number, error),
        }
    }
    unreachable!("it returns or panics")
}

fn assert_refused(error: &Error, dir: &Path) {
    assert_eq!(error.exception(), Exception::RegionServerStopped, "{error}");
    let text = error.to_string();
    let is_named = ["LOCK", "WALs/hblite-wal.0000000001"]
        .iter()
        .any(|name| text.contains(&format!("{} is not the file", dir.join(name).display())));
    assert!(is_named, "{text}");
    assert!(text.contains("removed, moved or replaced") && text.contains("reopen"), "{text}");
}

#[test]
fn writes_to_a_removed_store_are_refused_and_reads_go_on() {
    for durability in DURABILITIES {
        let parent = tempfile::tempdir().expect("a directory");
        let dir = parent.path().join("store");
        let connection = create(&dir, "t");
        put(&connection, "flushed", Durability::SyncWal).expect("written");
        connection.admin().flush_table("t").expect("flushed");
        put(&connection, "in-memory", durability).expect("written");
        fs::remove_dir_all(&dir).expect("removed");

        let (written, error) = write_until_refused(&connection, durability);
        assert_refused(&error, &dir);
        assert!(durability != Durability::FsyncWal || written == 0, "{written} were synced");
        for durability in DURABILITIES {
            assert_refused(&put(&connection, "x", durability).expect_err("refused"), &dir);
        }
        let admin = connection.admin();
        assert_refused(&admin.flush_table("t").expect_err("refused"), &dir);
        assert_refused(&admin.disable_table("t").expect_err("refused"), &dir);
        assert_refused(&create_table(&connection, "u").expect_err("refused"), &dir);
        let table = connection.table("t").expect("there");
        for row in ["flushed", "in-memory"] {
            assert!(!table.get(&Get::new(row)).expect("read").is_empty(), "{row}");
        }
        drop(table);
        assert_refused(&connection.close().expect_err("nothing was flushed"), &dir);
        assert!(!dir.exists(), "a closed store leaves nothing where its directory was");
    }
}

#[test]
fn a_moved_store_has_all_that_was_acknowledged() {
    for durability in [Durability::SyncWal, Durability::FsyncWal] {
        let parent = tempfile::tempdir().expect("a directory");
        let (dir, moved) = (parent.path().join("store"), parent.path().join("moved"));
        let connection = create(&dir, "t");
        fs::rename(&dir, &moved).expect("moved");
        let (written, error) = write_until_refused(&connection, durability);
        assert_refused(&error, &dir);
        // Moved back too late: what may have been missed meanwhile is unknown.
        fs::rename(&moved, &dir).expect("moved back");
        assert_refused(&put(&connection, "x", durability).expect_err("refused"), &dir);
        assert!(connection.close().is_err());
        fs::rename(&dir, &moved).expect("moved");
        let connection = hblite::open(&moved).expect("it opens");
        assert!(count(&connection, "t") >= written, "{durability:?}: {written} were acknowledged");
        connection.close().expect("closed");
        assert!(hblite::check(&moved).expect("checked").is_clean());
    }
}

#[test]
fn a_moved_store_cannot_be_opened_until_it_is_closed() {
    let parent = tempfile::tempdir().expect("a directory");
    let (dir, moved) = (parent.path().join("store"), parent.path().join("moved"));
    let connection = create(&dir, "t");
    fs::rename(&dir, &moved).expect("moved");
    let error = hblite::open(&moved).expect_err("it is locked");
    assert_eq!(error.kind(), hblite::ErrorKind::Locked);
    assert!(error.message().contains("Options::with_read_only"), "{error}");
    assert!(error.to_string().contains("is open in another process or handle"), "{error}");
    drop(connection);
    hblite::open(&moved).expect("it is free");
}

#[test]
fn a_store_in_the_place_of_another_one_is_left_alone() {
    let parent = tempfile::tempdir().expect("a directory");
    let (dir, moved) = (parent.path().join("store"), parent.path().join("moved"));
    let first = create(&dir, "t");
    for row in ["a", "b"] {
        put(&first, row, Durability::SyncWal).expect("written");
    }
    fs::rename(&dir, &moved).expect("moved");
    let second = create(&dir, "t");
    put(&second, "c", Durability::SyncWal).expect("written");
    assert_refused(&first.admin().flush_table("t").expect_err("refused"), &dir);
    let compaction = CompactRequest::table(name("t"));
    assert_refused(&first.admin().compact(&compaction).expect_err("refused"), &dir);
    assert!(first.close().is_err());
    put(&second, "d", Durability::SyncWal).expect("written");
    second.close().expect("closed");
    for (dir, rows) in [(&dir, 2), (&moved, 2)] {
        let connection = hblite::open(dir).expect("it opens");
        assert_eq!(count(&connection, "t"), rows);
        connection.close().expect("closed");
        assert!(hblite::check(dir).expect("checked").is_clean());
    }
}
