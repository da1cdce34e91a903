//! `hblite from-hbase`: converts the root directory of an Apache HBase to a store.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hblite::Options;
use hblite_model::counted;

use crate::output::{fail, print};
use crate::store_files::unmapped;

/// Which directory.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct FromHBaseArguments {
    /// The directory that hbase.rootdir names; HBase must not run
    dir: PathBuf,
}

const AFTER_HELP: &str = "\
Every other command refuses a directory that HBase made, or in which HBase left logs. This one
replays the logs of HBase's servers into store files, replaces the servers in hbase:meta by hblite's
own, and checks every file. What hblite cannot read is refused by name before anything is changed:
an unfinished procedure of the master, an encrypted or value-compressed log, another store file
tracker, a missing file. MasterData, archive and mobdir stay as they are, replayed logs move to
oldWALs, and HBase can start on the directory again once hblite has closed it. HBase and hblite must
not use the directory at the same time: stop HBase first.
Exit status: 0 if the directory is a store, 1 if the store has defects, 2 if it was refused.";

/// Status for a store with defects.
const DEFECTS: u8 = 1;
/// Status for a directory that was refused.
const REFUSED: u8 = 2;

pub(crate) fn run(arguments: &FromHBaseArguments) -> ExitCode {
    let dir = &arguments.dir;
    let options = unmapped(Options::new()).with_create_if_missing(false).with_hbase_adopted(true);
    let closed = options.open(dir).and_then(|connection| connection.close());
    if let Err(error) = closed {
        return fail(error.message(), REFUSED);
    }
    let report = match hblite::check(dir) {
        Ok(report) => report,
        Err(error) => return fail(error.message(), REFUSED),
    };
    if !report.is_clean() {
        let lines: String = report.defects.iter().map(|defect| format!("{defect}\n")).collect();
        print(&lines);
        return fail("the directory is a store now, and has defects", DEFECTS);
    }
    print(&format!(
        "{}, {}, {} checked. {} is a store of hblite; HBase can start on it \
         when no hblite has it open.\n",
        counted(report.tables as u64, "table"),
        counted(report.regions as u64, "region"),
        counted(report.cells, "cell"),
        dir.display()
    ));
    ExitCode::SUCCESS
}
