//! Random gets of the newest version: from memory, from a file, and of rows that do not exist.

mod support;

use criterion::{Criterion, Throughput};
use support::{ROWS, Store, get_of, picks};

fn main() {
    let mut criterion = support::criterion();
    gets(&mut criterion, "memstore", &Store::filled(), picks(), 1);
    let flushed = Store::flushed();
    gets(&mut criterion, "file", &flushed, picks(), 1);
    gets(&mut criterion, "missing", &flushed, ROWS.., 0);
    criterion.final_summary();
}

fn gets(
    criterion: &mut Criterion,
    name: &str,
    store: &Store,
    mut numbers: impl Iterator<Item = u64>,
    cells_expected: usize,
) {
    let mut group = criterion.benchmark_group("get");
    group.throughput(Throughput::Elements(1));
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            let get = get_of(numbers.next().expect("endless"));
            let found = store.table.get(&get).expect("an answer");
            assert_eq!(found.len(), cells_expected);
        });
    });
}
