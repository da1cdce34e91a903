//! The flat key: row, family, qualifier, timestamp and type in one byte string.
//!
//! ```text
//! u16 row length | row | u8 family length | family | qualifier | i64 timestamp | u8 type
//! ```
//!
//! All numbers are big-endian. This is the key part of HBase's `KeyValue`, the key of HFile indexes
//! and the order of every store. Functions that take a key require it to be well-formed (see
//! [`is_well_formed`]). Given a malformed key they panic or return nonsense, so bytes from outside
//! are checked once on entry.

use super::{CellType, LATEST_TIMESTAMP};

/// Bytes of the row length field.
pub const ROW_LENGTH_SIZE: usize = 2;
/// Bytes of the family length field.
pub const FAMILY_LENGTH_SIZE: usize = 1;
/// Bytes of timestamp and type at the end of every key.
pub const TIMESTAMP_TYPE_SIZE: usize = 9;
/// Bytes of a key with empty row, family and qualifier.
pub const FIXED_SIZE: usize = ROW_LENGTH_SIZE + FAMILY_LENGTH_SIZE + TIMESTAMP_TYPE_SIZE;
/// Longest row in bytes (`HConstants.MAX_ROW_LENGTH`).
pub const ROW_LENGTH_MAX: usize = i16::MAX as usize;
/// Longest family in bytes.
pub const FAMILY_LENGTH_MAX: usize = i8::MAX as usize;

const _: () = assert!(FIXED_SIZE == 12);

/// Length of the row.
#[inline]
pub fn row_length(key: &[u8]) -> usize {
    u16::from_be_bytes([key[0], key[1]]) as usize
}

/// The row.
#[inline]
pub fn row(key: &[u8]) -> &[u8] {
    &key[2..2 + row_length(key)]
}

/// The first 8 bytes of a row as a number; shorter rows are padded with zeros.
///
/// A smaller number means a smaller row. Equal numbers say nothing about the order.
#[inline]
pub fn row_prefix(row: &[u8]) -> u64 {
    if let Some(bytes) = row.first_chunk::<8>() {
        return u64::from_be_bytes(*bytes);
    }
    let mut bytes = [0; 8];
    bytes[..row.len()].copy_from_slice(row);
    u64::from_be_bytes(bytes)
}

/// The family.
#[inline]
pub fn family(key: &[u8]) -> &[u8] {
    let at = 2 + row_length(key);
    &key[at + 1..at + 1 + key[at] as usize]
}

/// The qualifier.
#[inline]
pub fn qualifier(key: &[u8]) -> &[u8] {
    let at = 2 + row_length(key);
    &key[at + 1 + key[at] as usize..key.len() - TIMESTAMP_TYPE_SIZE]
}

/// Family length, family and qualifier in one slice: equal for cells of one column.
///
/// Within one store, comparing these slices compares the columns.
#[inline]
pub fn column(key: &[u8]) -> &[u8] {
    &key[2 + row_length(key)..key.len() - TIMESTAMP_TYPE_SIZE]
}

/// Everything except timestamp and type: equal for the versions of one column of one row.
#[inline]
pub fn without_version(key: &[u8]) -> &[u8] {
    &key[..key.len() - TIMESTAMP_TYPE_SIZE]
}

/// The timestamp in milliseconds.
#[inline]
pub fn timestamp(key: &[u8]) -> i64 {
    let at = key.len() - TIMESTAMP_TYPE_SIZE;
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&key[at..at + 8]);
    i64::from_be_bytes(bytes)
}

/// The type code.
#[inline]
pub fn type_code(key: &[u8]) -> u8 {
    key[key.len() - 1]
}

/// Replaces the timestamp.
#[inline]
pub fn set_timestamp(key: &mut [u8], timestamp: i64) {
    let at = key.len() - TIMESTAMP_TYPE_SIZE;
    key[at..at + 8].copy_from_slice(&timestamp.to_be_bytes());
}

/// Whether two rows are equal. Compares the ends first, because adjacent rows mostly differ there.
#[inline]
pub fn is_same_row(left: &[u8], right: &[u8]) -> bool {
    let have_same_end = match (left.last_chunk::<8>(), right.last_chunk::<8>()) {
        (Some(left), Some(right)) => u64::from_ne_bytes(*left) == u64::from_ne_bytes(*right),
        _ => true,
    };
    have_same_end && left == right
}

/// Length in bytes of the key of these parts.
pub fn encoded_length(row: &[u8], family: &[u8], qualifier: &[u8]) -> usize {
    FIXED_SIZE + row.len() + family.len() + qualifier.len()
}

/// Appends the key of these parts to `out`.
///
/// # Panics
/// If the row is longer than 65,535 or the family longer than 255 bytes: callers check HBase's
/// lower limits first.
pub fn write(
    out: &mut Vec<u8>,
    row: &[u8],
    family: &[u8],
    qualifier: &[u8],
    timestamp: i64,
    type_code: u8,
) {
    let row_length = u16::try_from(row.len()).expect("row length was checked by the caller");
    let family_length = u8::try_from(family.len()).expect("family length was checked");
    out.extend_from_slice(&row_length.to_be_bytes());
    out.extend_from_slice(row);
    out.push(family_length);
    out.extend_from_slice(family);
    out.extend_from_slice(qualifier);
    out.extend_from_slice(&timestamp.to_be_bytes());
    out.push(type_code);
}

/// The key of these parts.
pub fn build(
    row: &[u8],
    family: &[u8],
    qualifier: &[u8],
    timestamp: i64,
    type_code: u8,
) -> Vec<u8> {
    let mut key = Vec::with_capacity(encoded_length(row, family, qualifier));
    write(&mut key, row, family, qualifier, timestamp, type_code);
    key
}

/// The smallest possible key of `row`: a seek to it finds the row's first cell.
pub fn first_on_row(row: &[u8]) -> Vec<u8> {
    build(row, b"", b"", LATEST_TIMESTAMP, CellType::MAXIMUM)
}

/// The greatest possible key of `row`: a seek to it finds the first cell of the next row.
pub fn last_on_row(row: &[u8]) -> Vec<u8> {
    build(row, b"", b"", 0, CellType::MINIMUM)
}

/// The smallest possible key of one column.
pub fn first_on_column(row: &[u8], family: &[u8], qualifier: &[u8]) -> Vec<u8> {
    build(row, family, qualifier, LATEST_TIMESTAMP, CellType::MAXIMUM)
}

/// The greatest possible key of one column.
pub fn last_on_column(row: &[u8], family: &[u8], qualifier: &[u8]) -> Vec<u8> {
    build(row, family, qualifier, 0, CellType::MINIMUM)
}

/// Whether the lengths inside `key` fit into it. Does not check type or timestamp.
pub fn is_well_formed(key: &[u8]) -> bool {
    if key.len() < FIXED_SIZE {
        return false;
    }
    let family_length_at = ROW_LENGTH_SIZE + row_length(key);
    match key.get(family_length_at) {
        Some(&length) => {
            family_length_at + FAMILY_LENGTH_SIZE + length as usize + TIMESTAMP_TYPE_SIZE
                <= key.len()
        }
        None => false,
    }
}
