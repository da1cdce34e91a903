//! Random puts into a growing table: singly, in batches, and each on the disk.

mod support;

use criterion::{Criterion, Throughput};
use hblite::{Durability, Put};
use support::{Store, put_of};

const BATCH: u64 = 100;

fn main() {
    let mut criterion = support::criterion();
    put_single(&mut criterion);
    put_batch(&mut criterion);
    put_fsync(&mut criterion);
    criterion.final_summary();
}

fn put_single(criterion: &mut Criterion) {
    let store = Store::new();
    let mut numbers = 0..;
    let mut group = criterion.benchmark_group("put");
    group.throughput(Throughput::Elements(1));
    group.bench_function("single", |bencher| {
        bencher.iter(|| {
            let put = put_of(numbers.next().expect("endless"));
            store.table.put(&put).expect("a put");
        });
    });
}

fn put_batch(criterion: &mut Criterion) {
    let store = Store::new();
    let mut first = 0;
    let mut group = criterion.benchmark_group("put");
    group.throughput(Throughput::Elements(BATCH));
    group.bench_function("batch of 100", |bencher| {
        bencher.iter(|| {
            let puts: Vec<Put> = (first..first + BATCH).map(put_of).collect();
            first += BATCH;
            store.table.put_all(&puts).expect("a batch of puts");
        });
    });
}

fn put_fsync(criterion: &mut Criterion) {
    let store = Store::new();
    let mut numbers = 0..;
    let mut group = criterion.benchmark_group("put");
    group.throughput(Throughput::Elements(1));
    group.bench_function("fsync", |bencher| {
        bencher.iter(|| {
            let put = put_of(numbers.next().expect("endless"));
            let put = put.with_durability(Durability::FsyncWal);
            store.table.put(&put).expect("a put");
        });
    });
}
