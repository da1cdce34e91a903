//! What may be in the store after a cut.
//!
//! A thread does one operation after the other, and the log keeps their order. So what is left of
//! a thread is its state after one of its operations: at the earliest the last that was
//! acknowledged with FSYNC_WAL, or with any durability if only the process was killed; at the
//! latest the last that it can have begun.

use std::collections::BTreeMap;

use crate::worker::{self, TABLES, THREADS};

type Row = (String, String);

/// The rows of a report: table and row, and the number of the operation that wrote it.
pub(crate) type Found = BTreeMap<Row, u64>;

/// What is known about each thread.
#[derive(Debug)]
pub(crate) struct Expectation {
    seed: u64,
    threads: Vec<Thread>,
}

#[derive(Debug, Default)]
struct Thread {
    /// The rows before operation `first`.
    base: Found,
    first: u64,
    /// One past the last operation that was acknowledged.
    acknowledged: u64,
    /// One past the last operation that was acknowledged and must survive a power cut.
    durable: u64,
    /// Whether the disk lost power since operation `first`, and so what was not synced.
    was_cut: bool,
}

impl Expectation {
    pub(crate) fn new(seed: u64) -> Self {
        let thread = || Thread { first: 1, acknowledged: 1, durable: 1, ..Thread::default() };
        Self { seed, threads: (0..THREADS).map(|_| thread()).collect() }
    }

    /// Whether nothing that must survive was acknowledged yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.iter().all(|thread| thread.durable == thread.first && thread.base.is_empty())
    }

    /// The operation with which each thread continues, after the comparison.
    pub(crate) fn first(&self) -> Vec<u64> {
        self.threads.iter().map(|thread| thread.acknowledged + 1).collect()
    }

    /// The disk lost power for a moment.
    pub(crate) fn cut(&mut self) {
        self.threads.iter_mut().for_each(|thread| thread.was_cut = true);
    }

    pub(crate) fn acknowledge(&mut self, thread: u64, number: u64) {
        let is_durable = worker::write(self.seed, thread, number).table == TABLES[0];
        let known = &mut self.threads[thread as usize];
        assert_eq!(number, known.acknowledged, "operations are in their order");
        known.acknowledged = number + 1;
        if is_durable {
            known.durable = number + 1;
        }
    }

    /// Whether `found` is a possible state; then the next round begins with it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn compare(&mut self, found: &Found) -> Result<(), String> {
        for (number, thread) in self.threads.iter_mut().enumerate() {
            let suffix = format!("-{number}");
            let own = found.iter().filter(|((_, row), _)| row.ends_with(&suffix));
            let own: Found = own.map(|(row, number)| (row.clone(), *number)).collect();
            thread.compare(self.seed, number as u64, own)?;
        }
        Ok(())
    }
}

impl Thread {
    fn compare(&mut self, seed: u64, thread: u64, found: Found) -> Result<(), String> {
        // One that was not acknowledged may have begun.
        let end = self.acknowledged + 1;
        let must_survive = if self.was_cut { self.durable } else { self.acknowledged };
        let mut state = self.base.clone();
        let mut nearest: Option<(usize, String)> = None;
        for next in self.first..=end {
            if next >= must_survive {
                if state == found {
                    let (first, acknowledged, durable) = (end, end, end);
                    *self = Self { base: found, first, acknowledged, durable, was_cut: false };
                    return Ok(());
                }
                let differs = difference(&state, &found);
                if nearest.as_ref().is_none_or(|(count, _)| differs.0 < *count) {
                    nearest = Some((differs.0, format!("before {next}: {}", differs.1)));
                }
            }
            let write = worker::write(seed, thread, next);
            let row = (write.table.to_owned(), write.row.clone());
            if write.is_delete {
                state.remove(&row);
            } else {
                state.insert(row, next);
            }
        }
        let first = self.first;
        let nearest = nearest.map_or_else(String::new, |(_, text)| text);
        Err(format!(
            "thread {thread}: no state from operation {must_survive} to {end} (this round began at \
             {first}) is what is left; nearest, {nearest}"
        ))
    }
}

fn difference(expected: &Found, found: &Found) -> (usize, String) {
    let missing = expected.iter().filter(|(row, number)| found.get(row) != Some(number));
    let missing: Vec<_> = missing.map(|(row, n)| (row, Some(n), found.get(row))).collect();
    let more = found.iter().filter(|(row, _)| !expected.contains_key(row));
    let more: Vec<_> = more.map(|(row, n)| (row, None, Some(n))).collect();
    let all: Vec<_> = missing.into_iter().chain(more).collect();
    (
        all.len(),
        format!("{} rows differ (row, expected, found): {:?}", all.len(), &all[..all.len().min(8)]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A seed with which thread 0 puts to `logged` in its first and third operation.
    fn seed() -> u64 {
        let is_put = |seed, number| {
            let write = worker::write(seed, 0, number);
            write.table == TABLES[1] && !write.is_delete
        };
        (0..).find(|seed| is_put(*seed, 1) && is_put(*seed, 3)).expect("one of them")
    }

    #[test]
    fn only_a_power_cut_takes_what_was_acknowledged_without_a_sync() {
        let mut killed = Expectation::new(seed());
        killed.acknowledge(0, 1);
        let error = killed.compare(&Found::new()).expect_err("a kill takes nothing");
        assert!(error.contains("Some(1), None"), "{error}");

        let mut cut = Expectation::new(seed());
        cut.acknowledge(0, 1);
        cut.cut();
        assert_eq!(cut.first()[0], 3);
        cut.compare(&Found::new()).expect("it was not synced");
        // The next process begins with what was left.
        cut.acknowledge(0, 3);
        assert!(cut.compare(&Found::new()).is_err(), "a kill takes nothing");
    }
}
