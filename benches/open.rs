//! Opening: an empty directory with its first table, a store with files, and one with a log.

mod support;

use std::fs;
use std::io;
use std::path::Path;

use criterion::{BatchSize, Criterion};
use support::{Store, get_of};
use tempfile::TempDir;

fn main() {
    let mut criterion = support::criterion();
    open_empty(&mut criterion);
    open_copy(&mut criterion, "flushed", Store::flushed());
    open_copy(&mut criterion, "logged", Store::filled());
    criterion.final_summary();
}

fn open_empty(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("open");
    group.bench_function("empty", |bencher| {
        bencher.iter_batched(
            || TempDir::new().expect("a directory for the benchmark"),
            |dir| (support::open(dir.path()), dir),
            BatchSize::PerIteration,
        );
    });
}

/// Opens copies of a store's files as they are while it is open: what a kill would leave.
fn open_copy(criterion: &mut Criterion, name: &str, store: Store) {
    let mut group = criterion.benchmark_group("open");
    group.bench_function(name, |bencher| {
        bencher.iter_batched(
            || copy_of(store.dir.path()).expect("a copy of the store"),
            |dir| {
                let (connection, table) = support::open(dir.path());
                assert_eq!(table.get(&get_of(1)).expect("an answer").len(), 1);
                (connection, dir)
            },
            BatchSize::PerIteration,
        );
    });
}

fn copy_of(dir: &Path) -> io::Result<TempDir> {
    let copy = TempDir::new()?;
    copy_files(dir, copy.path())?;
    Ok(copy)
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            copy_files(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
