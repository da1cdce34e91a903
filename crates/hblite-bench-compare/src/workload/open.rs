//! Opening a store: of an empty directory until the first put may come, and of the flushed main
//! store until the first get has its answer.

use std::fs;

use super::{Contestant, Task, check};
use crate::cells::{QUALIFIER, Tally};
use crate::clocks::measure;
use crate::report::Unit;
use crate::rows::row_of;
use crate::store::Result;

const OPENINGS: usize = 5;

/// A directory in which there is nothing.
pub(super) fn open_empty(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    for _ in 0..OPENINGS {
        let dir = contestant.fresh_dir("open_empty")?;
        let (store, clocks) = measure(|| contestant.open(&dir))?;
        let mut tally = Tally::default();
        store.get(&row_of(1), &QUALIFIER, &mut tally)?;
        check("open_empty", tally, Tally::default())?;
        drop(store);
        fs::remove_dir_all(dir)?;
        (task.record)(contestant.sample("open_empty", Unit::Milliseconds, 1, clocks))?;
    }
    Ok(())
}

/// The main store, after a regular close.
pub(super) fn open_flushed(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let dir = contestant.main_dir();
    for number in task.rows.picks(3).take(OPENINGS) {
        contestant.main = None;
        let ((store, tally), clocks) = measure(|| {
            let store = contestant.open(&dir)?;
            let mut tally = Tally::default();
            store.get(&row_of(number), &QUALIFIER, &mut tally)?;
            Ok((store, tally))
        })?;
        check("open_flushed", tally, Tally::of([number].into_iter()))?;
        contestant.main = Some(store);
        (task.record)(contestant.sample("open_flushed", Unit::Milliseconds, 1, clocks))?;
    }
    Ok(())
}
