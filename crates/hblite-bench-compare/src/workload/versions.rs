//! Ten versions of each column, all of them kept: the newest, and all.

use std::fs;

use super::write::{BATCH, put_cells};
use super::{Contestant, Task, check};
use crate::cells::{QUALIFIER, SampleCell, Tally};
use crate::clocks::measure;
use crate::report::Unit;
use crate::rows::{Row, Rows, row_of};
use crate::store::{Opening, Result, Span, Store, Version};

const VERSIONS: u16 = 10;
/// Cells of the main store per row, up to [`ROWS_MAX`].
const CELLS_PER_ROW: u64 = 50;
const ROWS_MAX: u64 = 20_000;

/// Reads of a settled store of rows with one column.
pub(super) fn versions(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let rows = Rows::new((task.args.cells / CELLS_PER_ROW).min(ROWS_MAX));
    let dir = contestant.fresh_dir("versions")?;
    let opening = Opening { versions: u32::from(VERSIONS), ..contestant.opening };
    let store = contestant.engine.open(&dir, opening)?;
    let cells = (0..VERSIONS)
        .flat_map(|version| rows.shuffled().map(move |number| SampleCell::at(number, 0, version)));
    put_cells(&*store, cells, BATCH)?;
    store.settle()?;
    gets(contestant, &*store, rows, 1, task)?;
    gets(contestant, &*store, rows, VERSIONS, task)?;
    exact_gets(contestant, &*store, rows, task)?;
    drop(store);
    Ok(fs::remove_dir_all(dir)?)
}

/// Gets of one version each, by its timestamp.
fn exact_gets(
    contestant: &Contestant,
    store: &dyn Store,
    rows: Rows,
    task: &mut Task<'_>,
) -> Result<()> {
    let numbers = rows.picks(10).take(task.args.gets);
    let sought: Vec<SampleCell> = numbers
        .enumerate()
        .map(|(place, number)| SampleCell::at(number, 0, place as u16 % VERSIONS))
        .collect();
    let mut expected = Tally::default();
    sought.iter().for_each(|cell| expected.add_cell(cell));
    let pass = || {
        let mut tally = Tally::default();
        for SampleCell { row, qualifier, timestamp, .. } in &sought {
            store.get_version(Version { row, qualifier, timestamp: *timestamp }, &mut tally)?;
        }
        Ok(tally)
    };
    let workload = "get_one_of_10";
    check(workload, pass()?, expected)?;
    let (tally, clocks) = measure(pass)?;
    check(workload, tally, expected)?;
    (task.record)(contestant.sample(workload, Unit::PerSecond("gets"), sought.len() as u64, clocks))
}

/// Gets of the newest versions of random rows.
fn gets(
    contestant: &Contestant,
    store: &dyn Store,
    rows: Rows,
    versions: u16,
    task: &mut Task<'_>,
) -> Result<()> {
    let workload = if versions == 1 { "get_newest_of_10" } else { "get_all_of_10" };
    let mut expected = Tally::default();
    for number in rows.picks(10).take(task.args.gets) {
        for version in (VERSIONS - versions..VERSIONS).rev() {
            expected.add_cell(&SampleCell::at(number, 0, version));
        }
    }
    let sought: Vec<Row> = rows.picks(10).take(task.args.gets).map(row_of).collect();
    let pass = || {
        let mut tally = Tally::default();
        for row in &sought {
            match versions {
                1 => store.get(row, &QUALIFIER, &mut tally)?,
                _ => {
                    let span = Span::column(row, &QUALIFIER, u32::from(versions));
                    store.read(span, &mut tally)?;
                }
            }
        }
        Ok(tally)
    };
    check(workload, pass()?, expected)?;
    let (tally, clocks) = measure(pass)?;
    check(workload, tally, expected)?;
    (task.record)(contestant.sample(workload, Unit::PerSecond("gets"), sought.len() as u64, clocks))
}
