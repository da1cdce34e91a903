//! What the stores are made to do, and in which order.
//!
//! A round does each step for all stores in turn before the next step begins, so that a
//! machine that grows slower or faster meets all stores alike. Every answer is checked: how many
//! cells came, and the sum over all their parts in their order. A wrong answer ends the run.

mod child;
mod disk;
mod latency;
mod markers;
mod memory;
mod open;
mod read;
mod recover;
mod threads;
mod versions;
mod wide;
mod write;
mod ycsb;

use std::fs;
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::cells::Tally;
use crate::clocks::{self, Clocks};
use crate::line;
use crate::report::{Sample, Unit};
use crate::rows::Rows;
use crate::store::{Engine, Opening, Result, Store};

pub(crate) use memory::{MEMORY_COMMAND, get_and_report};
pub(crate) use recover::{FILL_COMMAND, fill_and_wait};

/// What a step works with besides the store.
pub(crate) struct Task<'a> {
    /// The command line.
    pub(crate) args: &'a Args,
    /// The rows of the main store.
    pub(crate) rows: Rows,
    /// Gets the measurements as they are taken.
    pub(crate) record: &'a mut dyn FnMut(Sample) -> Result<()>,
}

/// The group by which a step is chosen, and what to do.
type Step = (&'static str, fn(&mut Contestant, &mut Task<'_>) -> Result<()>);

/// Steps on stores of their own.
const APART: &[Step] = &[
    ("load", write::load_sequential),
    ("put", write::put_single),
    ("threads", write::put_single_2_threads),
    ("fsync", write::put_fsync_1_thread),
    ("fsync", write::put_fsync_8_threads),
    ("open", open::open_empty),
    ("recover", recover::recover),
    ("wide", wide::wide_rows),
    ("versions", versions::versions),
    ("markers", markers::markers),
];

/// Reads of the main store, in the state that the steps before left.
const READS: &[Step] = &[
    ("read", |store, task| read::get_random(store, 1, task)),
    ("threads", |store, task| read::get_random(store, 2, task)),
    ("read", read::get_missing),
    ("zipfian", |store, task| read::get_zipfian(store, 1, task)),
    ("zipfian", |store, task| read::get_zipfian(store, 2, task)),
    ("read", read::scan_full),
    ("read", read::scan_full_reverse),
    ("filter", read::scan_value_filter),
    ("read", |store, task| read::scan_100(store, 1, task)),
    ("threads", |store, task| read::scan_100(store, 2, task)),
    ("read", read::scan_100_reverse),
    ("disk", disk::gets_from_disk),
];

/// Steps that open the main store anew.
const REOPENS: &[Step] = &[("open", open::open_flushed), ("memory", memory::memory)];

/// Steps that change the main store.
const CHANGES: &[Step] = &[
    ("ycsb", |store, task| ycsb::run(store, ycsb::C, 1, task)),
    ("ycsb", |store, task| ycsb::run(store, ycsb::C, 2, task)),
    ("ycsb", |store, task| ycsb::run(store, ycsb::B, 1, task)),
    ("ycsb", |store, task| ycsb::run(store, ycsb::B, 2, task)),
    ("ycsb", |store, task| ycsb::run(store, ycsb::A, 1, task)),
    ("ycsb", |store, task| ycsb::run(store, ycsb::A, 2, task)),
    ("latency", latency::latency),
];

/// Everything that a round does: the group without which a part is skipped, and its steps.
const PARTS: &[(Option<&str>, &[Step])] = &[
    (None, APART),
    (None, &[(MAIN, write::put_batches)]),
    (None, READS),
    (None, REOPENS),
    (Some(SETTLE), &[(SETTLE, write::settle)]),
    (Some(SETTLE), READS),
    (None, CHANGES),
    (None, &[(MAIN, Contestant::drop_main)]),
];

const SETTLE: &str = "settle";
/// The group of the steps that make and drop the main store: done when another one needs it.
const MAIN: &str = "main";
const NEED_MAIN: [&str; 11] = [
    "put", "read", "threads", "zipfian", "filter", "disk", "open", "memory", SETTLE, "ycsb",
    "latency",
];

/// Does everything once, store by store within each step.
pub(crate) fn round(contestants: &mut [Contestant], task: &mut Task<'_>) -> Result<()> {
    let wants = |group| match group {
        MAIN => NEED_MAIN.iter().any(|group| task.args.wants(group)),
        group => task.args.wants(group),
    };
    let parts = PARTS.iter().filter(|(needed, _)| needed.is_none_or(wants));
    let steps = parts.flat_map(|(_, steps)| steps.iter()).filter(|(group, _)| wants(group));
    let steps: Vec<_> = steps.map(|(_, step)| step).collect();
    for step in steps {
        for contestant in &mut *contestants {
            step(contestant, task)
                .map_err(|error| format!("{}: {error}", contestant.engine.name()))?;
        }
    }
    Ok(())
}

/// The state of the main store, which is part of the names of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// What the writes and the flush left.
    Flushed,
    /// After a full compaction.
    Settled,
}

/// A store in the comparison.
pub(crate) struct Contestant {
    engine: &'static dyn Engine,
    /// Holds all directories of this store.
    dir: PathBuf,
    /// How it is opened unless a step says otherwise.
    opening: Opening,
    /// The store that reads are measured on, between the steps.
    main: Option<Box<dyn Store>>,
    state: State,
    /// The current round, from 1.
    pub(crate) round: u32,
}

impl Contestant {
    /// A store whose directories will be below `args.dir`; what is there of it is removed.
    pub(crate) fn new(engine: &'static dyn Engine, args: &Args) -> Result<Self> {
        let dir = args.dir.join(engine.name());
        if dir.exists() {
            fs::remove_dir_all(&dir)?;
        }
        let opening = args.opening();
        Ok(Self { engine, dir, opening, main: None, state: State::Flushed, round: 1 })
    }

    /// A directory for one workload, empty.
    fn fresh_dir(&self, workload: &str) -> Result<PathBuf> {
        let dir = self.dir.join(workload);
        if dir.exists() {
            fs::remove_dir_all(&dir)?;
        }
        fs::create_dir_all(&dir)?;
        Ok(dir)
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn Store>> {
        self.engine.open(dir, self.opening)
    }

    fn main_dir(&self) -> PathBuf {
        self.dir.join(MAIN)
    }

    fn main(&self) -> Result<&dyn Store> {
        Ok(self.main.as_deref().ok_or("the main store is not open")?)
    }

    fn drop_main(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.main = None;
        Ok(fs::remove_dir_all(&self.dir)?)
    }

    /// The name of a read of the main store.
    fn name_in_state(&self, workload: &str) -> String {
        match self.state {
            State::Flushed => format!("{workload} flushed"),
            State::Settled => format!("{workload} settled"),
        }
    }

    fn sample(&self, workload: &str, unit: Unit, count: u64, clocks: Clocks) -> Sample {
        let (wall, cpu) = Sample::figures(unit, count, clocks);
        self.sample_of(workload, unit, wall, cpu)
    }

    /// A measurement that is not a time of the whole process.
    fn amount(&self, workload: &str, unit: &'static str, amount: f64) -> Sample {
        self.sample_of(workload, Unit::Amount(unit), amount, None)
    }

    fn sample_of(&self, workload: &str, unit: Unit, wall: f64, cpu: Option<f64>) -> Sample {
        Sample {
            workload: workload.to_owned(),
            store: self.engine.name(),
            round: self.round,
            unit,
            wall,
            cpu,
            load: clocks::load_average(),
            line: line::nanoseconds(),
        }
    }
}

/// The name of a workload that several threads share.
fn name_for_threads(workload: &str, threads: usize) -> String {
    match threads {
        1 => workload.to_owned(),
        _ => format!("{workload}_{threads}_threads"),
    }
}

/// An error unless a store gave back what it had to.
fn check(workload: &str, got: Tally, expected: Tally) -> Result<()> {
    check_each(workload, &[got], &[expected])
}

/// The same for the answers to several threads.
fn check_each(workload: &str, got: &[Tally], expected: &[Tally]) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    let count = |tallies: &[Tally]| tallies.iter().map(|tally| tally.cells()).sum::<u64>();
    let (got, expected) = (count(got), count(expected));
    Err(format!("{workload}: wrong answer: {got} cells where {expected} belong, or others").into())
}
