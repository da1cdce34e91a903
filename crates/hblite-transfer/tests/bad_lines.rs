//! Lines that are not rows: which ones, why, and what happens to the others.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Read;
use std::ops::ControlFlow;

use hblite::{ColumnFamilyDescriptor, Connection, Scan, Table, TableDescriptor};
use hblite_transfer::{
    BadLine, Columns, DelimitedFormat, DelimitedReader, ImportError, ImportOptions, ImportReport,
    JsonLinesReader, JsonLinesWriter, TransferError, export, import,
};

/// A progress callback that never ends the work.
const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

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
) -> Result<ImportReport, ImportError> {
    let columns = Columns::parse(columns).unwrap();
    let mut reader = DelimitedReader::new(text, format, Some(columns), None, options).unwrap();
    import(table, &mut reader, options, &mut |_| GO_ON)
}

fn skipping() -> ImportOptions {
    ImportOptions::at(5).with_bad_lines_skipped(true)
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
    let cause = error.cause.to_string();
    assert_eq!(cause, "line 4: No delimiter", "a quoted field goes over two lines");
    assert_eq!((error.report.lines, error.report.cells), (2, 2));
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
                // Also with the input divided between reads at every position.
                for read_size in [1, 2, 3, 7, 1 << 16] {
                    let input = SmallReads { bytes: text.as_bytes(), read_size };
                    let columns = Some(Columns::parse(columns).unwrap());
                    let format = DelimitedFormat::CSV;
                    let mut reader =
                        DelimitedReader::new(input, format, columns, None, &skipping()).unwrap();
                    let report = import(&table, &mut reader, &skipping(), &mut |_| GO_ON).unwrap();
                    let found: Vec<u64> =
                        report.bad_lines_kept.iter().map(|bad| bad.line).collect();
                    assert_eq!(found, expected, "{text:?} by {read_size}");
                }
            }
        }
    }
}

/// Returns a few bytes at a time.
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
    let options = ImportOptions::at(5).with_writers(1);
    let mut reader = JsonLinesReader::new(text.as_bytes(), &options);
    let error = import(&table, &mut reader, &options, &mut |_| GO_ON).unwrap_err();
    assert!(matches!(&error.cause, TransferError::BadLine(bad) if bad.line == 3), "{error}");
    assert_eq!(error.report.lines, 1, "{error}");
    assert!(error.to_string().contains("family g does not exist"), "{error}");

    let mut reader = JsonLinesReader::new(text.as_bytes(), &options);
    let report = import(&table, &mut reader, &skipping(), &mut |_| GO_ON).unwrap();
    assert_eq!((report.lines, report.cells, report.bad_lines), (2, 2, 1));
    assert_eq!(report.bad_lines_kept[0].line, 3);
    assert_eq!(rows(&table), ["a", "c"]);
}

#[test]
fn later_lines_of_a_row_win_for_any_number_of_writers() {
    for writers in 1..5 {
        let (_store, table) = table();
        let text: String = (0..5_000).map(|n| format!("row{},{n}\n", n % 7)).collect();
        let options = ImportOptions::at(5).with_writers(writers);
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
    let options = skipping().with_line_size_max(1 << 16);
    let endless = [b"a,1\nb,\"".as_slice(), &vec![b'x'; 1 << 20]].concat();
    let columns = "HBASE_ROW_KEY,f:q";
    let error = delimited(&table, &endless, DelimitedFormat::CSV, columns, &options).unwrap_err();
    let place = "line 2: longer than 65536 bytes";
    assert!(error.to_string().starts_with(place), "{error}");
    assert_eq!(error.report.lines, 1);

    let endless = [b"\n{\"row\":\"".as_slice(), &vec![b'x'; 1 << 20]].concat();
    let mut reader = JsonLinesReader::new(endless.as_slice(), &options);
    let error = import(&table, &mut reader, &options, &mut |_| GO_ON).unwrap_err();
    assert!(error.to_string().starts_with(place), "{error}");
}

/// The error of an import of CSV, with two columns.
fn refused(table: &Table, text: &str, options: &ImportOptions) -> ImportError {
    let columns = "HBASE_ROW_KEY,f:q";
    delimited(table, text.as_bytes(), DelimitedFormat::CSV, columns, options).unwrap_err()
}

#[test]
fn a_quote_that_is_not_closed_is_an_error_where_it_opened() {
    for options in [ImportOptions::at(5), skipping()] {
        let (_store, table) = table();
        let text = format!("a,1\n\"b\nb\",\"2\n{}", "swallowed,3\n".repeat(50));
        let error = refused(&table, &text, &options);
        assert_eq!(error.cause.to_string(), "line 3: a quote opens here and is not closed");
        assert_eq!((error.report.lines, error.report.cells), (1, 1));
        assert_eq!(rows(&table), ["a"]);
    }
}

#[test]
fn a_quoted_field_has_at_most_so_many_lines() {
    let (_store, table) = table();
    let options = ImportOptions::at(5).with_field_lines_max(3);
    let columns = "HBASE_ROW_KEY,f:q";
    let fits = b"a,\"1\r\n2\r\n3\"\nb,\"1\n\n3\"\n";
    let report = delimited(&table, fits, DelimitedFormat::CSV, columns, &options).unwrap();
    assert_eq!(report.lines, 2);
    let error = refused(&table, "c,1\nd,\"1\n2\n3\n4\"\n", &options);
    let expected = "line 2: a quote opens here and is not closed within 3 lines, the limit";
    assert_eq!(error.cause.to_string(), expected);
    assert_eq!(rows(&table), ["a", "b", "c"]);
}

#[test]
fn text_behind_a_closing_quote_is_a_bad_line_and_over_several_lines_an_error() {
    let (_store, table) = table();
    let columns = "HBASE_ROW_KEY,f:q";
    let text = b"a,\"1\"x\nb,\"2\"\"\"\nc,\"3\" \n";
    let report = delimited(&table, text, DelimitedFormat::CSV, columns, &skipping()).unwrap();
    let reason = "text after the quote that closes a field";
    assert_eq!(report.bad_lines_kept, [bad(1, reason), bad(3, reason)]);
    assert_eq!(rows(&table), ["b"]);
    // The quote of line 2 is closed by the one that opens on line 4: rows are in between.
    let error = refused(&table, "d,1\ne,\"2\nf,3\ng,\"4\"\n", &skipping());
    let expected = "line 2: a quote opens here and is closed on line 4, with text after it; a \
        quote within a field is written twice";
    assert_eq!(error.cause.to_string(), expected);
    assert_eq!(rows(&table), ["b", "d"]);
}

#[test]
fn a_progress_ends_an_import_and_the_lines_read_so_far_are_in() {
    let (_store, table) = table();
    let lines = |count| (0..count).map(|n| format!("row{n:05},{n}\n")).collect::<String>();
    let text = lines(20_000);
    let options = ImportOptions::at(5).with_writers(1);
    let columns = Some(Columns::parse("HBASE_ROW_KEY,f:q").unwrap());
    let format = DelimitedFormat::CSV;
    let mut reader =
        DelimitedReader::new(text.as_bytes(), format, columns, None, &options).unwrap();
    let error = import(&table, &mut reader, &options, &mut |progress| match progress.lines {
        ..5_000 => GO_ON,
        _ => ControlFlow::Break(()),
    })
    .unwrap_err();
    assert!(matches!(error.cause, TransferError::Interrupted), "{error}");
    assert_eq!((error.report.lines, error.report.cells), (5_000, 5_000));
    assert_eq!(rows(&table), lines(5_000).lines().map(|l| l[..8].to_owned()).collect::<Vec<_>>());

    let mut exported = JsonLinesWriter::new(Vec::new());
    let end = &mut |_: &_| ControlFlow::Break(());
    let error = export(&table, &Scan::new(), &mut exported, end).unwrap_err();
    assert!(matches!(error, TransferError::Interrupted), "{error}");
    assert_eq!(exported.into_inner().split(|byte| *byte == b'\n').count(), 257);
}
