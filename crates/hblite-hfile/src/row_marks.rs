//! A coarse map of the rows in a data block, so that a search looks at few cells.
//!
//! A binary search over the cells themselves touches a cache line or two for each probe, all over
//! the block. The marks hold 8 bytes of the row of every eighth cell, taken behind what all rows of
//! the block share, in one small array: the search narrows down there to a few neighbouring cells
//! first.
//!
//! Invariant: rows that are in order as bytes have marks in order; a lesser mark means a lesser
//! row. Equal marks mean nothing.

use std::ops::Range;

use hblite_model::bytes;
use hblite_model::cell::key;

use crate::error::{Parsed, collect};

/// Cells from one mark to the next.
const STEP: usize = 8;
/// Blocks with fewer cells are searched as they are.
const CELLS_MIN: usize = 4 * STEP;

/// Marks of the rows of one block.
#[derive(Debug, Default)]
pub(crate) struct RowMarks {
    /// Bytes that all rows of the block begin with.
    shared_length: usize,
    /// Of the cells 0, 8, 16, …
    marks: Box<[u64]>,
}

impl RowMarks {
    /// The marks of `count` cells whose rows `row` gives, in order as bytes.
    ///
    /// # Errors
    /// No memory for them.
    pub(crate) fn of<'a>(count: usize, row: impl Fn(usize) -> &'a [u8]) -> Parsed<Self> {
        if count < CELLS_MIN {
            return Ok(Self::default());
        }
        let (first, last) = (row(0), row(count - 1));
        let shared_length = bytes::common_prefix_length(first, last);
        // The rows between are shorter only in a damaged file.
        let mark = |cell| key::row_prefix(row(cell).get(shared_length..).unwrap_or_default());
        let marks = collect((0..count).step_by(STEP).map(mark))?;
        Ok(Self { shared_length, marks })
    }

    /// The cells among which the first that is not below `row` is, or the one behind them;
    /// `None` if the marks do not tell. `first_row` is the row of the block's first cell.
    #[inline]
    pub(crate) fn narrow(
        &self,
        count: usize,
        first_row: &[u8],
        row: &[u8],
    ) -> Option<Range<usize>> {
        if self.marks.is_empty() || !row.starts_with(&first_row[..self.shared_length]) {
            return None;
        }
        let wanted = key::row_prefix(&row[self.shared_length..]);
        let below = self.marks.partition_point(|mark| *mark < wanted);
        let not_above =
            below + self.marks[below..].iter().take_while(|mark| **mark == wanted).count();
        let start = below.checked_sub(1).map_or(0, |last_below| last_below * STEP + 1);
        Some(start..(not_above * STEP).min(count))
    }

    /// Bytes of memory.
    pub(crate) fn heap_size(&self) -> usize {
        size_of_val(&*self.marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wanted_cell_is_always_in_the_narrowed_range() {
        let mut rows: Vec<Vec<u8>> = Vec::new();
        for number in 0..40_u32 {
            let row = format!("user{:03}", number / 3 * 5).into_bytes();
            rows.extend([row.clone(), row]);
        }
        rows.extend((0..20).map(|_| b"user999\0".to_vec()));
        rows.sort();
        let marks = RowMarks::of(rows.len(), |cell| &rows[cell]).unwrap();
        let absent =
            [&b""[..], b"user", b"user0", b"usez", b"user999", b"user999\0\0", b"user1234"];
        for wanted in rows.iter().map(Vec::as_slice).chain(absent) {
            let expected = rows.partition_point(|row| row.as_slice() < wanted);
            if let Some(range) = marks.narrow(rows.len(), &rows[0], wanted) {
                assert!(range.start <= expected && expected <= range.end, "{wanted:?} {range:?}");
            }
        }
        let hit = marks.narrow(rows.len(), &rows[0], b"user045").map(|range| range.len());
        assert!(hit.is_some_and(|cells| cells <= 2 * STEP), "{hit:?}");
    }

    #[test]
    fn small_blocks_have_none() {
        let rows = [b"a"; CELLS_MIN - 1];
        let marks = RowMarks::of(rows.len(), |cell| rows[cell]).unwrap();
        assert_eq!(marks.narrow(rows.len(), b"a", b"a"), None);
    }
}
