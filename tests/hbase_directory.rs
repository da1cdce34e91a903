//! The contents of a store's directory for an Apache HBase that starts on it next.

use std::path::Path;

use hblite::{Connection, Options, Put};

use crate::testkit;

/// `hbase.version` as HBase writes it.
const FREE: &[u8] = b"PBUF\x0a\x018";
const MASTER_REGION: &str = "MasterData/data/master/store/1595e783b53d99cd5eef43b6debb2682";
const SERVER_LOG: &str = "WALs/localhost,16020,1";

fn version(dir: &Path) -> Vec<u8> {
    std::fs::read(dir.join("hbase.version")).expect("every store has a version")
}

fn create_table(connection: &Connection) {
    testkit::create(connection, "t", &["f"]).expect("the table is made");
}

fn put(connection: &Connection, row: &str) {
    let table = connection.table("t").expect("it is a name");
    table.put(&Put::new(row).add("f", "q", "v")).expect("the row is written");
}

#[test]
fn a_close_leaves_what_hbase_needs() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let connection = hblite::open(dir.path()).expect("the store opens");
    create_table(&connection);
    put(&connection, "a");
    connection.close().expect("the store closes");
    assert_eq!(version(dir.path()), FREE);
    assert!(dir.path().join(MASTER_REGION).join(".regioninfo").is_file());
    let entries = std::fs::read_dir(dir.path().join(SERVER_LOG)).expect("a server that has ended");
    assert_eq!(entries.count(), 0);
    assert!(hblite::check(dir.path()).expect("it is a store").is_clean());
}

#[test]
fn hbase_is_kept_away_while_the_store_is_written_and_until_it_is_closed() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let engine = Options::new().with_flush_on_close(false);
    let open = || engine.clone().open(dir.path()).expect("it opens");
    let connection = open();
    assert_eq!(version(dir.path()), FREE, "an empty store");
    create_table(&connection);
    let in_use = version(dir.path());
    assert!(String::from_utf8_lossy(&in_use).contains("hblite to-hbase"), "{in_use:?}");
    connection.close().expect("the store closes");
    assert_eq!(version(dir.path()), in_use, "the log has what is in no file");

    let connection = hblite::open(dir.path()).expect("the store opens");
    put(&connection, "a");
    connection.close().expect("the store closes");
    assert_eq!(version(dir.path()), FREE);

    let connection = hblite::open(dir.path()).expect("the store opens");
    assert_eq!(version(dir.path()), FREE, "nothing was written");
    put(&connection, "b");
    assert_eq!(version(dir.path()), in_use);
    connection.close().expect("the store closes");
    assert_eq!(version(dir.path()), FREE);
}

#[test]
fn a_directory_in_the_place_of_the_stores_is_left_alone() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("store");
    let connection = hblite::open(&path).expect("the store opens");
    create_table(&connection);
    std::fs::rename(&path, dir.path().join("moved")).expect("a directory can be moved");
    std::fs::create_dir(&path).expect("another directory");
    let _ = connection.close();
    let entries = std::fs::read_dir(&path).expect("the other directory").count();
    assert_eq!(entries, 0, "nothing was written to it");
}
