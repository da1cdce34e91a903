//! Puts: sequential and random, singly and in batches, with and without fsync.
//!
//! Timed is what the writers wait for; what a store puts off shows in the CPU figure as far as it
//! is done meanwhile, and then in the flush, which is timed apart.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;

use super::{Contestant, Task, check};
use crate::cells::{RAW_CELL_SIZE, SampleCell, Tally};
use crate::clocks::{Clocks, measure};
use crate::report::{Sample, Unit};
use crate::store::{Direction, Durability, Opening, Result, Span, Store};

const BATCH: usize = 100;
const FSYNC_8_THREADS_FACTOR: usize = 4;
const CELLS: Unit = Unit::PerSecond("cells");

/// How some rows are put into a new store.
struct Puts {
    workload: &'static str,
    durability: Durability,
    threads: usize,
    /// Cells per call.
    batch: usize,
}

/// All cells in key order, a hundred at a time.
pub(super) fn load_sequential(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let puts = Puts {
        workload: "load_sequential",
        durability: Durability::Process,
        threads: 1,
        batch: BATCH,
    };
    put_into_fresh_store(contestant, &puts, task.rows.sorted(), task)
}

/// Half of the cells in random order, one at a time.
pub(super) fn put_single(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let puts = Puts {
        workload: "put_random_single",
        durability: Durability::Process,
        threads: 1,
        batch: 1,
    };
    let count = task.rows.sorted().len() / 2;
    let numbers: Vec<u64> = task.rows.shuffled().take(count).collect();
    put_into_fresh_store(contestant, &puts, &numbers, task)
}

/// One at a time by one thread, each on the disk before the next.
pub(super) fn put_fsync_1_thread(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let puts = Puts {
        workload: "put_fsync_1_thread",
        durability: Durability::Machine,
        threads: 1,
        batch: 1,
    };
    let numbers: Vec<u64> = task.rows.shuffled().take(task.args.fsync_puts).collect();
    put_into_fresh_store(contestant, &puts, &numbers, task)
}

/// One at a time by each of eight threads, on the disk before that thread's next.
pub(super) fn put_fsync_8_threads(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let puts = Puts {
        workload: "put_fsync_8_threads",
        durability: Durability::Machine,
        threads: 8,
        batch: 1,
    };
    let count = task.args.fsync_puts * FSYNC_8_THREADS_FACTOR;
    let numbers: Vec<u64> = task.rows.shuffled().take(count).collect();
    put_into_fresh_store(contestant, &puts, &numbers, task)
}

/// Puts the cells of these rows, records how fast, and checks that they are there.
fn put_into_fresh_store(
    contestant: &Contestant,
    puts: &Puts,
    numbers: &[u64],
    task: &mut Task<'_>,
) -> Result<()> {
    let dir = contestant.fresh_dir(puts.workload)?;
    let opening = Opening { durability: puts.durability, ..Opening::USUAL };
    let store = contestant.engine.open(&dir, opening)?;
    let ((), clocks) = measure(|| put_by_threads(&*store, puts, numbers))?;
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    check_all(&*store, puts.workload, &sorted)?;
    drop(store);
    fs::remove_dir_all(dir)?;
    let count = numbers.len() as u64;
    (task.record)(contestant.sample(puts.workload, CELLS, count, clocks))
}

fn put_by_threads(store: &dyn Store, puts: &Puts, numbers: &[u64]) -> Result<()> {
    if puts.threads == 1 {
        return put_all(store, numbers.iter().copied(), puts.batch);
    }
    thread::scope(|scope| {
        let parts = numbers.chunks(numbers.len().div_ceil(puts.threads).max(1));
        let writers: Vec<_> = parts
            .map(|part| scope.spawn(move || put_all(store, part.iter().copied(), puts.batch)))
            .collect();
        for writer in writers {
            writer.join().map_err(|_| "a writer panicked")??;
        }
        Ok(())
    })
}

/// All cells in random order, a hundred at a time, then the flush: makes the main store.
pub(super) fn put_batches(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let dir = contestant.fresh_dir("main")?;
    let store = contestant.engine.open(&dir, Opening::USUAL)?;
    let ((), clocks) = measure(|| put_all(&*store, task.rows.shuffled(), BATCH))?;
    let put = contestant.sample("put_random_batch", CELLS, task.args.cells, clocks);
    let (_, clocks) = measure(|| store.flush())?;
    let flush = contestant.sample("flush_after_put", Unit::Milliseconds, 1, clocks);
    let disk = disk_sample(contestant, "disk_flushed", clocks, task)?;
    check_all(&*store, "put_random_batch", task.rows.sorted())?;
    contestant.main = Some(store);
    if task.args.wants("put") {
        (task.record)(put)?;
        (task.record)(flush)?;
        (task.record)(disk)?;
    }
    Ok(())
}

/// Compaction on request, and how much disk is in use after it.
pub(super) fn settle(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let store = contestant.main()?;
    let (_, clocks) = measure(|| store.settle())?;
    (task.record)(contestant.sample("settle", Unit::Milliseconds, 1, clocks))?;
    check_all(store, "settle", task.rows.sorted())?;
    let disk = disk_sample(contestant, "disk_settled", clocks, task)?;
    (task.record)(disk)
}

/// How much disk the main store occupies, after what took `clocks`.
fn disk_sample(
    contestant: &Contestant,
    workload: &str,
    clocks: Clocks,
    task: &Task<'_>,
) -> Result<Sample> {
    let raw_bytes = task.args.cells * RAW_CELL_SIZE as u64;
    let ratio = disk_bytes(&contestant.dir.join("main"))? as f64 / raw_bytes as f64;
    let sample = contestant.sample(workload, Unit::PerRawByte, 1, clocks);
    Ok(Sample { wall: ratio, cpu: ratio, ..sample })
}

/// Writes the cells of these rows, `batch` at a time.
pub(super) fn put_all(
    store: &dyn Store,
    numbers: impl Iterator<Item = u64>,
    batch: usize,
) -> Result<()> {
    let mut cells = Vec::with_capacity(batch);
    for number in numbers {
        cells.push(SampleCell::of(number));
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

/// Checks that the store holds the cells of exactly these rows, which are in key order.
pub(super) fn check_all(store: &dyn Store, workload: &str, sorted: &[u64]) -> Result<()> {
    let mut tally = Tally::default();
    store.scan(Span::whole(Direction::Forward), &mut tally)?;
    check(workload, tally, Tally::of(sorted.iter().copied()))
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
