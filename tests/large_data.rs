//! Large cells and rows are named with their sizes, which the test computes from what it writes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite::{Connection, Delete, LARGE_CELL_BYTES, LARGE_ROW_BYTES, LargeItem, Put};

use crate::testkit;

const FAMILY: &str = "f";
const BLOCK: u64 = 64 << 10;

/// Bytes of a cell's key in HBase's KeyValue: lengths of row and family, timestamp and type.
fn key_bytes(row: &str, qualifier: &str) -> u64 {
    (2 + row.len() + 1 + FAMILY.len() + qualifier.len() + 8 + 1) as u64
}

fn large(connection: &Connection) -> Vec<LargeItem> {
    connection.admin().row_counts(u64::MAX).unwrap().unwrap().large
}

fn names(items: &[LargeItem]) -> Vec<(&[u8], bool)> {
    items.iter().map(|item| (&*item.row, item.column.is_some())).collect()
}

/// A value that no compression makes small.
fn value(seed: u64, bytes: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

#[test]
fn large_cells_and_rows_are_named_with_their_sizes() {
    let connection = hblite::open_in_memory().unwrap();
    testkit::create(&connection, "t", &[FAMILY]).unwrap();
    let (table, admin) = (connection.table("t").unwrap(), connection.admin());
    for row in 0..200 {
        let row = format!("small{row}");
        table.put(&Put::new(&row).add(FAMILY, "q", value(1, 4_000))).unwrap();
    }
    // A cell that is just large, and one that is not.
    let cell_size = |row: &str, bytes: u64| 4 + 8 + key_bytes(row, "q") + bytes;
    let least = LARGE_CELL_BYTES - cell_size("cell", 0);
    table.put(&Put::new("cell").add(FAMILY, "q", value(2, least))).unwrap();
    // A row of many cells, none of which is large.
    let mut truth = 0;
    for column in 0..300_u64 {
        let qualifier = format!("q{column}");
        table.put(&Put::new("row").add(FAMILY, &qualifier, value(column, 60_000))).unwrap();
        truth += key_bytes("row", &qualifier) + 60_000;
    }
    assert_eq!(large(&connection), [], "what is in memory only is not known");
    admin.flush_table("t").unwrap();
    let found = large(&connection);
    assert_eq!(names(&found), [(&b"row"[..], false), (b"cell", true)], "{found:?}");
    let bytes = found[0].bytes;
    assert!(bytes <= truth && bytes + 2 * (BLOCK + 60_100) >= truth, "{bytes} of {truth}");
    assert!(bytes >= LARGE_ROW_BYTES);
    assert_eq!((found[1].bytes, found[1].bytes), (cell_size("cell", least), LARGE_CELL_BYTES));
    let column = found[1].column.as_ref().unwrap();
    assert_eq!((&column.0[..], &column.1[..]), (&b"f"[..], &b"q"[..]));
    assert_eq!(found[0].table.to_string(), "t");
    // The larger cell hides the other one of the file, and one below the limit is none.
    table.put(&Put::new("cell").add(FAMILY, "q", value(3, least - 1))).unwrap();
    table.put(&Put::new("big").add(FAMILY, "q", value(4, 3 << 20))).unwrap();
    admin.flush_table("t").unwrap();
    admin.major_compact_table("t").unwrap();
    let found = large(&connection);
    assert_eq!(names(&found), [(&b"row"[..], false), (b"big", true)], "{found:?}");
    // Twice the row, in two files: their sum, and after a major compaction the truth again.
    for column in 0..300_u64 {
        let put = Put::new("row").add(FAMILY, format!("q{column}"), value(column, 60_000));
        table.put(&put).unwrap();
    }
    admin.flush_table("t").unwrap();
    let sum = large(&connection)[0].bytes;
    assert!(sum <= 2 * truth && sum + 4 * (BLOCK + 60_100) >= 2 * truth, "{sum} of {truth}");
    admin.flush_table("t").unwrap();
    admin.major_compact_table("t").unwrap();
    assert_eq!(large(&connection)[0].bytes, bytes);
    // Each region names what it has, although both have the same file until it is rewritten.
    admin.split_table("t", Some(b"m")).unwrap();
    let found = large(&connection);
    assert_eq!(names(&found), [(&b"row"[..], false), (b"big", true)], "{found:?}");
    assert_ne!(found[0].region, found[1].region);
    table.delete(&Delete::new("row")).unwrap();
    table.delete(&Delete::new("big")).unwrap();
    admin.flush_table("t").unwrap();
    admin.major_compact_table("t").unwrap();
    assert_eq!(large(&connection), []);
}
