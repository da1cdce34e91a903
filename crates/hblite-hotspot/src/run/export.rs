//! The keys of a run as text, to give the same keys to another HBase.

use std::io::{self, Write};

use hblite::bytes;

use super::error::RunError;
use super::options::RunOptions;
use super::splits::split_keys;
use super::stream::Stream;
use super::target::{Target, scratch};

/// Writes a line `split KEY` for each split key and then a line `put WINDOW KEY` for each record,
/// keys as `Bytes.toStringBinary` prints them, with windows counted from 0.
///
/// # Errors
/// [`RunError`] of the design, or [`RunError::Output`].
pub fn export_keys(
    target: &dyn Target,
    stream: &Stream,
    options: &RunOptions,
    out: &mut impl Write,
) -> Result<(), RunError> {
    let output = |result: io::Result<()>| result.map_err(RunError::Output);
    for key in split_keys(target, stream, options)? {
        output(writeln!(out, "split {}", bytes::to_string_binary(&key)))?;
    }
    let opened = scratch(target)?;
    let mut key = Vec::new();
    for (window, slice) in stream.windows().iter().enumerate() {
        for index in slice.records.clone() {
            opened.row(&stream.moment(index), &mut key)?;
            output(writeln!(out, "put {window} {}", bytes::to_string_binary(&key)))?;
        }
    }
    output(out.flush())
}
