//! A process of its own for one store, which this program starts with a command that is not in its
//! help.
//!
//! The child says one line, and waits for its end: that of its input, or a kill.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::args;
use crate::rows::Rows;
use crate::store::{Engine, Opening, Result};

/// What a child works on.
pub(super) struct Job {
    /// The store.
    pub(super) engine: &'static dyn Engine,
    /// Its directory.
    pub(super) dir: String,
    /// The rows that it has, or is to get.
    pub(super) rows: Rows,
    /// How it is usually opened.
    pub(super) opening: Opening,
    /// How many operations to do.
    pub(super) count: usize,
}

/// How a child ends after its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// At once.
    Kill,
    /// It closes the store.
    Close,
}

impl Job {
    /// Runs a child with this job, and returns the line that it said.
    pub(super) fn run(&self, command: &str, ending: Ending) -> Result<String> {
        let mut program = Command::new(std::env::current_exe()?);
        program.arg(command).arg(self.engine.name()).arg(Path::new(&self.dir));
        for number in [self.rows.count(), self.opening.cache_bytes as u64, self.count as u64] {
            program.arg(number.to_string());
        }
        end_after_line(program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?, ending)
    }

    /// The job that the words after a child's command describe.
    pub(super) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut word = |name: &str| words.next().ok_or_else(|| format!("no {name} was given"));
        Ok(Self {
            engine: args::engine(&word("store")?)?,
            dir: word("directory")?,
            rows: Rows::new(word("number of cells")?.parse()?),
            opening: Opening::usual(word("size of a cache")?.parse()?),
            count: word("number of operations")?.parse()?,
        })
    }
}

fn end_after_line(mut child: Child, ending: Ending) -> Result<String> {
    let output = child.stdout.take().ok_or("the child has no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    match ending {
        Ending::Kill => child.kill()?,
        Ending::Close => drop(child.stdin.take()),
    }
    let status = child.wait()?;
    if line.is_empty() || (ending == Ending::Close && !status.success()) {
        return Err("the child ended before its work".into());
    }
    Ok(line.trim_end().to_owned())
}

/// The child's side: says the line, and waits.
pub(super) fn say_and_wait(line: &str) -> Result<()> {
    let mut output = std::io::stdout();
    writeln!(output, "{line}")?;
    output.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
