//! Damaged CSV, TSV and JSON lines: each line is a row or is refused, and none causes a panic.
//!
//! `tests/fuzz` has the same checks with coverage guidance (`delimited`, `json_lines`).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Read;

use hblite::Mutation;
use hblite_transfer::{
    Columns, DelimitedFormat, DelimitedReader, HeaderNames, ImportOptions, JsonLinesReader,
    RowRead, RowReader, TransferError,
};
use proptest::prelude::*;

const FIELDS: &str = "r1,5,\"a \"\"quoted\"\"\nvalue\",x\r\n\"r2\",6,,\"\"\n\nr3,,b\\x00\n";

const JSON: &str = concat!(
    r#"{"row":"r1","cells":[{"column":"f:q","timestamp":5,"value":"\\x00v","ttl":60000}]}"#,
    "\n\n",
    r#"{"row":"r2","cells":[{"column":"f:","type":"DeleteColumn","timestamp":7},"#,
    r#"{"column":"f:q","type":"Put","value":"Zoë"},{"column":"f","type":"DeleteFamily"}]}"#,
    "\n"
);

/// A text with bytes replaced, removed, repeated and spliced in.
fn damaged(text: &str, damage: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (at, kind, byte) in damage {
        let at = at % bytes.len().max(1);
        match kind % 5 {
            _ if bytes.is_empty() => bytes.push(*byte),
            0 => bytes[at] = *byte,
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, *byte),
            3 => bytes.truncate(at),
            _ => {
                let part = bytes[at..].to_vec();
                bytes.extend(part);
            }
        }
    }
    bytes
}

fn damage() -> impl Strategy<Value = Vec<(usize, u8, u8)>> {
    // Bytes with a special meaning are frequent.
    let byte = prop_oneof![proptest::sample::select(b"\",\n\r\t\\{}[]:x0".to_vec()), any::<u8>(),];
    proptest::collection::vec((any::<usize>(), any::<u8>(), byte), 1..6)
}

/// Reads to the end or to an error. Lines come in order and are within the input, and their result
/// can be written: checked mutations of one row.
fn read(reader: &mut dyn RowReader, input: &[u8]) {
    let lines = 1 + input.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() as u64;
    let mut last = 0;
    let mut mutations: Vec<Mutation> = Vec::new();
    let mut pass = |line: u64| {
        assert!(last < line && line <= lines, "line {line} after {last} of {lines}");
        last = line;
    };
    loop {
        mutations.clear();
        match reader.next(&mut mutations) {
            Ok(RowRead::Line(line)) => {
                pass(line);
                let row = mutations.first().map(Mutation::row);
                for mutation in &mutations {
                    assert_eq!(Some(mutation.row()), row);
                    mutation.check().unwrap();
                }
            }
            Ok(RowRead::Bad(bad)) => {
                assert!(mutations.is_empty() && !bad.reason.is_empty(), "{bad}");
                pass(bad.line);
            }
            Ok(RowRead::End) => return,
            Err(TransferError::BadLine(bad)) => {
                assert!((1..=lines).contains(&bad.line) && !bad.reason.is_empty(), "{bad}");
                return;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn options() -> ImportOptions {
    ImportOptions::at(1_000).with_line_size_max(200).with_field_lines_max(5)
}

fn read_fields(input: &[u8], format: DelimitedFormat, has_header: bool) {
    let columns = "HBASE_ROW_KEY,HBASE_TS_KEY,f:q,g";
    let columns = (!has_header).then(|| Columns::parse(columns).unwrap());
    let names = HeaderNames { row_key: None, family: Some("f".to_owned()) };
    let header = has_header.then_some(&names);
    match DelimitedReader::new(input, format, columns, header, &options()) {
        Ok(mut reader) => read(&mut reader, input),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn damaged_fields_are_rows_or_refused(
        damage in damage(),
        has_header: bool,
        is_escaped: bool,
        skips_empty_columns: bool,
    ) {
        let csv = DelimitedFormat { is_escaped, skips_empty_columns, ..DelimitedFormat::CSV };
        let tsv = DelimitedFormat { is_escaped, skips_empty_columns, ..DelimitedFormat::TSV };
        read_fields(&damaged(FIELDS, &damage), csv, false);
        read_fields(&damaged(&FIELDS.replace(',', "\t"), &damage), tsv, false);
        let headed = format!("HBASE_ROW_KEY,HBASE_TS_KEY,f:q,g\n{FIELDS}");
        read_fields(&damaged(&headed, &damage), csv, has_header);
    }

    #[test]
    fn damaged_json_lines_are_rows_or_refused(damage in damage()) {
        let input = damaged(JSON, &damage);
        read(&mut JsonLinesReader::new(input.as_slice(), &options()), &input);
    }

    #[test]
    fn any_bytes_are_rows_or_refused(input: Vec<u8>) {
        read_fields(&input, DelimitedFormat::CSV, false);
        read_fields(&input, DelimitedFormat::TSV, false);
        let chained = input.as_slice().chain(JSON.as_bytes());
        let whole = [input.as_slice(), JSON.as_bytes()].concat();
        read(&mut JsonLinesReader::new(chained, &options()), &whole);
    }
}
