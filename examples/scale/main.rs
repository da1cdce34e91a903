//! How memory, open time, gets, scans and compaction grow with the cells of a table.
//!
//! ```sh
//! cargo run --release --example scale -- --cells 1000000 --dir DIR
//! ```
//!
//! prints a row of each table in `docs/scale.md`. Each phase is a process of its own, so that its
//! memory can be measured separately: this program starts itself again with the name of the phase.
//!
//! ```text
//! load     an empty store; N cells, rows in random order; wait until compactions finish; close
//! reopen   open; gets that hit and miss, scans in both directions; close
//! fill     open; cells that stay in memory and log; killed
//! recover  open, replaying the log; close
//! ```

mod arguments;
mod measured;
mod phases;
mod process;
mod report;
mod workload;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, ExitCode, Stdio};

use clap::Parser as _;

use arguments::{Arguments, Phase};
use measured::Measured;

/// The line by which a phase reports that it can be killed.
const READY: &str = "ready";

/// Everything may fail here; errors go to the user.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.phase {
        Some(phase) => phases::run(phase, &arguments),
        None => run_all(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::tell(&format!("scale: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run_all(arguments: &Arguments) -> Result<()> {
    let dir = arguments.store_dir();
    if dir.exists() {
        return Err(format!("{} is there: remove it first", dir.display()).into());
    }
    let result = Phase::ALL.into_iter().try_fold(Measured::default(), |mut measured, phase| {
        report::tell(&format!("scale: {}", phase.name()));
        run_phase(phase, arguments, &mut measured)?;
        Ok::<_, Box<dyn std::error::Error>>(measured)
    });
    if !arguments.keep && dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    report::print(arguments, &result?)
}

/// Runs a phase in a process of its own and collects its figures.
fn run_phase(phase: Phase, arguments: &Arguments, measured: &mut Measured) -> Result<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(arguments.of_phase(phase))
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("no output to read")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        if line == READY {
            child.kill()?;
        } else if !measured.take(&line) {
            report::tell(&line);
        }
    }
    let status = child.wait()?;
    if !status.success() && phase != Phase::Fill {
        return Err(format!("phase {} failed: {status}", phase.name()).into());
    }
    Ok(())
}
