//! Gets and scans on the main store, everything in memory: each measurement is of a warm store.
//!
//! A get asks for the newest version of one column and does not know its timestamp. The measured
//! passes come after one that is not. Threads share the keys evenly.

use super::threads::on_threads;
use super::{Contestant, Task, check, check_each, name_for_threads};
use crate::cells::{QUALIFIER, SampleCell, Tally};
use crate::clocks::measure;
use crate::report::Unit;
use crate::rows::{Row, Rows, row_of};
use crate::store::{Direction, Result, Span};

const FULL_SCANS: usize = 3;
const SCAN_ROWS: usize = 100;
/// The first byte of a value is random; one value in ten is not lower.
const VALUE_MIN: &[u8] = &[0xe6];

/// Random rows that are there.
pub(super) fn get_random(
    contestant: &mut Contestant,
    threads: usize,
    task: &mut Task<'_>,
) -> Result<()> {
    let picked: Vec<u64> = task.rows.picks(1).take(task.args.gets).collect();
    gets(contestant, &name_for_threads("get_random", threads), threads, &picked, task)
}

/// Rows that are there, few of them often.
pub(super) fn get_zipfian(
    contestant: &mut Contestant,
    threads: usize,
    task: &mut Task<'_>,
) -> Result<()> {
    let picked: Vec<u64> = task.rows.zipfian(4).take(task.args.gets).collect();
    gets(contestant, &name_for_threads("get_zipfian", threads), threads, &picked, task)
}

fn gets(
    contestant: &Contestant,
    workload: &str,
    threads: usize,
    numbers: &[u64],
    task: &mut Task<'_>,
) -> Result<()> {
    let parts = numbers.chunks(share(numbers.len(), threads));
    let expected: Vec<Tally> = parts.map(|part| Tally::of(part.iter().copied())).collect();
    get_and_check(contestant, workload, numbers, &expected, task)
}

/// Random rows that are not there.
pub(super) fn get_missing(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let absent: Vec<u64> = task.rows.absent().take(task.args.gets).collect();
    get_and_check(contestant, "get_missing", &absent, &[Tally::default()], task)
}

/// Gets of these rows by as many threads as there are expected answers.
fn get_and_check(
    contestant: &Contestant,
    workload: &str,
    numbers: &[u64],
    expected: &[Tally],
    task: &mut Task<'_>,
) -> Result<()> {
    let store = contestant.main()?;
    let workload = &contestant.name_in_state(workload);
    let sought: Vec<Row> = numbers.iter().copied().map(row_of).collect();
    let parts: Vec<&[Row]> = sought.chunks(share(sought.len(), expected.len())).collect();
    let pass = || {
        on_threads(parts.len(), |thread| {
            let mut tally = Tally::default();
            for row in parts[thread] {
                store.get(row, &QUALIFIER, &mut tally)?;
            }
            Ok(tally)
        })
    };
    check_each(workload, &pass()?, expected)?;
    let (tallies, clocks) = measure(pass)?;
    check_each(workload, &tallies, expected)?;
    let count = sought.len() as u64;
    (task.record)(contestant.sample(workload, Unit::PerSecond("gets"), count, clocks))
}

/// How many of `count` operations each thread does.
fn share(count: usize, threads: usize) -> usize {
    count.div_ceil(threads).max(1)
}

/// All rows in order.
pub(super) fn scan_full(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let expected = Tally::of(task.rows.sorted());
    full_scans(contestant, "scan_full", Span::whole(Direction::Forward), expected, task)
}

/// All rows in descending order.
pub(super) fn scan_full_reverse(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let expected = Tally::of(task.rows.sorted().rev());
    full_scans(contestant, "scan_full_reverse", Span::whole(Direction::Reverse), expected, task)
}

/// All rows in order; one in ten is returned.
pub(super) fn scan_value_filter(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let is_kept = |number: &u64| SampleCell::of(*number).value() >= VALUE_MIN;
    let expected = Tally::of(task.rows.sorted().filter(is_kept));
    let span = Span { value_min: Some(VALUE_MIN), ..Span::whole(Direction::Forward) };
    full_scans(contestant, "scan_value_filter", span, expected, task)
}

/// Scans over all rows of the main store.
fn full_scans(
    contestant: &Contestant,
    workload: &str,
    span: Span<'_>,
    expected: Tally,
    task: &mut Task<'_>,
) -> Result<()> {
    let store = contestant.main()?;
    let workload = &contestant.name_in_state(workload);
    let pass = || {
        let mut tally = Tally::default();
        store.read(span, &mut tally)?;
        Ok(tally)
    };
    check(workload, pass()?, expected)?;
    let (tallies, clocks) =
        measure(|| (0..FULL_SCANS).map(|_| pass()).collect::<Result<Vec<Tally>>>())?;
    for tally in &tallies {
        check(workload, *tally, expected)?;
    }
    let count = task.rows.count() * tallies.len() as u64;
    (task.record)(contestant.sample(workload, Unit::PerSecond("cells"), count, clocks))
}

/// A hundred rows from a random one on.
pub(super) fn scan_100(
    contestant: &mut Contestant,
    threads: usize,
    task: &mut Task<'_>,
) -> Result<()> {
    let workload = name_for_threads("scan_100", threads);
    short_scans(contestant, &workload, threads, Direction::Forward, task)
}

/// A hundred rows from a random one down.
pub(super) fn scan_100_reverse(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    short_scans(contestant, "scan_100_reverse", 1, Direction::Reverse, task)
}

fn short_scans(
    contestant: &Contestant,
    workload: &str,
    threads: usize,
    direction: Direction,
    task: &mut Task<'_>,
) -> Result<()> {
    let store = contestant.main()?;
    let workload = &contestant.name_in_state(workload);
    let starts: Vec<u64> = task.rows.positions(2).take(task.args.scans).collect();
    let share = share(starts.len(), threads);
    let expected: Vec<Tally> = starts
        .chunks(share)
        .map(|part| part.iter().flat_map(|start| rows_from(task.rows, *start, direction)))
        .map(Tally::of)
        .collect();
    let keys: Vec<Row> = starts.iter().map(|start| row_of(task.rows.at(*start))).collect();
    let parts: Vec<&[Row]> = keys.chunks(share).collect();
    let pass = || {
        on_threads(parts.len(), |thread| {
            let mut tally = Tally::default();
            for start in parts[thread] {
                store.read(Span::from(start, SCAN_ROWS, direction), &mut tally)?;
            }
            Ok(tally)
        })
    };
    check_each(workload, &pass()?, &expected)?;
    let (tallies, clocks) = measure(pass)?;
    check_each(workload, &tallies, &expected)?;
    let count = keys.len() as u64;
    (task.record)(contestant.sample(workload, Unit::PerSecond("scans"), count, clocks))
}

/// What a short scan from the row at position `start` has to return.
fn rows_from(rows: Rows, start: u64, direction: Direction) -> impl Iterator<Item = u64> {
    (0..SCAN_ROWS as u64)
        .map_while(move |distance| match direction {
            Direction::Forward => {
                Some(start + distance).filter(|position| *position < rows.count())
            }
            Direction::Reverse => start.checked_sub(distance),
        })
        .map(move |position| rows.at(position))
}
