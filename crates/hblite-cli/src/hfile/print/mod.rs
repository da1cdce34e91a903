//! `hblite hfile print`: prints the contents of a file like HBase's `HFilePrettyPrinter`.
//!
//! The output of each option is HBase's, except for what only its block cache knows. Order: cells,
//! meta data, block index, block headers, statistics, count.

mod cells;
mod meta;
mod statistics;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ArgAction, Args};
use hblite_hfile_json::write_description;
use hblite_model::bytes::from_string_binary;

use super::{Failure, open};
use cells::CellPrinter;

/// Which files, and what to print.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = AFTER_HELP)]
pub(crate) struct PrintArguments {
    /// HFiles
    #[arg(required_unless_present = "region")]
    files: Vec<PathBuf>,
    /// Prints the files of all families in this directory of a region
    #[arg(short, long, value_name = "DIR", conflicts_with = "files")]
    region: Option<PathBuf>,
    /// Prints metadata: trailer, file info, Bloom filters
    #[arg(short = 'm', long)]
    printmeta: bool,
    /// Prints keys
    #[arg(short = 'e', long)]
    printkey: bool,
    /// Prints keys, values and tags
    #[arg(short = 'p', long)]
    printkv: bool,
    /// Prints the root of the block index
    #[arg(short = 'b', long)]
    printblocks: bool,
    /// Prints the header of each block
    #[arg(short = 'h', long)]
    printblockheaders: bool,
    /// Prints statistics of keys, values and rows
    #[arg(short, long)]
    stats: bool,
    /// Checks the order of rows
    #[arg(short = 'k', long)]
    checkrow: bool,
    /// Checks that all cells belong to the family named by the file's directory
    #[arg(short = 'a', long)]
    checkfamily: bool,
    /// Reads this row only; \xHH is a byte
    #[arg(short = 'w', long = "seekToRow", value_name = "ROW")]
    seek_to_row: Option<String>,
    /// Prints the file name and the number of cells read
    #[arg(short, long)]
    verbose: bool,
    /// Prints the description that 'hblite hfile write' reads
    #[arg(long)]
    json: bool,
    /// Prints this help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
}

const AFTER_HELP: &str = "\
Without options, metadata is printed. The exit status is 1 if a file cannot be read or a check
finds something.";

pub(super) fn run(arguments: &PrintArguments) -> Result<ExitCode, Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut status = ExitCode::SUCCESS;
    let files = match &arguments.region {
        Some(region) => &files_of_region(region)?,
        None => &arguments.files,
    };
    for path in files {
        // Flushes what was printed before an error.
        let printed = arguments.print(&mut out, path);
        out.flush()?;
        if !printed? {
            status = ExitCode::FAILURE;
        }
    }
    Ok(status)
}

/// The store files in the directories of the families, which are those without a leading dot.
fn files_of_region(region: &Path) -> Result<Vec<PathBuf>, Failure> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>, Failure> {
        let failed = |error: io::Error| Failure::Input(format!("{}: {error}", folder.display()));
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                paths.push(entry.path());
            }
        }
        paths.sort();
        Ok(paths)
    };
    let mut files = Vec::new();
    for family in list(region)?.into_iter().filter(|path| path.is_dir()) {
        files.extend(list(&family)?.into_iter().filter(|path| path.is_file()));
    }
    Ok(files)
}

impl PrintArguments {
    /// Whether the requested checks found nothing.
    fn print(&self, out: &mut dyn Write, path: &Path) -> Result<bool, Failure> {
        if self.verbose {
            writeln!(out, "Scanning -> {}", path.display())?;
        }
        let reader = open(path)?;
        if self.json {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            write_description(out, &name, &reader).map_err(|error| match error.kind() {
                io::ErrorKind::InvalidData => Failure::Input(error.to_string()),
                _ => Failure::Output(error),
            })?;
            return Ok(true);
        }
        let prints_keys = self.printkey || self.printkv;
        let mut cells = CellPrinter::new(self, path);
        let looks_at_cells = prints_keys
            || self.stats
            || self.checkrow
            || self.checkfamily
            || self.verbose
            || self.seek_to_row.is_some();
        if looks_at_cells {
            let row = self.seek_to_row.as_deref().map(from_string_binary);
            cells.print(out, &reader, row.as_deref())?;
        }
        let asks = looks_at_cells || self.printblocks || self.printblockheaders;
        if self.printmeta || !asks {
            meta::print_meta(out, &reader)?;
        }
        if self.printblocks {
            meta::print_index(out, &reader)?;
        }
        if self.printblockheaders {
            meta::print_headers(out, &reader)?;
        }
        if self.stats {
            cells.statistics.print(out)?;
        }
        if prints_keys || self.verbose {
            writeln!(out, "Scanned kv count -> {}", cells.count)?;
        }
        Ok(cells.is_clean)
    }
}
