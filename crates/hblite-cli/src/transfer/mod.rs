//! What `hblite import`, `export`, `copy`, `digest` and `columns` share: formats and stores.

pub(crate) mod columns;
pub(crate) mod copy;
pub(crate) mod digest;
pub(crate) mod export;
pub(crate) mod import;

mod copy_state;
pub(crate) mod output_file;
pub(crate) mod place;
mod select;

use std::io;
use std::path::Path;

use clap::ValueEnum;
use hblite::bytes::from_string_binary;
use hblite_rowkey::Design;
use hblite_transfer::{DelimitedFormat, TransferError};

/// A format of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Fields separated by commas, quoted where needed
    Csv,
    /// Fields separated by tabs, never quoted, as in ImportTsv
    Tsv,
    /// A JSON object per row, exact for any bytes
    Jsonl,
}

impl Format {
    /// The requested format, or the one of the file's extension.
    fn of(wanted: Option<Self>, path: &Path) -> Result<Self, TransferError> {
        if let Some(format) = wanted {
            return Ok(format);
        }
        let path = if is_gzip(path) { path.with_extension("") } else { path.to_path_buf() };
        let extension = path.extension().map(|ending| ending.to_ascii_lowercase());
        match extension.as_ref().and_then(|ending| ending.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("tsv" | "tab") => Ok(Self::Tsv),
            Some("jsonl" | "ndjson") => Ok(Self::Jsonl),
            _ => Err(TransferError::Invalid(
                "the file's name does not show its format: use --format csv, tsv or jsonl".into(),
            )),
        }
    }
}

/// Whether a file is compressed, by its name.
fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"))
}

/// Whether a name stands for standard input or output.
fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// How fields are separated in CSV and TSV.
fn delimited(
    format: Format,
    separator: Option<&str>,
    is_escaped: bool,
) -> Result<DelimitedFormat, TransferError> {
    let base = if format == Format::Csv { DelimitedFormat::CSV } else { DelimitedFormat::TSV };
    let separator = match separator {
        None => base.separator,
        Some("\\t") => b'\t',
        Some(text) => match from_string_binary(text).as_slice() {
            [byte] if !matches!(byte, b'\n' | b'\r' | b'"') => *byte,
            _ => {
                return Err(TransferError::Invalid(
                    "--separator is one byte, and neither a quote nor the end of a line".into(),
                ));
            }
        },
    };
    Ok(DelimitedFormat { separator, is_escaped, ..base })
}

/// A design of keys.
fn design(text: &str) -> Result<Design, TransferError> {
    let wrong = |error: hblite_rowkey::Error| format!("\n{}", error.pointing_into(text));
    Design::parse(text).map_err(|error| TransferError::Invalid(wrong(error)))
}

/// An error of a file, with its name.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
