//! Writers, counters, readers and the store's own work, all concurrent.
//!
//! Every write of a row puts the same number into four columns of two families, so a row that is
//! seen with two numbers was torn. Counters must end at the number of increments. Meanwhile another
//! thread flushes, compacts, splits and alters.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hblite::{
    CheckAndMutate, ColumnFamilyDescriptor, Connection, Get, MergeKind, Options, Put, Result,
    RowResult, Scan, TableDescriptor,
};
use hblite_env::{Random as _, SeededRandom};

use crate::testkit::{self, name};

const COLUMNS: [(&str, &str); 4] = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")];
const ROWS: u64 = 400;
const LENGTH: Duration = Duration::from_secs(4);

fn row_name(number: u64) -> String {
    format!("row-{:04}", number % ROWS)
}

fn number_of(row: &RowResult) -> Option<Vec<u8>> {
    let first = row.cells().next()?.value().to_vec();
    assert_eq!(row.len(), COLUMNS.len(), "a row is not whole: {row:?}");
    assert!(row.cells().all(|cell| cell.value() == first), "a row is torn: {row:?}");
    Some(first)
}

fn write_rows(connection: &Connection, seed: u64, is_over: &AtomicBool) -> Result<u64> {
    let (random, table) = (SeededRandom::new(seed), connection.table(name("t"))?);
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) {
        let (row, number) = (row_name(random.next_u64()), random.next_u64().to_string());
        let mut put = Put::new(&row);
        for (family, qualifier) in COLUMNS {
            put = put.add(family, qualifier, &number);
        }
        table.put(&put)?;
        count += 1;
    }
    Ok(count)
}

fn count_up(connection: &Connection, is_over: &AtomicBool) -> Result<(i64, i64)> {
    let table = connection.table(name("t"))?;
    let (mut increments, mut claims) = (0, 0);
    while !is_over.load(Ordering::Relaxed) {
        table.increment_column("zz-counter", "a", "n", 1)?;
        increments += 1;
        // A counter by hand: read, then write only if the value has not changed.
        let present = table.get(&Get::new("zz-claims"))?;
        let value = present.value("a", "n").map(<[u8]>::to_vec);
        let next = value
            .as_ref()
            .and_then(|value| std::str::from_utf8(value).ok()?.parse::<i64>().ok())
            .unwrap_or(0)
            + 1;
        let check = CheckAndMutate::new("zz-claims");
        let check = match &value {
            Some(value) => check.if_equals("a", "n", value),
            None => check.if_not_exists("a", "n"),
        };
        let put = Put::new("zz-claims").add("a", "n", next.to_string());
        if table.check_and_mutate(&check.then(put))?.is_success {
            claims += 1;
        }
    }
    Ok((increments, claims))
}

fn read_rows(connection: &Connection, seed: u64, is_over: &AtomicBool) -> Result<u64> {
    let (random, table) = (SeededRandom::new(seed), connection.table(name("t"))?);
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) {
        number_of(&table.get(&Get::new(row_name(random.next_u64())))?);
        let is_reversed = random.next_u64().is_multiple_of(2);
        let scan =
            Scan::new().with_reversed(is_reversed).with_start_row("row-").with_stop_row("row-~");
        let scan =
            if is_reversed { scan.with_start_row("row-~").with_stop_row("row-") } else { scan };
        let mut last: Option<Vec<u8>> = None;
        for row in table.scan(&scan)? {
            let row = row?;
            number_of(&row);
            let is_in_order = last.as_ref().is_none_or(|last| {
                if is_reversed { row.row() < last.as_slice() } else { row.row() > last.as_slice() }
            });
            assert!(is_in_order, "row {:?} after {last:?}", row.row());
            last = Some(row.row().to_vec());
            count += 1;
        }
    }
    Ok(count)
}

/// How often each operation was done, including splits and merges.
fn stir(connection: &Connection, is_over: &AtomicBool) -> Result<[u64; 3]> {
    let (random, admin) = (SeededRandom::new(3), connection.admin());
    let (mut count, mut splits, mut merges) = (0, 0, 0);
    // Continues until each was done, however slow the machine is.
    while !is_over.load(Ordering::Relaxed) || (count < 1000 && (splits == 0 || merges == 0)) {
        match random.next_u64() % 4 {
            0 => admin.flush_table(name("t"))?,
            1 => match random.next_u64().is_multiple_of(3) {
                true => admin.major_compact_table(name("t"))?,
                false => admin.compact_table(name("t"))?,
            },
            2 => {
                let regions = admin.regions(name("t"))?;
                if regions.len() < 3 || (regions.len() < 8 && random.next_u64().is_multiple_of(2)) {
                    let key = row_name(random.next_u64());
                    // A boundary that already exists, or references not yet compacted.
                    let split = admin.split_table(name("t"), Some(key.as_bytes()));
                    splits += u64::from(split.is_ok());
                } else if let [first, second, ..] = regions.as_slice() {
                    let pair = [first.encoded_name(), second.encoded_name()];
                    merges += u64::from(admin.merge_regions(&pair, MergeKind::Adjacent).is_ok());
                }
            }
            _ => {
                let mut table = admin.describe_table(name("t"))?;
                table.set_attribute("stirred", &count.to_string())?;
                admin.modify_table(&table)?;
            }
        }
        count += 1;
    }
    Ok([count, splits, merges])
}

#[test]
fn rows_stay_whole_and_counters_count_under_everything_at_once() {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let engine = Options::new()
        .with_memstore_flush_size_bytes(128 * 1024)
        .with_compaction_small_file_bytes(32 * 1024);
    let options = engine;
    let connection = options.clone().open(dir.path()).expect("an empty directory opens");
    let table = TableDescriptor::new(name("t"))
        .with_family(ColumnFamilyDescriptor::new("a"))
        .with_family(ColumnFamilyDescriptor::new("b"));
    connection.admin().create_table(&table).expect("the table is new");

    let is_over = AtomicBool::new(false);
    let start = Instant::now();
    let (increments, claims) = std::thread::scope(|scope| {
        let (connection, is_over) = (&connection, &is_over);
        let end = testkit::SetOnDrop(is_over);
        let workers: Vec<_> = (0..2)
            .map(|seed| scope.spawn(move || write_rows(connection, seed, is_over)))
            .chain((0..2).map(|seed| scope.spawn(move || read_rows(connection, seed, is_over))))
            .collect();
        let stirrer = scope.spawn(move || stir(connection, is_over));
        let counters: Vec<_> =
            (0..2).map(|_| scope.spawn(move || count_up(connection, is_over))).collect();
        while start.elapsed() < LENGTH
            && !workers.iter().any(|worker| worker.is_finished())
            && !counters.iter().any(|counter| counter.is_finished())
            && !stirrer.is_finished()
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(end);
        for worker in workers {
            let count = worker.join().expect("no panic").expect("no error");
            assert!(count > 0, "every thread did something");
        }
        let stirred = stirrer.join().expect("no panic").expect("no error");
        assert!(!stirred.contains(&0), "something was never done: {stirred:?}");
        counters
            .into_iter()
            .map(|counter| counter.join().expect("no panic").expect("no error"))
            .fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1))
    });

    verify(&connection, increments, claims);
    connection.close().expect("everything can be flushed");
    let connection = options.open(dir.path()).expect("the store opens again");
    verify(&connection, increments, claims);
}

fn verify(connection: &Connection, increments: i64, claims: i64) {
    let table = connection.table(name("t")).expect("a legal name");
    let counter = table.get(&Get::new("zz-counter")).expect("the row can be read");
    let bytes = counter.value("a", "n").expect("the counter is there");
    assert_eq!(i64::from_be_bytes(bytes.try_into().expect("8 bytes")), increments);
    let claimed = table.get(&Get::new("zz-claims")).expect("the row can be read");
    let text = claimed.value("a", "n").map(String::from_utf8_lossy).expect("claims were made");
    assert_eq!(text.parse::<i64>().expect("a number"), claims);
}

/// A scan that had read one region found the other one inside the region into which both had been
/// merged, and read the first half again.
#[test]
fn a_merge_or_split_between_two_regions_of_a_scan_repeats_and_loses_no_row() {
    for is_reversed in [false, true] {
        for is_merge in [false, true] {
            let connection = hblite::open_in_memory().expect("memory opens");
            let admin = connection.admin();
            let table = TableDescriptor::new(name("t"))
                .with_family(ColumnFamilyDescriptor::new("a"))
                .with_family(ColumnFamilyDescriptor::new("b"));
            let borders = [row_name(100).into_bytes(), row_name(200).into_bytes()];
            admin.create_table_with_splits(&table, &borders).expect("the table is new");
            let table = connection.table(name("t")).expect("a legal name");
            for number in 0..300 {
                table.put(&Put::new(row_name(number)).add("a", "x", "v")).expect("written");
            }
            let mut scanner = table.scan(&Scan::new().with_reversed(is_reversed)).expect("a scan");
            let mut rows = vec![scanner.next().expect("a row").expect("readable").row().to_vec()];
            let regions = admin.regions(name("t")).expect("the table is there");
            if is_merge {
                let names: Vec<&str> = regions.iter().map(|info| info.encoded_name()).collect();
                admin.merge_regions(&names, MergeKind::Adjacent).expect("neighbours");
            } else {
                for key in [row_name(50), row_name(150), row_name(250)] {
                    admin.split_table(name("t"), Some(key.as_bytes())).expect("a new border");
                }
            }
            rows.extend(scanner.map(|row| row.expect("readable").row().to_vec()));
            let mut expected: Vec<_> = (0..300).map(|n| row_name(n).into_bytes()).collect();
            if is_reversed {
                expected.reverse();
            }
            assert_eq!(rows, expected, "reversed: {is_reversed}, merge: {is_merge}");
        }
    }
}
