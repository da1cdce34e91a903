//! The filter between the entries of a store and a reader: versions, delete markers, limits.

use super::{Direction, END, Result, SIGN, Span, VERSION_SIZE, column_of, is_marker};
use super::{part_end, unescape};
use crate::cells::Tally;

/// Puts the newest versions of each column that a read meets into a tally.
///
/// In reverse a column's oldest version comes first, so the last one seen is kept until the column
/// changes. (HBase returns the columns of a row in ascending order even then; a reader of more than
/// one column per row would have to hold the row. The peers are spared that.)
pub(crate) struct Reader<'a> {
    tally: &'a mut Tally,
    direction: Direction,
    rows_left: usize,
    versions: u32,
    /// Versions of the current column that may still follow.
    versions_left: u32,
    value_min: Option<&'a [u8]>,
    /// Key of the first entry of the column, or of the last entry in reverse.
    last: Vec<u8>,
    /// Value of the last entry, in reverse.
    last_value: Vec<u8>,
    row_size: usize,
    scratch: [Vec<u8>; 2],
}

impl<'a> Reader<'a> {
    /// A reader of the entries within the span's bounds.
    pub(crate) fn new(span: Span<'a>, tally: &'a mut Tally) -> Self {
        Self {
            tally,
            direction: span.direction,
            rows_left: span.rows,
            versions: span.versions,
            versions_left: 0,
            value_min: span.value_min,
            last: Vec::new(),
            last_value: Vec::new(),
            row_size: 0,
            scratch: [Vec::new(), Vec::new()],
        }
    }

    /// Takes the next entry of the store; false if the read has all its rows.
    #[inline]
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<bool> {
        let column = column_of(key)?;
        let is_same_column = self.last.len() == key.len() && self.last.starts_with(column);
        match self.direction {
            Direction::Forward if is_same_column => {
                self.emit_version(key, value)?;
                return Ok(true);
            }
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
            Direction::Forward => {
                self.versions_left = self.versions;
                self.emit_version(key, value)?;
            }
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

    /// Counts a version of the current column, unless newer entries have settled the column.
    #[inline]
    fn emit_version(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.versions_left == 0 {
            return Ok(());
        }
        if is_marker(key) {
            self.versions_left = 0;
            return Ok(());
        }
        self.versions_left -= 1;
        if is_lower(value, self.value_min) {
            return Ok(());
        }
        emit(self.tally, &mut self.scratch, key, self.row_size, value)
    }

    #[inline]
    fn emit_last(&mut self) -> Result<()> {
        let value = self.last_value.as_slice();
        if self.last.is_empty() || is_marker(&self.last) || is_lower(value, self.value_min) {
            return Ok(());
        }
        emit(self.tally, &mut self.scratch, &self.last, self.row_size, value)
    }
}

/// Whether a value is below a bound, if there is one.
#[inline]
fn is_lower(value: &[u8], min: Option<&[u8]>) -> bool {
    // Without a bound nothing is compared: libc is slow to find that an empty slice is lower, since
    // its address is not mapped.
    min.is_some_and(|min| value < min)
}

/// Puts the newest version of one column into a tally, unless it is a delete marker.
///
/// `column` is what was sought; the entry is the first at or after it.
#[inline]
pub(crate) fn emit_if_in(tally: &mut Tally, column: &[u8], key: &[u8], value: &[u8]) -> Result<()> {
    if column_of(key)? != column || is_marker(key) {
        return Ok(());
    }
    emit(tally, &mut [Vec::new(), Vec::new()], key, part_end(column)?, value)
}

/// Decodes a cell and counts it.
#[inline]
fn emit(
    tally: &mut Tally,
    scratch: &mut [Vec<u8>; 2],
    key: &[u8],
    row_size: usize,
    value: &[u8],
) -> Result<()> {
    let (column, version) = key.split_at(key.len() - VERSION_SIZE);
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
