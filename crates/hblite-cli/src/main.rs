//! The `hblite` command: one subcommand per file.

#![forbid(unsafe_code)]

mod shell;
mod terminal;

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
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Shell(arguments) => shell::run(arguments),
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
