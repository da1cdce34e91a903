//! Folders of HFiles for a bulk load: what is in them, where they end, and that no partial one
//! remains.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use hblite::{
    BloomType, ColumnFamilyDescriptor, Compression, Connection, DataBlockEncoding, Delete, Put,
    Scan, Table, TableDescriptor,
};
use hblite_env::Env;
use hblite_hfile::verify::verify;
use hblite_hfile::{HFileReader, HFileScanner};
use hblite_transfer::{HFilesOptions, HFilesReport, export_hfiles};
use tempfile::TempDir;

/// A progress callback that never ends the work.
const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

/// A table of two families and three regions with 900 rows, some deleted.
fn table() -> (Connection, Table) {
    let connection = hblite::open_in_memory().unwrap();
    let packed = ColumnFamilyDescriptor::new("packed")
        .with_versions(5)
        .with_compression(Compression::Gz)
        .with_data_block_encoding(DataBlockEncoding::FastDiff)
        .with_bloom(BloomType::RowCol)
        .with_block_size(4096);
    let descriptor = TableDescriptor::new("t".parse().unwrap())
        .with_family(packed)
        .with_family(ColumnFamilyDescriptor::new("plain"));
    let splits = [b"row300".to_vec(), b"row600".to_vec()];
    connection.admin().create_table_with_splits(&descriptor, &splits).unwrap();
    let table = connection.table("t").unwrap();
    for number in 0..900 {
        let put = Put::new(format!("row{number:03}"))
            .add_at("packed", "a", 1, vec![b'a'; 50])
            .add_at("packed", "a", 2, vec![b'b'; 50])
            .add_at("plain", "", 1, number.to_string());
        table.put(&put).unwrap();
    }
    table
        .put(&Put::new("row700").with_time_to_live_ms(i64::MAX / 4).add("plain", "ttl", "v"))
        .unwrap();
    table.delete(&Delete::new("row100").columns_at("packed", "a", 1)).unwrap();
    (connection, table)
}

fn export(table: &Table, scan: &Scan, folder: &Path, options: &HFilesOptions) -> HFilesReport {
    let mut seen = Vec::new();
    let env = Env::system();
    let report = export_hfiles(&env, table, scan, folder, options, &mut |p| {
        seen.push(p);
        GO_ON
    })
    .unwrap();
    let last = seen.last().unwrap();
    assert_eq!((last.regions, last.regions_total, last.rows), (3, 3, report.rows));
    report
}

/// All cells of the files as text, and the first and last row of each file by family.
type Found = (Vec<String>, BTreeMap<String, Vec<(String, String)>>);

fn read(folder: &Path, report: &HFilesReport) -> Found {
    let (mut cells, mut ranges) = (Vec::new(), BTreeMap::<String, Vec<_>>::new());
    for file in &report.files {
        let path = folder.join(file);
        let fs = Env::system().fs;
        let defects = verify(fs.as_ref(), &path);
        assert!(defects.is_ok(), "{}: {defects:?}", path.display());
        let reader = std::sync::Arc::new(HFileReader::open(fs.as_ref(), &path, None).unwrap());
        let info = reader.file_info_map();
        assert_eq!(info.get(b"BULKLOAD_SOURCE_TASK"), Some(b"hblite export".as_slice()));
        assert_eq!(info.get(b"MAJOR_COMPACTION_KEY"), Some([0xff].as_slice()));
        assert_eq!(info.get(b"EXCLUDE_FROM_MINOR_COMPACTION"), Some([0].as_slice()));
        assert_eq!(info.get(b"BULKLOAD_TIMESTAMP").map(<[u8]>::len), Some(8));
        assert_eq!(info.get(b"MAX_SEQ_ID_KEY"), None);
        let mut scanner = HFileScanner::new(reader);
        let mut rows = Vec::new();
        let mut has_cell = scanner.seek_first().unwrap();
        while has_cell {
            let cell = scanner.current().unwrap();
            cells.push(format!("{cell} {:?} {:?}", cell.value(), cell.tags()));
            rows.push(String::from_utf8(cell.row().to_vec()).unwrap());
            has_cell = scanner.next().unwrap();
        }
        let range = (rows.first().unwrap().clone(), rows.last().unwrap().clone());
        let family = file.parent().unwrap().to_str().unwrap().to_owned();
        ranges.entry(family).or_default().push(range);
    }
    cells.sort();
    ranges.values_mut().for_each(|ranges| ranges.sort());
    (cells, ranges)
}

fn cells(table: &Table, scan: &Scan) -> Vec<String> {
    let mut cells = Vec::new();
    for row in table.scan(scan).unwrap() {
        cells.extend(row.unwrap().cells().map(|cell| {
            let cell = cell.with_sequence_id(0);
            format!("{cell} {:?} {:?}", cell.value(), cell.tags())
        }));
    }
    cells.sort();
    cells
}

#[test]
fn a_file_per_family_and_region_holds_every_cell() {
    let (_store, table) = table();
    let dir = TempDir::new().unwrap();
    let folder = dir.path().join("out");
    let scan = Scan::new().with_raw(true).with_all_versions();
    let report = export(&table, &scan, &folder, &HFilesOptions::default());
    let (found, ranges) = read(&folder, &report);
    assert_eq!(found, cells(&table, &scan));
    assert_eq!((report.rows, report.cells), (900, found.len() as u64));
    let expected = [("row000", "row299"), ("row300", "row599"), ("row600", "row899")];
    let expected = expected.map(|(first, last)| (first.to_owned(), last.to_owned()));
    assert_eq!(ranges["packed"], expected);
    assert_eq!(ranges["plain"], expected);
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing partial is left: {left:?}");
}

#[test]
fn what_another_export_writes_is_left_alone() {
    let (_store, table) = table();
    let dir = TempDir::new().unwrap();
    let (folder, other) = (dir.path().join("out"), dir.path().join("out.partial"));
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("theirs"), "1").unwrap();
    let options = HFilesOptions::default();
    let refused =
        export_hfiles(&Env::system(), &table, &Scan::new(), &folder, &options, &mut |_| GO_ON);
    assert!(refused.unwrap_err().to_string().contains("out.partial: already exists"));
    assert_eq!(std::fs::read(other.join("theirs")).unwrap(), b"1");
    std::fs::remove_dir_all(&other).unwrap();
    export(&table, &Scan::new(), &folder, &options);
}

#[test]
fn files_end_between_rows_when_they_are_large() {
    let (_store, table) = table();
    let dir = TempDir::new().unwrap();
    let folder = dir.path().join("out");
    let options = HFilesOptions::default().with_file_size_max_bytes(1);
    let scan = Scan::new().with_all_versions().with_start_row("row250").with_stop_row("row650");
    let report = export(&table, &scan, &folder, &options);
    let (found, ranges) = read(&folder, &report);
    assert_eq!(found, cells(&table, &scan));
    assert!(ranges["packed"].len() > 5, "{ranges:?}");
    for ranges in ranges.values() {
        for pair in ranges.windows(2) {
            assert!(pair[0].1 < pair[1].0, "a row is in two files: {pair:?}");
        }
    }
}

#[test]
fn a_folder_that_is_taken_stays_as_it_is() {
    let (_store, table) = table();
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("mine"), "content").unwrap();
    let (env, options) = (Env::system(), HFilesOptions::default());
    let refused = export_hfiles(&env, &table, &Scan::new(), dir.path(), &options, &mut |_| GO_ON);
    let message = refused.unwrap_err().to_string();
    assert!(message.ends_with("is there and not an empty folder"), "{message}");
    let reverse = Scan::new().with_reversed(true);
    let folder = dir.path().join("out");
    assert!(export_hfiles(&env, &table, &reverse, &folder, &options, &mut |_| GO_ON).is_err());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}
