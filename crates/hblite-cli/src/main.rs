//! The `hblite` command: one subcommand per file.

#![forbid(unsafe_code)]

mod backup;
mod casestudy;
mod check;
mod cluster;
mod completion;
mod console;
mod ending;
mod endpoint;
mod fault;
mod from_hbase;
mod gateways;
mod hfile;
mod hotspot;
mod interrupt;
mod load_hfiles;
mod notices;
mod output;
mod replay;
mod rowkey;
mod seed;
mod serve;
mod settings;
mod shell;
mod snapshot;
mod state;
mod store_files;
mod terminal;
mod to_hbase;
mod transfer;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

// Its symbols replace the C library's.
#[cfg(target_env = "musl")]
use hblite_mem as _;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// HBase's data model in one small process.
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
    /// Runs a server that replaces an HBase cluster, for unmodified HBase clients.
    Serve(serve::ServeArguments),
    /// Shows a store or a cluster in the browser.
    Console(console::ConsoleArguments),
    /// Sends the calls of a recording to a server, and reports what is answered differently.
    Replay(replay::ReplayArguments),
    /// Injects faults into calls, regions and servers of a running `hblite serve`.
    Fault(fault::FaultArguments),
    /// Takes a checkpoint of a running `hblite serve`, to rewind to or to fork.
    Checkpoint(state::CheckpointArguments),
    /// Returns a running `hblite serve` to a checkpoint.
    Rewind(state::RewindArguments),
    /// Starts an independent server from a checkpoint, in the process of a running `hblite serve`.
    Fork(state::ForkArguments),
    /// Shows, sets and advances the clock of a running `hblite serve`.
    Clock(state::ClockArguments),
    /// Reads every file of a closed store and reports all damage.
    Check(check::CheckArguments),
    /// Loads a folder of HFiles into a table.
    #[command(alias = "completebulkload")]
    LoadHfiles(load_hfiles::LoadHFilesArguments),
    /// Copies a closed store.
    Backup(backup::BackupArguments),
    /// Prepares a store so that Apache HBase can start on its directory.
    ToHbase(to_hbase::ToHBaseArguments),
    /// Converts the directory of a stopped or killed Apache HBase to a store.
    FromHbase(from_hbase::FromHBaseArguments),
    /// Copies snapshots from and to directories, as HBase's ExportSnapshot does.
    #[command(subcommand)]
    Snapshot(snapshot::SnapshotCommand),
    /// Writes the lines of a CSV, TSV or JSON lines file into a table.
    Import(transfer::import::ImportArguments),
    /// Writes the rows of a table as CSV, TSV, JSON lines, or HFiles for a bulk load.
    Export(transfer::export::ExportArguments),
    /// Copies tables between stores and clusters.
    Copy(transfer::copy::CopyArguments),
    /// Computes digests of tables, or compares those of two stores or clusters.
    Digest(transfer::digest::DigestArguments),
    /// Lists the columns of a table by a scan.
    Columns(transfer::columns::ColumnsArguments),
    /// Shows which regions a row key loads, and what reads cost.
    #[command(subcommand)]
    Hotspot(hotspot::HotspotCommand),
    /// Runs the schemas of HBase's case studies.
    #[command(subcommand, name = "casestudy")]
    CaseStudy(casestudy::CaseStudyCommand),
    /// Explains a row key design: bytes, distribution of writes, queries.
    #[command(name = "rowkey")]
    RowKey(rowkey::RowKeyArguments),
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    interrupt::survive_file_size_limit();
    store_files::fit_into_address_space();
    let status = match command {
        Command::Shell(arguments) => shell::run(arguments),
        Command::HFile(command) => hfile::run(command),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Console(arguments) => console::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Fault(arguments) => fault::run(&arguments),
        Command::Checkpoint(arguments) => state::checkpoint(&arguments),
        Command::Rewind(arguments) => state::rewind(&arguments),
        Command::Fork(arguments) => state::fork(&arguments),
        Command::Clock(arguments) => state::clock(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::LoadHfiles(arguments) => load_hfiles::run(&arguments),
        Command::Backup(arguments) => backup::run(&arguments),
        Command::ToHbase(arguments) => to_hbase::run(&arguments),
        Command::FromHbase(arguments) => from_hbase::run(&arguments),
        Command::Snapshot(command) => snapshot::run(&command),
        Command::Import(arguments) => transfer::import::run(&arguments),
        Command::Export(arguments) => transfer::export::run(&arguments),
        Command::Copy(arguments) => transfer::copy::run(&arguments),
        Command::Digest(arguments) => transfer::digest::run(&arguments),
        Command::Columns(arguments) => transfer::columns::run(&arguments),
        Command::Hotspot(command) => hotspot::run(command),
        Command::CaseStudy(command) => casestudy::run(command),
        Command::RowKey(arguments) => rowkey::run(&arguments),
    };
    output::status(status)
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
