//! Copies to another key: the bytes of both keys are built here, without the designs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use hblite::{
    ColumnFamilyDescriptor, Connection, Delete, Put, Scan, Table, TableDescriptor, TableName,
};
use hblite_rowkey::Design;
use hblite_transfer::{
    CellView, CopyCount, CopyOptions, CopyProgress, KeyFields, Rekey, RowRange, TransferError,
    copy, digest_of_fields,
};
use parking_lot::Mutex;

const BY_TIME: &str = "ts:timestamp|host:str";
const BY_HOST: &str = "host:str|ts:reverse_timestamp";

fn go_on<T>(_: T) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn by_time(ts: i64, host: &str) -> Vec<u8> {
    [&ts.to_be_bytes()[..], host.as_bytes()].concat()
}

fn by_host(ts: i64, host: &str) -> Vec<u8> {
    [host.as_bytes(), &[0], &(i64::MAX - ts).to_be_bytes()].concat()
}

/// The row of the record with a number.
type RowOf = fn(i64) -> Vec<u8>;

/// Records with versions, markers, a time to live and, one in a hundred, a row in pieces.
fn filled(connection: &Connection, name: &str, splits: &[Vec<u8>], row: RowOf) -> Table {
    let family = ColumnFamilyDescriptor::new("f").with_versions(5);
    let descriptor = TableDescriptor::new(name.parse::<TableName>().unwrap()).with_family(family);
    connection.admin().create_table_with_splits(&descriptor, splits).unwrap();
    let table = connection.table(name).unwrap();
    for record in 0..400 {
        let row = row(record);
        for version in 1..4 {
            let put = Put::new(&row).add_at("f", "q", version, format!("{record}.{version}"));
            table.put(&put.with_time_to_live_ms(1 << 42)).unwrap();
        }
        if record % 3 == 0 {
            table.delete(&Delete::new(&row).column_at("f", "q", 2)).unwrap();
        }
        if record % 100 == 0 {
            let wide = (0..300).fold(Put::new(&row), |put, column| {
                put.add_at("f", format!("wide{column:03}"), 7, vec![b'w'; 10_000])
            });
            table.put(&wide).unwrap();
        }
    }
    table
}

fn record(number: i64) -> (i64, String) {
    (1_700_000_000_000 + number * 977, format!("host{}", number % 7))
}

fn in_time(number: i64) -> Vec<u8> {
    let (ts, host) = record(number);
    by_time(ts, &host)
}

fn in_hosts(number: i64) -> Vec<u8> {
    let (ts, host) = record(number);
    by_host(ts, &host)
}

/// All cells with their tags.
fn stored(table: &Table) -> BTreeSet<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let scan = Scan::new().with_all_versions().with_raw(true);
    let mut cells = BTreeSet::new();
    let mut scanner = table.scan(&scan).unwrap();
    scanner
        .for_each_cell(|cell| {
            cells.insert((cell.key().to_vec(), cell.value().to_vec(), cell.tags().to_vec()));
        })
        .unwrap();
    cells
}

fn rekey(from: &str, to: &str) -> Rekey {
    Rekey::new(Design::parse(from).unwrap(), Design::parse(to).unwrap()).unwrap()
}

fn empty(connection: &Connection, name: &str) -> Table {
    let family = ColumnFamilyDescriptor::new("f").with_versions(5);
    let descriptor = TableDescriptor::new(name.parse::<TableName>().unwrap()).with_family(family);
    connection.admin().create_table(&descriptor).unwrap();
    connection.table(name).unwrap()
}

fn progress_of(table: &Table) -> Mutex<CopyProgress> {
    let ranges = RowRange::of_regions(table).unwrap();
    Mutex::new(CopyProgress::new(table.name().to_string(), &ranges))
}

fn fields_digest(table: &Table, design: &str) -> String {
    let fields = KeyFields::new(Design::parse(design).unwrap()).unwrap();
    digest_of_fields(table, CellView::RAW, &fields, 2, &go_on).unwrap().to_string()
}

#[test]
fn records_arrive_under_their_new_keys_even_if_the_copy_is_interrupted() {
    let connection = hblite::open_in_memory().unwrap();
    let splits = [in_time(100), in_time(250)];
    let from = filled(&connection, "from", &splits, in_time);
    let expected = filled(&connection, "expected", &[], in_hosts);
    let to = empty(&connection, "to");
    let options = CopyOptions::default().with_rekey(Arc::new(rekey(BY_TIME, BY_HOST)));
    let progress = progress_of(&from);
    let mut rows = 0;
    for round in 0.. {
        assert!(round < 1_000, "the copy comes to an end");
        let last = Mutex::new(CopyCount::default());
        let end_soon = |count: CopyCount| {
            *last.lock() = count;
            if count.rows > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let text = serde_json::to_string(&*progress.lock()).unwrap();
        *progress.lock() = serde_json::from_str(&text).unwrap();
        let copied = copy(&from, &to, &progress, &options, &end_soon);
        rows += last.lock().rows;
        match copied {
            Ok(_) => break,
            Err(TransferError::Interrupted) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(rows >= 400, "{rows}");
    assert_eq!(stored(&to), stored(&expected));
    assert_eq!(fields_digest(&from, BY_TIME), fields_digest(&to, BY_HOST));
    to.put(&Put::new(in_hosts(7)).add_at("f", "q", 9, "another")).unwrap();
    assert_ne!(fields_digest(&from, BY_TIME), fields_digest(&to, BY_HOST));
}

#[test]
fn a_row_that_is_no_key_is_named_or_left_out() {
    let connection = hblite::open_in_memory().unwrap();
    let from = filled(&connection, "from", &[], in_time);
    let expected = filled(&connection, "expected", &[], in_hosts);
    for bad in ["", "x", "~~~~"] {
        from.put(&Put::new(format!("\0{bad}")).add_at("f", "q", 1, "no event")).unwrap();
    }
    let to = empty(&connection, "to");
    let options = CopyOptions::default().with_rekey(Arc::new(rekey(BY_TIME, BY_HOST)));
    let error = copy(&from, &to, &progress_of(&from), &options, &go_on).unwrap_err();
    assert!(matches!(&error, TransferError::BadRow(bad) if bad.row == b"\0"), "{error}");
    assert!(error.to_string().starts_with("row \\x00: "), "{error}");
    let options = options.with_bad_rows_skipped(true);
    let count = copy(&from, &to, &progress_of(&from), &options, &go_on).unwrap();
    assert_eq!((count.rows, count.bad_rows), (400, 3));
    assert_eq!(stored(&to), stored(&expected));
    let fields = KeyFields::new(Design::parse(BY_TIME).unwrap()).unwrap();
    let digest = |fields: &KeyFields| digest_of_fields(&from, CellView::RAW, fields, 1, &go_on);
    assert!(matches!(digest(&fields), Err(TransferError::BadRow(_))));
    let digest = digest(&fields.with_bad_rows_skipped(true)).unwrap();
    assert_eq!((digest.rows, digest.cells), (400, count.cells));
    assert_eq!(digest.to_string(), fields_digest(&to, BY_HOST));
}

/// Rows of one record differ only in their random salt: both would get one key.
#[test]
fn rows_that_would_become_one_are_both_named_or_merged() {
    let connection = hblite::open_in_memory().unwrap();
    let from = empty(&connection, "from");
    for (salt, name, time) in [(0, "a", 1), (3, "b", 1), (1, "b", 2), (2, "c", 1)] {
        let row = [&[salt][..], name.as_bytes()].concat();
        from.put(&Put::new(row).add_at("f", "q", time, format!("{salt}"))).unwrap();
    }
    let to = empty(&connection, "to");
    let moved = rekey("salt(4)|name:str", "name:str");
    let options = CopyOptions::default().with_rekey(Arc::new(moved.clone()));
    let error = copy(&from, &to, &progress_of(&from), &options, &go_on).unwrap_err().to_string();
    let named = r"row \x03b: it has the fields of row \x01b, and only another random salt";
    assert!(error.starts_with(named), "{error}");
    let options = options.with_rekey(Arc::new(moved.with_merging(true)));
    let count = copy(&from, &to, &progress_of(&from), &options, &go_on).unwrap();
    assert_eq!((count.rows, count.cells), (4, 4));
    let cells = stored(&to).into_iter().map(|(key, value, _)| (key[2], value));
    let cells: Vec<(u8, Vec<u8>)> = cells.collect();
    let expected = [(b'a', "0"), (b'b', "3"), (b'b', "1"), (b'c', "2")];
    assert_eq!(cells, expected.map(|(name, value)| (name, value.into())));
}
