//! `hblite snapshot`: snapshots from and to directories, as HBase's `ExportSnapshot` copies them.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use hblite::{Options, Result};

use crate::output::{FAILURE, fail, print};
use crate::store_files::unmapped;

/// What to copy.
#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Copies a snapshot that HBase exported into a closed store.
    Import(ImportArguments),
    /// Copies a snapshot of a closed store to a directory, for HBase or another store.
    Export(ExportArguments),
}

/// From where to where.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_HELP)]
pub(crate) struct ImportArguments {
    /// Directory of the store, which must not be open
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Also clones the snapshot as a table with this name
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
    /// Directory that the snapshot was exported to, or the root directory of an HBase
    from: PathBuf,
    /// Name of the snapshot
    name: String,
}

/// From where to where.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_HELP)]
pub(crate) struct ExportArguments {
    /// Directory of the store, which must not be open
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Name of the snapshot
    name: String,
    /// Directory to copy it to
    to: PathBuf,
}

const IMPORT_HELP: &str = "\
In HBase: hbase org.apache.hadoop.hbase.snapshot.ExportSnapshot -no-checksum-verify
-snapshot NAME -copy-to file:///FROM
Files are linked, or copied from another file system, and their checksums are verified. The store
gets the snapshot as a whole or not at all. Without --table, clone it in the shell:
clone_snapshot 'NAME', 'TABLE'. The namespace of the table must exist.";

const EXPORT_HELP: &str = "\
In HBase: hbase org.apache.hadoop.hbase.snapshot.ExportSnapshot -no-checksum-verify
-snapshot NAME -copy-from file:///TO -copy-to hdfs://…/hbase,
then clone_snapshot 'NAME', 'TABLE' in its shell.";

pub(crate) fn run(command: &SnapshotCommand) -> ExitCode {
    let outcome = match command {
        SnapshotCommand::Import(arguments) => import(arguments),
        SnapshotCommand::Export(arguments) => export(arguments),
    };
    match outcome {
        Ok(line) => {
            print(&line);
            ExitCode::SUCCESS
        }
        Err(error) => fail(error.message(), FAILURE),
    }
}

fn import(arguments: &ImportArguments) -> Result<String> {
    let ImportArguments { dir, table, from, name } = arguments;
    let count = hblite::import_snapshot(dir, from, name)?;
    let mut line = format!("snapshot {name}: store files {count}");
    if let Some(table) = table {
        let options = unmapped(Options::new());
        let connection = options.with_create_if_missing(false).open(dir)?;
        connection.admin().clone_snapshot(name, table.as_str())?;
        connection.close()?;
        line += &format!(", cloned as table {table}");
    }
    Ok(line + "\n")
}

fn export(arguments: &ExportArguments) -> Result<String> {
    let ExportArguments { dir, name, to } = arguments;
    let count = hblite::export_snapshot(dir, name, to)?;
    Ok(format!("snapshot {name}: store files {count}, in {}\n", to.display()))
}
