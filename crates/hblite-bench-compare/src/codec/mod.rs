//! HBase cells in a store of plain bytes: the key, and the filter that a reader needs.
//!
//! ```text
//! row* 00 00 | family* 00 00 | qualifier* 00 00 | 8 B inverted timestamp | 1 B inverted type
//! ```
//!
//! A part marked `*` has each of its zero bytes followed by `FF`; so the order of the keys' bytes
//! is HBase's order of cells: row, family, qualifier, newest timestamp first, higher type first.
//! The key up to the timestamp is called the column here. Not shared between threads.

use std::error::Error;

use crate::cells::{FAMILY, QUALIFIER, Tally};

/// What can go wrong: a store's error, or an answer that is not the expected one.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Bytes of a key after its column.
pub(crate) const VERSION_SIZE: usize = 9;

const END: [u8; 2] = [0, 0];
const AFTER_END: [u8; 2] = [0, 1];
const ESCAPED: u8 = 0xff;
const TYPE_PUT: u8 = 4;
const SIGN: u64 = 1 << 63;

/// Where a scan goes. `Reverse` gives the rows in descending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Ascending rows.
    Forward,
    /// Descending rows.
    Reverse,
}

/// A buffer that holds a usual key without growing.
pub(crate) fn key_buffer() -> Vec<u8> {
    Vec::with_capacity(64)
}

/// Makes `key` the key of a put to the column of all cells here.
pub(crate) fn encode_put(key: &mut Vec<u8>, row: &[u8], timestamp: i64) {
    encode_column(key, row);
    key.extend_from_slice(&(!(timestamp as u64 ^ SIGN)).to_be_bytes());
    key.push(!TYPE_PUT);
}

/// Makes `key` the common prefix of all versions of that column in `row`.
pub(crate) fn encode_column(key: &mut Vec<u8>, row: &[u8]) {
    key.clear();
    push_part(key, row);
    push_part(key, FAMILY);
    push_part(key, QUALIFIER);
}

/// Makes `key` the lowest that any cell of `row` can have.
pub(crate) fn encode_row_start(key: &mut Vec<u8>, row: &[u8]) {
    key.clear();
    push_part(key, row);
}

/// Makes `key` higher than that of any cell of `row`, lower than that of any higher row.
pub(crate) fn encode_row_end(key: &mut Vec<u8>, row: &[u8]) {
    key.clear();
    push_escaped(key, row);
    key.extend_from_slice(&AFTER_END);
}

fn push_part(key: &mut Vec<u8>, part: &[u8]) {
    push_escaped(key, part);
    key.extend_from_slice(&END);
}

fn push_escaped(key: &mut Vec<u8>, part: &[u8]) {
    let mut rest = part;
    while let Some(zero) = memchr::memchr(0, rest) {
        key.extend_from_slice(&rest[..=zero]);
        key.push(ESCAPED);
        rest = &rest[zero + 1..];
    }
    key.extend_from_slice(rest);
}

/// Where the part at the head of `key` ends, without its terminator.
#[inline]
fn part_end(key: &[u8]) -> Result<usize> {
    let mut from = 0;
    while let Some(zero) = memchr::memchr(0, &key[from..]) {
        let zero = from + zero;
        match key.get(zero + 1) {
            Some(0) => return Ok(zero),
            Some(&ESCAPED) => from = zero + 2,
            _ => break,
        }
    }
    Err("a key without its terminator".into())
}

/// A part without its escapes. `scratch` holds it if there were any.
#[inline]
fn unescape<'a>(part: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    if memchr::memchr(0, part).is_none() {
        return part;
    }
    scratch.clear();
    let mut rest = part;
    while let Some(zero) = memchr::memchr(0, rest) {
        scratch.extend_from_slice(&rest[..=zero]);
        rest = &rest[zero + 2..];
    }
    scratch.extend_from_slice(rest);
    scratch
}

/// Puts the newest version of each column that a scan meets into a tally.
///
/// In reverse a column's oldest version comes first, so the last one seen is kept until the column
/// changes. (HBase returns the columns of a row in ascending order even then; a reader of more than
/// one column per row would have to hold the row. The peers are spared that.)
pub(crate) struct NewestVersions<'a> {
    tally: &'a mut Tally,
    direction: Direction,
    rows_left: usize,
    /// Key of the last entry.
    last: Vec<u8>,
    /// Value of the last entry, in reverse.
    last_value: Vec<u8>,
    row_size: usize,
    scratch: [Vec<u8>; 2],
}

impl<'a> NewestVersions<'a> {
    /// A filter that lets at most `rows` rows into `tally`.
    pub(crate) fn new(tally: &'a mut Tally, direction: Direction, rows: usize) -> Self {
        Self {
            tally,
            direction,
            rows_left: rows,
            last: Vec::new(),
            last_value: Vec::new(),
            row_size: 0,
            scratch: [Vec::new(), Vec::new()],
        }
    }

    /// Takes the next entry of the store; false if the scan has all its rows.
    #[inline]
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        let column = column_of(key)?;
        let is_same_column = self.last.len() == key.len() && self.last.starts_with(column);
        match self.direction {
            Direction::Forward if is_same_column => return Ok(true),
            Direction::Forward => {}
            Direction::Reverse if is_same_column => {}
            Direction::Reverse => self.emit_last()?,
        }
        if !is_same_column && !self.enter_column(column)? {
            self.last.clear();
            return Ok(false);
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        match self.direction {
            Direction::Forward => emit(self.tally, &mut self.scratch, key, self.row_size, value)?,
            Direction::Reverse => {
                self.last_value.clear();
                self.last_value.extend_from_slice(value);
            }
        }
        Ok(true)
    }

    /// The store has no more entries.
    pub(crate) fn finish(mut self) -> Result<()> {
        match self.direction {
            Direction::Forward => Ok(()),
            Direction::Reverse => self.emit_last(),
        }
    }

    /// Counts the row if it is new; false if that exceeds the limit.
    #[inline]
    fn enter_column(&mut self, column: &[u8]) -> Result<bool> {
        let row_end = self.row_size + END.len();
        let is_same_row = !self.last.is_empty() && column.starts_with(&self.last[..row_end]);
        if is_same_row {
            return Ok(true);
        }
        if self.rows_left == 0 {
            return Ok(false);
        }
        self.rows_left -= 1;
        self.row_size = part_end(column)?;
        Ok(true)
    }

    #[inline]
    fn emit_last(&mut self) -> Result<()> {
        if self.last.is_empty() {
            return Ok(());
        }
        let row_size = self.row_size;
        emit(self.tally, &mut self.scratch, &self.last, row_size, &self.last_value)
    }
}

/// Puts the newest version of one column into a tally, unless it is a delete marker.
///
/// `column` is what was sought; the entry is the first at or after it.
#[inline]
pub(crate) fn emit_if_in(tally: &mut Tally, column: &[u8], key: &[u8], value: &[u8]) -> Result<()> {
    if column_of(key)? != column {
        return Ok(());
    }
    emit(tally, &mut [Vec::new(), Vec::new()], key, part_end(column)?, value)
}

#[inline]
fn column_of(key: &[u8]) -> Result<&[u8]> {
    let size = key.len().checked_sub(VERSION_SIZE).ok_or("a key without its version")?;
    Ok(&key[..size])
}

/// Decodes a cell and counts it, unless it is a delete marker.
#[inline]
fn emit(
    tally: &mut Tally,
    scratch: &mut [Vec<u8>; 2],
    key: &[u8],
    row_size: usize,
    value: &[u8],
) -> Result<()> {
    let (column, version) = key.split_at(key.len() - VERSION_SIZE);
    if !version[VERSION_SIZE - 1] != TYPE_PUT {
        return Ok(());
    }
    let rest = &column[row_size + END.len()..];
    let family_size = part_end(rest)?;
    let qualifier = &rest[family_size + END.len()..];
    let qualifier = &qualifier[..part_end(qualifier)?];
    let inverted = version.first_chunk().ok_or("a key without its timestamp")?;
    let timestamp = (!u64::from_be_bytes(*inverted) ^ SIGN) as i64;
    let [row_scratch, qualifier_scratch] = scratch;
    let row = unescape(&column[..row_size], row_scratch);
    tally.add(row, unescape(qualifier, qualifier_scratch), timestamp, value);
    Ok(())
}

#[cfg(test)]
mod tests;
