//! Goal: no length of a file in a store makes it ask for that much memory.
//!
//! Method: each small file of a store is extended to 1 TiB, sparse, as a damaged file system may
//! show it, and the store is opened, checked and read under an allocator that refuses requests of
//! more than 64 MiB. Memory that is requested without a way to fail would end the process. Lengths
//! within files are the subject of `malformed`, which runs under the same allocator, and of
//! `crates/hblite-hfile/tests/allocation.rs`.

#[path = "malformed/allocator.rs"]
mod allocator;

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use hblite::{ColumnFamilyDescriptor, Get, Options, Put, Result, SnapshotOptions, TableDescriptor};

const HUGE: u64 = 1 << 40;

fn options() -> Options {
    Options::new().with_compaction_enabled(false)
}

/// A closed store with a reference, a snapshot and a manifest.
fn create(dir: &Path) -> Result<()> {
    let connection = options().open(dir)?;
    let admin = connection.admin();
    let table = TableDescriptor::new("t".parse()?).with_family(ColumnFamilyDescriptor::new("f"));
    admin.create_table(&table)?;
    for row in ["a", "b", "c"] {
        connection.table("t")?.put(&Put::new(row).add("f", "q", "value"))?;
    }
    admin.flush_table("t")?;
    admin.split_table("t", Some(b"b"))?;
    admin.snapshot("s", "t", &SnapshotOptions::default())?;
    connection.close()
}

fn files_below(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Whether all rows and the snapshot are there.
fn is_whole(dir: &Path) -> Result<bool> {
    let connection = options().open(dir)?;
    let table = connection.table("t")?;
    for row in ["a", "b", "c"] {
        if table.get(&Get::new(row))?.value("f", "q") != Some(b"value") {
            return Ok(false);
        }
    }
    let admin = connection.admin();
    admin.clone_snapshot("s", "clone")?;
    admin.disable_table("clone")?;
    admin.delete_table("clone")?;
    Ok(admin.list_snapshots()?.len() == 1)
}

#[test]
fn a_file_that_seems_huge_is_an_error_or_ignored() {
    let temporary = tempfile::tempdir().expect("a directory");
    let dir = temporary.path().join("store");
    create(&dir).expect("room");
    let mut files = Vec::new();
    files_below(&dir, &mut files);
    let (mut refused, mut whole) = (0, 0);
    for path in &files {
        if !path.exists() {
            continue;
        }
        let length = fs::metadata(path).expect("a file").len();
        let file = OpenOptions::new().write(true).open(path).expect("a file");
        file.set_len(HUGE).expect("a sparse file");
        let checked = hblite::check(&dir);
        match is_whole(&dir) {
            Ok(is_whole) => {
                assert!(is_whole, "{} is huge, and data is missing", path.display());
                whole += 1;
            }
            Err(error) => {
                assert!(!checked.is_ok_and(|report| report.is_clean()), "{error}");
                refused += 1;
            }
        }
        file.set_len(length).expect("a smaller file");
    }
    assert!(refused > 10 && whole > 0, "refused {refused}, whole {whole} of {}", files.len());
    assert!(is_whole(&dir).expect("the damage is repaired"));
}
