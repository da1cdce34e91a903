//! A source that is read forward or in reverse.
//!
//! In reverse, rows descend and the cells of a row keep their order:
//!
//! ```text
//! stored     a1 a2 a3 | b1 | c1 c2
//! reverse    c1 c2 | b1 | a1 a2 a3
//!                     ◀── from the last cell of a row the walk goes back to its first
//! ```
//!
//! The walk back counts the cells of the row, so that going through the row and leaving it needs
//! no further comparison. Rows that are too wide to be walked back are entered by a seek.

use std::cmp::Ordering;

use hblite_model::cell::{CellComparator, CellRef, CellType, compare_without_row, key};
use hblite_model::{Direction, Result};

use super::{KeyValueScanner, WalkedBack};

/// A [`KeyValueScanner`] with a direction.
pub(crate) struct DirectedScanner<S> {
    scanner: S,
    direction: Direction,
    comparator: CellComparator,
    place: RowPlace,
}

/// The place in a row of a reverse scan.
#[derive(Default)]
struct RowPlace {
    row: Vec<u8>,
    /// Cells of the row before the current one, and behind it; `None` if they were not counted.
    cells: Option<(usize, usize)>,
    /// Where seek keys are built, in both directions.
    key: Vec<u8>,
}

impl<S: KeyValueScanner> DirectedScanner<S> {
    /// A scanner that is at no cell yet.
    pub(crate) fn new(scanner: S, direction: Direction, comparator: CellComparator) -> Self {
        Self { scanner, direction, comparator, place: RowPlace::default() }
    }

    /// The cell at the scanner.
    #[inline(always)]
    pub(crate) fn current(&self) -> Option<CellRef<'_>> {
        self.scanner.current()
    }

    /// The key of the cell at the scanner.
    #[inline(always)]
    pub(crate) fn current_key(&self) -> Option<&[u8]> {
        self.scanner.current_key()
    }

    /// Moves to the next cell in the direction.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<bool> {
        match self.direction {
            Direction::Forward => self.scanner.next(),
            Direction::Reverse => self.advance_reversed(),
        }
    }

    /// Moves to where a scan that starts at `row` begins; an empty row is the end that comes
    /// first.
    pub(crate) fn seek_start(&mut self, row: &[u8], is_inclusive: bool) -> Result<bool> {
        let is_reverse = self.direction.is_reverse();
        write_row_edge(&mut self.place.key, row, is_inclusive != is_reverse);
        let found = match (self.direction, row.is_empty()) {
            (Direction::Forward, true) => self.scanner.seek_first(),
            (Direction::Forward, false) => self.scanner.seek(&self.place.key),
            (Direction::Reverse, true) => self.scanner.seek_last(),
            (Direction::Reverse, false) => self.scanner.seek_before(&self.place.key),
        };
        match found {
            Ok(true) if is_reverse => self.walk_back(0),
            found => found,
        }
    }

    /// Moves to the first cell that is not before `key` in the direction: of the key's row, or of
    /// the next one. The current cell must be before `key`.
    pub(crate) fn reseek(&mut self, key: &[u8]) -> Result<bool> {
        if self.direction == Direction::Forward {
            return self.scanner.reseek(key);
        }
        let row = key::row(key);
        let is_in_row = |scanner: &S| is_in_row(scanner, row);
        let found = if is_in_row(&self.scanner) {
            self.scanner.reseek(key)?
        } else {
            self.scanner.seek(key)?
        };
        if found && is_in_row(&self.scanner) {
            self.place.row.clear();
            self.place.row.extend_from_slice(row);
            self.place.cells = None;
            return Ok(true);
        }
        self.enter_row_before(row)
    }

    /// Moves beyond `row`, which the current cell's row is not beyond yet.
    pub(crate) fn pass_row(&mut self, row: &[u8]) -> Result<bool> {
        if self.direction == Direction::Forward {
            write_row_edge(&mut self.place.key, row, false);
            return self.scanner.reseek(&self.place.key);
        }
        let is_place_known = self.place.cells.is_some() && is_in_row(&self.scanner, row);
        if is_place_known { self.leave_row() } else { self.enter_row_before(row) }
    }

    fn advance_reversed(&mut self) -> Result<bool> {
        match &mut self.place.cells {
            Some((_, 0)) => self.leave_row(),
            Some((before, behind)) => {
                *before += 1;
                *behind -= 1;
                self.scanner.next()
            }
            None => {
                if self.scanner.next()? && is_in_row(&self.scanner, &self.place.row) {
                    return Ok(true);
                }
                write_row_edge(&mut self.place.key, &self.place.row, true);
                self.enter_row_before_key()
            }
        }
    }

    /// From a counted place in a row to the start of the row before.
    fn leave_row(&mut self) -> Result<bool> {
        let before = self.place.cells.map_or(0, |(before, _)| before);
        self.walk_back(before + 1)
    }

    fn enter_row_before(&mut self, row: &[u8]) -> Result<bool> {
        write_row_edge(&mut self.place.key, row, true);
        self.enter_row_before_key()
    }

    fn enter_row_before_key(&mut self) -> Result<bool> {
        if self.scanner.seek_before(&self.place.key)? { self.walk_back(0) } else { Ok(false) }
    }

    /// Back by `cells` and to the start of the row that is reached.
    fn walk_back(&mut self, cells: usize) -> Result<bool> {
        match self.scanner.walk_back(cells, &mut self.place.row)? {
            WalkedBack::NoRow => Ok(false),
            WalkedBack::AtStart { behind } => {
                self.place.cells = Some((0, behind));
                Ok(true)
            }
            WalkedBack::Inside => {
                self.place.cells = None;
                write_row_edge(&mut self.place.key, &self.place.row, true);
                self.scanner.seek(&self.place.key)
            }
        }
    }

    /// Whether the current cell of `self` comes before that of `other`, which is an older source.
    /// Both must be at a cell.
    #[inline]
    pub(crate) fn is_before_older(&self, other: &Self) -> bool {
        let (Some(left), Some(right)) = (self.current_key(), other.current_key()) else {
            return self.current_key().is_some();
        };
        let rows = self.comparator.compare_rows(key::row(left), key::row(right));
        let order = self.direction.apply(rows).then_with(|| compare_without_row(left, right));
        order.then_with(|| self.compare_sequence_ids(other)).is_le()
    }

    /// The higher sequence id comes first.
    #[cold]
    fn compare_sequence_ids(&self, other: &Self) -> Ordering {
        let sequence_id = |cell: CellRef<'_>| cell.sequence_id();
        other.current().map(sequence_id).cmp(&self.current().map(sequence_id))
    }
}

/// Whether the scanner is at a cell of `row`.
#[inline]
fn is_in_row<S: KeyValueScanner>(scanner: &S, row: &[u8]) -> bool {
    scanner.current_key().is_some_and(|current| key::is_same_row(key::row(current), row))
}

/// Writes the key before (`is_lower`) or behind all cells of `row`.
pub(crate) fn write_row_edge(out: &mut Vec<u8>, row: &[u8], is_lower: bool) {
    out.clear();
    if is_lower {
        key::write(out, row, b"", b"", i64::MAX, CellType::MAXIMUM);
    } else {
        key::write(out, row, b"", b"", i64::MIN, CellType::MINIMUM);
    }
}
