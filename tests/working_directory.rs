//! A program that changes its directory while it has a store open. Alone in its process, because
//! the directory is the process's.

use std::env::set_current_dir;

use hblite::{ColumnFamilyDescriptor, Durability, Get, Put, TableDescriptor};

#[test]
fn a_relative_path_is_resolved_when_the_store_is_opened() -> hblite::Result<()> {
    let dir = tempfile::tempdir().expect("a directory");
    set_current_dir(dir.path()).expect("it is there");
    let connection = hblite::open("store")?;
    let descriptor =
        TableDescriptor::new("t".parse()?).with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&descriptor)?;
    let table = connection.table("t")?;
    table.put(&Put::new("a").add("f", "q", "1"))?;
    set_current_dir("/").expect("it is there");
    // Each compares the log and the lock with the files at their paths.
    for row in ["b", "c"] {
        table.put(&Put::new(row).add("f", "q", "1").with_durability(Durability::FsyncWal))?;
    }
    connection.admin().flush_table("t")?;
    connection.checkpoint("one")?;
    table.put(&Put::new("d").add("f", "q", "1"))?;
    connection.rewind("one")?;
    assert!(!table.exists(&Get::new("d"))?);
    connection.admin().backup(dir.path().join("copy"))?;
    let inside = connection.admin().backup(dir.path().join("store/copy")).expect_err("within it");
    assert!(inside.message().contains("is within the store"), "{inside}");
    connection.close()?;
    for name in ["store", "copy"] {
        let reopened = hblite::open(dir.path().join(name))?;
        assert!(reopened.table("t")?.exists(&Get::new("c"))?);
        reopened.close()?;
    }
    Ok(())
}
