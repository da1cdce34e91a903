//! The `hblite` command: one subcommand per file.

#![forbid(unsafe_code)]

mod backup;
mod casestudy;
mod check;
mod hfile;
mod output;
mod rowkey;
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
    /// Writes, prints and verifies store files.
    #[command(subcommand, name = "hfile")]
    HFile(hfile::HFileCommand),
    /// Reads every file of a closed store and names what is wrong.
    Check(check::CheckArguments),
    /// Makes a copy of a closed store.
    Backup(backup::BackupArguments),
    /// Runs the schemas of HBase's case studies.
    #[command(subcommand, name = "casestudy")]
    CaseStudy(casestudy::CaseStudyCommand),
    /// Tells what a row key does, from its design.
    #[command(name = "rowkey")]
    RowKey(rowkey::RowKeyArguments),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Shell(arguments) => shell::run(arguments),
        Command::HFile(command) => hfile::run(command),
        Command::Check(arguments) => check::run(&arguments),
        Command::Backup(arguments) => backup::run(&arguments),
        Command::CaseStudy(command) => casestudy::run(command),
        Command::RowKey(arguments) => rowkey::run(&arguments),
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
