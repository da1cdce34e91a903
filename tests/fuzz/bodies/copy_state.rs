//! Any bytes as the progress of a copy, from which it continues: refused, or every row arrives that
//! the progress does not claim.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use hblite::{ColumnFamilyDescriptor, Connection, Put, Scan, Table, TableDescriptor};
use hblite_transfer::{CopyOptions, CopyProgress, copy};
use parking_lot::Mutex;

const ROWS: [&str; 5] = ["", "b", "k17", "m", "z"];

fn new_table() -> (Connection, Table) {
    let connection = hblite::open_in_memory().expect("a store");
    let table = TableDescriptor::new("t".parse().expect("a name"))
        .with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&table).expect("a table");
    let table = connection.table("t").expect("the table");
    (connection, table)
}

static SOURCE: LazyLock<(Connection, Table)> = LazyLock::new(|| {
    let (connection, table) = new_table();
    for row in &ROWS[1..] {
        table.put(&Put::new(*row).add("f", "q", "value")).expect("a put");
    }
    (connection, table)
});

/// Whether the progress says that a row has been copied.
fn claims(progress: &CopyProgress, row: &[u8]) -> bool {
    let range = progress.ranges.iter().find(|range| {
        range.start.as_slice() <= row && (range.stop.is_empty() || row < range.stop.as_slice())
    });
    range.is_some_and(|range| range.is_done || row <= range.copied_to.as_slice())
}

/// Returns how many rows were copied, if the bytes are a progress.
pub(crate) fn run(bytes: &[u8]) -> Option<u64> {
    let progress: CopyProgress = serde_json::from_slice(bytes).ok()?;
    if !progress.is_whole() {
        return None;
    }
    let (connection, to) = new_table();
    let shared = Mutex::new(progress.clone());
    let go_on = |_| ControlFlow::Continue(());
    let count = copy(&SOURCE.1, &to, &shared, &CopyOptions::default(), &go_on).expect("copied");
    assert!(shared.into_inner().is_done());
    let mut found = Vec::new();
    let mut scanner = to.scan(&Scan::new()).expect("a scan");
    while let Some(row) = scanner.next_row().expect("a row") {
        found.push(row.row().to_vec());
    }
    for row in &ROWS[1..] {
        let is_there = found.iter().any(|other| other == row.as_bytes());
        assert!(is_there || claims(&progress, row.as_bytes()), "{row} is missing: {progress:?}");
    }
    connection.close().expect("nothing fails");
    Some(count.rows)
}
