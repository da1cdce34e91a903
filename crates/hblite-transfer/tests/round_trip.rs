//! A table that is exported and imported again is the same table.
//!
//! Tables of random cells, markers, versions and times to live, with rows, qualifiers and values of
//! any bytes: JSON lines preserve every cell of a raw scan; CSV with timestamps preserves every
//! value. Wide rows and unusual settings are separate cases.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::ops::ControlFlow;
use std::sync::Arc;

use hblite::{
    ColumnFamilyDescriptor, Connection, Delete, KeepDeletedCells, ManualClock, Mutation, Options,
    Put, Scan, Table, TableDescriptor,
};
use hblite_transfer::{
    Columns, DelimitedFormat, DelimitedReader, DelimitedWriter, HeaderNames, ImportOptions,
    JsonLinesReader, JsonLinesWriter, PIECE_SIZE, RowReader, RowWriter, export, import,
};
use proptest::prelude::*;

/// A progress callback that never ends the work.
const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

const NOW: i64 = 1_000_000;

/// A store in memory with a table of families `f` and `g`.
fn table() -> (Connection, Table) {
    let options = Options::new().with_clock(Arc::new(ManualClock::new(NOW)));
    let connection = options.open_in_memory().unwrap();
    let family = |name| {
        ColumnFamilyDescriptor::new(name)
            .with_versions(1_000)
            .with_keep_deleted_cells(KeepDeletedCells::True)
    };
    let descriptor = TableDescriptor::new("t".parse().unwrap())
        .with_family(family("f"))
        .with_family(family("g"));
    connection.admin().create_table(&descriptor).unwrap();
    let table = connection.table("t").unwrap();
    (connection, table)
}

/// Every cell of a raw scan with its value and tags, as text.
fn cells(table: &Table, scan: &Scan) -> Vec<String> {
    let mut cells = Vec::new();
    let mut scanner = table.scan(scan).unwrap();
    while let Some(row) = scanner.next_row().unwrap() {
        cells.extend(row.cells().map(|cell| {
            let cell = cell.with_sequence_id(0);
            format!("{cell} {:?} {:?}", cell.value(), cell.tags())
        }));
    }
    cells
}

fn raw() -> Scan {
    Scan::new().with_raw(true).with_all_versions()
}

fn write(table: &Table, scan: &Scan, writer: &mut dyn RowWriter) {
    export(table, scan, writer, &mut |_| GO_ON).unwrap();
}

fn read(table: &Table, reader: &mut dyn RowReader, writers: usize) -> u64 {
    let options = ImportOptions::at(NOW).with_writers(writers);
    import(table, reader, &options, &mut |_| GO_ON).unwrap().cells
}

fn json_lines(table: &Table, scan: &Scan) -> Vec<u8> {
    let mut writer = JsonLinesWriter::new(Vec::new());
    write(table, scan, &mut writer);
    writer.into_inner()
}

fn bytes(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![proptest::sample::select(b"ab,\t\"\\x\n\r: ".to_vec()), any::<u8>(),];
    proptest::collection::vec(byte, length)
}

/// Few rows and columns, so that cells meet.
fn mutation() -> impl Strategy<Value = Mutation> {
    let place = (bytes(1..3), proptest::sample::select(vec!["f", "g"]), bytes(0..2), 1i64..6);
    (place, 0..9u8, bytes(0..12)).prop_map(|((row, family, qualifier, timestamp), kind, value)| {
        match kind {
            0 => Delete::new(row).column_at(family, qualifier, timestamp).into(),
            1 => Delete::new(row).columns_at(family, qualifier, timestamp).into(),
            2 => Delete::new(row).family_at(family, timestamp).into(),
            3 => Delete::new(row).family_version(family, timestamp).into(),
            4 => Put::new(row)
                .with_time_to_live_ms(NOW * 2)
                .add_at(family, qualifier, timestamp, value)
                .into(),
            _ => Put::new(row).add_at(family, qualifier, timestamp, value).into(),
        }
    })
}

fn columns() -> impl Strategy<Value = Vec<(Vec<u8>, i64, usize, Vec<u8>)>> {
    proptest::collection::vec((bytes(1..3), 1i64..6, 0usize..3, bytes(1..12)), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn json_lines_give_every_cell_back(
        mutations in proptest::collection::vec(mutation(), 1..60),
        writers in 1usize..4,
    ) {
        let (_store, from) = table();
        for mutation in &mutations {
            from.mutate_all(std::slice::from_ref(mutation)).unwrap();
        }
        let text = json_lines(&from, &raw());
        let (_other, to) = table();
        let options = ImportOptions::at(NOW);
        let count = read(&to, &mut JsonLinesReader::new(text.as_slice(), &options), writers);
        let expected = cells(&from, &raw());
        prop_assert_eq!(count, expected.len() as u64);
        prop_assert_eq!(cells(&to, &raw()), expected);
        prop_assert_eq!(cells(&to, &Scan::new()), cells(&from, &Scan::new()));
        prop_assert_eq!(json_lines(&to, &raw()), text);
    }

    #[test]
    fn delimited_lines_with_timestamps_give_every_value_back(
        puts in columns(),
        is_escaped in any::<bool>(),
        has_quotes in any::<bool>(),
        has_header in any::<bool>(),
    ) {
        let qualifiers = ["a", "b", "c,\"d"];
        let (_store, from) = table();
        for (row, timestamp, column, value) in &puts {
            let put = Put::new(row).add_at("f", qualifiers[*column], *timestamp, value);
            from.put(&put).unwrap();
        }
        let base = if has_quotes { DelimitedFormat::CSV } else { DelimitedFormat::TSV };
        let format = DelimitedFormat {
            // A format without escapes needs quotes.
            is_escaped: is_escaped || !has_quotes,
            skips_empty_columns: true,
            ..base
        };
        let names = ["HBASE_TS_KEY", "f:a", "HBASE_ROW_KEY", "f:b", "f:c,\"d"];
        let columns = Columns::from_names(names.into_iter()).unwrap();
        let mut writer =
            DelimitedWriter::new(Vec::new(), format, columns.clone(), has_header).unwrap();
        write(&from, &Scan::new().with_all_versions(), &mut writer);
        let text = writer.into_inner().unwrap();

        let (_other, to) = table();
        let columns = (!has_header).then_some(columns);
        let names = HeaderNames::default();
        let header = has_header.then_some(&names);
        let options = ImportOptions::at(NOW);
        let mut reader =
            DelimitedReader::new(text.as_slice(), format, columns, header, &options).unwrap();
        read(&to, &mut reader, 2);
        prop_assert_eq!(cells(&to, &raw()), cells(&from, &raw()));
    }
}

#[test]
fn a_wide_row_goes_through_in_pieces() {
    let (_store, from) = table();
    for column in 0..300 {
        let put = Put::new("wide").add_at("f", format!("{column:04}"), 1, vec![b'v'; 20_000]);
        from.put(&put).unwrap();
    }
    from.put(&Put::new("z").add_at("f", "q", 1, "last")).unwrap();
    let mut writer = JsonLinesWriter::new(Vec::new());
    let report = export(&from, &raw(), &mut writer, &mut |_| GO_ON).unwrap();
    assert_eq!((report.rows, report.cells), (2, 301), "pieces are not counted as rows");
    let text = writer.into_inner();
    let lengths: Vec<usize> = text.split(|byte| *byte == b'\n').map(<[u8]>::len).collect();
    assert!(lengths.len() > 5, "{lengths:?}");
    assert!(lengths.iter().all(|length| *length < 2 * PIECE_SIZE), "{lengths:?}");
    let (_other, to) = table();
    let options = ImportOptions::at(NOW);
    read(&to, &mut JsonLinesReader::new(text.as_slice(), &options), 3);
    assert_eq!(cells(&to, &raw()), cells(&from, &raw()));
}

#[test]
fn a_limit_counts_rows_and_not_pieces() {
    let (_store, from) = table();
    for (row, columns) in [("a", 100), ("b", 2), ("c", 2)] {
        for column in 0..columns {
            let put = Put::new(row).add_at("f", format!("{column:04}"), 1, vec![b'v'; 50_000]);
            from.put(&put).unwrap();
        }
    }
    let mut writer = JsonLinesWriter::new(Vec::new());
    let report = export(&from, &Scan::new().with_limit(2), &mut writer, &mut |_| GO_ON).unwrap();
    assert_eq!((report.rows, report.cells), (2, 102));
}

#[test]
fn times_to_live_come_back_as_a_column() {
    let (_store, from) = table();
    from.put(&Put::new("r").with_time_to_live_ms(NOW * 2).add_at("f", "a", 3, "short")).unwrap();
    from.put(&Put::new("r").add_at("f", "b", 3, "long")).unwrap();
    let columns = Columns::parse("HBASE_ROW_KEY,HBASE_TS_KEY,HBASE_CELL_TTL,f:a,f:b").unwrap();
    let format = DelimitedFormat { skips_empty_columns: true, ..DelimitedFormat::CSV };
    let mut writer = DelimitedWriter::new(Vec::new(), format, columns.clone(), false).unwrap();
    write(&from, &Scan::new(), &mut writer);
    let text = writer.into_inner().unwrap();
    assert_eq!(String::from_utf8(text.clone()).unwrap(), "r,3,,,long\nr,3,2000000,short,\n");
    let (_other, to) = table();
    let options = ImportOptions::at(NOW);
    let mut reader =
        DelimitedReader::new(text.as_slice(), format, Some(columns), None, &options).unwrap();
    read(&to, &mut reader, 1);
    assert_eq!(cells(&to, &raw()), cells(&from, &raw()));
}

#[test]
fn what_a_format_cannot_say_is_an_error() {
    let (_store, from) = table();
    from.put(&Put::new("r").add_at("f", "a", 3, "two\nlines")).unwrap();
    let columns = Columns::parse("HBASE_ROW_KEY,f:a").unwrap();
    let mut writer =
        DelimitedWriter::new(Vec::new(), DelimitedFormat::TSV, columns, false).unwrap();
    let error = export(&from, &Scan::new(), &mut writer, &mut |_| GO_ON).unwrap_err();
    assert!(error.to_string().starts_with("row r: f:a holds a separator"), "{error}");
}

#[test]
fn a_filter_of_whole_rows_sees_a_wide_row_whole() {
    let (_store, from) = table();
    for column in 0..60 {
        let put = Put::new("wide").add_at("f", format!("{column:04}"), 1, vec![b'v'; 50_000]);
        from.put(&put).unwrap();
    }
    from.put(&Put::new("wide").add_at("f", "z", 1, "last column")).unwrap();
    for (wanted, rows) in [("last column", 1), ("another", 0)] {
        let text = format!("SingleColumnValueFilter('f', 'z', =, 'binary:{wanted}', true, true)");
        let scan = Scan::new().with_filter(hblite::filter::parse_filter(text).unwrap());
        let mut writer = JsonLinesWriter::new(Vec::new());
        let report = export(&from, &scan, &mut writer, &mut |_| GO_ON).unwrap();
        assert_eq!((report.rows, report.cells), (rows, rows * 61), "{wanted}");
    }
}
