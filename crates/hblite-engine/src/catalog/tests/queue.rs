//! Scans that begin at rows which are deleted.

use std::sync::Arc;

use hblite_env::{FileSystem, MemFileSystem};
use hblite_model::{CompactRequest, Delete, Put, RowResult, Scan};

use super::{name, open, rows, table};
use crate::Engine;

const LENGTH: usize = 10;
const ROUNDS: usize = 3_000;

fn put(engine: &Arc<Engine>, row: &str) {
    let put = Put::new(row).add("f", "q", "v");
    engine.table(name("t")).mutate(put.as_mutation()).unwrap();
}

fn delete(engine: &Arc<Engine>, row: &str) {
    engine.table(name("t")).mutate(Delete::new(row).as_mutation()).unwrap();
}

/// The first row of a scan, and how many cells it examined.
fn head(engine: &Arc<Engine>, scan: &Scan) -> (Option<String>, u64) {
    let read = || {
        let regions = engine.status().unwrap().regions;
        let of_table = regions.iter().filter(|one| *one.region.table() == name("t"));
        of_table.map(|one| one.load.cells_examined).sum::<u64>()
    };
    let before = read();
    let mut scanner = engine.table(name("t")).scan(&scan.clone().with_limit(1)).unwrap();
    let mut row = RowResult::default();
    let is_found = scanner.next_row(&mut row).unwrap();
    drop(scanner);
    let row = is_found.then(|| String::from_utf8_lossy(row.row()).into_owned());
    (row, read() - before)
}

fn engine(splits: &[Vec<u8>]) -> Arc<Engine> {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    engine.procedures().create_table(&table("t", &["f", "g"]), splits).unwrap();
    engine
}

/// Two queues share a region, and another one ends with a region.
#[test]
fn the_head_of_a_queue_is_found_at_once_however_much_was_deleted() {
    let engine = engine(&[b"r".to_vec()]);
    let row = |queue: char, number: usize| format!("{queue}{number:06}");
    let queues = ['a', 'b', 'q'];
    for queue in queues {
        (0..LENGTH).for_each(|number| put(&engine, &row(queue, number)));
    }
    let mut examined = Vec::new();
    for round in 0..ROUNDS {
        for queue in queues {
            let prefix = Scan::new().with_prefix(queue.to_string());
            put(&engine, &row(queue, LENGTH + round));
            let (found, cells) = head(&engine, &prefix);
            assert_eq!(found, Some(row(queue, round)));
            examined.push(cells);
            delete(&engine, &row(queue, round));
        }
        match round % 1_000 {
            500 => engine.flush(name("t")).unwrap(),
            999 => engine.compact(CompactRequest::table(name("t")).major()).unwrap(),
            _ => {}
        }
    }
    // Twice what is a reason to learn more, of rows with three cells.
    let many = examined.iter().filter(|cells| **cells > 400).count();
    assert!(many <= 12, "{many} scans examined up to {:?}", examined.iter().max());

    for queue in queues {
        (ROUNDS..ROUNDS + LENGTH).for_each(|number| delete(&engine, &row(queue, number)));
        let prefix = Scan::new().with_prefix(queue.to_string());
        for _ in 0..3 {
            assert_eq!(head(&engine, &prefix).0, None);
        }
        put(&engine, &row(queue, 77));
        assert_eq!(head(&engine, &prefix).0, Some(row(queue, 77)));
    }
    assert_eq!(rows(&engine, "t").unwrap(), queues.map(|queue| row(queue, 77)));
}

/// Rows that come back, in a range that a scan has passed.
#[test]
fn what_is_put_among_deleted_rows_is_found() {
    let engine = engine(&[]);
    let row = |number: usize| format!("{number:04}");
    (0..500).for_each(|number| put(&engine, &row(number)));
    (0..499).for_each(|number| delete(&engine, &row(number)));
    let all = Scan::new();
    for _ in 0..3 {
        assert_eq!(head(&engine, &all).0, Some(row(499)));
    }
    assert!(head(&engine, &all).1 < 10);
    for number in [300, 100, 200, 0, 498] {
        put(&engine, &row(number));
        let expected: Vec<_> = rows(&engine, "t").unwrap();
        assert_eq!(head(&engine, &all).0.as_ref(), expected.first());
        assert!(expected.contains(&row(number)));
    }
    for scan in [all.clone().with_raw(true), all.clone().with_start_row("0250")] {
        let found = head(&engine, &scan).0;
        let wanted = if scan.is_raw() { row(0) } else { row(300) };
        assert_eq!(found, Some(wanted));
    }
    let reverse = Scan::new().with_reversed(true);
    assert_eq!(head(&engine, &reverse).0, Some(row(499)));
}
