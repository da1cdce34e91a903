//! The `hblite` command: one subcommand per file.

#![forbid(unsafe_code)]

mod hfile;
mod shell;
mod terminal;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// HBase in one small process.
#[derive(Debug, Parser)]
#[command(name = "hblite", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Reads commands of HBase's shell from a terminal, a script or a pipe.
    Shell(shell::ShellArguments),
    /// Writes, prints and verifies store files
    #[command(subcommand, name = "hfile")]
    HFile(hfile::HFileCommand),
}

/// Status for what the caller did wrong or what was refused.
const FAILURE: u8 = 1;

/// Says what went wrong. Standard error may be closed; there is nothing to be done about that.
fn fail(message: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "hblite: {message}");
    ExitCode::from(FAILURE)
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Shell(arguments) => shell::run(arguments),
        Command::HFile(command) => hfile::run(command),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn arguments_do_not_contradict_one_another() {
        Cli::command().debug_assert();
    }
}
