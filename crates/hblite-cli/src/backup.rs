//! `hblite backup`: a copy of a closed store.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::output::{FAILURE, fail, print, size};

/// Which store, and where to.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct BackupArguments {
    /// Directory of the store, which nobody may have open
    dir: PathBuf,
    /// Directory of the copy; it must not be there, or be empty
    to: PathBuf,
}

const AFTER_HELP: &str = "\
The copy is there as a whole or not at all, and durable at the end. Files are linked: the copy takes
no room until the store's files are replaced. To another file system they are copied.

A store that a process has open is backed up by that process: Admin::backup.";

pub(crate) fn run(arguments: &BackupArguments) -> ExitCode {
    match hblite::backup(&arguments.dir, &arguments.to) {
        Ok(report) => {
            print(&format!(
                "{}: files linked {}, copied {}, {} in {:.2} s\n",
                arguments.to.display(),
                report.files_linked,
                report.files_copied,
                size(report.bytes),
                report.duration.as_secs_f64()
            ));
            ExitCode::SUCCESS
        }
        Err(error) => fail(error.message(), FAILURE),
    }
}
