//! `hblite load-hfiles`: a folder of HFiles into a table.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hblite::{BulkLoadOptions, BulkLoadReport, FileTransfer, Options};

use crate::output::{FAILURE, fail, print, size};

/// Which files, and where to.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct LoadHFilesArguments {
    /// Directory of the store, which nobody may have open
    #[arg(long, value_name = "DIR", default_value = "./hblite-data")]
    dir: PathBuf,
    /// Table that the files are loaded into
    table: String,
    /// Folder with a folder of HFiles for each family
    folder: PathBuf,
    /// Links the files instead of copying them: nobody may write to them from then on
    #[arg(long, conflicts_with = "move_files")]
    link: bool,
    /// Takes the files out of the folder once they are loaded
    #[arg(long = "move")]
    move_files: bool,
    /// Does not read the files before they are loaded
    #[arg(long)]
    no_verify: bool,
    /// Makes the files older than what the table has: of equal cells, the table's win
    #[arg(long)]
    older: bool,
    /// Passes over families that the table does not have
    #[arg(long)]
    ignore_unmatched_families: bool,
    /// Most files that one family of one region may get
    #[arg(long, value_name = "COUNT", default_value_t = 32)]
    max_files: usize,
}

const AFTER_HELP: &str = "\
FOLDER/<family>/<file> is what HBase's jobs write (HFileOutputFormat) and what a region's directory
looks like. Files and folders that begin with _ or . are passed over. Files with rows of several
regions are cut at the borders. Nothing is loaded if a file is damaged or a family is not there.

A store that a process has open is loaded by that process: Admin::bulk_load.";

pub(crate) fn run(arguments: &LoadHFilesArguments) -> ExitCode {
    match load(arguments) {
        Ok(report) => {
            print(&describe(arguments, &report));
            if report.files > 0 {
                ExitCode::SUCCESS
            } else {
                let folder = arguments.folder.display();
                fail(
                    &format!("{folder} has no file to load, looked for as <family>/<file>"),
                    FAILURE,
                )
            }
        }
        // Some of HBase's messages are the name of a table and nothing else.
        Err(error) => {
            let message = format!("{}: {}", error.exception().simple_name(), error.message());
            fail(&message, FAILURE)
        }
    }
}

fn load(arguments: &LoadHFilesArguments) -> hblite::Result<BulkLoadReport> {
    let options = BulkLoadOptions {
        transfer: match (arguments.link, arguments.move_files) {
            (_, true) => FileTransfer::Move,
            (true, false) => FileTransfer::Link,
            (false, false) => FileTransfer::Copy,
        },
        assign_sequence_id: !arguments.older,
        verify: !arguments.no_verify,
        ignore_unmatched_families: arguments.ignore_unmatched_families,
        files_per_region_and_family_max: arguments.max_files,
    };
    let connection = Options::new().create_if_missing(false).open(&arguments.dir)?;
    let report = connection.admin().bulk_load(&arguments.table, &arguments.folder, &options)?;
    connection.close()?;
    Ok(report)
}

fn describe(arguments: &LoadHFilesArguments, report: &BulkLoadReport) -> String {
    let mut text = String::new();
    for (path, why) in &report.skipped {
        text += &format!("passed over: {} {why}\n", path.display());
    }
    for path in &report.left_behind {
        text += &format!("loaded, but could not be removed: {}\n", path.display());
    }
    if report.files > 0 {
        text += &format!(
            "{}: files {}, of them cut at region borders {}, regions {}, cells {}, {} in {:.2} s\n",
            arguments.table,
            report.files,
            report.files_split,
            report.regions,
            report.cells,
            size(report.bytes),
            report.duration.as_secs_f64()
        );
    }
    text
}
