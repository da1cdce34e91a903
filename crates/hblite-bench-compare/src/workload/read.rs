//! Gets and scans on the main store, everything in memory: each measurement is of a warm store.
//!
//! A get asks for the newest version of one column and does not know its timestamp. The measured
//! passes come after one that is not.

use super::{Contestant, Task, check};
use crate::cells::{Row, Tally, row_of};
use crate::clocks::measure;
use crate::report::Unit;
use crate::store::{Direction, Result, Span};

const FULL_SCANS: usize = 3;
const SCAN_ROWS: usize = 100;

/// Random rows that are there.
pub(super) fn get_random(
    contestant: &mut Contestant,
    stage: &str,
    task: &mut Task<'_>,
) -> Result<()> {
    let picked: Vec<u64> = task.rows.picks(1).take(task.args.gets).collect();
    let expected = Tally::of(picked.iter().copied());
    gets(contestant, &format!("get_random {stage}"), &picked, expected, task)
}

/// Random rows that are not there.
pub(super) fn get_missing(
    contestant: &mut Contestant,
    stage: &str,
    task: &mut Task<'_>,
) -> Result<()> {
    let absent: Vec<u64> = task.rows.absent().take(task.args.gets).collect();
    gets(contestant, &format!("get_missing {stage}"), &absent, Tally::default(), task)
}

fn gets(
    contestant: &Contestant,
    workload: &str,
    numbers: &[u64],
    expected: Tally,
    task: &mut Task<'_>,
) -> Result<()> {
    let store = contestant.main()?;
    let sought: Vec<Row> = numbers.iter().copied().map(row_of).collect();
    let pass = || {
        let mut tally = Tally::default();
        for row in &sought {
            store.get(row, &mut tally)?;
        }
        Ok(tally)
    };
    check(workload, pass()?, expected)?;
    let (tally, clocks) = measure(pass)?;
    check(workload, tally, expected)?;
    let count = sought.len() as u64;
    (task.record)(contestant.sample(workload, Unit::PerSecond("gets"), count, clocks))
}

/// All rows in order.
pub(super) fn scan_full(
    contestant: &mut Contestant,
    stage: &str,
    task: &mut Task<'_>,
) -> Result<()> {
    let expected = Tally::of(task.rows.sorted().iter().copied());
    full_scans(contestant, &format!("scan_full {stage}"), Direction::Forward, expected, task)
}

/// All rows in descending order.
pub(super) fn scan_full_reverse(
    contestant: &mut Contestant,
    stage: &str,
    task: &mut Task<'_>,
) -> Result<()> {
    let expected = Tally::of(task.rows.sorted().iter().rev().copied());
    let workload = format!("scan_full_reverse {stage}");
    full_scans(contestant, &workload, Direction::Reverse, expected, task)
}

fn full_scans(
    contestant: &Contestant,
    workload: &str,
    direction: Direction,
    expected: Tally,
    task: &mut Task<'_>,
) -> Result<()> {
    let store = contestant.main()?;
    let pass = || {
        let mut tally = Tally::default();
        store.scan(Span::whole(direction), &mut tally)?;
        Ok(tally)
    };
    check(workload, pass()?, expected)?;
    let (tallies, clocks) =
        measure(|| (0..FULL_SCANS).map(|_| pass()).collect::<Result<Vec<Tally>>>())?;
    for tally in &tallies {
        check(workload, *tally, expected)?;
    }
    let count = expected.cells() * tallies.len() as u64;
    (task.record)(contestant.sample(workload, Unit::PerSecond("cells"), count, clocks))
}

/// A hundred rows from a random one on.
pub(super) fn scan_100(
    contestant: &mut Contestant,
    stage: &str,
    task: &mut Task<'_>,
) -> Result<()> {
    short_scans(contestant, &format!("scan_100 {stage}"), Direction::Forward, task)
}

/// A hundred rows from a random one down.
pub(super) fn scan_100_reverse(
    contestant: &mut Contestant,
    stage: &str,
    task: &mut Task<'_>,
) -> Result<()> {
    short_scans(contestant, &format!("scan_100_reverse {stage}"), Direction::Reverse, task)
}

fn short_scans(
    contestant: &Contestant,
    workload: &str,
    direction: Direction,
    task: &mut Task<'_>,
) -> Result<()> {
    let store = contestant.main()?;
    let starts: Vec<u64> = task.rows.picks(2).take(task.args.scans).collect();
    let mut expected = Tally::default();
    for start in &starts {
        add_span(&mut expected, task.rows.sorted(), *start, direction);
    }
    let keys: Vec<Row> = starts.iter().copied().map(row_of).collect();
    let pass = || {
        let mut tally = Tally::default();
        for start in &keys {
            store.scan(Span { start: Some(start), rows: SCAN_ROWS, direction }, &mut tally)?;
        }
        Ok(tally)
    };
    check(workload, pass()?, expected)?;
    let (tally, clocks) = measure(pass)?;
    check(workload, tally, expected)?;
    let count = keys.len() as u64;
    (task.record)(contestant.sample(workload, Unit::PerSecond("scans"), count, clocks))
}

/// Counts what a short scan from `start` has to give.
fn add_span(expected: &mut Tally, sorted: &[u64], start: u64, direction: Direction) {
    match direction {
        Direction::Forward => {
            let first = sorted.partition_point(|number| *number < start);
            let up = sorted[first..].iter().take(SCAN_ROWS);
            up.for_each(|number| expected.add_row(*number));
        }
        Direction::Reverse => {
            let end = sorted.partition_point(|number| *number <= start);
            let down = sorted[..end].iter().rev().take(SCAN_ROWS);
            down.for_each(|number| expected.add_row(*number));
        }
    }
}
