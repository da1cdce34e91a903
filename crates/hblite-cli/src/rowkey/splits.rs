//! `hblite rowkey splits`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hblite::bytes::{from_string_binary, to_string_binary};
use hblite_hotspot::advise::create_command;
use hblite_rowkey::{ErrorKind, quantile_splits};

use super::design;
use crate::output::tell;

/// The design, and the form of the output.
#[derive(Debug, Args)]
pub(super) struct SplitsArguments {
    /// The design
    design: String,
    /// Regions of the table
    #[arg(long)]
    regions: usize,
    /// How split keys are printed
    #[arg(long, value_enum, default_value_t = Format::File)]
    format: Format,
    /// File with a sample of keys, one per line, as HBase's shell prints them. If the design begins
    /// with a field, the quantiles of the sample are the splits
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Name of the table in the shell's command
    #[arg(long, default_value = "t")]
    name: String,
}

/// How split keys are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A create command of HBase's shell
    Shell,
    /// An argument of Admin.createTable
    Java,
    /// One per line, for SPLITS_FILE of HBase's shell
    File,
}

pub(super) fn splits(arguments: &SplitsArguments) -> Result<String, String> {
    let design = design(&arguments.design)?;
    let keys = match &arguments.keys {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let sample: Vec<Vec<u8>> = text
                .lines()
                .filter(|line| !line.is_empty())
                .map(|line| {
                    let key = from_string_binary(line);
                    let checked = design.decode(&key).map(|_| ());
                    checked.map_err(|error| format!("{}: {line}: {error}", path.display()))?;
                    Ok(key)
                })
                .collect::<Result<_, String>>()?;
            quantile_splits(sample, arguments.regions)
        }
        None => design.natural_splits(arguments.regions),
    };
    let keys = keys.map_err(|error| match error.kind() {
        ErrorKind::FewPlaces => format!("{error} with --keys"),
        _ => error.to_string(),
    })?;
    if arguments.keys.is_some() && keys.len() + 1 < arguments.regions {
        let regions = keys.len() + 1;
        tell(&format!("the sample has too few different keys: {regions} regions\n"));
    }
    Ok(match arguments.format {
        Format::Shell => format!("{}\n", create_command(&arguments.name, &keys)),
        Format::File => keys.iter().map(|key| format!("{}\n", to_string_binary(key))).collect(),
        Format::Java => java(&keys),
    })
}

fn java(keys: &[Vec<u8>]) -> String {
    let key = |key: &Vec<u8>| {
        let text = to_string_binary(key).replace('\\', "\\\\").replace('"', "\\\"");
        format!("    Bytes.toBytesBinary(\"{text}\"),\n")
    };
    format!("byte[][] splits = {{\n{}}};\n", keys.iter().map(key).collect::<String>())
}
