//! Lines that are no rows: which they are, why, and what becomes of the others.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Read;

use hblite::{ColumnFamilyDescriptor, Connection, Scan, Table, TableDescriptor};
use hblite_transfer::{
    BadLine, Columns, DelimitedFormat, DelimitedReader, ImportOptions, ImportReport,
    JsonLinesReader, TransferError, import,
};

fn table() -> (Connection, Table) {
    let connection = hblite::open_in_memory().unwrap();
    let descriptor =
        TableDescriptor::new("t".parse().unwrap()).with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&descriptor).unwrap();
    let table = connection.table("t").unwrap();
    (connection, table)
}

fn rows(table: &Table) -> Vec<String> {
    let rows = table.scan(&Scan::new()).unwrap();
    rows.map(|row| String::from_utf8(row.unwrap().row().to_vec()).unwrap()).collect()
}

fn delimited(
    table: &Table,
    text: &[u8],
    format: DelimitedFormat,
    columns: &str,
    options: &ImportOptions,
) -> Result<ImportReport, TransferError> {
    let columns = Columns::parse(columns).unwrap();
    let mut reader = DelimitedReader::new(text, format, Some(columns), false, options)?;
    import(table, &mut reader, options, &mut |_| {})
}

fn skipping() -> ImportOptions {
    ImportOptions { skips_bad_lines: true, ..ImportOptions::at(5) }
}

fn bad(line: u64, reason: &str) -> BadLine {
    BadLine { line, reason: reason.to_owned() }
}

#[test]
fn each_has_the_reason_that_import_tsv_gives() {
    let (_store, table) = table();
    let text = b"good\t1\t2\tv\nalone\nr\t1\t2\tv\texcess\nr\nonly\t7\nr\tx\t2\tv\nr\t1\tsoon\tv\n\
        r\t-4\t2\tv\n\t1\t2\tv\nlast\t1\t\tv";
    let columns = "HBASE_ROW_KEY,HBASE_TS_KEY,HBASE_CELL_TTL,f:q";
    let report = delimited(&table, text, DelimitedFormat::TSV, columns, &skipping()).unwrap();
    let expected = [
        bad(2, "No delimiter"),
        bad(3, "Excessive columns"),
        bad(4, "No delimiter"),
        bad(5, "No cell TTL specified"),
        bad(6, "Invalid timestamp x"),
        bad(7, "Invalid cell TTL soon"),
        bad(8, "Timestamp cannot be negative. ts=-4"),
        bad(9, "Row length is 0"),
    ];
    assert_eq!(report.bad_lines_kept, expected);
    assert_eq!((report.lines, report.cells, report.bad_lines), (2, 2, 8));
}

#[test]
fn missing_fields_at_the_end_are_left_out_and_a_put_of_none_is_bad() {
    let (_store, table) = table();
    let format = DelimitedFormat { skips_empty_columns: true, ..DelimitedFormat::CSV };
    let columns = "HBASE_ROW_KEY,f:a,f:b";
    let report = delimited(&table, b"x,1\ny,,\n", format, columns, &skipping()).unwrap();
    assert_eq!((report.lines, report.cells), (1, 1));
    assert_eq!(report.bad_lines_kept, [bad(2, "No columns to insert")]);
}

#[test]
fn the_first_bad_line_ends_the_import_and_those_before_are_there() {
    let (_store, table) = table();
    let text = b"a,1\n\"b\nb\",2\nbad\nc,3\n";
    let options = ImportOptions::at(5);
    let result = delimited(&table, text, DelimitedFormat::CSV, "HBASE_ROW_KEY,f:q", &options);
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), "line 4: No delimiter", "a quoted field goes over two lines");
    assert_eq!(rows(&table), ["a", "b\nb"]);
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    let lines = ["good,1", "", "", "bad", "\"good\n\n,\",2", "bad", "good,3", "", "bad"];
    let expected = [4, 8, 11];
    for end in ["\n", "\r\n"] {
        for start in ["", "\u{feff}"] {
            let text = format!("{start}{}", lines.join(end));
            for text in [text.clone(), format!("{text}{end}")] {
                let (_store, table) = table();
                let columns = "HBASE_ROW_KEY,f:q";
                // Also with the borders of reads at every place.
                for read_size in [1, 2, 3, 7, 1 << 16] {
                    let input = SmallReads { bytes: text.as_bytes(), read_size };
                    let columns = Some(Columns::parse(columns).unwrap());
                    let format = DelimitedFormat::CSV;
                    let mut reader =
                        DelimitedReader::new(input, format, columns, false, &skipping()).unwrap();
                    let report = import(&table, &mut reader, &skipping(), &mut |_| {}).unwrap();
                    let found: Vec<u64> =
                        report.bad_lines_kept.iter().map(|bad| bad.line).collect();
                    assert_eq!(found, expected, "{text:?} by {read_size}");
                }
            }
        }
    }
}

/// Gives a few bytes at a time.
struct SmallReads<'a> {
    bytes: &'a [u8],
    read_size: usize,
}

impl Read for SmallReads<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.read_size.min(buffer.len());
        self.bytes.by_ref().take(size as u64).read(buffer)
    }
}

#[test]
fn what_the_table_refuses_is_a_bad_line_too() {
    let (_store, table) = table();
    let cell = |row: &str, column: &str| {
        format!("{{\"row\":\"{row}\",\"cells\":[{{\"column\":\"{column}\",\"value\":\"v\"}}]}}\n")
    };
    let text = [cell("a", "f:q"), "\n".to_owned(), cell("b", "g:q"), cell("c", "f:q")].concat();
    let options = ImportOptions { writers: 1, ..ImportOptions::at(5) };
    let mut reader = JsonLinesReader::new(text.as_bytes(), &options);
    let error = import(&table, &mut reader, &options, &mut |_| {}).unwrap_err();
    assert!(matches!(&error, TransferError::BadLine(bad) if bad.line == 3), "{error}");
    assert!(error.to_string().contains("family g does not exist"), "{error}");

    let mut reader = JsonLinesReader::new(text.as_bytes(), &options);
    let report = import(&table, &mut reader, &skipping(), &mut |_| {}).unwrap();
    assert_eq!((report.lines, report.cells, report.bad_lines), (2, 2, 1));
    assert_eq!(report.bad_lines_kept[0].line, 3);
    assert_eq!(rows(&table), ["a", "c"]);
}

#[test]
fn later_lines_of_a_row_win_for_any_number_of_writers() {
    for writers in 1..5 {
        let (_store, table) = table();
        let text: String = (0..5_000).map(|n| format!("row{},{n}\n", n % 7)).collect();
        let options = ImportOptions { writers, ..ImportOptions::at(5) };
        let columns = "HBASE_ROW_KEY,f:q";
        delimited(&table, text.as_bytes(), DelimitedFormat::CSV, columns, &options).unwrap();
        for row in table.scan(&Scan::new()).unwrap() {
            let row = row.unwrap();
            let number: u64 = String::from_utf8_lossy(&row.row()[3..]).parse().unwrap();
            let last = (0..5_000).rev().find(|n| n % 7 == number).unwrap();
            assert_eq!(row.value("f", "q"), Some(last.to_string().as_bytes()));
        }
    }
}

#[test]
fn a_line_without_end_is_refused_before_it_fills_the_memory() {
    let (_store, table) = table();
    let options = ImportOptions { line_size_max: 1 << 16, ..skipping() };
    let endless = [b"a,1\nb,\"".as_slice(), &vec![b'x'; 1 << 20]].concat();
    let columns = "HBASE_ROW_KEY,f:q";
    let error = delimited(&table, &endless, DelimitedFormat::CSV, columns, &options).unwrap_err();
    let place = "line 2: longer than 65536 bytes";
    assert!(error.to_string().starts_with(place), "{error}");

    let endless = [b"\n{\"row\":\"".as_slice(), &vec![b'x'; 1 << 20]].concat();
    let mut reader = JsonLinesReader::new(endless.as_slice(), &options);
    let error = import(&table, &mut reader, &options, &mut |_| {}).unwrap_err();
    assert!(error.to_string().starts_with(place), "{error}");
}
