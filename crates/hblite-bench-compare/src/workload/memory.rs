//! Memory of a process that does nothing but random gets.
//!
//! A child process opens the main store, so that other stores do not count. Pages of mapped files
//! are not included: the system takes them back when it needs them.

use std::path::Path;

use super::child::{Ending, Job, say_and_wait};
use super::{Contestant, Task, check};
use crate::cells::{QUALIFIER, Tally};
use crate::process::anonymous_kib;
use crate::rows::row_of;
use crate::store::Result;

/// The first word of the child's command line.
pub(crate) const MEMORY_COMMAND: &str = "get-and-report";
const GETS_FACTOR: usize = 10;
const KIB_PER_MIB: f64 = 1024.0;

/// Ten times as many gets as in other measurements, on the main store as it is.
pub(super) fn memory(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    if anonymous_kib().is_none() {
        return Ok(());
    }
    contestant.main = None;
    let dir = contestant.main_dir();
    let job = Job {
        engine: contestant.engine,
        dir: dir.to_str().ok_or("the directory's name is not UTF-8")?.to_owned(),
        rows: task.rows,
        opening: contestant.opening,
        count: task.args.gets * GETS_FACTOR,
    };
    let kib: f64 = job.run(MEMORY_COMMAND, Ending::Close)?.parse()?;
    contestant.main = Some(contestant.open(&dir)?);
    (task.record)(contestant.amount("memory_after_gets", "MiB", kib / KIB_PER_MIB))
}

/// The child: opens the store, gets random rows, and says how much memory it has then.
pub(crate) fn get_and_report(words: impl Iterator<Item = String>) -> Result<()> {
    let job = Job::parse(words)?;
    let store = job.engine.open(Path::new(&job.dir), job.opening)?;
    let mut tally = Tally::default();
    for number in job.rows.picks(7).take(job.count) {
        store.get(&row_of(number), &QUALIFIER, &mut tally)?;
    }
    check("memory_after_gets", tally, Tally::of(job.rows.picks(7).take(job.count)))?;
    let kib = anonymous_kib().ok_or("the system does not report memory")?;
    say_and_wait(&kib.to_string())
}
