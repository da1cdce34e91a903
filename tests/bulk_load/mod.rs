//! Bulk loads: what they accept and refuse. A load equals the same puts (`equivalence`), a crash
//! leaves it complete or absent (`crash`), concurrent readers never see half of it (`beside`), and
//! HBase's own files are accepted (`hbase`).

mod beside;
mod crash;
mod equivalence;
mod hbase;

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite::{
    BulkLoadOptions, Cell, CellType, ColumnFamilyDescriptor, Connection, ErrorKind, Exception,
    FileTransfer, Get, Put, Result, Scan, TableDescriptor, TableName,
};
use hblite_engine::Engine;
use hblite_env::{CrashFileSystem, FileSystem, MemFileSystem};
use hblite_hfile::file_info::BULKLOAD_TIMESTAMP;
use hblite_hfile::{HFileWriter, HFileWriterOptions, StoreFileInfo};

use crate::testkit::{self, STORE, check, name};

const FOLDER: &str = "/hfiles";
const FAMILIES: [&str; 2] = ["a", "b"];

/// The engine of a connection: it loads files of another file system, too.
fn engine(connection: &Connection) -> Arc<Engine> {
    connection
        .backend_as::<hblite_engine::Timeline>()
        .map(|timeline| timeline.engine())
        .expect("an embedded store")
}

fn open(fs: impl FileSystem + 'static) -> Result<Connection> {
    testkit::open(fs, testkit::by_hand())
}

/// A table with families a and b, cut at these rows.
fn create(connection: &Connection, splits: &[&str]) -> Result<()> {
    let family = |name: &str| ColumnFamilyDescriptor::new(name).with_versions(100);
    let table = TableDescriptor::new(name("t")).with_family(family("a")).with_family(family("b"));
    let splits: Vec<Vec<u8>> = splits.iter().map(|row| row.as_bytes().to_vec()).collect();
    connection.admin().create_table_with_splits(&table, &splits)
}

fn put_cell(row: &str, family: &str, qualifier: &str, timestamp: i64, value: &str) -> Cell {
    let bytes = |text: &str| text.as_bytes().to_vec();
    let (row, family, qualifier) = (bytes(row), bytes(family), bytes(qualifier));
    Cell::new(&row, &family, &qualifier, timestamp, CellType::Put, value.as_bytes())
}

/// Writes a file as HBase's jobs do.
fn write_file(fs: &dyn FileSystem, path: &Path, cells: &[Cell]) {
    write_file_with(fs, path, cells, HFileWriterOptions::default());
}

fn write_file_with(fs: &dyn FileSystem, path: &Path, cells: &[Cell], options: HFileWriterOptions) {
    fs.create_dir_all(path.parent().expect("a file in a folder")).expect("there is room");
    let mut writer = HFileWriter::create(fs, path, options).expect("there is room");
    let mut cells = cells.to_vec();
    cells.sort_by_key(place);
    for cell in &cells {
        writer.append(&cell.as_ref()).expect("sorted");
    }
    writer.append_file_info(BULKLOAD_TIMESTAMP, &1_700_000_000_000_i64.to_be_bytes());
    writer.finish(&StoreFileInfo::default()).expect("there is room");
}

fn place(cell: &Cell) -> impl Ord + use<> {
    let cell = cell.as_ref();
    let (time, code) = (Reverse(cell.timestamp()), Reverse(cell.type_code()));
    (cell.row().to_vec(), cell.qualifier().to_vec(), time, code)
}

fn in_folder(family: &str, name: &str) -> PathBuf {
    Path::new(FOLDER).join(family).join(name)
}

/// Everything that a scan of all versions returns.
fn cells_of(connection: &Connection, table: &TableName) -> Vec<String> {
    let scan = Scan::new().with_all_versions();
    let rows = connection.table(table.clone()).and_then(|table| table.scan(&scan));
    let mut cells = Vec::new();
    for row in rows.expect("the table is there") {
        let row = row.expect("nothing is damaged");
        cells.extend(row.cells().map(|cell| {
            let text = String::from_utf8_lossy;
            let (row, family) = (text(cell.row()), text(cell.family()));
            let (qualifier, value) = (text(cell.qualifier()), text(cell.value()));
            format!("{row} {family}:{qualifier} {} {value}", cell.timestamp())
        }));
    }
    cells
}

fn load(connection: &Connection) -> Result<hblite::BulkLoadReport> {
    connection.admin().bulk_load(name("t"), FOLDER, &BulkLoadOptions::default())
}

#[test]
fn files_are_cut_at_the_borders_and_what_is_no_file_is_passed_over() {
    let fs = MemFileSystem::new();
    let connection = open(fs.clone()).expect("an empty store");
    create(&connection, &["g", "p"]).expect("a new table");
    let rows = |from: u8, to: u8, family: &str| -> Vec<Cell> {
        let row = |byte: u8| char::from(byte).to_string();
        (from..=to).map(|byte| put_cell(&row(byte), family, "q", 5, &row(byte))).collect()
    };
    write_file(&fs, &in_folder("a", "0001"), &rows(b'a', b'z', "a"));
    write_file(&fs, &in_folder("a", "0002"), &rows(b'a', b'c', "a"));
    write_file(&fs, &in_folder("b", "0003"), &rows(b'h', b'k', "b"));
    write_file(&fs, &in_folder("b", "0004"), &[]);
    for ignored in ["_logs/x", "_SUCCESS", ".hidden", "a/_temporary", "a/.crc"] {
        let path = Path::new(FOLDER).join(ignored);
        fs.create_dir_all(path.parent().expect("in a folder")).expect("there is room");
        fs.create(&path).expect("there is room");
    }
    for told in ["README", "a/0005.00ff", "a/t=00aa-0006"] {
        fs.create(&Path::new(FOLDER).join(told)).expect("there is room");
    }
    let report = load(&connection).expect("all of it can be loaded");
    assert_eq!((report.files, report.files_split, report.regions), (3, 1, 3));
    assert_eq!(report.cells, 26 + 3 + 4);
    let mut skipped: Vec<&Path> = report.skipped.iter().map(|(path, _)| path.as_path()).collect();
    skipped.sort();
    let expected = ["README", "a/0005.00ff", "a/t=00aa-0006", "b/0004"];
    let expected: Vec<PathBuf> = expected.iter().map(|name| Path::new(FOLDER).join(name)).collect();
    assert_eq!(skipped, expected);
    assert!(fs.exists(&in_folder("a", "0001")).expect("it can be looked for"), "it was copied");
    assert_eq!(cells_of(&connection, &name("t")).len(), 26 + 4);

    let move_files = BulkLoadOptions::default().with_transfer(FileTransfer::Move);
    let report = connection.admin().bulk_load(name("t"), FOLDER, &move_files);
    assert!(report.expect("the same again").left_behind.is_empty());
    assert!(!fs.exists(&in_folder("a", "0001")).expect("it can be looked for"), "it has moved");
    assert_eq!(cells_of(&connection, &name("t")).len(), 26 + 4);
    connection.close().expect("nothing fails");
    let report = check(&fs);
    assert!(report.defects.is_empty() && report.notes.is_empty(), "{report:?}");
}

#[test]
fn what_cannot_be_loaded_is_named_and_leaves_nothing() {
    let fs = MemFileSystem::new();
    let connection = open(fs.clone()).expect("an empty store");
    create(&connection, &["m"]).expect("a new table");
    let good = [put_cell("r", "a", "q", 1, "v")];
    write_file(&fs, &in_folder("a", "00"), &good);
    let refused = |exception: Exception, text: &str| {
        let error = load(&connection).expect_err("this must not be loaded");
        assert_eq!(error.exception(), exception, "{error}");
        assert!(error.message().contains(text), "{error}");
        assert!(cells_of(&connection, &name("t")).is_empty(), "{text}: nothing was loaded");
    };
    write_file(&fs, &in_folder("z", "01"), &[put_cell("r", "z", "q", 1, "v")]);
    refused(
        Exception::Io,
        "Unmatched family names found: unmatched family names in HFiles to be bulkloaded: [z]; \
         valid family names of table t are: [a, b]",
    );
    fs.remove_dir_all(&Path::new(FOLDER).join("z")).expect("it is there");
    write_file(&fs, &in_folder("b", "02"), &good);
    refused(Exception::DoNotRetryIo, "it has cells of family a, and is to be loaded into b");
    fs.remove_dir_all(&Path::new(FOLDER).join("b")).expect("it is there");

    let text = in_folder("a", "03");
    fs.create(&text).and_then(|mut file| file.write_all(b"no file of HBase")).expect("room");
    refused(Exception::CorruptHFile, "03 at offset 0: file is too short to be an HFile");
    fs.remove_file(&text).expect("it is there");
    let mut content = fs.read(&in_folder("a", "00")).expect("it is there");
    content[50] ^= 1;
    fs.create(&text).and_then(|mut file| file.write_all(&content)).expect("room");
    refused(Exception::CorruptHFile, "03 at offset 0");
    fs.remove_file(&text).expect("it is there");

    for number in 0..32 {
        let row = format!("a{number}");
        let name = format!("{:04x}", 0x100 + number);
        write_file(&fs, &in_folder("a", &name), &[put_cell(&row, "a", "q", 1, "v")]);
    }
    load(&connection).expect("32 files of one region and one of another");
    write_file(&fs, &in_folder("a", "0200"), &[put_cell("a99", "a", "q", 1, "v")]);
    let error = load(&connection).expect_err("33 files of one region");
    let text = "Trying to load more than 32 hfiles to one family of one region";
    assert_eq!(error.message(), text);

    let admin = connection.admin();
    let missing = admin.bulk_load("no", FOLDER, &Default::default());
    assert_eq!(missing.expect_err("no such table").exception(), Exception::TableNotFound);
    admin.disable_table(name("t")).expect("it is enabled");
    let disabled = load(&connection).expect_err("no region serves");
    assert_eq!(disabled.exception(), Exception::TableNotEnabled);
}

#[test]
fn a_region_takes_what_fits_it_and_nothing_else() {
    let fs = MemFileSystem::new();
    let connection = open(fs.clone()).expect("an empty store");
    create(&connection, &["m"]).expect("a new table");
    let (low, wide) = (in_folder("a", "00"), in_folder("b", "01"));
    write_file(&fs, &low, &[put_cell("c", "a", "q", 1, "v")]);
    write_file(&fs, &wide, &[put_cell("c", "b", "q", 1, "v"), put_cell("x", "b", "q", 1, "v")]);
    let admin = connection.admin();
    let region = admin.locate_region(name("t"), b"c").expect("it is there").region;
    let files = [(b"a".to_vec(), low), (b"b".to_vec(), wide)];
    let load = |files: &[(Vec<u8>, PathBuf)]| {
        admin.bulk_load_region(region.encoded_name(), files, &BulkLoadOptions::default())
    };
    assert!(!load(&files).expect("no error: it does not fit"));
    assert!(cells_of(&connection, &name("t")).is_empty());
    assert!(load(&files[..1]).expect("it fits"));
    assert_eq!(cells_of(&connection, &name("t")).len(), 1);
    let strange = load(&[(b"z".to_vec(), files[0].1.clone())]).expect_err("no such family");
    assert_eq!(strange.message(), "No such column family z");
    let unknown = admin.bulk_load_region("00ff", &files, &BulkLoadOptions::default());
    assert_eq!(unknown.expect_err("no such region").kind(), ErrorKind::NotFound);
}

#[test]
fn a_loaded_cell_wins_over_equal_ones_before_it_and_loses_to_those_behind() {
    for is_newer in [true, false] {
        let fs = CrashFileSystem::new();
        let connection = open(fs.clone()).expect("an empty store");
        create(&connection, &[]).expect("a new table");
        // An id in the file that exceeds all of the store's is ignored.
        let path = in_folder("a", "00");
        fs.create_dir_all(path.parent().expect("a folder")).expect("room");
        let mut writer = HFileWriter::create(&fs, &path, HFileWriterOptions::default()).expect("");
        for row in ["before", "behind"] {
            let cell = put_cell(row, "a", "q", 7, "loaded");
            writer.append(&cell.as_ref().with_sequence_id(1_000_000)).expect("in order");
        }
        let info = StoreFileInfo { max_sequence_id: Some(2_000_000), ..StoreFileInfo::default() };
        writer.finish(&info).expect("there is room");

        let table = connection.table("t").expect("a name");
        let put = |row: &str| {
            table.put(&Put::new(row).add_at("a", "q", 7, "put")).expect("the table takes it");
        };
        put("before");
        let options = BulkLoadOptions::default().with_assign_sequence_id(is_newer);
        let mut scanner = table.scan(&Scan::new()).expect("the table is there");
        connection.admin().bulk_load(name("t"), FOLDER, &options).expect("it can be loaded");
        put("behind");
        let seen = scanner.next_row().expect("nothing is damaged").expect("the row");
        assert_eq!(seen.value("a", "q"), Some(&b"put"[..]), "a scan that began before the load");
        assert!(scanner.next_row().expect("nothing is damaged").is_none());

        let before: &[u8] = if is_newer { b"loaded" } else { b"put" };
        let look = |connection: &Connection, context: &str| {
            let table = connection.table("t").expect("a name");
            for (row, value) in [("before", before), ("behind", b"put")] {
                let found = table.get(&Get::new(row)).expect("nothing is damaged");
                assert_eq!(found.value("a", "q"), Some(value), "{context}: {row}");
            }
        };
        look(&connection, "at once");
        drop(connection);
        let connection = open(fs.after_kill()).expect("opens again");
        look(&connection, "after a kill");
        connection.admin().flush_table(name("t")).expect("there is room");
        look(&connection, "flushed");
        connection.admin().major_compact_table(name("t")).expect("there is room");
        look(&connection, "compacted");
    }
}
