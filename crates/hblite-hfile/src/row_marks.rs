//! A coarse map of the keys in a data block, so that a search examines few cells.
//!
//! A binary search over the cells themselves touches a cache line or two for each probe, scattered
//! over the block. The marks hold 4 bytes of every fourth cell in one small array: a search first
//! narrows the range to a few neighboring cells there. The bytes are those of the row, after the
//! prefix that all rows of the block share; in a block of a single row, those of the qualifier,
//! likewise.
//!
//! Invariant: sorted keys have sorted marks; a smaller mark means a smaller key. Equal marks decide
//! nothing.

use std::ops::Range;

use hblite_model::bytes;
use hblite_model::cell::key;

use crate::error::{Parsed, collect};

/// Cells from one mark to the next.
const STEP: usize = 4;
/// A range of at most this many cells is examined cell by cell.
const REFINED_MAX: usize = STEP;
/// Blocks with fewer cells are searched without marks.
const CELLS_MIN: usize = 8 * STEP;

/// Marks of the keys of one block.
///
/// They contain all that a search needs of the block's first key, which it then does not touch: in
/// a file that is larger than memory, that would be another page to read.
#[derive(Debug, Default)]
pub(crate) struct RowMarks {
    /// If the block is of one row and family: both, as at the front of each key. Then the marks are
    /// of qualifiers.
    row_and_family: Option<Box<[u8]>>,
    /// The common prefix of all rows, or qualifiers, of the block.
    shared: Box<[u8]>,
    /// Marks of every fourth cell, or of those that were chosen, from the first on.
    marks: Box<[u32]>,
}

impl RowMarks {
    /// The marks of `count` cells with the keys from `key_of`, whose rows are ordered as bytes;
    /// none for few cells.
    ///
    /// # Errors
    /// No memory for them.
    pub(crate) fn of<'a>(count: usize, key_of: impl Fn(usize) -> &'a [u8]) -> Parsed<Self> {
        if count < CELLS_MIN {
            return Ok(Self::default());
        }
        Self::of_cells((0..count).step_by(STEP), count, key_of)
    }

    /// The same for the cells `marked`, which ascend from 0 and are less than `count`.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub(crate) fn of_cells<'a>(
        marked: impl ExactSizeIterator<Item = usize>,
        count: usize,
        key_of: impl Fn(usize) -> &'a [u8],
    ) -> Parsed<Self> {
        let (first, last) = (key_of(0), key_of(count - 1));
        let is_of_one_row = row_and_family(first) == row_and_family(last);
        let part = |key| marked_part(is_of_one_row, key);
        let shared = &part(first)[..bytes::common_prefix_length(part(first), part(last))];
        let mut marks = Self {
            row_and_family: is_of_one_row.then(|| row_and_family(first).into()),
            shared: shared.into(),
            marks: Box::default(),
        };
        marks.marks = collect(marked.map(|cell| marks.mark_of(key_of(cell))))?;
        Ok(marks)
    }

    /// The mark of `key`; `None` if the marks cannot place it.
    #[inline]
    fn mark_of_wanted(&self, key: &[u8]) -> Option<u32> {
        if self.row_and_family.as_ref().is_some_and(|common| **common != *row_and_family(key)) {
            return None;
        }
        bytes::strip_prefix(self.part(key), &self.shared).map(mark)
    }

    /// The index of the last mark whose cell is certainly before `key`: `Some(None)` if there is no
    /// such mark, `None` if the marks cannot place the key.
    #[inline]
    pub(crate) fn last_below(&self, key: &[u8]) -> Option<Option<usize>> {
        let wanted = self.mark_of_wanted(key)?;
        Some(self.marks.partition_point(|mark| *mark < wanted).checked_sub(1))
    }

    /// A range of cells such that the first cell not below `key` is in it or right after it; `None`
    /// if the marks cannot decide. `key_of` returns the keys of the block's `count` cells.
    #[inline]
    pub(crate) fn narrow<'a>(
        &self,
        count: usize,
        key: &[u8],
        key_of: impl Fn(usize) -> &'a [u8],
    ) -> Option<Range<usize>> {
        if self.marks.is_empty() {
            return None;
        }
        let wanted = self.mark_of_wanted(key)?;
        let below = self.marks.partition_point(|mark| *mark < wanted);
        let not_above =
            below + self.marks[below..].iter().take_while(|mark| **mark == wanted).count();
        let start = below.checked_sub(1).map_or(0, |last_below| last_below * STEP + 1);
        let end = (not_above * STEP).min(count);
        if end - start > REFINED_MAX {
            return Some(start..end);
        }
        // The cells are cold memory. Their marks do not depend on each other, so the processor
        // waits for all of them at once; a binary search would wait for one after the other.
        let (mut below, mut not_above) = (0, 0);
        for cell in start..end {
            let mark = self.mark_of(key_of(cell));
            below += usize::from(mark < wanted);
            not_above += usize::from(mark <= wanted);
        }
        Some(start + below..start + not_above)
    }

    /// The mark that a cell with this key has, or would have.
    #[inline]
    fn mark_of(&self, key: &[u8]) -> u32 {
        // Parts between the first and the last are shorter only in a damaged file.
        mark(self.part(key).get(self.shared.len()..).unwrap_or_default())
    }

    #[inline]
    fn part<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        marked_part(self.row_and_family.is_some(), key)
    }

    /// Bytes of memory.
    pub(crate) fn heap_size(&self) -> usize {
        let row_and_family = self.row_and_family.as_ref().map_or(0, |common| common.len());
        size_of_val(&*self.marks) + self.shared.len() + row_and_family
    }
}

/// The first 4 bytes, padded with zeros, as a big-endian number.
#[inline]
fn mark(part: &[u8]) -> u32 {
    (key::row_prefix(part) >> 32) as u32
}

/// The part of a key that the marks cover.
#[inline]
fn marked_part(is_of_one_row: bool, key: &[u8]) -> &[u8] {
    if is_of_one_row { key::qualifier(key) } else { key::row(key) }
}

/// Row length, row, family length and family of a key. The keys that sort before and after all
/// cells of a row have no family, so their result equals that of no cell.
#[inline]
fn row_and_family(key: &[u8]) -> &[u8] {
    let family = key::row_length(key) + key::ROW_LENGTH_SIZE;
    &key[..family + key::FAMILY_LENGTH_SIZE + key[family] as usize]
}

#[cfg(test)]
mod tests {
    use hblite_model::CellComparator;

    use super::*;

    fn first_key(row: &[u8], qualifier: &[u8]) -> Vec<u8> {
        key::first_on_column(row, b"f", qualifier)
    }

    #[test]
    fn in_a_row_the_wanted_column_is_always_in_the_narrowed_range() {
        let mut keys = Vec::new();
        for number in 0..100 {
            let qualifier = format!("column{:03}", number * 3);
            for timestamp in [9, 8, 7] {
                keys.push(key::build(b"row", b"f", qualifier.as_bytes(), timestamp, 4));
            }
        }
        let marks = RowMarks::of(keys.len(), |cell| &keys[cell]).unwrap();
        let mut wanted = keys.clone();
        wanted.extend(
            [&b""[..], b"col", b"column", b"column0", b"column15", b"d"]
                .map(|q| key::build(b"row", b"f", q, 8, 4)),
        );
        for row in [&b"ro"[..], b"row", b"row\0", b"s"] {
            wanted.extend([key::first_on_row(row), key::last_on_row(row)]);
            wanted.push(key::first_on_column(row, b"f", b"column150"));
            wanted.push(key::last_on_column(row, b"f", b"column150"));
            wanted.push(key::first_on_column(row, b"e", b"column150"));
        }
        let mut narrowed = 0;
        for wanted in &wanted {
            let is_below =
                |key: &Vec<u8>| CellComparator::Default.compare_keys(key, wanted).is_lt();
            let expected = keys.partition_point(is_below);
            if let Some(range) = marks.narrow(keys.len(), wanted, |cell| &keys[cell]) {
                assert!(range.start <= expected && expected <= range.end, "{wanted:?} {range:?}");
                narrowed += usize::from(range.len() <= 2 * STEP);
            }
        }
        assert!(narrowed >= keys.len(), "{narrowed} of {} keys", wanted.len());
    }

    #[test]
    fn the_wanted_cell_is_always_in_the_narrowed_range() {
        let mut rows: Vec<Vec<u8>> = Vec::new();
        for number in 0..40_u32 {
            let row = format!("user{:03}", number / 3 * 5).into_bytes();
            rows.extend([row.clone(), row]);
        }
        rows.extend((0..20).map(|_| b"user999\0".to_vec()));
        rows.sort();
        let keys: Vec<Vec<u8>> = rows.iter().map(|row| first_key(row, b"")).collect();
        let marks = RowMarks::of(rows.len(), |cell| &keys[cell]).unwrap();
        let absent =
            [&b""[..], b"user", b"user0", b"usez", b"user999", b"user999\0\0", b"user1234"];
        for wanted in rows.iter().map(Vec::as_slice).chain(absent) {
            let expected = rows.partition_point(|row| row.as_slice() < wanted);
            if let Some(range) =
                marks.narrow(rows.len(), &first_key(wanted, b""), |cell| &keys[cell])
            {
                assert!(range.start <= expected && expected <= range.end, "{wanted:?} {range:?}");
            }
        }
        let wanted = first_key(b"user045", b"");
        let hit = marks.narrow(rows.len(), &wanted, |cell| &keys[cell]).map(|range| range.len());
        assert!(hit.is_some_and(|cells| cells <= 2 * STEP), "{hit:?}");
    }

    #[test]
    fn small_blocks_have_none() {
        let key = first_key(b"a", b"q");
        let marks = RowMarks::of(CELLS_MIN - 1, |_| &key).unwrap();
        assert_eq!(marks.narrow(CELLS_MIN - 1, &key, |_| &key), None);
    }
}
