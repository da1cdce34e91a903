//! Stores of many regions: closing and copying them with several threads loses nothing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::Arc;

use hblite::{Connection, Options, Put, Scan};
use hblite_env::{Env, Fault, FaultFileSystem, MemFileSystem, Operation};

use crate::testkit::{self, STORE};

const REGIONS: u32 = 200;

fn row(number: u32) -> String {
    format!("{number:04}")
}

fn open(env: &Env, dir: &str) -> Connection {
    Options::new().with_env(env.clone()).open(dir).unwrap()
}

/// An open store with a table of many regions and a row in each.
fn store(env: &Env) -> Connection {
    let connection = open(env, STORE);
    let descriptor = testkit::descriptor("t", &["a", "b"]);
    let splits: Vec<Vec<u8>> = (1..REGIONS).map(|n| row(n).into_bytes()).collect();
    connection.admin().create_table_with_splits(&descriptor, &splits).unwrap();
    put(&connection, "a");
    connection
}

fn put(connection: &Connection, family: &str) {
    let puts: Vec<Put> = (0..REGIONS).map(|n| Put::new(row(n)).add(family, "q", row(n))).collect();
    connection.table("t").unwrap().put_all(&puts).unwrap();
}

/// Every row exists, with a cell in each of these families.
fn assert_whole(connection: &Connection, families: &[&str]) {
    let rows = connection.table("t").unwrap().scan(&Scan::new()).unwrap();
    let rows: Vec<_> = rows.map(Result::unwrap).collect();
    assert_eq!(rows.len(), REGIONS as usize);
    for (number, found) in (0..).zip(&rows) {
        assert_eq!(found.row(), row(number).as_bytes());
        assert_eq!(found.len(), families.len(), "{number}");
    }
}

fn check(env: &Env, dir: &str) {
    let report = hblite_engine::check(env, Path::new(dir), &mut |_| {}).unwrap();
    assert!(report.is_clean(), "{dir}: {:?}", report.defects);
    assert!(report.regions >= REGIONS as usize, "{dir}");
}

#[test]
fn a_closed_store_and_its_backups_are_whole() {
    let env = Env::in_memory();
    store(&env).close().unwrap();
    check(&env, STORE);
    hblite_engine::backup(&env, Path::new(STORE), Path::new("/closed")).unwrap();
    let connection = open(&env, STORE);
    assert_whole(&connection, &["a"]);
    put(&connection, "b");
    let report = connection.admin().backup("/open").unwrap();
    // Two store files and a description for each region, at least.
    assert!(report.files_linked >= 3 * u64::from(REGIONS), "{report:?}");
    connection.close().unwrap();
    for (dir, families) in [("/closed", &["a"][..]), ("/open", &["a", "b"]), (STORE, &["a", "b"])] {
        check(&env, dir);
        let connection = open(&env, dir);
        assert_whole(&connection, families);
        connection.close().unwrap();
    }
}

#[test]
fn a_close_that_fails_midway_loses_nothing() {
    for nth in [1, 50, 199] {
        let fs = Arc::new(FaultFileSystem::new(Arc::new(MemFileSystem::new())));
        let env = Env::in_memory().with_fs(fs.clone());
        let connection = store(&env);
        fs.inject(Fault::on(Operation::Rename).in_path("/data/default/").nth(nth));
        assert!(connection.close().is_err(), "{nth}");
        fs.heal();
        let connection = open(&env, STORE);
        assert_whole(&connection, &["a"]);
        connection.close().unwrap();
        check(&env, STORE);
    }
}

#[test]
fn a_backup_that_fails_midway_leaves_nothing() {
    for nth in [10, 300] {
        let fs = Arc::new(FaultFileSystem::new(Arc::new(MemFileSystem::new())));
        let env = Env::in_memory().with_fs(fs.clone());
        let connection = store(&env);
        connection.admin().flush_table("t").unwrap();
        fs.inject(Fault::on(Operation::SyncDir).in_path("/copy.partial").nth(nth));
        assert!(connection.admin().backup("/copy").is_err(), "{nth}");
        fs.heal();
        assert!(!env.fs.exists(Path::new("/copy")).unwrap());
        connection.admin().backup("/copy").unwrap();
        check(&env, "/copy");
    }
}
