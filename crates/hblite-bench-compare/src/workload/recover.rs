//! Recovery: opening a store whose process was killed with everything in the log.
//!
//! A child process writes half of the main store's cells in batches, flushing nothing, says that
//! it is done, and is killed. Timed is the opening until the first get has its answer.

use std::fs;
use std::path::Path;

use super::child::{Ending, Job, say_and_wait};
use super::write::{BATCH, check_all, put_all};
use super::{Contestant, Task, check};
use crate::cells::{QUALIFIER, Tally};
use crate::clocks::measure;
use crate::report::Unit;
use crate::rows::{Rows, row_of};
use crate::store::{Opening, Result};

/// The first word of the child's command line.
pub(crate) const FILL_COMMAND: &str = "fill-and-wait";
const READY: &str = "ready";

/// Half of the cells, all of them in the log.
pub(super) fn recover(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let dir = contestant.fresh_dir("recover")?;
    let rows = Rows::new(task.args.cells / 2);
    let job = Job {
        engine: contestant.engine,
        dir: dir.to_str().ok_or("the directory's name is not UTF-8")?.to_owned(),
        rows,
        opening: contestant.opening,
        count: 0,
    };
    if job.run(FILL_COMMAND, Ending::Kill)? != READY {
        return Err("the child said something else".into());
    }

    let number = rows.at(rows.count() / 2);
    let ((store, tally), clocks) = measure(|| {
        let store = contestant.open(&dir)?;
        let mut tally = Tally::default();
        store.get(&row_of(number), &QUALIFIER, &mut tally)?;
        Ok((store, tally))
    })?;
    check("recover", tally, Tally::of([number].into_iter()))?;
    check_all(&*store, "recover", rows)?;
    drop(store);
    fs::remove_dir_all(dir)?;
    (task.record)(contestant.sample("recover", Unit::Milliseconds, 1, clocks))
}

/// The child: writes the cells, says so, and waits to be killed, or for the parent's end.
pub(crate) fn fill_and_wait(words: impl Iterator<Item = String>) -> Result<()> {
    let job = Job::parse(words)?;
    let opening = Opening { hold_in_log: true, ..job.opening };
    let store = job.engine.open(Path::new(&job.dir), opening)?;
    put_all(&*store, job.rows.shuffled(), BATCH)?;
    store.secure()?;
    say_and_wait(READY)
}
