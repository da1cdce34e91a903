//! One row of a million columns: 30 of them from its middle, in the ways that HBase offers.

mod support;

use criterion::Criterion;
use hblite::filter::Filter;
use hblite::{Get, Put, Scan};
use support::Store;

const COLUMNS: u32 = 1_000_000;
const COLUMNS_PER_PUT: u32 = 1000;
const ROW: &str = "wide";
const PAGE: usize = 30;

fn main() {
    let mut criterion = support::criterion();
    let store = Store::new();
    fill(&store);
    pages(&mut criterion, "memstore", &store);
    let admin = store.connection.admin();
    admin.flush_table(store.table.name()).expect("a flush");
    pages(&mut criterion, "files", &store);
    admin.major_compact_table(store.table.name()).expect("a compaction");
    pages(&mut criterion, "file", &store);
    criterion.final_summary();
}

fn qualifier(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

fn fill(store: &Store) {
    for first in (0..COLUMNS).step_by(COLUMNS_PER_PUT as usize) {
        let put = (first..first + COLUMNS_PER_PUT)
            .fold(Put::new(ROW), |put, number| put.add("f", qualifier(number), "value"));
        store.table.put(&put).expect("a put");
    }
    // Neighbours, so that the row is neither the first nor the last.
    for row in ["a", "z"] {
        store.table.put(&Put::new(row).add("f", "q", "value")).expect("a put");
    }
}

fn pages(criterion: &mut Criterion, place: &str, store: &Store) {
    let mut group = criterion.benchmark_group(format!("30 of a million columns, {place}"));
    let middle = qualifier(COLUMNS / 2);
    let behind = qualifier(COLUMNS / 2 + PAGE as u32).to_vec();
    let pagination = Filter::column_pagination_from(PAGE as i32, middle).expect("a filter");
    let range = Filter::column_range(Some(middle.to_vec()), true, Some(behind), false);
    for (name, filter) in [("pagination", pagination), ("range", range)] {
        group.bench_function(format!("get, {name}"), |bencher| {
            let get = Get::new(ROW).with_filter(filter.clone());
            bencher.iter(|| assert_eq!(store.table.get(&get).expect("an answer").len(), PAGE));
        });
        for reversed in [false, true] {
            let scan = Scan::new().with_start_row(ROW).with_limit(1).with_reversed(reversed);
            let scan = scan.with_filter(filter.clone());
            let direction = if reversed { "reverse" } else { "forward" };
            group.bench_function(format!("scan, {name}, {direction}"), |bencher| {
                bencher.iter(|| {
                    let mut scanner = store.table.scan(&scan).expect("a scan");
                    let row = scanner.next_row().expect("an answer").expect("a row");
                    assert_eq!(row.len(), PAGE);
                });
            });
        }
    }
}
