//! The history of requests that a console keeps in a store's directory: whatever becomes of the
//! file, the store is as it was.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use hblite::{ColumnFamilyDescriptor, Connection, ErrorKind, Get, Options, Put, TableDescriptor};

const FILE: &str = "hblite.history";

fn create(dir: &Path) -> Connection {
    let connection = hblite::open(dir).unwrap();
    let table = TableDescriptor::new("t".parse().unwrap());
    let table = table.with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&table).unwrap();
    connection.table("t").unwrap().put(&Put::new("row").add("f", "q", "v")).unwrap();
    connection
}

fn has_its_row(connection: &Connection) -> bool {
    connection.table("t").unwrap().get(&Get::new("row")).unwrap().value("f", "q").is_some()
}

#[test]
fn it_is_there_after_a_restart_and_a_copy_has_none() {
    let place = tempfile::tempdir().unwrap();
    let (dir, copy) = (place.path().join("store"), place.path().join("copy"));
    let connection = create(&dir);
    assert_eq!(connection.kept_history().unwrap(), None);
    assert!(connection.keep_history(b"first").unwrap());
    assert!(connection.keep_history(b"second").unwrap());
    connection.close().unwrap();
    let connection = hblite::open(&dir).unwrap();
    assert_eq!(connection.kept_history().unwrap().unwrap(), b"second");
    connection.close().unwrap();
    assert!(hblite::check(&dir).unwrap().is_clean());
    hblite::backup(&dir, &copy).unwrap();
    assert!(!copy.join(FILE).exists());
    // The history of one store is not that of another.
    let other = create(&place.path().join("other"));
    fs::copy(dir.join(FILE), place.path().join("other").join(FILE)).unwrap();
    let error = other.kept_history().unwrap_err();
    assert!(error.message().contains("of another store"), "{error}");
}

/// With any byte changed, and cut anywhere, it is refused by its name; the store opens, serves, and
/// replaces it.
#[test]
fn a_damaged_one_is_named_and_harms_nothing() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("store");
    let connection = create(&dir);
    connection.keep_history(b"what was kept").unwrap();
    let whole = fs::read(dir.join(FILE)).unwrap();
    let flipped = (0..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        bytes
    });
    for bytes in flipped.chain((0..whole.len()).map(|length| whole[..length].to_vec())) {
        fs::write(dir.join(FILE), &bytes).unwrap();
        let error = connection.kept_history().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.message().contains(FILE), "{error}");
    }
    connection.close().unwrap();
    let connection = hblite::open(&dir).unwrap();
    assert!(has_its_row(&connection) && connection.kept_history().is_err());
    connection.keep_history(b"anew").unwrap();
    assert_eq!(connection.kept_history().unwrap().unwrap(), b"anew");
    connection.close().unwrap();
    // What a kill left of one that was being written, and a directory in its place.
    fs::write(dir.join(format!("{FILE}.tmp")), &whole[..9]).unwrap();
    fs::remove_file(dir.join(FILE)).unwrap();
    fs::create_dir(dir.join(FILE)).unwrap();
    let connection = hblite::open(&dir).unwrap();
    assert!(has_its_row(&connection) && connection.kept_history().is_err());
    assert!(connection.keep_history(b"no").is_err());
}

#[test]
fn a_store_that_is_read_only_or_closed_is_not_written_to() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("store");
    let connection = create(&dir);
    connection.keep_history(b"kept").unwrap();
    let before = fs::read(dir.join(FILE)).unwrap();
    let reader = Options::new().with_read_only(true).open(&dir).unwrap();
    assert_eq!(reader.kept_history().unwrap().unwrap(), b"kept");
    assert!(!reader.keep_history(b"read-only").unwrap());
    assert_eq!(fs::read(dir.join(FILE)).unwrap(), before);
    let closed = connection.clone();
    connection.close().unwrap();
    assert!(closed.keep_history(b"closed").is_err());
    assert_eq!(fs::read(dir.join(FILE)).unwrap(), before);
}

#[test]
fn a_directory_in_the_place_of_the_store_is_not_written_to() {
    let place = tempfile::tempdir().unwrap();
    let (dir, moved) = (place.path().join("store"), place.path().join("moved"));
    let connection = create(&dir);
    fs::rename(&dir, &moved).unwrap();
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join(FILE), "mine").unwrap();
    let error = connection.keep_history(b"new").unwrap_err();
    assert!(error.message().contains("replaced"), "{error}");
    assert_eq!(fs::read(dir.join(FILE)).unwrap(), b"mine");
    assert!(!moved.join(FILE).exists());
}
