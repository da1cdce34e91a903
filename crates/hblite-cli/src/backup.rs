//! `hblite backup`: a copy of a closed store.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::output::{FAILURE, fail, print, size};

/// Which store, and where to.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct BackupArguments {
    /// Directory of the store, which must not be open
    dir: PathBuf,
    /// Directory of the copy; it must not exist, or be empty
    to: PathBuf,
}

const AFTER_HELP: &str = "\
The copy appears as a whole or not at all, and is durable at the end. It consists of hard links, so
it takes no space until the store replaces its files. On another file system the files are copied.

To back up an open store, call Admin::backup in the process that has it open.";

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
