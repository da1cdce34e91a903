//! Goal: a store of which a directory or a file is behind a symbolic link, for example on a larger
//! disk, is a store like any other.
//!
//! Method: the directory of a table, and a single store file, are moved out of the store and
//! replaced by links. Backups and snapshots must have the contents and not the links; a rebuilt
//! hbase:meta must have the table.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use hblite::{
    ColumnFamilyDescriptor, Connection, Options, Put, Result, Scan, SnapshotOptions,
    TableDescriptor,
};

use crate::testkit::name;

const ROWS: usize = 10;

fn options() -> Options {
    Options::new().with_compaction_enabled(false)
}

fn put_rows(connection: &Connection, value: &str) -> Result<()> {
    let table = connection.table(name("t"))?;
    for row in 0..ROWS {
        table.put(&Put::new(format!("row{row}")).add("f", "q", value))?;
    }
    connection.admin().flush_table("t")
}

/// Rows of the table that have this value.
fn rows(connection: &Connection, table: &str, value: &str) -> Result<usize> {
    let mut scanner = connection.table(name(table))?.scan(&Scan::new())?;
    let mut count = 0;
    while let Some(row) = scanner.next_row()? {
        count += usize::from(row.value("f", "q").is_some_and(|found| found == value.as_bytes()));
    }
    Ok(count)
}

fn create(store: &Path) -> Result<()> {
    let connection = options().open(store)?;
    let table = TableDescriptor::new(name("t")).with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&table)?;
    put_rows(&connection, "old")?;
    connection.close()
}

/// Moves a part of the store to another directory, and leaves a link.
fn move_out(path: &Path, to: &Path) {
    fs::rename(path, to).expect("the same disk");
    symlink(to, path).expect("links");
}

/// Whether there is a symbolic link below a directory.
fn has_links(dir: &Path) -> bool {
    fs::read_dir(dir).expect("a directory").any(|entry| {
        let entry = entry.expect("an entry");
        let kind = entry.file_type().expect("a type");
        kind.is_symlink() || (kind.is_dir() && has_links(&entry.path()))
    })
}

fn store_file(table: &Path) -> PathBuf {
    let entries = |dir: &Path| {
        fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").path())
    };
    let is_plain = |path: &PathBuf| !path.ends_with(".tabledesc");
    let region = entries(table).find(is_plain).expect("a region");
    entries(&region.join("f")).next().expect("a store file")
}

#[test]
fn a_backup_has_what_is_behind_links() -> Result<()> {
    for is_table in [true, false] {
        let dir = tempfile::tempdir().expect("a directory");
        let (store, copy) = (dir.path().join("store"), dir.path().join("copy"));
        create(&store)?;
        let table = store.join("data/default/t");
        let moved = if is_table { table } else { store_file(&table) };
        move_out(&moved, &dir.path().join("moved"));

        assert!(hblite::check(&store)?.is_clean());
        let connection = options().open(&store)?;
        connection.admin().backup(&copy)?;
        put_rows(&connection, "new")?;
        connection.admin().major_compact_table("t")?;
        connection.close()?;

        assert!(!has_links(&copy), "table {is_table}: the copy depends on the original");
        assert!(hblite::check(&copy)?.is_clean());
        let connection = options().open(&copy)?;
        assert_eq!(rows(&connection, "t", "old")?, ROWS);
        connection.close()?;
        let connection = options().open(&store)?;
        assert_eq!(rows(&connection, "t", "new")?, ROWS);
        connection.close()?;
    }
    Ok(())
}

#[test]
fn a_backup_into_the_store_itself_is_refused_behind_a_link_too() -> Result<()> {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, link) = (dir.path().join("store"), dir.path().join("link"));
    create(&store)?;
    for behind in ["", "data", "data/default/t"] {
        symlink(store.join(behind), &link).expect("links");
        let refused = hblite::backup(&store, link.join("copy")).expect_err("it would copy itself");
        assert!(refused.to_string().contains("is within the store"), "{refused}");
        fs::remove_file(&link).expect("it is there");
    }
    assert!(hblite::check(&store)?.is_clean());
    Ok(())
}

#[test]
fn a_snapshot_of_a_linked_file_does_not_need_the_link() -> Result<()> {
    let dir = tempfile::tempdir().expect("a directory");
    let store = dir.path().join("store");
    create(&store)?;
    move_out(&store_file(&store.join("data/default/t")), &dir.path().join("moved"));
    let connection = options().open(&store)?;
    let admin = connection.admin();
    admin.snapshot("s", "t", &SnapshotOptions::default())?;
    put_rows(&connection, "new")?;
    admin.major_compact_table("t")?;
    fs::remove_file(dir.path().join("moved")).expect("still there");
    admin.clone_snapshot("s", "clone")?;
    assert_eq!(rows(&connection, "clone", "old")?, ROWS);
    connection.close()
}

#[test]
fn a_rebuilt_catalog_has_tables_behind_links() -> Result<()> {
    let dir = tempfile::tempdir().expect("a directory");
    let store = dir.path().join("store");
    create(&store)?;
    move_out(&store.join("data/default/t"), &dir.path().join("moved"));
    fs::remove_dir_all(store.join("data/hbase/meta")).expect("it is there");
    assert!(options().open(&store).is_err(), "hbase:meta is missing");
    let connection = options().with_salvage(true).open(&store)?;
    assert_eq!(rows(&connection, "t", "old")?, ROWS);
    connection.close()
}

#[test]
fn a_dropped_table_leaves_what_is_behind_its_link() -> Result<()> {
    let dir = tempfile::tempdir().expect("a directory");
    let (store, moved) = (dir.path().join("store"), dir.path().join("moved"));
    create(&store)?;
    move_out(&store.join("data/default/t"), &moved);
    let connection = options().open(&store)?;
    connection.admin().disable_table("t")?;
    connection.admin().delete_table("t")?;
    connection.close()?;
    options().open(&store)?.close()?;
    assert!(!has_links(&store), "the link is garbage");
    assert!(store_file(&moved).exists());
    Ok(())
}
