//! `hblite load-hfiles`: a folder of HFiles into a table.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hblite::{BulkLoadOptions, BulkLoadReport, FileTransfer};

use crate::output::{FAILURE, fail, print, size};

/// Which files, and where to.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct LoadHFilesArguments {
    /// Directory of the store, which must not be open
    #[arg(long, value_name = "DIR", default_value = "./hblite-data")]
    dir: PathBuf,
    /// Table that the files are loaded into
    table: String,
    /// Folder that contains a folder of HFiles for each family
    folder: PathBuf,
    /// Links the files instead of copying them: they must not be modified from then on
    #[arg(long, conflicts_with = "move_files")]
    link: bool,
    /// Removes the files from the folder once they are loaded
    #[arg(long = "move")]
    move_files: bool,
    /// Does not check the files before they are loaded
    #[arg(long)]
    no_verify: bool,
    /// Treats the files as older than the table's cells: of equal cells, the table's win
    #[arg(long)]
    older: bool,
    /// Skips families that the table does not have
    #[arg(long)]
    ignore_unmatched_families: bool,
    /// Maximum number of files per family and region
    #[arg(long, value_name = "COUNT", default_value_t = 32)]
    max_files: u32,
}

const AFTER_HELP: &str = "\
FOLDER/<family>/<file> is the output of HBase's jobs (HFileOutputFormat), and the layout of a
region's directory. Files and folders whose names begin with _ or . are skipped. Files with rows of
several regions are split at region boundaries. If a file is damaged or a family is missing, nothing
is loaded.

To load into an open store, call Admin::bulk_load in the process that has it open.";

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
        // Some of HBase's messages consist only of the name of a table.
        Err(error) => {
            let message = format!("{}: {}", error.exception().simple_name(), error.message());
            fail(&message, FAILURE)
        }
    }
}

fn load(arguments: &LoadHFilesArguments) -> hblite::Result<BulkLoadReport> {
    let transfer = match (arguments.link, arguments.move_files) {
        (_, true) => FileTransfer::Move,
        (true, false) => FileTransfer::Link,
        (false, false) => FileTransfer::Copy,
    };
    let options = BulkLoadOptions::default()
        .with_transfer(transfer)
        .with_assign_sequence_id(!arguments.older)
        .with_verify(!arguments.no_verify)
        .with_ignore_unmatched_families(arguments.ignore_unmatched_families)
        .with_files_per_region_and_family_max(arguments.max_files);
    let connection =
        crate::store_files::options().with_create_if_missing(false).open(&arguments.dir)?;
    crate::notices::Notices::Text.open(&connection);
    let report = connection.admin().bulk_load(&arguments.table, &arguments.folder, &options)?;
    connection.close()?;
    Ok(report)
}

fn describe(arguments: &LoadHFilesArguments, report: &BulkLoadReport) -> String {
    let mut text = String::new();
    for (path, why) in &report.skipped {
        text += &format!("skipped: {} {why}\n", path.display());
    }
    for path in &report.left_behind {
        text += &format!("loaded, but could not be removed: {}\n", path.display());
    }
    if report.files > 0 {
        text += &format!(
            "{}: files {}, of them split at region boundaries {}, regions {}, cells {}, {} \
             in {:.2} s\n",
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
