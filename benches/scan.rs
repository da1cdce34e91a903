//! Scans over one file, both ways: everything by cells and by rows, and a hundred rows.

mod support;

use criterion::{Criterion, Throughput};
use hblite::{Direction, Scan};
use support::{ROWS, Store, picks, row_of};

const SHORT_ROWS: u64 = 100;

fn main() {
    let mut criterion = support::criterion();
    let store = Store::flushed();
    for direction in [Direction::Forward, Direction::Reverse] {
        full_by_cells(&mut criterion, &store, direction);
        full_by_rows(&mut criterion, &store, direction);
        short(&mut criterion, &store, direction);
    }
    criterion.final_summary();
}

fn scan_in(direction: Direction) -> Scan {
    Scan::new().with_reversed(direction == Direction::Reverse)
}

fn full_by_cells(criterion: &mut Criterion, store: &Store, direction: Direction) {
    let mut group = criterion.benchmark_group("scan");
    group.throughput(Throughput::Elements(ROWS));
    group.bench_function(format!("cells, {direction:?}"), |bencher| {
        bencher.iter(|| {
            let mut scanner = store.table.scan(&scan_in(direction)).expect("a scan");
            let (mut cells, mut bytes) = (0, 0);
            let visited = scanner.for_each_cell(|cell| {
                cells += 1;
                bytes += cell.value().len();
            });
            visited.expect("all cells");
            assert_eq!(cells, ROWS);
            bytes
        });
    });
}

fn full_by_rows(criterion: &mut Criterion, store: &Store, direction: Direction) {
    let mut group = criterion.benchmark_group("scan");
    group.throughput(Throughput::Elements(ROWS));
    group.bench_function(format!("rows, {direction:?}"), |bencher| {
        bencher.iter(|| assert_eq!(row_count(store, &scan_in(direction)), ROWS));
    });
}

fn short(criterion: &mut Criterion, store: &Store, direction: Direction) {
    let mut starts = picks();
    let mut group = criterion.benchmark_group("scan");
    group.throughput(Throughput::Elements(SHORT_ROWS));
    group.bench_function(format!("100 rows, {direction:?}"), |bencher| {
        bencher.iter(|| {
            let start = row_of(starts.next().expect("endless"));
            let scan = scan_in(direction).with_start_row(start).with_limit(SHORT_ROWS as u32);
            assert!(row_count(store, &scan) >= 1);
        });
    });
}

fn row_count(store: &Store, scan: &Scan) -> u64 {
    let mut scanner = store.table.scan(scan).expect("a scan");
    let mut rows = 0;
    while scanner.next_row().expect("a row").is_some() {
        rows += 1;
    }
    rows
}
