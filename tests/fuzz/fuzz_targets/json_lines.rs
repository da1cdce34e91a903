//! Any bytes as JSON lines: each line is a row or is refused, and a row that is written and read
//! again is the same.

#![no_main]

use std::sync::LazyLock;

use hblite::{
    ColumnFamilyDescriptor, Connection, Mutation, Scan, SplitPoints, Table, TableDescriptor,
};
use hblite_transfer::{
    ImportOptions, JsonLinesReader, JsonLinesWriter, RowRead, RowReader, RowWriter,
};
use libfuzzer_sys::fuzz_target;

static TABLE: LazyLock<(Connection, Table)> = LazyLock::new(|| {
    let connection = hblite::open_in_memory().expect("a store in memory");
    let descriptor = TableDescriptor::new("t".parse().expect("a name"))
        .with_family(ColumnFamilyDescriptor::new("f").with_versions(i32::MAX.unsigned_abs()));
    connection.admin().create_table(&descriptor).expect("a table");
    let table = connection.table("t").expect("the table");
    (connection, table)
});

/// Reads what is readable and passes it to `visit`.
fn read(input: &[u8], mut visit: impl FnMut(&[Mutation])) {
    let options = ImportOptions::at(1_000).with_line_size_max(1 << 20);
    let mut reader = JsonLinesReader::new(input, &options);
    let mut mutations = Vec::new();
    loop {
        mutations.clear();
        match reader.next(&mut mutations) {
            Ok(RowRead::Line(_)) => visit(&mutations),
            Ok(RowRead::Bad(_)) => {}
            Ok(RowRead::End) | Err(_) => return,
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let table = &TABLE.1;
    read(input, |mutations| {
        let row = mutations.first().expect("a row has cells").row().to_vec();
        assert!(mutations.iter().all(|mutation| mutation.row() == row));
        if table.mutate_all(mutations).is_err() {
            return;
        }
        let scan = Scan::new().with_start_row(&row).with_limit(1);
        let scan = scan.with_raw(true).with_all_versions();
        let Some(found) = table.scan(&scan).expect("a scan").next() else {
            // A time to live counts from the cell's timestamp, which is 1970 in most inputs.
            assert!(mutations.iter().any(|one| one.time_to_live_ms().is_some()), "the row");
            return;
        };
        let found = found.expect("a row");
        let mut writer = JsonLinesWriter::new(Vec::new());
        writer.write(&found).expect("a line");
        let line = writer.into_inner();
        let mut cells = 0;
        read(&line, |again| {
            assert!(again.iter().all(|mutation| mutation.row() == row));
            cells += again.iter().map(|mutation| mutation.cells().len()).sum::<usize>();
        });
        assert_eq!(cells, found.len(), "what is written is read");
    });
    // Each input begins with an empty table.
    TABLE.0.admin().disable_table(table.name()).expect("disabled");
    TABLE.0.admin().truncate_table(table.name(), SplitPoints::Preserve).expect("truncated");
});
