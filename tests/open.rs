//! Opening and closing: one process at a time, damage that is reported with its position, recovery.

use std::fs;
use std::path::{Path, PathBuf};

use hblite::{
    Admin, ColumnFamilyDescriptor, Connection, ErrorKind, Get, Options, Put, Result, ResultScanner,
    Scan, Table, TableDescriptor,
};

fn options() -> Options {
    Options::new().with_flush_on_close(false)
}

fn store_with_rows(dir: &Path, rows: u32) -> Connection {
    let connection = options().open(dir).expect("an empty directory opens");
    let table = TableDescriptor::new("t".parse().expect("a legal name"))
        .with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&table).expect("the table is new");
    let table = connection.table("t").expect("a legal name");
    for number in 0..rows {
        let put = Put::new(format!("row-{number:05}")).add("f", "q", "value".repeat(8));
        table.put(&put).expect("the store takes it");
    }
    connection
}

fn count(connection: &Connection) -> Result<usize> {
    let mut rows = 0;
    for row in connection.table("t")?.scan(&Scan::new())? {
        row?;
        rows += 1;
    }
    Ok(rows)
}

fn files_below(dir: &Path, wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("the directory is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(&path, wanted));
        } else if wanted(&path) {
            found.push(path);
        }
    }
    found
}

fn flip_byte(path: &Path, at: usize) {
    let mut content = fs::read(path).expect("the file is there");
    content[at] ^= 0x40;
    fs::write(path, content).expect("the file can be written");
}

#[test]
fn handles_may_be_used_from_any_thread() {
    fn is_send_and_sync<T: Send + Sync>() {}
    fn is_send<T: Send>() {}
    is_send_and_sync::<Connection>();
    is_send_and_sync::<Table>();
    is_send_and_sync::<Admin>();
    is_send::<ResultScanner>();
}

/// Every type in the public interface is exported.
#[test]
fn names_are_taken_as_they_come_and_types_have_names() {
    let connection = hblite::open_in_memory().expect("an empty store opens");
    for table in [connection.table("t"), connection.table("t".to_owned())] {
        assert_eq!(table.expect("a legal name").name().to_string(), "t");
    }
    let recovery = connection.recovery().expect("embedded");
    let (torn, salvaged): (&Option<hblite::TornTail>, &[hblite::Salvaged]) =
        (&recovery.torn_tail, &recovery.salvaged);
    assert!(torn.is_none() && salvaged.is_empty());
    let scan = hblite::Scan::new().with_family("f");
    let columns: &hblite::ColumnSelection = scan.columns();
    let _: Option<&hblite::Qualifiers> = columns.get(b"f");
    let status: Vec<hblite::RegionStatus> =
        connection.admin().status().expect("an open store").regions;
    assert!(!status.is_empty());
}

#[test]
fn a_second_open_names_the_holder_and_succeeds_when_it_is_gone() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let first = store_with_rows(dir.path(), 1);
    let error = hblite::open(dir.path()).expect_err("the directory is in use");
    let holder = format!("process {}", std::process::id());
    assert!(error.message().contains(&holder), "{error}");
    assert!(error.message().contains(&dir.path().display().to_string()), "{error}");
    first.close().expect("the store closes");
    assert_eq!(count(&hblite::open(dir.path()).expect("nobody has it")).expect("readable"), 1);
}

#[test]
fn handles_of_a_closed_store_answer_with_an_error() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    // Memory that is flushed on closing, and memory that is not.
    drop(store_with_rows(dir.path(), 3));
    let flushed = hblite::open(dir.path()).expect("the store opens");
    answers_closed_after_closing(flushed);
    let kept = options().open(dir.path()).expect("the store opens");
    answers_closed_after_closing(kept);
}

fn answers_closed_after_closing(connection: Connection) {
    let (table, admin) = (connection.table("t").expect("a legal name"), connection.admin());
    let mut scanner = table.scan(&Scan::new()).expect("the table is there");
    connection.close().expect("the store closes");
    let new_table = TableDescriptor::new("u".parse().expect("a legal name"))
        .with_family(ColumnFamilyDescriptor::new("f"));
    let errors = [
        table.put(&Put::new("late").add("f", "q", "v")).expect_err("a put"),
        table.put_all(&[Put::new("late").add("f", "q", "v")]).expect_err("puts"),
        table.get(&Get::new("row-00000")).expect_err("a get"),
        table.scan(&Scan::new()).map(drop).expect_err("a scan"),
        admin.create_table(&new_table).expect_err("a new table"),
        admin.disable_table(table.name()).expect_err("a change of state"),
        admin.flush_table(table.name()).expect_err("a flush"),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    }
    assert!(scanner.next_row().expect("what the scan has begun").is_some());
}

#[test]
fn a_file_where_the_directory_should_be_is_told() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let path = dir.path().join("file");
    fs::write(&path, "not a store").expect("the file can be written");
    let error = hblite::open(&path).expect_err("a file is not a directory");
    assert!(error.message().contains("file"), "{error}");
    assert_eq!(fs::read(&path).expect("still there"), b"not a store");
}

#[test]
fn unflushed_rows_come_back_from_the_log() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    drop(store_with_rows(dir.path(), 500));
    let connection = options().open(dir.path()).expect("the store opens again");
    assert!(connection.recovery().expect("embedded").entries >= 500, "{:?}", connection.recovery());
    assert_eq!(count(&connection).expect("readable"), 500);
}

#[test]
fn a_torn_end_of_the_log_is_told_and_the_rest_is_there() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let connection = store_with_rows(dir.path(), 100);
    // As if the process had been killed: no orderly end of the log.
    let copy = tempfile::tempdir().expect("a temporary directory can be made");
    copy_dir(dir.path(), copy.path());
    drop(connection);
    let log = files_below(&copy.path().join("WALs"), &|_| true).pop().expect("there is a log");
    let content = fs::read(&log).expect("the log can be read");
    // Zeros that were written ahead may follow the last record.
    let last = content.iter().rposition(|byte| *byte != 0).expect("the log has records");
    fs::write(&log, &content[..last - 7]).expect("the log can be written");
    let connection = options().open(copy.path()).expect("a torn tail is not damage");
    let torn =
        connection.recovery().expect("embedded").torn_tail.as_ref().expect("the tear is told");
    assert_eq!(torn.file, log);
    assert_eq!(count(&connection).expect("readable"), 99);
}

#[test]
fn damage_in_the_middle_of_the_log_is_an_error_unless_it_is_salvaged() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    drop(store_with_rows(dir.path(), 100));
    let log = files_below(&dir.path().join("WALs"), &|_| true).pop().expect("there is a log");
    let middle = fs::read(&log).expect("the log can be read").len() / 2;
    flip_byte(&log, middle);
    let error = options().open(dir.path()).expect_err("the log is damaged");
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(error.file(), Some(log.as_path()));
    assert!(error.offset().is_some_and(|offset| offset > 0), "{error}");
    let connection = options().with_salvage(true).open(dir.path()).expect("salvage passes over it");
    assert_eq!(connection.recovery().expect("embedded").salvaged.len(), 1);
    assert_eq!(count(&connection).expect("readable"), 99);
}

#[test]
fn a_damaged_store_file_is_told_with_its_place_and_never_read_as_data() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let connection = store_with_rows(dir.path(), 3_000);
    connection.admin().flush_table("t").expect("flushed");
    drop(connection);
    let is_store_file = |path: &Path| path.parent().is_some_and(|parent| parent.ends_with("f"));
    let data = dir.path().join("data/default/t");
    let file = files_below(&data, &is_store_file).pop().expect("there is a store file");
    flip_byte(&file, 1_000);
    let connection = options().open(dir.path()).expect("blocks are checked when they are read");
    let error = count(&connection).expect_err("the first block is damaged");
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!((error.file(), error.offset()), (Some(file.as_path()), Some(0)), "{error}");
    let last = connection.table("t").and_then(|table| table.get(&Get::new("row-02999")));
    assert!(!last.expect("another block").is_empty());
}

fn copy_dir(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the directory is there").flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            fs::create_dir_all(&target).expect("the directory can be made");
            copy_dir(&source, &target);
        } else {
            fs::copy(&source, &target).expect("the file can be copied");
        }
    }
}

/// Nothing can truncate the files of a store in memory, so no option makes it copy their blocks.
/// Blocks of a directory are read into the cache unless files are mapped.
#[test]
fn a_store_in_memory_copies_no_blocks() {
    let dir = tempfile::tempdir().expect("a directory");
    let cached = |connection: Connection| {
        let family = ColumnFamilyDescriptor::new("f");
        let table = TableDescriptor::new("t".parse().expect("a legal name")).with_family(family);
        connection.admin().create_table(&table).expect("the table is new");
        let table = connection.table("t").expect("a legal name");
        table.put(&Put::new("row").add("f", "q", "value")).expect("the store takes it");
        connection.admin().flush_table("t").expect("it is written");
        assert_eq!(count(&connection).expect("it is read"), 1);
        connection.admin().clear_block_cache("t").expect("a table").evicted_blocks
    };
    let options = || Options::new().with_files_mapped(false);
    assert_eq!(cached(options().open_in_memory().expect("memory")), 0);
    assert_ne!(cached(options().open(dir.path()).expect("a directory")), 0);
}
