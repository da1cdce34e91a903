//! HBase cells in a store of plain bytes: keys, and in the files below here what a reader, a range
//! and a compaction need.
//!
//! ```text
//! row* 00 00 | family* 00 00 | qualifier* 00 00 | 8 B inverted timestamp | 1 B inverted type
//! ```
//!
//! A part marked `*` has each of its zero bytes followed by `FF`; so the order of the keys' bytes
//! is HBase's order of cells: row, family, qualifier, newest timestamp first, higher type first.
//! The key up to the timestamp is called the column here. Not shared between threads.

mod reader;
mod span;
mod sweep;

use std::error::Error;

use crate::cells::{CellKind, FAMILY, Qualifier, SampleCell};

pub(crate) use reader::{Reader, emit_if_in};
pub(crate) use span::{Direction, Part, Span};
pub(crate) use sweep::Sweep;

/// What can go wrong: a store's error, or an answer that is not the expected one.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Bytes of a key after its column.
pub(crate) const VERSION_SIZE: usize = 9;

const END: [u8; 2] = [0, 0];
const AFTER_END: [u8; 2] = [0, 1];
const ESCAPED: u8 = 0xff;
const TYPE_PUT: u8 = 4;
const TYPE_DELETE_COLUMN: u8 = 12;
const SIGN: u64 = 1 << 63;

/// A buffer that holds a usual key without growing.
pub(crate) fn key_buffer() -> Vec<u8> {
    Vec::with_capacity(64)
}

/// Makes `key` the key of a cell.
pub(crate) fn encode(key: &mut Vec<u8>, cell: &SampleCell) {
    encode_version(key, &cell.row, &cell.qualifier, cell.timestamp);
    if cell.kind == CellKind::Marker {
        key.pop();
        key.push(!TYPE_DELETE_COLUMN);
    }
}

/// Makes `key` the key of a put with this timestamp.
pub(crate) fn encode_version(key: &mut Vec<u8>, row: &[u8], qualifier: &Qualifier, timestamp: i64) {
    encode_column(key, row, qualifier);
    key.extend_from_slice(&(!(timestamp as u64 ^ SIGN)).to_be_bytes());
    key.push(!TYPE_PUT);
}

/// Makes `key` the common prefix of all versions of a column of `row`.
pub(crate) fn encode_column(key: &mut Vec<u8>, row: &[u8], qualifier: &Qualifier) {
    key.clear();
    push_part(key, row);
    push_part(key, FAMILY);
    push_part(key, qualifier);
}

/// Makes `key` the lowest that any cell of `row` can have.
fn encode_row_start(key: &mut Vec<u8>, row: &[u8]) {
    key.clear();
    push_part(key, row);
}

/// Makes `key` higher than that of any cell of `row`, lower than that of any higher row.
pub(crate) fn encode_row_end(key: &mut Vec<u8>, row: &[u8]) {
    key.clear();
    push_escaped(key, row);
    key.extend_from_slice(&AFTER_END);
}

/// Makes `key` higher than that of any cell of the column, lower than that of any higher column.
fn encode_column_end(key: &mut Vec<u8>, row: &[u8], qualifier: &Qualifier) {
    key.clear();
    push_part(key, row);
    push_part(key, FAMILY);
    push_escaped(key, qualifier);
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

/// The key of an entry without its version.
#[inline]
fn column_of(key: &[u8]) -> Result<&[u8]> {
    let size = key.len().checked_sub(VERSION_SIZE).ok_or("a key without its version")?;
    Ok(&key[..size])
}

/// Whether the entry is a delete marker.
#[inline]
fn is_marker(key: &[u8]) -> bool {
    key.last().is_some_and(|inverted| !inverted != TYPE_PUT)
}

#[cfg(test)]
mod tests;
