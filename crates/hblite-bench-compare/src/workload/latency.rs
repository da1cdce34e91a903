//! How long single gets and batches of puts take while a store is loaded, and what follows a load.
//!
//! One thread puts as many rows as the main store has, all of them new, which makes log-structured
//! stores flush and compact. Meanwhile another thread gets random rows of those that were there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::write::{BATCH, check_without_timestamps};
use super::{Contestant, Task, check};
use crate::cells::{QUALIFIER, SampleCell, Tally};
use crate::latencies::Latencies;
use crate::process::wait_until_idle;
use crate::rows::{Rows, row_of};
use crate::store::{Result, Store};

/// The wait for background work ends after this time, or after three times that of the load if that
/// is longer.
const IDLE_WAIT_MAX: Duration = Duration::from_secs(60);

/// Loads the rows that are not there yet, and reads the others.
pub(super) fn latency(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let store = contestant.main()?;
    let began = Instant::now();
    let (batch_max, latencies) = load_and_get(store, task.rows)?;
    let idle = wait_until_idle(IDLE_WAIT_MAX.max(began.elapsed() * 3));
    let numbers = task.rows.sorted_with_others();
    check_without_timestamps(store, "latency", numbers)?;

    let record = &mut task.record;
    for (workload, part) in [
        ("get_p50_during_load", 0.5),
        ("get_p99_during_load", 0.99),
        ("get_p999_during_load", 0.999),
    ] {
        record(contestant.amount(workload, "µs", latencies.percentile_us(part)))?;
    }
    let millis = batch_max.as_secs_f64() * 1e3;
    record(contestant.amount("put_batch_max_during_load", "ms", millis))?;
    if !idle.is_idle {
        let name = contestant.engine.name();
        eprintln!("{name}: still busy when the wait for idle_after_load ended");
    }
    record(contestant.amount("idle_after_load", "s", idle.after.as_secs_f64()))
}

/// The longest time that a batch took, and the times of the gets.
fn load_and_get(store: &dyn Store, rows: Rows) -> Result<(Duration, Latencies)> {
    let is_loaded = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| get_until(store, rows, &is_loaded));
        let batch_max = load(store, rows);
        is_loaded.store(true, Ordering::Relaxed);
        let latencies = reader.join().map_err(|_| "the reader panicked")??;
        Ok((batch_max?, latencies))
    })
}

fn load(store: &dyn Store, rows: Rows) -> Result<Duration> {
    let mut longest = Duration::ZERO;
    let mut numbers = rows.others_shuffled();
    loop {
        let cells: Vec<SampleCell> = numbers.by_ref().take(BATCH).map(SampleCell::of).collect();
        if cells.is_empty() {
            return Ok(longest);
        }
        let began = Instant::now();
        store.put(&cells)?;
        longest = longest.max(began.elapsed());
    }
}

fn get_until(store: &dyn Store, rows: Rows, is_loaded: &AtomicBool) -> Result<Latencies> {
    // Timestamps are unknown if other steps have put rows again.
    let (mut got, mut expected) = (Tally::without_timestamps(), Tally::without_timestamps());
    let mut latencies = Latencies::new();
    for number in rows.picks(8) {
        if is_loaded.load(Ordering::Relaxed) {
            break;
        }
        let row = row_of(number);
        let began = Instant::now();
        store.get(&row, &QUALIFIER, &mut got)?;
        latencies.add(began.elapsed());
        expected.add_row(number);
    }
    check("get_during_load", got, expected)?;
    Ok(latencies)
}
