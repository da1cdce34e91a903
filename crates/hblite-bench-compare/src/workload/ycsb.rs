//! YCSB's workloads A, B and C: gets and puts of existing rows, chosen by Zipf's law.
//!
//! A put writes the row's value again with a timestamp that is newer than all others, so an answer
//! is known except for its timestamp, whatever the threads do meanwhile.

use std::sync::atomic::{AtomicI64, Ordering};

use super::threads::on_threads;
use super::write::check_without_timestamps;
use super::{Contestant, Task, check_each, name_for_threads};
use crate::cells::{QUALIFIER, SampleCell, TIMESTAMP_END, Tally};
use crate::clocks::measure;
use crate::report::Unit;
use crate::rows::{Row, Rows, mix, row_of};
use crate::store::{Result, Store};

/// One of YCSB's workloads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mix {
    name: &'static str,
    /// One in this many operations is a put; none for gets only.
    put_every: Option<u64>,
}

/// Half puts.
pub(super) const A: Mix = Mix { name: "ycsb_a", put_every: Some(2) };
/// One put in twenty.
pub(super) const B: Mix = Mix { name: "ycsb_b", put_every: Some(20) };
/// Gets only.
pub(super) const C: Mix = Mix { name: "ycsb_c", put_every: None };

static NEXT_TIMESTAMP: AtomicI64 = AtomicI64::new(TIMESTAMP_END);

/// One operation.
#[derive(Clone, Copy)]
enum Operation {
    Get(Row),
    Put(u64),
}

/// The operations of one thread, and what their gets must find.
struct Series {
    operations: Vec<Operation>,
    expected: Tally,
}

/// As many operations as there are gets in other measurements, on the main store as it is.
pub(super) fn run(
    contestant: &mut Contestant,
    kind: Mix,
    threads: usize,
    task: &mut Task<'_>,
) -> Result<()> {
    let workload = name_for_threads(kind.name, threads);
    let store = contestant.main()?;
    let count = task.args.gets / threads;
    let series: Vec<Series> =
        (0..threads).map(|thread| Series::new(kind, task.rows, thread as u64, count)).collect();
    let expected: Vec<Tally> = series.iter().map(|series| series.expected).collect();
    let pass = || on_threads(threads, |thread| perform(store, &series[thread].operations));
    if kind.put_every.is_none() {
        check_each(&workload, &pass()?, &expected)?;
    }
    let (tallies, clocks) = measure(pass)?;
    check_each(&workload, &tallies, &expected)?;
    if kind.put_every.is_some() {
        check_without_timestamps(store, &workload, task.rows.sorted())?;
    }
    let count = (count * threads) as u64;
    (task.record)(contestant.sample(&workload, Unit::PerSecond("ops"), count, clocks))
}

impl Series {
    fn new(kind: Mix, rows: Rows, thread: u64, count: usize) -> Self {
        let mut expected = Tally::without_timestamps();
        let seed = thread + 20;
        let numbers = rows.zipfian(seed).take(count).enumerate();
        let operations = numbers.map(|(turn, number)| {
            let choice = mix(mix(turn as u64) ^ seed);
            if kind.put_every.is_some_and(|every| choice.is_multiple_of(every)) {
                return Operation::Put(number);
            }
            expected.add_row(number);
            Operation::Get(row_of(number))
        });
        let operations = operations.collect();
        Self { operations, expected }
    }
}

fn perform(store: &dyn Store, operations: &[Operation]) -> Result<Tally> {
    let mut tally = Tally::without_timestamps();
    for operation in operations {
        match operation {
            Operation::Get(row) => store.get(row, &QUALIFIER, &mut tally)?,
            Operation::Put(number) => {
                let mut cell = SampleCell::of(*number);
                cell.timestamp = NEXT_TIMESTAMP.fetch_add(1, Ordering::Relaxed);
                store.put(&[cell])?;
            }
        }
    }
    Ok(tally)
}
