//! Puts: sequential and random, singly and in batches, with and without fsync.
//!
//! Timed is what the writers wait for; what a store puts off shows in the CPU figure as far as it
//! is done meanwhile, and then in the flush, which is timed apart.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::threads::on_threads;
use super::{Contestant, MAIN, State, Task, check, name_for_threads};
use crate::cells::{RAW_CELL_SIZE, SampleCell, Tally};
use crate::clocks::measure;
use crate::process::file_bytes;
use crate::report::{Sample, Unit};
use crate::rows::Rows;
use crate::store::{Direction, Durability, Opening, Result, Span, Store};

/// Cells per batch.
pub(super) const BATCH: usize = 100;
const FSYNC_8_THREADS_FACTOR: usize = 4;
const CELLS: Unit = Unit::PerSecond("cells");
const PER_RAW_BYTE: &str = "B per raw B";

/// How some rows are put into a new store.
struct Puts<'a> {
    workload: &'a str,
    durability: Durability,
    threads: usize,
    /// Cells per call.
    batch: usize,
    is_sequential: bool,
}

const RANDOM_SINGLE: Puts<'static> = Puts {
    workload: "put_random_single",
    durability: Durability::Process,
    threads: 1,
    batch: 1,
    is_sequential: false,
};

/// All cells in key order, a hundred at a time.
pub(super) fn load_sequential(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let workload = "load_sequential";
    let puts = Puts { workload, batch: BATCH, is_sequential: true, ..RANDOM_SINGLE };
    put_into_fresh_store(contestant, &puts, task.rows, task)
}

/// Half of the cells in random order, one at a time.
pub(super) fn put_single(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let rows = Rows::new(task.args.cells / 2);
    put_into_fresh_store(contestant, &RANDOM_SINGLE, rows, task)
}

/// A quarter of the cells in the same way, by two threads.
pub(super) fn put_single_2_threads(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let workload = &name_for_threads(RANDOM_SINGLE.workload, 2);
    let puts = Puts { workload, threads: 2, ..RANDOM_SINGLE };
    let rows = Rows::new(task.args.cells / 4);
    put_into_fresh_store(contestant, &puts, rows, task)
}

/// One at a time by one thread, each on the disk before the next.
pub(super) fn put_fsync_1_thread(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let durability = Durability::Machine;
    let puts = Puts { workload: "put_fsync_1_thread", durability, ..RANDOM_SINGLE };
    let rows = Rows::new(task.args.fsync_puts as u64);
    put_into_fresh_store(contestant, &puts, rows, task)
}

/// One at a time by each of eight threads, on the disk before that thread's next.
pub(super) fn put_fsync_8_threads(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let durability = Durability::Machine;
    let puts = Puts { workload: "put_fsync_8_threads", durability, threads: 8, ..RANDOM_SINGLE };
    let rows = Rows::new((task.args.fsync_puts * FSYNC_8_THREADS_FACTOR) as u64);
    put_into_fresh_store(contestant, &puts, rows, task)
}

/// Puts the cells of these rows, records how fast, and checks that they are there.
fn put_into_fresh_store(
    contestant: &Contestant,
    puts: &Puts<'_>,
    rows: Rows,
    task: &mut Task<'_>,
) -> Result<()> {
    let dir = contestant.fresh_dir(puts.workload)?;
    let opening = Opening { durability: puts.durability, ..contestant.opening };
    let store = contestant.engine.open(&dir, opening)?;
    let (_, clocks) = measure(|| {
        on_threads(puts.threads, |thread| match puts.is_sequential {
            true => put_all(&*store, rows.sorted(), puts.batch),
            false => put_all(&*store, rows.shuffled_part(thread, puts.threads), puts.batch),
        })
    })?;
    check_all(&*store, puts.workload, rows)?;
    drop(store);
    fs::remove_dir_all(dir)?;
    (task.record)(contestant.sample(puts.workload, CELLS, rows.count(), clocks))
}

/// All cells, a hundred at a time, then the flush: makes the main store.
pub(super) fn put_batches(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let dir = contestant.fresh_dir(MAIN)?;
    let store = contestant.open(&dir)?;
    let written_before = file_bytes();
    let (workload, numbers): (_, Box<dyn Iterator<Item = u64>>) = match task.args.is_sequential {
        true => ("put_sequential_batch", Box::new(task.rows.sorted())),
        false => ("put_random_batch", Box::new(task.rows.shuffled())),
    };
    let ((), clocks) = measure(|| put_all(&*store, numbers, BATCH))?;
    let put = contestant.sample(workload, CELLS, task.args.cells, clocks);
    let ((), clocks) = measure(|| store.flush())?;
    let flush = contestant.sample("flush_after_put", Unit::Milliseconds, 1, clocks);
    let written = written_before.zip(file_bytes());
    let disk = disk_sample(contestant, "disk_flushed", task)?;
    check_all(&*store, workload, task.rows)?;
    contestant.main = Some(store);
    contestant.state = State::Flushed;
    (task.record)(put)?;
    (task.record)(flush)?;
    (task.record)(disk)?;
    if let Some((before, after)) = written {
        let ratio = (after.written - before.written) as f64 / raw_bytes(task);
        (task.record)(contestant.amount("write_amplification", PER_RAW_BYTE, ratio))?;
    }
    Ok(())
}

/// Compaction on request, and how much disk is in use after it.
pub(super) fn settle(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let store = contestant.main()?;
    let ((), clocks) = measure(|| store.settle())?;
    (task.record)(contestant.sample("settle", Unit::Milliseconds, 1, clocks))?;
    check_all(store, "settle", task.rows)?;
    contestant.state = State::Settled;
    let disk = disk_sample(contestant, "disk_settled", task)?;
    (task.record)(disk)
}

/// How much disk the main store occupies.
fn disk_sample(contestant: &Contestant, workload: &str, task: &Task<'_>) -> Result<Sample> {
    let ratio = disk_bytes(&contestant.main_dir())? as f64 / raw_bytes(task);
    Ok(contestant.amount(workload, PER_RAW_BYTE, ratio))
}

/// Bytes of the main store's cells.
fn raw_bytes(task: &Task<'_>) -> f64 {
    task.args.cells as f64 * RAW_CELL_SIZE as f64
}

/// Writes the cells of these rows, `batch` at a time.
pub(super) fn put_all(
    store: &dyn Store,
    numbers: impl Iterator<Item = u64>,
    batch: usize,
) -> Result<()> {
    put_cells(store, numbers.map(SampleCell::of), batch)
}

/// Writes these cells, `batch` at a time.
pub(super) fn put_cells(
    store: &dyn Store,
    all: impl Iterator<Item = SampleCell>,
    batch: usize,
) -> Result<()> {
    let mut cells = Vec::with_capacity(batch);
    for cell in all {
        cells.push(cell);
        if cells.len() == batch {
            store.put(&cells)?;
            cells.clear();
        }
    }
    if !cells.is_empty() {
        store.put(&cells)?;
    }
    Ok(())
}

/// Checks that the store holds the cells of exactly these rows.
pub(super) fn check_all(store: &dyn Store, workload: &str, rows: Rows) -> Result<()> {
    let mut tally = Tally::default();
    store.read(Span::whole(Direction::Forward), &mut tally)?;
    check(workload, tally, Tally::of(rows.sorted()))
}

/// Checks that the store holds cells of exactly these rows, which are in key order, with any
/// timestamps.
pub(super) fn check_without_timestamps(
    store: &dyn Store,
    workload: &str,
    sorted: impl Iterator<Item = u64>,
) -> Result<()> {
    let (mut got, mut expected) = (Tally::without_timestamps(), Tally::without_timestamps());
    store.read(Span::whole(Direction::Forward), &mut got)?;
    sorted.for_each(|number| expected.add_row(number));
    check(workload, got, expected)
}

/// Bytes of disk that the files below `dir` occupy; neither holes nor files that go away meanwhile
/// count.
fn disk_bytes(dir: &Path) -> Result<u64> {
    const SECTOR: u64 = 512;
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        bytes += match metadata.is_dir() {
            true => disk_bytes(&entry.path())?,
            false => metadata.blocks() * SECTOR,
        };
    }
    Ok(bytes)
}
