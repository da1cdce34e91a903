//! Records of Parquet files.
//!
//! ```text
//! "PAR1" | column chunks, page by page | footer: schema, row groups | length u32 | "PAR1"
//! ```
//!
//! A record contains the columns that are not nested. Values become text, as in the other forms of
//! data: dates and times are milliseconds since 1970, bytes are as `Bytes.toStringBinary` prints
//! them, a missing value is empty.
//!
//! Invariant: whatever a file declares, memory is allocated only for what was checked: sizes
//! against the file's length, counts against the bytes that hold them, pages and values against
//! limits.
//!
//! Layers: `footer` and `page` parse with `thrift`; `page` gives decompressed pages; `column` turns
//! pages into texts with `levels`, `delta` and `text`.

mod column;
mod delta;
mod footer;
mod levels;
mod page;
#[cfg(test)]
mod tests;
mod text;
mod thrift;

use super::{BadRecords, RECORDS_MAX, Table};
use footer::{Chunk, Footer};

/// Begin and end of a file.
const MAGIC: &[u8; 4] = b"PAR1";
/// The end of a file whose footer is encrypted.
const ENCRYPTED: &[u8; 4] = b"PARE";
/// Longest footer, in bytes.
const FOOTER_MAX: usize = 64 << 20;
/// All values together, in bytes, as they are in memory.
const VALUES_MAX: usize = 2 << 30;
/// The overhead of a value in memory, in bytes.
const VALUE_BYTES: usize = size_of::<String>();

/// Why a file cannot be read, without its name.
#[derive(Debug)]
struct Bad(String);

type Result<T> = std::result::Result<T, Bad>;

impl Bad {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl From<Bad> for BadRecords {
    fn from(Bad(reason): Bad) -> Self {
        Self(reason)
    }
}

/// Reads all records of a Parquet file.
///
/// # Errors
/// [`BadRecords`] with the row group and the column.
pub(super) fn read(file: &[u8]) -> std::result::Result<Table, BadRecords> {
    let footer = read_footer(file)?;
    let names: Vec<String> = footer.columns.iter().map(|column| column.name.clone()).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut budget = VALUES_MAX;
    for (index, group) in footer.row_groups.iter().enumerate() {
        let mut columns = Vec::with_capacity(names.len());
        for (column, chunk) in footer.columns.iter().zip(&group.chunks) {
            let mut values: Vec<String> = Vec::new();
            let take = |value: &str| {
                let left = budget.checked_sub(value.len() + VALUE_BYTES);
                budget = left.ok_or_else(|| {
                    let gib = VALUES_MAX >> 30;
                    Bad::new(format!("more than {gib} GiB of values: use a part of them"))
                })?;
                values.push(value.to_owned());
                Ok(())
            };
            let read = chunk_of(file, chunk)
                .and_then(|bytes| column::read(column, chunk, bytes, group.rows, take));
            read.map_err(|Bad(reason)| {
                Bad::new(format!("row group {}, column {}: {reason}", index + 1, column.name))
            })?;
            columns.push(values.into_iter());
        }
        for _ in 0..group.rows {
            // Each column has as many values as the group has rows.
            rows.push(columns.iter_mut().filter_map(Iterator::next).collect());
        }
    }
    Table::new(names, rows)
}

fn read_footer(file: &[u8]) -> Result<Footer> {
    let Some((file, magic)) = file.split_last_chunk::<4>() else {
        return Err(Bad::new("too short for a Parquet file"));
    };
    if magic == ENCRYPTED {
        return Err(Bad::new("the Parquet file is encrypted"));
    }
    if magic != MAGIC {
        let reason = "not a Parquet file, or its end is missing: it does not end with PAR1";
        return Err(Bad::new(reason));
    }
    let Some((file, size)) = file.split_last_chunk::<4>() else {
        return Err(Bad::new("too short for a Parquet file"));
    };
    let size = u32::from_le_bytes(*size) as usize;
    if size > FOOTER_MAX || size > file.len() {
        return Err(Bad::new("the footer is longer than the file, or than 64 MiB"));
    }
    let footer = Footer::parse(&file[file.len() - size..])
        .map_err(|Bad(reason)| Bad::new(format!("footer: {reason}")))?;
    let rows = footer.row_groups.iter().map(|group| group.rows);
    if rows.fold(0, usize::saturating_add) > RECORDS_MAX {
        return Err(Bad::new(format!("more than {RECORDS_MAX} records: use a part of them")));
    }
    Ok(footer)
}

fn chunk_of<'f>(file: &'f [u8], chunk: &Chunk) -> Result<&'f [u8]> {
    let end = chunk.start.checked_add(chunk.length);
    let bytes = end.and_then(|end| file.get(chunk.start..end));
    bytes.ok_or_else(|| Bad::new("it lies beyond the end of the file"))
}
