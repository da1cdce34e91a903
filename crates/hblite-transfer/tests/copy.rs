//! Copies between two stores: every cell arrives as it was, a copy that ends early continues, and
//! comparisons find each difference.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite::{ColumnFamilyDescriptor, Connection, Delete, Put, Table, TableDescriptor, TableName};
use hblite_transfer::{
    CellView, CompareOptions, Comparison, Coprocessors, CopyCount, CopyOptions, CopyProgress,
    DifferenceKind, RowRange, TransferError, compare, copy, create_like, digest,
};
use parking_lot::Mutex;

fn go_on<T>(_: T) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A table of three regions with 300 rows of a few versions, times to live and delete markers.
fn source() -> (Connection, Table) {
    let connection = hblite::open_in_memory().unwrap();
    connection.admin().create_namespace(&hblite::NamespaceDescriptor::new("ns")).unwrap();
    let descriptor = TableDescriptor::new("ns:t".parse().unwrap())
        .with_family(ColumnFamilyDescriptor::new("f").with_versions(5))
        .with_family(ColumnFamilyDescriptor::new("g"));
    let splits = [b"r100".to_vec(), b"r200".to_vec()];
    connection.admin().create_table_with_splits(&descriptor, &splits).unwrap();
    let table = connection.table("ns:t").unwrap();
    for number in 0..300 {
        let row = format!("r{number:03}");
        for timestamp in 1..4 {
            let value = format!("v{number}.{timestamp}");
            let put = Put::new(&row).add_at("f", "q", timestamp, value).add_at("g", [0xff], 9, "x");
            table.put(&put).unwrap();
        }
        match number % 5 {
            0 => table.delete(&Delete::new(&row).column_at("f", "q", 2)).unwrap(),
            1 => table.delete(&Delete::new(&row).family_at("f", 1)).unwrap(),
            2 => table.delete(&Delete::new(&row).family_version("f", 3)).unwrap(),
            3 => table.delete(&Delete::new(&row).columns_at("f", "q", 2)).unwrap(),
            _ => {
                let put = Put::new(&row).with_time_to_live_ms(1 << 40);
                table.put(&put.add_at("f", "ttl", 5, "short")).unwrap();
            }
        }
    }
    (connection, table)
}

fn target(from: &Table) -> (Connection, Table) {
    let connection = hblite::open_in_memory().unwrap();
    assert!(create_like(from, &connection.admin(), from.name(), Coprocessors::Keep, None).unwrap());
    let table = connection.table(from.name()).unwrap();
    (connection, table)
}

fn progress_of(table: &Table) -> Mutex<CopyProgress> {
    let ranges = RowRange::of_regions(table).unwrap();
    Mutex::new(CopyProgress::new(table.name().to_string(), &ranges))
}

fn compared(left: &Table, right: &Table, view: CellView) -> Comparison {
    compare(left, right, &CompareOptions::of(view).with_threads(2), &go_on).unwrap()
}

/// All cells with their tags, as text.
fn stored(table: &Table) -> Vec<String> {
    let scan = hblite::Scan::new().with_all_versions().with_raw(true);
    let mut cells = Vec::new();
    let mut scanner = table.scan(&scan).unwrap();
    scanner
        .for_each_cell(|cell| {
            cells.push(format!(
                "{:?} {:?} {:?}",
                cell.key().escape_ascii().to_string(),
                cell.value(),
                cell.tags()
            ));
        })
        .unwrap();
    cells
}

#[test]
fn every_cell_arrives_as_it_was() {
    let (_a, from) = source();
    let (b, to) = target(&from);
    let options = CopyOptions::default().with_threads(3);
    let count = copy(&from, &to, &progress_of(&from), &options, &go_on).unwrap();
    assert_eq!(stored(&to), stored(&from));
    assert_eq!((count.rows, count.cells), (300, stored(&from).len() as u64));
    assert_eq!(count.tags_left_out, 0);
    assert_eq!(b.admin().regions(to.name()).unwrap().len(), 3);
    assert_eq!(to.descriptor().unwrap(), from.descriptor().unwrap());
    for view in [CellView::VISIBLE, CellView::RAW] {
        let comparison = compared(&from, &to, view);
        assert!(comparison.is_equal(), "{comparison:?}");
        let digests = [&from, &to].map(|table| digest(table, view, 2, &go_on).unwrap());
        assert_eq!(digests[0], digests[1]);
    }
    // A second copy writes the same cells, not new versions.
    copy(&from, &to, &progress_of(&from), &options, &go_on).unwrap();
    assert!(compared(&from, &to, CellView::VISIBLE).is_equal());
}

#[test]
fn a_visible_copy_has_no_markers() {
    let (_a, from) = source();
    let (_b, to) = target(&from);
    let options = CopyOptions::default().with_view(CellView::VISIBLE);
    copy(&from, &to, &progress_of(&from), &options, &go_on).unwrap();
    assert!(compared(&from, &to, CellView::VISIBLE).is_equal());
    assert!(!compared(&from, &to, CellView::RAW).is_equal());
    assert!(stored(&to).len() < stored(&from).len());
}

#[test]
fn a_copy_that_ends_early_continues() {
    let (_a, from) = source();
    for row in 0..40 {
        // Batches of about one row, so that the copy can end in many places.
        let put = Put::new(format!("r{row:03}")).add_at("g", "big", 1, vec![7; 600 << 10]);
        from.put(&put).unwrap();
    }
    let (_b, to) = target(&from);
    let progress = progress_of(&from);
    let mut copied = Vec::new();
    for round in 0.. {
        assert!(round < 1_000, "the copy comes to an end");
        let calls = AtomicU64::new(0);
        let end_after_two = |count: CopyCount| {
            let is_over = calls.fetch_add(1, Ordering::Relaxed) >= 2;
            if is_over && count.rows > 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        // The progress is saved and read again, as through a file.
        let text = serde_json::to_string(&*progress.lock()).unwrap();
        *progress.lock() = serde_json::from_str(&text).unwrap();
        match copy(&from, &to, &progress, &CopyOptions::default(), &end_after_two) {
            Ok(count) => {
                copied.push(count.rows);
                break;
            }
            Err(TransferError::Interrupted) => copied.push(0),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(copied.len() > 5, "it ended early several times: {copied:?}");
    assert!(progress.lock().is_done());
    assert_eq!(stored(&to), stored(&from));
}

#[test]
fn a_row_in_pieces_is_copied_and_compared_whole() {
    let (_a, from) = source();
    let mut put = Put::new("r150");
    for column in 0..300 {
        put = put.add_at("f", format!("wide{column:03}"), 1, vec![b'w'; 10_000]);
    }
    from.put(&put).unwrap();
    let (_b, to) = target(&from);
    copy(&from, &to, &progress_of(&from), &CopyOptions::default(), &go_on).unwrap();
    assert_eq!(stored(&to), stored(&from));
    assert!(compared(&from, &to, CellView::VISIBLE).is_equal());
    to.delete(&Delete::new("r150").column_at("f", "wide299", 1)).unwrap();
    let comparison = compared(&from, &to, CellView::VISIBLE);
    assert_eq!(comparison.rows_different, 1);
    let left = Some("f:wide299/1/Put".to_owned());
    let right = Some("g:\\xFF/9/Put".to_owned());
    assert_eq!(comparison.first[0].kind, DifferenceKind::Cells { left, right });
}

#[test]
fn each_difference_is_found_and_named() {
    let (_a, from) = source();
    let (_b, to) = target(&from);
    copy(&from, &to, &progress_of(&from), &CopyOptions::default(), &go_on).unwrap();
    to.put(&Put::new("r1000").add_at("f", "q", 1, "more")).unwrap();
    to.put(&Put::new("r104").add_at("f", "q", 3, "other")).unwrap();
    from.put(&Put::new("a").add_at("f", "q", 1, "first")).unwrap();
    from.put(&Put::new("r299").add_at("g", "z", 1, "last")).unwrap();
    let comparison = compared(&from, &to, CellView::VISIBLE);
    let shown: Vec<String> = comparison.first.iter().map(ToString::to_string).collect();
    let expected = [
        "a: only on the left",
        "r1000: only on the right",
        "r104: f:q/3/Put = v104.3 (6 bytes) on the left, f:q/3/Put = other (5 bytes) on the right",
        "r299: g:z/1/Put on the left, g:\\xFF/9/Put on the right",
    ];
    assert_eq!(shown, expected);
    assert_eq!((comparison.left_rows, comparison.right_rows), (301, 301));
    let digests =
        [&from, &to].map(|table| digest(table, CellView::VISIBLE, 1, &go_on).unwrap().sum);
    assert_ne!(digests[0], digests[1]);
    let few = CompareOptions::of(CellView::VISIBLE).with_differences_kept(1);
    let comparison = compare(&from, &to, &few, &go_on).unwrap();
    assert_eq!((comparison.rows_different, comparison.first.len()), (4, 1));
}

#[test]
fn a_digest_does_not_depend_on_regions_and_files() {
    let (a, from) = source();
    let before = digest(&from, CellView::VISIBLE, 2, &go_on).unwrap();
    a.admin().flush_table("ns:t").unwrap();
    a.admin().split_table("ns:t", Some(b"r050")).unwrap();
    a.admin().major_compact_table("ns:t").unwrap();
    assert_eq!(a.admin().regions("ns:t").unwrap().len(), 4);
    assert_eq!(digest(&from, CellView::VISIBLE, 3, &go_on).unwrap(), before);
}

#[test]
fn a_target_without_a_family_is_refused() {
    let (_a, from) = source();
    let connection = hblite::open_in_memory().unwrap();
    let name: TableName = "u".parse().unwrap();
    let descriptor =
        TableDescriptor::new(name.clone()).with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&descriptor).unwrap();
    let error =
        create_like(&from, &connection.admin(), &name, Coprocessors::Keep, None).unwrap_err();
    assert_eq!(error.to_string(), "Table 'u' exists without the column families [g].");
}
