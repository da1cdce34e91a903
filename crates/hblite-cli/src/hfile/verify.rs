//! `hblite hfile verify`: checks whether files are intact and match their description.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hblite_env::StdFileSystem;
use hblite_hfile::verify::verify;
use hblite_model::counted;

use super::{Failure, description, open};
use crate::output::{FAILURE, fail};

/// Which files, and what they should hold.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct VerifyArguments {
    /// Description that a single file must match
    #[arg(long, value_name = "JSON")]
    json: Option<PathBuf>,
    /// HFiles
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

const AFTER_HELP: &str = "\
Checks all checksums, the order of cells, index, Bloom filters, file info and trailer. If a file has
a defect, the first one is reported on standard error with its offset, and the exit status is 1.";

pub(super) fn run(arguments: &VerifyArguments) -> Result<ExitCode, Failure> {
    if arguments.json.is_some() && arguments.files.len() > 1 {
        return Err(Failure::Input("--json describes one file".to_owned()));
    }
    let expected = arguments.json.as_deref().map(description).transpose()?;
    let mut status = ExitCode::SUCCESS;
    let mut out = std::io::stdout().lock();
    for path in &arguments.files {
        let verified = match verify(&StdFileSystem, path) {
            Ok(verified) => verified,
            Err(defect) => {
                status = fail(&defect.to_string(), FAILURE);
                continue;
            }
        };
        if let Some(expected) = &expected
            && let Err(difference) = expected.compare(&open(path)?)
        {
            status = fail(&format!("{}: {difference}", path.display()), FAILURE);
            continue;
        }
        writeln!(
            out,
            "{}: ok, {} in {}, {}, {}",
            path.display(),
            counted(verified.cells, "cell"),
            counted(verified.data_blocks, "data block"),
            counted(verified.blocks, "block"),
            counted(verified.length, "byte")
        )?;
    }
    Ok(status)
}
