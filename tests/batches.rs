//! Batches of puts over many regions: the log is written once, each region fails by itself, and
//! batches, counters, flushes, splits and merges never wait for each other in a circle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hblite::{Connection, ErrorKind, MergeKind, Options, Put, Scan, Table};
use hblite_env::{Fault, FaultFileSystem, MemFileSystem, Operation, Random as _, SeededRandom};

use crate::testkit::{self, descriptor, name};

const REGIONS: usize = 40;

fn row(number: usize) -> String {
    format!("row-{number:03}")
}

/// A table of [`REGIONS`] regions with one row of the test each.
fn create(connection: &Connection) -> Table {
    let splits: Vec<Vec<u8>> = (1..REGIONS).map(|number| row(number).into_bytes()).collect();
    let admin = connection.admin();
    admin.create_table_with_splits(&descriptor("t", &["f"]), &splits).expect("a new table");
    connection.table(name("t")).expect("a legal name")
}

fn open() -> (FaultFileSystem, Connection) {
    let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    let connection = testkit::open(fs.clone(), testkit::by_hand()).expect("an empty directory");
    (fs, connection)
}

/// The rows of the table, with their values.
fn rows(table: &Table) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let scanner = table.scan(&Scan::new()).expect("a scanner");
    let rows = scanner.map(|row| row.expect("a row"));
    rows.map(|row| (text(row.row()), text(row.value("f", "q").unwrap_or_default()))).collect()
}

/// In the reverse order of the regions.
fn puts(value: &str) -> Vec<Put> {
    (0..REGIONS).rev().map(|number| Put::new(row(number)).add("f", "q", value)).collect()
}

#[test]
fn a_batch_over_many_regions_is_one_write_of_the_log() {
    let (fs, connection) = open();
    let table = create(&connection);
    table.put(&Put::new("a").add("f", "q", "first")).expect("a put");
    let before = fs.count(Operation::Write);
    table.put_all(&puts("1")).expect("a batch");
    assert_eq!(fs.count(Operation::Write) - before, 1);
    assert_eq!(rows(&table).len(), REGIONS + 1);
}

#[test]
fn of_one_row_the_last_put_of_a_batch_stays() {
    let (_, connection) = open();
    let table = create(&connection);
    let both = [puts("1"), puts("2")].concat();
    table.put_all(&both).expect("a batch");
    assert!(rows(&table).iter().all(|(_, value)| value == "2"));
}

#[test]
fn a_batch_that_cannot_be_logged_is_in_no_region() {
    let (fs, connection) = open();
    let table = create(&connection);
    table.put_all(&puts("1")).expect("a batch");
    fs.inject(Fault::on(Operation::Write).in_path("WALs"));
    let error = table.put_all(&puts("2")).expect_err("the log cannot be written");
    assert!(error.to_string().contains("nothing was written"), "{error}");
    let expected: Vec<_> = (0..REGIONS).map(|number| (row(number), "1".to_owned())).collect();
    assert_eq!(rows(&table), expected);
    fs.heal();
    table.put_all(&puts("3")).expect("a batch");
    connection.close().expect("a close");
    let connection = testkit::open(fs, testkit::by_hand()).expect("a store");
    let table = connection.table(name("t")).expect("a legal name");
    assert!(rows(&table).iter().all(|(_, value)| value == "3"));
}

#[test]
fn one_region_that_refuses_leaves_the_others_written_and_is_the_first_error() {
    let (_, connection) = open();
    let table = create(&connection);
    let mut puts = puts("1");
    puts[3] = Put::new(row(20)).add("unknown", "q", "1");
    puts[9] = Put::new(row(10)).add("also-unknown", "q", "1");
    let error = table.put_all(&puts).expect_err("there is no such family");
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(error.to_string().contains("unknown"), "{error}");
    assert!(!error.to_string().contains("also-unknown"), "{error}");
    // Rows 20 and 10 have another put in the batch, except where it was replaced.
    let missing = [REGIONS - 1 - 3, REGIONS - 1 - 9].map(row);
    let written = rows(&table);
    assert_eq!(written.len(), REGIONS - 2);
    assert!(missing.iter().all(|row| written.iter().all(|(written, _)| written != row)));
}

/// Every thread writes to all regions at once, in an order of its own. A circle of threads that
/// wait for each other would end in the time limit.
#[test]
fn a_batch_of_which_no_row_has_a_region_is_refused() {
    let (_, connection) = open();
    let table = create(&connection);
    connection.admin().disable_table("t").expect("disabled");
    let error = table.put_all(&puts("late")).expect_err("the table is disabled");
    assert_eq!(error.exception(), hblite::Exception::TableNotEnabled, "{error}");
}

#[test]
fn batches_counters_and_the_stores_own_work_go_on() {
    let engine = Options::new().with_memstore_flush_size_bytes(64 << 10);
    let connection = testkit::open(MemFileSystem::new(), engine).expect("an empty directory");
    let table = create(&connection);
    let (is_over, deadline) = (AtomicBool::new(false), Instant::now() + Duration::from_secs(3));
    let counted = std::thread::scope(|scope| {
        let counters: Vec<_> = (0..2_u64)
            .map(|seed| {
                let (table, is_over) = (&table, &is_over);
                scope.spawn(move || {
                    let random = SeededRandom::new(seed);
                    let mut count = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        let row = row(random.next_u64() as usize % REGIONS);
                        table.increment_column(row, "f", "count", 1).expect("an increment");
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        scope.spawn(|| {
            let (admin, random) = (connection.admin(), SeededRandom::new(9));
            while !is_over.load(Ordering::Relaxed) {
                let regions = admin.regions(name("t")).expect("regions");
                let at = random.next_u64() as usize % REGIONS;
                if let Some([left, right]) = regions.get(at..at + 2).filter(|_| regions.len() > 8) {
                    let pair = [left.encoded_name(), right.encoded_name()];
                    // Refused while a region has references.
                    let _ = admin.merge_regions(&pair, MergeKind::Adjacent);
                }
                let _ = admin.split_table(name("t"), Some(row(at).as_bytes()));
                admin.flush_table(name("t")).expect("a flush");
            }
        });
        let end = testkit::SetOnDrop(&is_over);
        std::thread::scope(|writers| {
            for seed in 10..14 {
                let table = &table;
                writers.spawn(move || {
                    let random = SeededRandom::new(seed);
                    let mut value = 0;
                    while Instant::now() < deadline {
                        let mut puts = puts(&value.to_string());
                        let turn = random.next_u64() as usize % puts.len();
                        puts.rotate_left(turn);
                        table.put_all(&puts).expect("a batch");
                        value += 1;
                    }
                });
            }
        });
        drop(end);
        counters.into_iter().map(|counter| counter.join().expect("no panic")).sum::<i64>()
    });
    assert_eq!(rows(&table).len(), REGIONS);
    let total: i64 = (0..REGIONS)
        .map(|number| table.increment_column(row(number), "f", "count", 0).expect("a counter"))
        .sum();
    assert_eq!(total, counted);
    assert!(counted > 10, "{counted}");
}
