//! Stores written by a version of hblite without a marker (`hblite.store`): one that was closed,
//! and one that was killed and has a log. Every later version must open them.
//!
//! Both were made with this script; only the killed one has the last line.
//!
//! ```text
//! create 't', {NAME => 'f', VERSIONS => 3}, 'g', SPLITS => ['m']
//! create_namespace 'ns'
//! create 'ns:u', 'f'
//! put 't', 'a', 'f:q', 'first'
//! put 't', 'z', 'g:q', 'second'
//! put 'ns:u', 'r', 'f:q', 'third'
//! put 't', 'b', 'f:q', 'fourth'
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use hblite::{Connection, Get, Options};

const CELLS: [(&str, &str, &str, &str, &str); 4] = [
    ("t", "a", "f", "q", "first"),
    ("t", "z", "g", "q", "second"),
    ("ns:u", "r", "f", "q", "third"),
    ("t", "b", "f", "q", "fourth"),
];

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the directory can be made");
    for entry in fs::read_dir(from).expect("the fixture is there").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("the file can be copied");
        }
    }
}

/// A copy of the fixture that may be changed.
fn fixture(name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let to = dir.path().join(name);
    copy(&fixtures.join("store-before-marker").join(name), &to);
    (dir, to)
}

fn verify(connection: &Connection, cells: &[(&str, &str, &str, &str, &str)]) {
    for (table, row, family, qualifier, value) in cells {
        let table = connection.table(*table).expect("a legal name");
        let found = table.get(&Get::new(*row)).expect("the table is there");
        assert_eq!(found.value(family, qualifier), Some(value.as_bytes()), "{row}");
    }
}

#[test]
fn old_stores_open_and_get_a_marker() {
    for (name, cells) in [("closed", &CELLS[..3]), ("killed", &CELLS)] {
        let (_temporary, dir) = fixture(name);
        let marker = dir.join("hblite.store");
        let id = fs::read(dir.join("hbase.id")).expect("the fixture has an id");
        // Neither a check nor a backup changes the store.
        assert!(hblite::check(&dir).expect("a store").is_clean(), "{name}");
        let copy = dir.with_extension("backup");
        hblite::backup(&dir, &copy).expect("a backup can be made");
        assert!(!marker.exists(), "{name}");
        for dir in [&dir, &copy] {
            let connection = Options::new()
                .with_create_if_missing(false)
                .open(dir)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            verify(&connection, cells);
            connection.close().expect("the store closes");
            verify(&hblite::open(dir).expect("the store opens again"), cells);
        }
        assert_eq!(fs::read(&marker).expect("there is a marker").len(), 36, "{name}");
        assert_eq!(fs::read(dir.join("hbase.id")).expect("still there"), id, "{name}");
        let report = hblite::check(&dir).expect("a store");
        assert!(report.is_clean() && report.notes.is_empty(), "{name}: {report:?}");
    }
}
