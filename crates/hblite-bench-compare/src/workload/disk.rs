//! Random gets from a main store that does not fit into memory: what each reads from disk, and how
//! long it takes. If the store fits into memory, they read nothing.

use std::time::Instant;

use super::{Contestant, Task, check};
use crate::cells::{QUALIFIER, Tally};
use crate::latencies::Latencies;
use crate::process::file_bytes;
use crate::rows::row_of;
use crate::store::{Result, Store};

/// Gets of random rows, after as many of others, which leave the caches as they are in the long
/// run.
pub(super) fn gets_from_disk(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let name = |workload| contestant.name_in_state(workload);
    let store = contestant.main()?;
    let picks = |seed| task.rows.picks(seed).take(task.args.gets);
    timed_gets(store, picks(5))?;
    let before = file_bytes();
    let latencies = timed_gets(store, picks(6))?;
    let after = file_bytes();

    if let (Some(before), Some(after)) = (before, after) {
        let kib = (after.read - before.read) as f64 / 1024.0 / task.args.gets as f64;
        (task.record)(contestant.amount(&name("disk_read_kib_per_get"), "KiB/get", kib))?;
    }
    for (workload, part) in [("get_p50", 0.5), ("get_p99", 0.99)] {
        let micros = latencies.percentile_us(part);
        (task.record)(contestant.amount(&name(workload), "µs", micros))?;
    }
    Ok(())
}

fn timed_gets(store: &dyn Store, numbers: impl Iterator<Item = u64>) -> Result<Latencies> {
    let (mut got, mut expected) = (Tally::default(), Tally::default());
    let mut latencies = Latencies::new();
    for number in numbers {
        let row = row_of(number);
        let began = Instant::now();
        store.get(&row, &QUALIFIER, &mut got)?;
        latencies.add(began.elapsed());
        expected.add_row(number);
    }
    check("get_p50", got, expected)?;
    Ok(latencies)
}
