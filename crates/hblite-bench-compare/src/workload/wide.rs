//! Rows of a thousand columns: one column of a row, and whole rows.

use std::fs;

use super::write::put_cells;
use super::{Contestant, Task, check};
use crate::cells::{Qualifier, SampleCell, Tally, qualifier_of};
use crate::clocks::measure;
use crate::report::Unit;
use crate::rows::{Row, Rows, mix, row_of};
use crate::store::{Result, Span, Store};

const COLUMNS: u16 = 1000;
/// Cells of the main store per wide row, up to [`ROWS_MAX`].
const CELLS_PER_ROW: u64 = 5000;
const ROWS_MAX: u64 = 200;
/// How often all rows are read.
const ROW_PASSES: usize = 10;

/// Reads of a settled store of wide rows.
pub(super) fn wide_rows(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let rows = Rows::new((task.args.cells / CELLS_PER_ROW).min(ROWS_MAX));
    let dir = contestant.fresh_dir("wide")?;
    let store = contestant.open(&dir)?;
    let cells = rows
        .shuffled()
        .flat_map(|number| (0..COLUMNS).map(move |column| SampleCell::at(number, column, 0)));
    put_cells(&*store, cells, usize::from(COLUMNS))?;
    store.settle()?;
    get_column(contestant, &*store, rows, task)?;
    get_row(contestant, &*store, rows, task)?;
    drop(store);
    Ok(fs::remove_dir_all(dir)?)
}

fn get_column(
    contestant: &Contestant,
    store: &dyn Store,
    rows: Rows,
    task: &mut Task<'_>,
) -> Result<()> {
    const NAME: &str = "get_column_of_wide_row";
    let picks = rows.picks(9).take(task.args.gets).enumerate();
    let picked: Vec<(u64, u16)> = picks
        .map(|(turn, number)| (number, (mix(turn as u64) % u64::from(COLUMNS)) as u16))
        .collect();
    let mut expected = Tally::default();
    for (number, column) in &picked {
        expected.add_cell(&SampleCell::at(*number, *column, 0));
    }
    let sought: Vec<(Row, Qualifier)> =
        picked.iter().map(|(number, column)| (row_of(*number), qualifier_of(*column))).collect();
    let pass = || {
        let mut tally = Tally::default();
        for (row, qualifier) in &sought {
            store.get(row, qualifier, &mut tally)?;
        }
        Ok(tally)
    };
    check(NAME, pass()?, expected)?;
    let (tally, clocks) = measure(pass)?;
    check(NAME, tally, expected)?;
    (task.record)(contestant.sample(NAME, Unit::PerSecond("gets"), sought.len() as u64, clocks))
}

fn get_row(
    contestant: &Contestant,
    store: &dyn Store,
    rows: Rows,
    task: &mut Task<'_>,
) -> Result<()> {
    const NAME: &str = "get_wide_row";
    let mut expected = Tally::default();
    for number in rows.shuffled() {
        (0..COLUMNS).for_each(|column| expected.add_cell(&SampleCell::at(number, column, 0)));
    }
    let pass = || {
        let mut tally = Tally::default();
        for number in rows.shuffled() {
            store.read(Span::row(&row_of(number)), &mut tally)?;
        }
        Ok(tally)
    };
    check(NAME, pass()?, expected)?;
    let (tallies, clocks) =
        measure(|| (0..ROW_PASSES).map(|_| pass()).collect::<Result<Vec<Tally>>>())?;
    for tally in &tallies {
        check(NAME, *tally, expected)?;
    }
    let count = expected.cells() * tallies.len() as u64;
    (task.record)(contestant.sample(NAME, Unit::PerSecond("cells"), count, clocks))
}
