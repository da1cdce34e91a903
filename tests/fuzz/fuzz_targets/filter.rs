//! Any text in the filter language: an error, or a filter that a scan can use.

#![no_main]

use std::sync::LazyLock;

use hblite::{ColumnFamilyDescriptor, Connection, Put, Scan, Table, TableDescriptor};
use libfuzzer_sys::fuzz_target;

static TABLE: LazyLock<(Connection, Table)> = LazyLock::new(|| {
    let connection = hblite::open_in_memory().expect("a store in memory");
    let descriptor = TableDescriptor::new("t".parse().expect("a name"))
        .with_family(ColumnFamilyDescriptor::new("f").with_versions(3));
    connection.admin().create_table(&descriptor).expect("a table");
    let table = connection.table("t").expect("the table");
    for row in 0..20 {
        let mut put = Put::new(format!("row{row:02}"));
        for qualifier in 0..4 {
            put = put.add("f", format!("q{qualifier}"), (row * qualifier).to_string());
        }
        table.put(&put).expect("a put");
    }
    (connection, table)
});

fuzz_target!(|text: &[u8]| {
    let Ok(filter) = hblite::filter::parse_filter(text) else { return };
    for is_reversed in [false, true] {
        let scan = Scan::new().with_reversed(is_reversed).with_filter(filter.clone());
        let Ok(mut scanner) = TABLE.1.scan(&scan) else { continue };
        let mut rows = 0;
        while let Ok(Some(_)) = scanner.next_row() {
            rows += 1;
            assert!(rows <= 20, "a scan gives each row once");
        }
    }
});
