//! `hblite rowkey code`: a design as a program.

use clap::Args;
use hblite_rowkey::Language;

use super::design;

/// Which program.
#[derive(Debug, Args)]
pub(super) struct CodeArguments {
    /// The design
    design: String,
    /// The language: java, python, go or rust
    #[arg(long, value_name = "LANGUAGE")]
    language: Language,
}

pub(super) fn code(arguments: &CodeArguments) -> Result<String, String> {
    Ok(design(&arguments.design)?.code(arguments.language))
}
