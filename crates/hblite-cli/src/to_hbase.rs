//! `hblite to-hbase`: prepares a directory that hblite did not close so that HBase can start on it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hblite::Options;
use hblite_model::counted;

use crate::output::{fail, print};
use crate::store_files::unmapped;

/// Which store.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ToHBaseArguments {
    /// Directory of the store, which must not be open
    dir: PathBuf,
}

const AFTER_HELP: &str = "\
Every close leaves a directory that HBase 2.6 starts on. This command is for one that was not closed
because hblite was killed, for a backup of an open store, and for a check beforehand: it replays the
log into store files, completes what was interrupted, and checks every file. HBase and hblite
must not use the directory at the same time. HBase refuses to start while hblite has the store open
or has not closed it: it reports the file layout of hbase.version. hblite refuses to open the
directory while HBase's logs are in it, as they are while HBase runs and after it was killed.
Exit status: 0 if HBase can start, 1 if the store has defects, 2 if it could not be opened.";

/// Status for a store with defects.
const DEFECTS: u8 = 1;
/// Status for a store that could not be opened or closed.
const FAILED: u8 = 2;

pub(crate) fn run(arguments: &ToHBaseArguments) -> ExitCode {
    let dir = &arguments.dir;
    let options = unmapped(Options::new()).with_create_if_missing(false);
    let closed = options.open(dir).and_then(|connection| connection.close());
    if let Err(error) = closed {
        return fail(error.message(), FAILED);
    }
    let report = match hblite::check(dir) {
        Ok(report) => report,
        Err(error) => return fail(error.message(), FAILED),
    };
    if !report.is_clean() {
        let lines: String = report.defects.iter().map(|defect| format!("{defect}\n")).collect();
        print(&lines);
        return fail("the store has defects, so it was not released to HBase", DEFECTS);
    }
    print(&format!(
        "{}, {}, {} checked. Stop every use of the directory by hblite, set \
         hbase.rootdir to file://{}, and start HBase 2.6.\n",
        counted(report.tables as u64, "table"),
        counted(report.regions as u64, "region"),
        counted(report.cells, "cell"),
        std::path::absolute(dir).unwrap_or_else(|_| dir.clone()).display()
    ));
    ExitCode::SUCCESS
}
