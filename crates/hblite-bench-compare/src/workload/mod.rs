//! What the stores are made to do, and in which order.
//!
//! A round does each step for all stores in turn before the next step begins, so that a
//! machine that grows slower or faster meets all stores alike. Every answer is checked: how many
//! cells came, and the sum over all their parts in their order. A wrong answer ends the run.

mod open;
mod read;
mod recover;
mod write;

use std::fs;
use std::path::PathBuf;

use crate::args::Args;
use crate::cells::{Rows, Tally};
use crate::clocks::{self, Clocks};
use crate::report::{Sample, Unit};
use crate::store::{Engine, Result, Store};

pub(crate) use recover::{FILL_COMMAND, fill_and_wait};

/// What a step works with besides the store.
pub(crate) struct Task<'a> {
    /// The command line.
    pub(crate) args: &'a Args,
    /// The rows of the main store.
    pub(crate) rows: &'a Rows,
    /// Gets the measurements as they are taken.
    pub(crate) record: &'a mut dyn FnMut(Sample) -> Result<()>,
}

type Step = fn(&mut Contestant, &mut Task<'_>) -> Result<()>;

/// Everything that a round does: the group by which it is chosen, and what to do.
const STEPS: &[(&str, Step)] = &[
    ("load", write::load_sequential),
    ("put", write::put_single),
    ("fsync", write::put_fsync_1_thread),
    ("fsync", write::put_fsync_8_threads),
    ("open", open::open_empty),
    ("recover", recover::recover),
    (MAIN, write::put_batches),
    ("read", |store, task| read::get_random(store, FLUSHED, task)),
    ("read", |store, task| read::get_missing(store, FLUSHED, task)),
    ("read", |store, task| read::scan_full(store, FLUSHED, task)),
    ("read", |store, task| read::scan_full_reverse(store, FLUSHED, task)),
    ("read", |store, task| read::scan_100(store, FLUSHED, task)),
    ("read", |store, task| read::scan_100_reverse(store, FLUSHED, task)),
    ("open", open::open_flushed),
    ("settle", write::settle),
    ("settle", |store, task| read::get_random(store, SETTLED, task)),
    ("settle", |store, task| read::get_missing(store, SETTLED, task)),
    ("settle", |store, task| read::scan_full(store, SETTLED, task)),
    ("settle", |store, task| read::scan_full_reverse(store, SETTLED, task)),
    ("settle", |store, task| read::scan_100(store, SETTLED, task)),
    ("settle", |store, task| read::scan_100_reverse(store, SETTLED, task)),
    (MAIN, Contestant::drop_main),
];

/// The group of the steps that make and drop the main store: done when another one needs it.
const MAIN: &str = "main";
const NEED_MAIN: [&str; 4] = ["put", "read", "open", "settle"];
/// Reads on what the writes and the flush left.
const FLUSHED: &str = "flushed";
/// Reads after compaction.
const SETTLED: &str = "settled";

/// Does everything once, store by store within each step.
pub(crate) fn round(contestants: &mut [Contestant], task: &mut Task<'_>) -> Result<()> {
    for (group, step) in STEPS {
        let is_wanted = match *group {
            MAIN => NEED_MAIN.iter().any(|group| task.args.wants(group)),
            group => task.args.wants(group),
        };
        if !is_wanted {
            continue;
        }
        for contestant in &mut *contestants {
            step(contestant, task)
                .map_err(|error| format!("{}: {error}", contestant.engine.name()))?;
        }
    }
    Ok(())
}

/// A store in the comparison.
pub(crate) struct Contestant {
    engine: &'static dyn Engine,
    /// Holds all directories of this store.
    dir: PathBuf,
    /// The store that reads are measured on, between the steps.
    main: Option<Box<dyn Store>>,
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
        Ok(Self { engine, dir, main: None, round: 1 })
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

    fn main(&self) -> Result<&dyn Store> {
        Ok(self.main.as_deref().ok_or("the main store is not open")?)
    }

    fn drop_main(&mut self, _: &mut Task<'_>) -> Result<()> {
        self.main = None;
        Ok(fs::remove_dir_all(&self.dir)?)
    }

    fn sample(&self, workload: &str, unit: Unit, count: u64, clocks: Clocks) -> Sample {
        let (wall, cpu) = Sample::figures(unit, count, clocks);
        Sample {
            workload: workload.to_owned(),
            store: self.engine.name(),
            round: self.round,
            unit,
            wall,
            cpu,
            load: clocks::load_average(),
        }
    }
}

/// An error unless a store gave back what it had to.
fn check(workload: &str, got: Tally, expected: Tally) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    let (got, expected) = (got.cells(), expected.cells());
    Err(format!("{workload}: wrong answer: {got} cells where {expected} belong, or others").into())
}
