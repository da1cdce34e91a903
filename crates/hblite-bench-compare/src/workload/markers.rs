//! Rows of which nine in ten are deleted: a scan over the delete markers, and their removal.
//!
//! A log-structured store has one file of puts and one of markers, which are not compacted: the
//! store is opened so that it flushes only when asked.

use std::fs;

use super::write::{BATCH, put_all, put_cells};
use super::{Contestant, Task, check};
use crate::cells::{SampleCell, Tally};
use crate::clocks::measure;
use crate::report::Unit;
use crate::rows::Rows;
use crate::store::{Direction, Opening, Result, Span};

/// They fit into a write buffer that holds everything.
const ROWS_MAX: u64 = 250_000;
const KEPT_EVERY: usize = 10;
const SCANS: usize = 3;

/// The scan, and the full compaction.
pub(super) fn markers(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let rows = Rows::new(task.args.cells.min(ROWS_MAX));
    let dir = contestant.fresh_dir("markers")?;
    let opening = Opening { hold_in_log: true, drops_markers: true, ..contestant.opening };
    let store = contestant.engine.open(&dir, opening)?;
    put_all(&*store, rows.shuffled(), BATCH)?;
    store.flush()?;
    let is_kept = |position: &u64| position.is_multiple_of(KEPT_EVERY as u64);
    let deleted = (0..rows.count()).filter(|position| !is_kept(position));
    let markers = deleted.map(|position| SampleCell::marker_of(rows.at(position)));
    put_cells(&*store, markers, BATCH)?;
    store.flush()?;

    let kept = || rows.sorted().step_by(KEPT_EVERY);
    let expected = Tally::of(kept());
    let pass = || {
        let mut tally = Tally::default();
        store.read(Span::whole(Direction::Forward), &mut tally)?;
        Ok(tally)
    };
    check("scan_over_markers", pass()?, expected)?;
    let (tallies, clocks) = measure(|| (0..SCANS).map(|_| pass()).collect::<Result<Vec<Tally>>>())?;
    for tally in &tallies {
        check("scan_over_markers", *tally, expected)?;
    }
    let entries = 2 * rows.count() - expected.cells();
    let count = entries * SCANS as u64;
    let unit = Unit::PerSecond("entries");
    (task.record)(contestant.sample("scan_over_markers", unit, count, clocks))?;

    let ((), clocks) = measure(|| store.drop_markers())?;
    check("drop_markers", pass()?, expected)?;
    (task.record)(contestant.sample("drop_markers", Unit::Milliseconds, 1, clocks))?;
    drop(store);
    Ok(fs::remove_dir_all(dir)?)
}
