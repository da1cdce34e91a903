//! Any bytes as CSV or TSV: each line is a row or is refused, in order; a row is a checked put.
//!
//! The first byte chooses the format.

#![no_main]

use hblite::Mutation;
use hblite_transfer::{
    Columns, DelimitedFormat, DelimitedReader, HeaderNames, ImportOptions, RowRead, RowReader,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, input)) = bytes.split_first() else { return };
    let has = |bit: u8| choice & (1 << bit) != 0;
    let base = if has(0) { DelimitedFormat::CSV } else { DelimitedFormat::TSV };
    let format = DelimitedFormat { is_escaped: has(1), skips_empty_columns: has(2), ..base };
    let columns = Columns::parse("HBASE_ROW_KEY,HBASE_TS_KEY,HBASE_CELL_TTL,f:q,g");
    let columns = (!has(3)).then(|| columns.expect("columns"));
    let options = ImportOptions::at(1_000).with_line_size_max(1_000).with_field_lines_max(10);
    let names = HeaderNames {
        row_key: has(4).then(|| "id".to_owned()),
        family: has(5).then(|| "f".to_owned()),
    };
    let header = has(3).then_some(&names);
    let Ok(mut reader) = DelimitedReader::new(input, format, columns, header, &options) else {
        return;
    };
    let (mut last, mut mutations) = (0, Vec::<Mutation>::new());
    loop {
        mutations.clear();
        let line = match reader.next(&mut mutations) {
            Ok(RowRead::Line(line)) => {
                mutations.iter().for_each(|put| put.check().expect("a checked put"));
                line
            }
            Ok(RowRead::Bad(bad)) => bad.line,
            Ok(RowRead::End) | Err(_) => return,
        };
        assert!(line > last, "lines come in order");
        last = line;
    }
});
