//! Recovery: opening a store whose process was killed with everything in the log.
//!
//! A child process writes half of the main store's cells in batches, flushing nothing, says that
//! it is done, and is killed. Timed is the opening until the first get has its answer.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::write::{check_all, put_all};
use super::{Contestant, Task, check};
use crate::args;
use crate::cells::{Rows, Tally, row_of};
use crate::clocks::measure;
use crate::report::Unit;
use crate::store::{Opening, Result};

/// The first word of the child's command line.
pub(crate) const FILL_COMMAND: &str = "fill-and-wait";
const READY: &str = "ready";
const BATCH: usize = 100;

/// Half of the cells, all of them in the log.
pub(super) fn recover(contestant: &mut Contestant, task: &mut Task<'_>) -> Result<()> {
    let dir = contestant.fresh_dir("recover")?;
    let rows = Rows::new(task.args.cells / 2);
    let child = start_child(contestant.engine.name(), &dir, task.args.cells / 2)?;
    wait_and_kill(child)?;

    let number = rows.sorted()[rows.sorted().len() / 2];
    let ((store, tally), clocks) = measure(|| {
        let store = contestant.engine.open(&dir, Opening::USUAL)?;
        let mut tally = Tally::default();
        store.get(&row_of(number), &mut tally)?;
        Ok((store, tally))
    })?;
    check("recover", tally, Tally::of([number].into_iter()))?;
    check_all(&*store, "recover", rows.sorted())?;
    drop(store);
    fs::remove_dir_all(dir)?;
    (task.record)(contestant.sample("recover", Unit::Milliseconds, 1, clocks))
}

fn start_child(store: &str, dir: &Path, cells: u64) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(FILL_COMMAND).arg(store).arg(dir).arg(cells.to_string());
    Ok(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?)
}

/// Kills the child once it has said that it is done.
fn wait_and_kill(mut child: Child) -> Result<()> {
    let output = child.stdout.take().ok_or("the child has no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    child.kill()?;
    child.wait()?;
    if line.trim_end() != READY {
        return Err("the child ended before it had written everything".into());
    }
    Ok(())
}

/// The child: writes the cells, says so, and waits to be killed, or for the parent's end.
pub(crate) fn fill_and_wait(mut words: impl Iterator<Item = String>) -> Result<()> {
    let mut word = |name: &str| words.next().ok_or_else(|| format!("no {name} was given"));
    let engine = args::engine(&word("store")?)?;
    let dir = word("directory")?;
    let rows = Rows::new(word("number of cells")?.parse()?);

    let opening = Opening { hold_in_log: true, ..Opening::USUAL };
    let store = engine.open(Path::new(&dir), opening)?;
    put_all(&*store, rows.shuffled(), BATCH)?;
    store.secure()?;
    let mut output = std::io::stdout();
    writeln!(output, "{READY}")?;
    output.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
