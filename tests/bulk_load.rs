//! Bulk loads: what they refuse, that they mean what the same puts mean, that a crash leaves them
//! whole or away, and that nobody beside them sees a half.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hblite::{
    BloomType, BulkLoadOptions, Cell, CellType, ColumnFamilyDescriptor, Compression, Connection,
    DataBlockEncoding, Delete, Durability, EngineOptions, Env, ErrorKind, Exception, FileTransfer,
    Get, Options, Put, Result, Scan, TableDescriptor, TableName,
};
use hblite_env::{CrashFileSystem, Fault, FaultFileSystem, FileSystem, MemFileSystem, Operation};
use hblite_hfile::file_info::BULKLOAD_TIMESTAMP;
use hblite_hfile::{HFileReader, HFileScanner, HFileWriter, HFileWriterOptions, StoreFileInfo};
use proptest::prelude::*;

const STORE: &str = "/store";
const FOLDER: &str = "/hfiles";

fn table_name() -> TableName {
    "t".parse().expect("a legal name")
}

fn open(fs: impl FileSystem + 'static) -> Result<Connection> {
    let engine = EngineOptions {
        is_compaction_enabled: false,
        is_flushed_on_close: false,
        ..EngineOptions::default()
    };
    Options::new().engine(engine).env(Env::in_memory().with_fs(Arc::new(fs))).open(STORE)
}

/// A table with families a and b, cut at these rows.
fn create(connection: &Connection, splits: &[&str]) -> Result<()> {
    let family = |name: &str| ColumnFamilyDescriptor::new(name).with_versions(100);
    let table =
        TableDescriptor::new(table_name()).with_family(family("a")).with_family(family("b"));
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

/// Everything that a scan of all versions gives.
fn cells_of(connection: &Connection, table: &TableName) -> Vec<String> {
    let scan = Scan::new().versions(i32::MAX);
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
    connection.admin().bulk_load(&table_name(), FOLDER, &BulkLoadOptions::default())
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
    assert_eq!(cells_of(&connection, &table_name()).len(), 26 + 4);

    let move_files = BulkLoadOptions { transfer: FileTransfer::Move, ..BulkLoadOptions::default() };
    let report = connection.admin().bulk_load(&table_name(), FOLDER, &move_files);
    assert!(report.expect("the same again").left_behind.is_empty());
    assert!(!fs.exists(&in_folder("a", "0001")).expect("it can be looked for"), "it has moved");
    assert_eq!(cells_of(&connection, &table_name()).len(), 26 + 4);
    connection.close().expect("nothing fails");
    let report = check(&fs);
    assert!(report.defects.is_empty() && report.notes.is_empty(), "{report:?}");
}

fn check(fs: &(impl FileSystem + Clone + 'static)) -> hblite::CheckReport {
    let env = Env::in_memory().with_fs(Arc::new(fs.clone()));
    hblite_engine::check(&env, Path::new(STORE), &mut |_| {}).expect("a store is there")
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
        assert!(cells_of(&connection, &table_name()).is_empty(), "{text}: nothing was loaded");
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
    let missing = admin.bulk_load(&"no".parse().expect("a name"), FOLDER, &Default::default());
    assert_eq!(missing.expect_err("no such table").exception(), Exception::TableNotFound);
    admin.disable_table(&table_name()).expect("it is enabled");
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
    let region = admin.locate_region(&table_name(), b"c").expect("it is there").region;
    let files = [(b"a".to_vec(), low), (b"b".to_vec(), wide)];
    let load = |files: &[(Vec<u8>, PathBuf)]| {
        admin.bulk_load_region(region.encoded_name(), files, &BulkLoadOptions::default())
    };
    assert!(!load(&files).expect("no error: it does not fit"));
    assert!(cells_of(&connection, &table_name()).is_empty());
    assert!(load(&files[..1]).expect("it fits"));
    assert_eq!(cells_of(&connection, &table_name()).len(), 1);
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
        // An id in the file that is beyond all of the store's says nothing.
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
        let options = BulkLoadOptions { assign_sequence_id: is_newer, ..Default::default() };
        let mut scanner = table.scan(&Scan::new()).expect("the table is there");
        connection.admin().bulk_load(&table_name(), FOLDER, &options).expect("it can be loaded");
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
        connection.admin().flush_table(&table_name()).expect("there is room");
        look(&connection, "flushed");
        connection.admin().compact_table(&table_name(), true).expect("there is room");
        look(&connection, "compacted");
    }
}

/// What a table goes through.
#[derive(Debug, Clone)]
enum Step {
    Put(u8, u8, i64),
    Delete(u8, u8, i64),
    Load(Vec<(u8, u8, i64, bool)>),
    Flush,
    Compact,
    Split(u8),
    Reopen,
}

const FAMILIES: [&str; 2] = ["a", "b"];

fn row_of(number: u8) -> String {
    format!("row-{number}")
}

fn family_of(number: u8) -> &'static str {
    FAMILIES[usize::from(number) % 2]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (row, column, time) = (0..6_u8, 0..4_u8, 1..4_i64);
    let cell = (row.clone(), column.clone(), time.clone(), prop::bool::weighted(0.8));
    let step = prop_oneof![
        6 => (row.clone(), column.clone(), time.clone()).prop_map(|(r, c, t)| Step::Put(r, c, t)),
        2 => (row.clone(), column, time).prop_map(|(r, c, t)| Step::Delete(r, c, t)),
        4 => prop::collection::vec(cell, 1..8).prop_map(Step::Load),
        2 => Just(Step::Flush),
        1 => Just(Step::Compact),
        1 => row.prop_map(Step::Split),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..25)
}

/// Does a step to the table that is loaded, and the same by puts and deletes to the other.
fn take(step: &Step, number: usize, loaded: &Connection, plain: &Connection) -> Result<()> {
    let both = [loaded, plain];
    match step {
        Step::Put(row, column, time) => {
            let value = format!("{number}");
            let put = Put::new(row_of(*row));
            let put = put.add_at(family_of(*column), format!("q{column}"), *time, value);
            both.iter().try_for_each(|c| c.table("t")?.put(&put))
        }
        Step::Delete(row, column, time) => {
            let delete = Delete::new(row_of(*row));
            let delete = delete.columns_at(family_of(*column), format!("q{column}"), *time);
            both.iter().try_for_each(|c| c.table("t")?.delete(&delete))
        }
        Step::Load(cells) => load_both(cells, number, loaded, plain),
        Step::Flush => both.iter().try_for_each(|c| c.admin().flush_table(&table_name())),
        // A minor one forgets deletes where it happens to take all files.
        Step::Compact => {
            both.iter().try_for_each(|c| c.admin().flush_table(&table_name()))?;
            both.iter().try_for_each(|c| c.admin().compact_table(&table_name(), true))
        }
        Step::Split(row) => {
            // One that cannot be split now is not.
            let _ = loaded.admin().split_table(&table_name(), Some(row_of(*row).as_bytes()));
            Ok(())
        }
        Step::Reopen => Ok(()),
    }
}

fn load_both(
    cells: &[(u8, u8, i64, bool)],
    number: usize,
    loaded: &Connection,
    plain: &Connection,
) -> Result<()> {
    let unique: BTreeMap<(u8, u8, i64), bool> =
        cells.iter().map(|(row, column, time, is_put)| ((*row, *column, *time), *is_put)).collect();
    let source = MemFileSystem::new();
    for family in FAMILIES {
        let mut written = Vec::new();
        for ((row, column, time), is_put) in &unique {
            if family_of(*column) != family {
                continue;
            }
            let (row, qualifier) = (row_of(*row), format!("q{column}"));
            let cell_type = if *is_put { CellType::Put } else { CellType::DeleteColumn };
            let value = if *is_put { format!("loaded {number}") } else { String::new() };
            let parts = (row.as_bytes(), family.as_bytes(), qualifier.as_bytes());
            let cell = Cell::new(parts.0, parts.1, parts.2, *time, cell_type, value.as_bytes());
            written.push(cell);
            let table = plain.table("t")?;
            match is_put {
                true => table.put(&Put::new(&row).add_at(family, &qualifier, *time, value))?,
                false => table.delete(&Delete::new(&row).columns_at(family, &qualifier, *time))?,
            }
        }
        if !written.is_empty() {
            write_file(&source, &in_folder(family, &format!("{number:04x}")), &written);
        }
    }
    // Flushed before in the one, and behind in the other: as to files they are alike.
    plain.admin().flush_table(&table_name())?;
    let options = BulkLoadOptions { source: Some(Arc::new(source)), ..Default::default() };
    loaded.admin().bulk_load(&table_name(), FOLDER, &options).map(drop)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_load_means_what_the_same_puts_mean(steps in steps(), splits in prop::bool::ANY) {
        let (fs, plain_fs) = (CrashFileSystem::new(), CrashFileSystem::new());
        let mut loaded = open(fs.clone()).unwrap();
        let plain = open(plain_fs).unwrap();
        create(&loaded, if splits { &["row-2", "row-4"] } else { &[] }).unwrap();
        create(&plain, &[]).unwrap();
        let mut fs = fs;
        for (number, step) in steps.iter().enumerate() {
            take(step, number, &loaded, &plain).unwrap();
            if matches!(step, Step::Reopen) {
                drop(loaded);
                fs = fs.after_kill();
                loaded = open(fs.clone()).unwrap();
            }
            prop_assert_eq!(
                cells_of(&loaded, &table_name()),
                cells_of(&plain, &table_name()),
                "after step {}: {:?}", number, step
            );
        }
        drop(loaded);
        let report = check(&fs.after_kill());
        prop_assert!(report.defects.is_empty(), "{:?}", report.defects);
    }
}

/// Prepares a table of two regions with two families and a row in each, and a folder for all.
fn prepared() -> (CrashFileSystem, Connection) {
    let fs = CrashFileSystem::new();
    let connection = open(fs.clone()).expect("an empty disk opens");
    create(&connection, &["m"]).expect("a new table");
    for row in ["c", "x"] {
        let put = Put::new(row).add_at("a", "q", 1, "old").durability(Durability::FsyncWal);
        connection.table("t").and_then(|table| table.put(&put)).expect("the table takes it");
    }
    for family in FAMILIES {
        let cells = ["c", "d", "x", "y"].map(|row| put_cell(row, family, "q", 1, "new"));
        write_file(&fs, &in_folder(family, "00"), &cells);
        let cells = ["e", "z"].map(|row| put_cell(row, family, "q", 1, "new"));
        write_file(&fs, &in_folder(family, "01"), &cells[..1]);
        write_file(&fs, &in_folder(family, "02"), &cells[1..]);
    }
    fs.sync_everything();
    (fs, connection)
}

/// Whether a region has the load, all of it or nothing; `rows` are those that it brings there.
fn has_load(connection: &Connection, rows: [&str; 3], context: &str) -> bool {
    let table = connection.table("t").expect("a name");
    let mut seen = Vec::new();
    for row in rows {
        let found = table.get(&Get::new(row)).unwrap_or_else(|e| panic!("{context}: {row}: {e}"));
        for family in FAMILIES {
            seen.push(found.value(family, "q") == Some(b"new"));
        }
        if row == rows[0] {
            let value = found.value("a", "q");
            assert!(value.is_some(), "{context}: acknowledged row {row} is lost");
        }
    }
    assert!(seen.iter().all(|is_new| *is_new == seen[0]), "{context}: {rows:?}: half of a load");
    seen[0]
}

#[test]
fn a_crash_at_any_operation_leaves_a_regions_load_whole_or_away() {
    let (fs, connection) = prepared();
    let before = fs.operation_count();
    load(&connection).expect("nothing fails");
    let operations = fs.operation_count() - before;
    drop(connection);
    assert!(operations > 30, "a load does something: {operations}");
    let (mut whole, mut away) = (0, 0);
    for cut in 0..=operations {
        let (fs, connection) = prepared();
        fs.power_off_after(cut);
        let is_acknowledged = load(&connection).is_ok();
        drop(connection);
        for seed in [0, 2 * cut + 1, 2 * cut + 2] {
            let is_kill = seed == 2 * cut + 2;
            let context = format!("cut after {cut} of {operations}, seed {seed}, kill {is_kill}");
            let rest = if is_kill { fs.after_kill() } else { fs.after_power_cut(seed) };
            let connection = open(rest.clone()).unwrap_or_else(|e| panic!("{context}: {e}"));
            let low = has_load(&connection, ["c", "d", "e"], &context);
            let high = has_load(&connection, ["x", "y", "z"], &context);
            assert!(!is_acknowledged || (low && high), "{context}: an acknowledged load is lost");
            (whole, away) = (whole + u64::from(low), away + u64::from(!low));
            drop(connection);
            let connection = open(rest.after_kill()).unwrap_or_else(|e| panic!("{context}: {e}"));
            assert_eq!(has_load(&connection, ["c", "d", "e"], &context), low, "{context}: again");
            load(&connection).unwrap_or_else(|e| panic!("{context}: loaded again: {e}"));
            assert!(has_load(&connection, ["x", "y", "z"], &context));
            connection.admin().compact_table(&table_name(), true).expect("there is room");
            assert!(has_load(&connection, ["c", "d", "e"], &context));
            connection.close().expect("nothing fails");
            let report = check(&rest.after_kill());
            assert!(report.defects.is_empty(), "{context}: {:?}", report.defects);
        }
    }
    assert!(whole > 0 && away > 0, "both happen: {whole}, {away}");
}

/// Each operation of a load fails once, and the process lives on: a region has the load or has it
/// not, and if nobody knows, nothing is written any more.
#[test]
fn a_failure_at_any_operation_leaves_a_regions_load_whole_or_away() {
    let operations = [
        Operation::Create,
        Operation::Write,
        Operation::Sync,
        Operation::SyncDir,
        Operation::Rename,
        Operation::Remove,
    ];
    let (mut refused, mut stopped) = (0, 0);
    for operation in operations {
        for nth in 0.. {
            let context = format!("{operation:?} {nth}");
            let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
            let connection = open(fs.clone()).expect("an empty store");
            create(&connection, &["m"]).expect("a new table");
            for family in FAMILIES {
                let cells = ["c", "d", "x"].map(|row| put_cell(row, family, "q", 1, "new"));
                write_file(&fs, &in_folder(family, "00"), &cells);
                let cells = ["y", "e"].map(|row| put_cell(row, family, "q", 1, "new"));
                write_file(&fs, &in_folder(family, "01"), &cells);
            }
            for row in ["c", "x"] {
                let put = Put::new(row).add_at("a", "q", 1, "old");
                connection.table("t").and_then(|t| t.put(&put)).expect("the table takes it");
            }
            let before = fs.count(operation);
            fs.inject(Fault::on(operation).nth(nth));
            let loaded = load(&connection);
            let is_over = fs.count(operation) - before <= nth && loaded.is_ok();
            fs.heal();
            let is_stopped = loaded.as_ref().is_err_and(|e| e.kind() == ErrorKind::Closed);
            (refused, stopped) =
                (refused + u64::from(loaded.is_err()), stopped + u64::from(is_stopped));
            if !is_stopped {
                for rows in [["c", "d", "e"], ["x", "y", "y"]] {
                    let is_there = has_load(&connection, rows, &context);
                    assert!(is_there || loaded.is_err(), "{context}: {rows:?}");
                }
                load(&connection).unwrap_or_else(|error| panic!("{context}: again: {error}"));
            }
            drop(connection);
            let connection = open(fs).unwrap_or_else(|error| panic!("{context}: {error}"));
            for rows in [["c", "d", "e"], ["x", "y", "y"]] {
                let is_there = has_load(&connection, rows, &context);
                assert!(is_there || is_stopped, "{context}: {rows:?}, opened again");
            }
            load(&connection).unwrap_or_else(|error| panic!("{context}: again: {error}"));
            if is_over {
                break;
            }
        }
    }
    assert!(refused > 50 && stopped > 0, "{refused} refused, of them {stopped} of unknown end");
}

/// A check of what a crash left names no defect, whatever an open would still finish.
#[test]
fn what_a_crash_leaves_of_a_load_is_no_defect() {
    let (fs, connection) = prepared();
    let before = fs.operation_count();
    load(&connection).expect("nothing fails");
    let operations = fs.operation_count() - before;
    drop(connection);
    let mut unfinished = 0;
    for cut in 0..=operations {
        let (fs, connection) = prepared();
        fs.power_off_after(cut);
        let _ = load(&connection);
        drop(connection);
        let report = check(&fs.after_kill());
        assert!(report.defects.is_empty(), "cut after {cut}: {:?}", report.defects);
        let is_load = |note: &hblite::Finding| note.to_string().contains("an open finishes");
        unfinished += usize::from(report.notes.iter().any(is_load));
    }
    assert!(unfinished > 0, "some cuts fall between commit and end");
}

/// Loads bring rows that agree in both families; writers, scanners and splits run beside them.
#[test]
fn scanners_see_loads_whole_while_regions_split() {
    const LOADS: u64 = 40;
    let connection = Options::new()
        .env(Env::in_memory())
        .engine(EngineOptions { memstore_flush_size_bytes: 64 * 1024, ..Default::default() })
        .open(STORE)
        .expect("an empty store");
    create(&connection, &[]).expect("a new table");
    let (done, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let row = |number: u64| format!("row-{:02}", number % 20);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let table = connection.table("t").expect("a name");
            while !is_over.load(Ordering::Relaxed) {
                let known = done.load(Ordering::SeqCst);
                let rows = table.scan(&Scan::new()).expect("the table is there");
                let mut seen = 0;
                for row in rows {
                    let row = row.expect("nothing is damaged");
                    if row.row().starts_with(b"row-") {
                        assert_eq!(row.value("a", "q"), row.value("b", "q"), "half of a load");
                        seen += 1;
                    }
                }
                assert!(known == 0 || seen == 20, "{seen} rows of 20 after {known} loads");
            }
        });
        scope.spawn(|| {
            let table = connection.table("t").expect("a name");
            for number in 0_u64.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let put = Put::new(format!("put-{number:08}")).add("a", "p", vec![7; 200]);
                table.put(&put).expect("the table takes it");
            }
        });
        scope.spawn(|| {
            for number in (0_u64..).step_by(7) {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let key = row(number);
                let _ = connection.admin().split_table(&table_name(), Some(key.as_bytes()));
                let _ = connection.admin().compact_table(&table_name(), number % 2 == 0);
                std::thread::yield_now();
            }
        });
        for number in 1..=LOADS {
            let source = MemFileSystem::new();
            for family in FAMILIES {
                let value = number.to_string();
                let cells: Vec<Cell> = (0..20)
                    .map(|n| put_cell(&row(n), family, "q", number as i64, &value))
                    .collect();
                write_file(&source, &in_folder(family, "00"), &cells);
            }
            let options = BulkLoadOptions { source: Some(Arc::new(source)), ..Default::default() };
            let report = connection.admin().bulk_load(&table_name(), FOLDER, &options);
            report.unwrap_or_else(|error| panic!("load {number}: {error}"));
            done.store(number, Ordering::SeqCst);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let regions = connection.admin().regions(&table_name()).expect("the table is there");
    assert!(regions.len() > 1, "regions were split meanwhile");
    let table = connection.table("t").expect("a name");
    for number in 0..20 {
        let found = table.get(&Get::new(row(number)).versions(100)).expect("nothing is damaged");
        assert_eq!(found.len(), 2 * LOADS as usize, "{}", row(number));
    }
}

/// Every file that a real HBase wrote is loaded, whole and in parts, and read back.
#[test]
fn files_of_a_real_hbase_are_loaded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/hfile");
    let system = Env::system().fs;
    let mut count = 0;
    for entry in system.list_dir(&folder).expect("recorded files") {
        let path = folder.join(&entry.name);
        if path.extension().is_none_or(|extension| extension != "hfile")
            || entry.name.starts_with("comparator-meta")
        {
            continue;
        }
        let cells = cells_of_file(system.as_ref(), &path);
        let Some(first) = cells.first() else { continue };
        let family = String::from_utf8(first.as_ref().family().to_vec()).expect("a text");
        let middle = cells[cells.len() / 2].as_ref().row().to_vec();
        for splits in [vec![], vec![middle]] {
            let source = MemFileSystem::new();
            let target = Path::new(FOLDER).join(&family).join("00");
            source.create_dir_all(target.parent().expect("a folder")).expect("room");
            let content = system.read(&path).expect("it is there");
            source.create(&target).and_then(|mut f| f.write_all(&content)).expect("room");
            let connection = open(MemFileSystem::new()).expect("an empty store");
            let descriptor = ColumnFamilyDescriptor::new(family.as_str())
                .with_versions(i32::MAX as u32)
                .with_bloom(BloomType::RowCol)
                .with_compression(Compression::Zstd)
                .with_data_block_encoding(DataBlockEncoding::FastDiff);
            let table = TableDescriptor::new(table_name()).with_family(descriptor);
            connection.admin().create_table_with_splits(&table, &splits).expect("a new table");
            let options = BulkLoadOptions { source: Some(Arc::new(source)), ..Default::default() };
            let loaded = connection.admin().bulk_load(&table_name(), FOLDER, &options);
            loaded.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            assert!(raw_cells(&connection) == expected_raw(&cells), "{}", entry.name);
        }
        count += 1;
    }
    assert!(count > 80, "{count} files");
}

fn cells_of_file(fs: &dyn FileSystem, path: &Path) -> Vec<Cell> {
    let reader = Arc::new(HFileReader::open(fs, path, None).expect("a sound file"));
    let mut scanner = HFileScanner::new(reader);
    let mut cells = Vec::new();
    let mut is_at_cell = scanner.seek_first().expect("a sound file");
    while is_at_cell {
        cells.extend(scanner.current().map(|cell| cell.to_cell()));
        is_at_cell = scanner.next().expect("a sound file");
    }
    cells
}

fn shown(cell: &hblite::CellRef<'_>) -> (Vec<u8>, i64, Vec<u8>) {
    (cell.key().to_vec(), cell.timestamp(), cell.value().to_vec())
}

fn raw_cells(connection: &Connection) -> Vec<(Vec<u8>, i64, Vec<u8>)> {
    let scan = Scan::new().raw(true).versions(i32::MAX);
    let rows = connection.table("t").and_then(|table| table.scan(&scan)).expect("a table");
    let mut cells = Vec::new();
    for row in rows {
        cells.extend(row.expect("nothing is damaged").cells().map(|cell| shown(&cell)));
    }
    cells
}

/// What a raw scan gives: no times before 0, and of equal keys the first.
fn expected_raw(cells: &[Cell]) -> Vec<(Vec<u8>, i64, Vec<u8>)> {
    let mut expected: Vec<(Vec<u8>, i64, Vec<u8>)> = Vec::new();
    for cell in cells.iter().map(|cell| shown(&cell.as_ref())) {
        let is_known = expected.last().is_some_and(|last| last.0 == cell.0);
        if cell.1 >= 0 && !is_known {
            expected.push(cell);
        }
    }
    expected
}
