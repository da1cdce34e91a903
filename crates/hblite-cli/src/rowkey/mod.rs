//! `hblite rowkey`: explains a row key, its bytes, its splits and the scans of a query.

mod code;
mod explain;
mod key;
mod plan;
mod splits;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use hblite_rowkey::Design;

use crate::output::{FAILURE, fail, print};

/// Which key, and what to do with it.
#[derive(Debug, Args)]
#[command(
    after_help = explain::AFTER_HELP,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(crate) struct RowKeyArguments {
    /// The design, for instance 'salt(16)|host:str|ts:reverse_timestamp'
    #[arg(required = true)]
    design: Option<String>,
    #[command(subcommand)]
    command: Option<RowKeyCommand>,
}

#[derive(Debug, Subcommand)]
enum RowKeyCommand {
    /// Prints the key of a record.
    Encode(key::EncodeArguments),
    /// Prints the parts and values of keys.
    Decode(key::DecodeArguments),
    /// Prints the keys at which to split a new table.
    Splits(splits::SplitsArguments),
    /// Prints the scans that answer a query.
    Plan(plan::PlanArguments),
    /// Prints a program that encodes and decodes keys, without dependencies, with test vectors.
    Code(code::CodeArguments),
}

pub(crate) fn run(arguments: &RowKeyArguments) -> ExitCode {
    let text = match &arguments.command {
        None => explain::explain(arguments.design.as_deref().unwrap_or_default()),
        Some(RowKeyCommand::Encode(arguments)) => key::encode(arguments),
        Some(RowKeyCommand::Decode(arguments)) => key::decode(arguments),
        Some(RowKeyCommand::Splits(arguments)) => splits::splits(arguments),
        Some(RowKeyCommand::Plan(arguments)) => plan::plan(arguments),
        Some(RowKeyCommand::Code(arguments)) => code::code(arguments),
    };
    match text {
        Ok(text) => {
            print(&text);
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error, FAILURE),
    }
}

fn design(text: &str) -> Result<Design, String> {
    Design::parse(text).map_err(|error| format!("\n{}", error.pointing_into(text)))
}
