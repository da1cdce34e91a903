//! Values that HBase keeps in `mobdir`: read where they are, and brought into the store files.

use std::path::{Path, PathBuf};

use hblite::{CompactRequest, Connection, Scan, SnapshotOptions};
use hblite_env::{FileSystem, MemFileSystem};

use super::directory::{ROOT, adopt, assert_sound, contents, fixture, options};

/// Row, timestamp and value of every version, as a real HBase printed them.
fn cells(connection: &Connection, table: &str, scan: &Scan) -> Vec<(String, i64, Vec<u8>)> {
    let scan = scan.clone().with_versions(10);
    let rows = connection.table(table).and_then(|table| table.scan(&scan)).expect("it is there");
    let mut cells = Vec::new();
    for row in rows {
        for cell in row.expect("nothing is damaged").cells() {
            let row = String::from_utf8_lossy(cell.row()).into_owned();
            cells.push((row, cell.timestamp(), cell.value().to_vec()));
        }
    }
    cells
}

/// What the fixture has in `m`, and in `clone`, which was cloned before the last writes.
fn expected(table: &str) -> Vec<(String, i64, Vec<u8>)> {
    let steps: &[usize] = if table == "m" { &[3, 2, 1] } else { &[2, 1] };
    let mut cells = Vec::new();
    for row in 0..20 {
        for version in steps.iter().filter(|version| row % **version == 0) {
            let length = if row % 2 == 0 { 400 + row } else { row };
            let digit = b'0' + u8::try_from(*version).expect("a digit");
            let timestamp = i64::try_from(*version).expect("a digit");
            cells.push((format!("row{row:02}"), timestamp, vec![digit; length]));
        }
    }
    cells
}

/// The store files of a table's regions that refer to files with medium objects.
fn referring_files(fs: &MemFileSystem, connection: &Connection, table: &str) -> Vec<PathBuf> {
    let regions = connection.admin().regions(table).expect("it is there");
    let is_in_region = |path: &Path| {
        regions.iter().any(|region| path.to_string_lossy().contains(region.encoded_name()))
    };
    let below = Path::new(ROOT).join("data/default").join(table);
    let is_meant = |path: &Path| path.starts_with(&below) && is_in_region(path);
    let files = contents(fs).into_iter().filter(|(path, _)| is_meant(path));
    let refers = |content: &[u8]| content.windows(6).any(|part| part == b"m/d41d");
    files
        .filter(|(_, content)| content.as_deref().is_some_and(refers))
        .map(|(path, _)| path)
        .collect()
}

fn files_of_mobdir(fs: &MemFileSystem) -> Vec<PathBuf> {
    let below = Path::new(ROOT).join("mobdir");
    let files = contents(fs).into_iter();
    files.filter(|(path, file)| path.starts_with(&below) && file.is_some()).map(|f| f.0).collect()
}

#[test]
fn they_are_read_where_hbase_put_them() {
    let fs = fixture("mob");
    let connection = adopt(&fs).expect("nothing is missing");
    for table in ["m", "clone"] {
        assert!(!referring_files(&fs, &connection, table).is_empty(), "{table}");
        assert_eq!(cells(&connection, table, &Scan::new()), expected(table), "{table}");
        let mut reversed = cells(&connection, table, &Scan::new().with_reversed(true));
        reversed.sort_by(|left, right| (&left.0, right.1).cmp(&(&right.0, left.1)));
        assert_eq!(reversed, expected(table), "{table}");
    }
    let row = connection.table("m").and_then(|table| table.get(&hblite::Get::new("row04")));
    assert_eq!(row.expect("nothing is damaged").value("f", "q"), Some(&[b'2'; 404][..]));
}

#[test]
fn a_compaction_brings_them_in() {
    let fs = fixture("mob");
    let before = files_of_mobdir(&fs);
    let connection = adopt(&fs).expect("nothing is missing");
    for table in ["m", "clone"] {
        let name: hblite::TableName = table.parse().expect("a name");
        // One that is not major finds them, too.
        let request = CompactRequest::table(name);
        connection.admin().compact(&request).expect("room");
        assert_eq!(referring_files(&fs, &connection, table), [] as [PathBuf; 0], "{table}");
        assert_eq!(cells(&connection, table, &Scan::new()), expected(table), "{table}");
    }
    connection.close().expect("nothing fails");
    assert_eq!(files_of_mobdir(&fs), before, "they are HBase's");
    assert_sound(&fs, "after the compaction");
    let connection = options(&fs).open(ROOT).expect("it is a store");
    assert_eq!(cells(&connection, "m", &Scan::new()), expected("m"));
}

#[test]
fn a_snapshot_of_hbase_can_be_cloned_and_a_new_one_needs_no_other_files() {
    let fs = fixture("mob");
    let connection = adopt(&fs).expect("nothing is missing");
    let admin = connection.admin();
    admin.clone_snapshot("of-m", "again").expect("its files are in the archive");
    assert_eq!(cells(&connection, "again", &Scan::new()), expected("clone"));
    admin.snapshot("new", "m", &SnapshotOptions::default()).expect("room");
    let clone: hblite::TableName = "clone".parse().expect("a name");
    admin.compact(&CompactRequest::table(clone)).expect("room");
    connection.close().expect("nothing fails");
    let archived = contents(&fs).into_keys().filter(|path| {
        path.starts_with(Path::new(ROOT).join("archive")) && path.to_string_lossy().contains("d41d")
    });
    for file in files_of_mobdir(&fs).into_iter().chain(archived) {
        if fs.read(&file).is_ok() {
            fs.remove_file(&file).expect("memory");
        }
    }
    let connection = options(&fs).open(ROOT).expect("nothing refers to them");
    assert_eq!(cells(&connection, "again", &Scan::new()), expected("clone"));
    assert_eq!(cells(&connection, "m", &Scan::new()), expected("m"));
    connection.admin().clone_snapshot("new", "of-new").expect("it has all of its values");
    assert_eq!(cells(&connection, "of-new", &Scan::new()), expected("m"));
}

#[test]
fn a_missing_file_is_named_and_nothing_changes() {
    let fs = fixture("mob");
    let gone = files_of_mobdir(&fs).into_iter().find(|path| !path.to_string_lossy().contains('='));
    let gone = gone.expect("one of the table's own");
    fs.remove_file(&gone).expect("memory");
    let before = contents(&fs);
    let error = adopt(&fs).expect_err("values are missing");
    let name = gone.file_name().and_then(|name| name.to_str()).expect("text");
    assert!(error.message().contains(name), "{error}");
    assert!(contents(&fs) == before);
}
