//! What a reader asks for: a part of the rows in one direction, and the keys that bound it.

use std::ops::Bound;

use super::{encode_column, encode_column_end, encode_row_end, encode_row_start, key_buffer};
use crate::cells::Qualifier;
use crate::rows::Row;

/// Where a scan goes. `Reverse` gives the rows in descending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Ascending rows.
    Forward,
    /// Descending rows.
    Reverse,
}

/// The rows or columns that are read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// All rows.
    All,
    /// This row and those that follow it in the direction of the scan.
    From(&'a Row),
    /// All columns of one row.
    Row(&'a Row),
    /// One column of one row.
    Column(&'a Row, &'a Qualifier),
}

/// A read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'a> {
    /// The rows or columns.
    pub(crate) part: Part<'a>,
    /// How many rows at most.
    pub(crate) rows: usize,
    /// How many versions of each column at most, the newest first; one in reverse.
    pub(crate) versions: u32,
    /// Where to; a single row or column is read forward.
    pub(crate) direction: Direction,
    /// Cells with a lower value are not returned.
    pub(crate) value_min: Option<&'a [u8]>,
}

impl<'a> Span<'a> {
    /// The newest version of each column of all rows.
    pub(crate) fn whole(direction: Direction) -> Self {
        Self { part: Part::All, rows: usize::MAX, versions: 1, direction, value_min: None }
    }

    /// The newest version of each column of `rows` rows from `start` on.
    pub(crate) fn from(start: &'a Row, rows: usize, direction: Direction) -> Self {
        Self { part: Part::From(start), rows, ..Self::whole(direction) }
    }

    /// The newest version of each column of one row.
    pub(crate) fn row(row: &'a Row) -> Self {
        Self { part: Part::Row(row), ..Self::whole(Direction::Forward) }
    }

    /// The newest versions of one column.
    pub(crate) fn column(row: &'a Row, qualifier: &'a Qualifier, versions: u32) -> Self {
        Self { part: Part::Column(row, qualifier), versions, ..Self::whole(Direction::Forward) }
    }

    /// The keys between which all cells of this read are.
    pub(crate) fn bounds(&self) -> Bounds {
        let key = |encode: &dyn Fn(&mut Vec<u8>)| {
            let mut key = key_buffer();
            encode(&mut key);
            Some(key)
        };
        let (lower, upper) = match (self.part, self.direction) {
            (Part::All, _) => (None, None),
            (Part::From(row), Direction::Forward) => {
                (key(&|lower| encode_row_start(lower, row)), None)
            }
            (Part::From(row), Direction::Reverse) => {
                (None, key(&|upper| encode_row_end(upper, row)))
            }
            (Part::Row(row), _) => {
                let lower = key(&|lower| encode_row_start(lower, row));
                (lower, key(&|upper| encode_row_end(upper, row)))
            }
            (Part::Column(row, qualifier), _) => {
                let lower = key(&|lower| encode_column(lower, row, qualifier));
                (lower, key(&|upper| encode_column_end(upper, row, qualifier)))
            }
        };
        Bounds { lower, upper }
    }
}

/// The keys between which all cells of a read are.
pub(crate) struct Bounds {
    /// The lowest possible key.
    pub(crate) lower: Option<Vec<u8>>,
    /// Higher than all keys.
    pub(crate) upper: Option<Vec<u8>>,
}

impl Bounds {
    /// The same as a range.
    pub(crate) fn as_range(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let lower = self.lower.as_deref().map_or(Bound::Unbounded, Bound::Included);
        let upper = self.upper.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        (lower, upper)
    }
}
