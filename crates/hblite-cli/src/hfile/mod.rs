//! `hblite hfile`: writes, prints and verifies single HFiles, without a store.

mod print;
mod text;
mod verify;
mod write;

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Subcommand;
use hblite_env::StdFileSystem;
use hblite_hfile::HFileReader;
use hblite_hfile_json::Description;

use crate::output::{FAILURE, fail};

/// What to do with a file.
#[derive(Debug, Subcommand)]
pub(crate) enum HFileCommand {
    /// Writes an HFile from a description
    Write(write::WriteArguments),
    /// Prints keys, metadata, blocks and statistics, as 'hbase hfile' does
    Print(print::PrintArguments),
    /// Checks everything in HFiles and reports the first defect
    Verify(verify::VerifyArguments),
}

pub(crate) fn run(command: HFileCommand) -> ExitCode {
    let result = match command {
        HFileCommand::Write(arguments) => write::run(&arguments),
        HFileCommand::Print(arguments) => print::run(&arguments),
        HFileCommand::Verify(arguments) => verify::run(&arguments),
    };
    match result {
        Ok(status) => status,
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => fail(&failure.to_string(), FAILURE),
    }
}

/// Why a command ends early.
enum Failure {
    /// A file or a description is invalid; the text names it.
    Input(String),
    /// Standard output.
    Output(io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(message) => f.write_str(message),
            Self::Output(error) => write!(f, "standard output: {error}"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<hblite_model::Error> for Failure {
    fn from(error: hblite_model::Error) -> Self {
        Self::Input(error.message().to_owned())
    }
}

fn open(path: &Path) -> Result<Arc<HFileReader>, Failure> {
    Ok(Arc::new(HFileReader::open(&StdFileSystem, path, None)?))
}

fn description(path: &Path) -> Result<Description, Failure> {
    let input = |error: &dyn fmt::Display| Failure::Input(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| input(&error))?;
    Description::parse(&text).map_err(|error| input(&error))
}
