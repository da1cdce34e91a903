//! The sources that a scan merges: segments of the memstore and store files.
//!
//! Order:      as stored: row, family, qualifier, newest timestamp, type, newest sequence id.
//! Visibility: a source shows only cells whose sequence id is covered by the read point.
//! Threads:    a source belongs to one scan.
//!
//! [`DirectedScanner`] gives a source a direction. In reverse, rows descend and the cells of a row
//! keep their order:
//!
//! ```text
//! stored     a1 a2 a3 | b1 | c1 c2
//! reverse    c1 c2 | b1 | a1 a2 a3
//!                     ◀── from the last cell of a row the walk goes back to its first
//! ```
//!
//! The walk back counts the cells of the row, so that moving through the row and leaving it needs
//! no further comparison. Rows that are too wide to be walked back are entered by a seek.

mod mob_values;
mod run_scanner;
mod select;
mod store_file_scanner;
#[cfg(test)]
pub(crate) mod vec_scanner;

use run_scanner::RunScanner;
pub(crate) use select::{Needs, Timestamps, is_get, select_sources};
pub(crate) use store_file_scanner::StoreFileScanner;

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use hblite_hfile::{BlockCells, BlockUse};
use hblite_model::cell::{CellComparator, CellRef, CellType, compare_without_row, key};
use hblite_model::{Direction, Result};

use super::file_list::FileList;
use crate::memstore::SegmentScanner;

/// A position among sorted cells (HBase's `KeyValueScanner`).
///
/// A fresh scanner is at no cell. Moves return whether they reached a cell. Off either end there is
/// none, and only seeks move back to one. Keys are well-formed flat keys.
pub(crate) trait KeyValueScanner {
    /// The cell at the scanner.
    fn current(&self) -> Option<CellRef<'_>>;

    /// The key of the cell at the scanner.
    #[inline(always)]
    fn current_key(&self) -> Option<&[u8]> {
        self.current().map(|cell| cell.key())
    }

    /// Moves to the next cell.
    fn next(&mut self) -> Result<bool>;

    /// Moves to the previous cell.
    fn prev(&mut self) -> Result<bool>;

    /// Moves to the first cell with a key of `key` or greater.
    fn seek(&mut self, key: &[u8]) -> Result<bool>;

    /// Like [`KeyValueScanner::seek`], for a key that is not before the current cell's; cheap if it
    /// is near.
    fn reseek(&mut self, key: &[u8]) -> Result<bool>;

    /// Moves to the last cell with a key less than `key`.
    fn seek_before(&mut self, key: &[u8]) -> Result<bool>;

    /// Moves to the first cell.
    fn seek_first(&mut self) -> Result<bool>;

    /// Moves to the last cell.
    fn seek_last(&mut self) -> Result<bool>;

    /// Moves back by `cells`, and then to the first cell of the row reached.
    ///
    /// At most [`WALK_CELLS_MAX`] cells of that row are traversed; if it has more, the scanner
    /// stays inside it and a copy of the row is in `row`.
    fn walk_back(&mut self, cells: usize, row: &mut Vec<u8>) -> Result<WalkedBack> {
        walk_back_by_steps(self, cells, row)
    }

    /// The block that the scanner is in, and its place there, if the cells of the block are those
    /// of the source: all of them are visible, as they are.
    #[inline]
    fn block(&self) -> Option<(BlockCells<'_>, usize)> {
        None
    }

    /// Moves to another cell of the block, after `cells_read` cells of it were read.
    fn move_in_block(&mut self, _cell: usize, _cells_read: u64) {}
}

/// [`KeyValueScanner::walk_back`] cell by cell.
fn walk_back_by_steps<S: KeyValueScanner + ?Sized>(
    scanner: &mut S,
    cells: usize,
    row: &mut Vec<u8>,
) -> Result<WalkedBack> {
    for _ in 0..cells {
        if !scanner.prev()? {
            return Ok(WalkedBack::NoRow);
        }
    }
    let Some(last) = scanner.current_key() else {
        return Ok(WalkedBack::NoRow);
    };
    row.clear();
    row.extend_from_slice(key::row(last));
    for after in 0..WALK_CELLS_MAX {
        let is_at_first_row = !scanner.prev()?;
        if is_at_first_row {
            scanner.seek_first()?;
            return Ok(WalkedBack::AtStart { after });
        }
        if scanner.current_key().is_none_or(|key| !key::is_same_row(key::row(key), row)) {
            scanner.next()?;
            return Ok(WalkedBack::AtStart { after });
        }
    }
    Ok(WalkedBack::Inside)
}

/// Number of cells to walk back before a seek is cheaper.
pub(crate) const WALK_CELLS_MAX: usize = 32;

/// Where [`KeyValueScanner::walk_back`] led.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkedBack {
    /// There is no previous row.
    NoRow,
    /// To the first cell of a row, which has this many more.
    AtStart {
        /// Cells of the row after the first.
        after: usize,
    },
    /// Into a row with too many cells.
    Inside,
}

/// A source of a store's scan, dispatched without a virtual call.
pub(crate) enum SourceScanner {
    /// Cells in memory.
    Memory(SegmentScanner),
    /// Cells in a store file.
    File(StoreFileScanner),
    /// Cells in a sorted run of store files.
    Run(Box<RunScanner>),
    #[cfg(test)]
    Vec(vec_scanner::VecScanner),
}

impl KeyValueScanner for SegmentScanner {
    #[inline]
    fn current(&self) -> Option<CellRef<'_>> {
        Self::current(self)
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        Self::next(self)
    }

    #[inline]
    fn prev(&mut self) -> Result<bool> {
        Self::prev(self)
    }

    fn seek(&mut self, key: &[u8]) -> Result<bool> {
        Self::seek(self, key)
    }

    fn reseek(&mut self, key: &[u8]) -> Result<bool> {
        // Tries the neighboring cells first.
        Self::seek(self, key)
    }

    fn seek_before(&mut self, key: &[u8]) -> Result<bool> {
        Self::seek_before(self, key)
    }

    fn seek_first(&mut self) -> Result<bool> {
        Self::seek_first(self)
    }

    fn seek_last(&mut self) -> Result<bool> {
        Self::seek_last(self)
    }
}

macro_rules! dispatch {
    ($self:expr, $scanner:ident => $call:expr) => {
        match $self {
            SourceScanner::Memory($scanner) => $call,
            SourceScanner::File($scanner) => $call,
            SourceScanner::Run($scanner) => $call,
            #[cfg(test)]
            SourceScanner::Vec($scanner) => $call,
        }
    };
}

impl From<SegmentScanner> for SourceScanner {
    fn from(scanner: SegmentScanner) -> Self {
        Self::Memory(scanner)
    }
}

impl From<StoreFileScanner> for SourceScanner {
    fn from(scanner: StoreFileScanner) -> Self {
        Self::File(scanner)
    }
}

impl SourceScanner {
    /// Those cells of files of a sorted run that `read_point` covers; `places` are the files' in
    /// [`FileList::by_row`], at least one. Of several files, those without any of the `timestamps`
    /// are left out.
    pub(crate) fn of_run(
        list: &Arc<FileList>,
        places: Range<usize>,
        read_point: u64,
        block_use: BlockUse,
        timestamps: Option<Timestamps>,
    ) -> Self {
        if let [file] = &list.by_row()[places.clone()] {
            return Self::File(file.scanner(read_point).with_block_use(block_use));
        }
        let run = RunScanner::new(Arc::clone(list), places, read_point, block_use, timestamps);
        Self::Run(Box::new(run))
    }
}

impl KeyValueScanner for SourceScanner {
    #[inline(always)]
    fn current(&self) -> Option<CellRef<'_>> {
        dispatch!(self, scanner => scanner.current())
    }

    #[inline(always)]
    fn current_key(&self) -> Option<&[u8]> {
        dispatch!(self, scanner => scanner.current_key())
    }

    #[inline]
    fn next(&mut self) -> Result<bool> {
        dispatch!(self, scanner => scanner.next())
    }

    #[inline]
    fn prev(&mut self) -> Result<bool> {
        dispatch!(self, scanner => scanner.prev())
    }

    fn seek(&mut self, key: &[u8]) -> Result<bool> {
        dispatch!(self, scanner => scanner.seek(key))
    }

    fn reseek(&mut self, key: &[u8]) -> Result<bool> {
        dispatch!(self, scanner => scanner.reseek(key))
    }

    fn seek_before(&mut self, key: &[u8]) -> Result<bool> {
        dispatch!(self, scanner => scanner.seek_before(key))
    }

    fn seek_first(&mut self) -> Result<bool> {
        dispatch!(self, scanner => scanner.seek_first())
    }

    fn seek_last(&mut self) -> Result<bool> {
        dispatch!(self, scanner => scanner.seek_last())
    }

    fn walk_back(&mut self, cells: usize, row: &mut Vec<u8>) -> Result<WalkedBack> {
        dispatch!(self, scanner => scanner.walk_back(cells, row))
    }

    #[inline]
    fn block(&self) -> Option<(BlockCells<'_>, usize)> {
        dispatch!(self, scanner => scanner.block())
    }

    fn move_in_block(&mut self, cell: usize, cells_read: u64) {
        dispatch!(self, scanner => scanner.move_in_block(cell, cells_read));
    }
}

/// A position in a block of a file.
#[derive(Clone, Copy)]
pub(crate) struct BlockPlace<'a> {
    /// The cells of the block.
    pub(crate) cells: BlockCells<'a>,
    /// The place of the current cell.
    pub(crate) at: usize,
    /// In reverse: cells of the row before and after the current one.
    pub(crate) row: (usize, usize),
}

/// A [`KeyValueScanner`] with a direction.
pub(crate) struct DirectedScanner<S> {
    scanner: S,
    direction: Direction,
    comparator: CellComparator,
    place: RowPlace,
}

/// The position in a row of a reverse scan.
#[derive(Default)]
struct RowPlace {
    row: Vec<u8>,
    /// Cells of the row before and after the current one; `None` if they were not counted.
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

    /// Moves to where a scan that starts at `row` begins. An empty row means the first end in the
    /// direction.
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

    /// The block that the scanner is in, and its place in a row there, if the cells of the block
    /// are those of the source. In reverse, only if the place in the row is known.
    #[inline]
    pub(crate) fn block(&self) -> Option<BlockPlace<'_>> {
        let (cells, at) = self.scanner.block()?;
        let row = match self.direction {
            Direction::Forward => (0, 0),
            Direction::Reverse => self.place.cells?,
        };
        Some(BlockPlace { cells, at, row })
    }

    /// Moves to another cell of the block, after `cells_read` cells of it were read. In reverse,
    /// `row` counts the cells of its row before and after it.
    pub(crate) fn move_in_block(&mut self, at: usize, row: (usize, usize), cells_read: u64) {
        self.scanner.move_in_block(at, cells_read);
        if self.direction.is_reverse() {
            self.place.cells = Some(row);
        }
    }

    fn advance_reversed(&mut self) -> Result<bool> {
        match &mut self.place.cells {
            Some((_, 0)) => self.leave_row(),
            Some((before, after)) => {
                *before += 1;
                *after -= 1;
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

    /// Moves from a counted position in a row to the start of the previous row.
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

    /// Moves back by `cells`, and to the start of the row reached.
    fn walk_back(&mut self, cells: usize) -> Result<bool> {
        match self.scanner.walk_back(cells, &mut self.place.row)? {
            WalkedBack::NoRow => Ok(false),
            WalkedBack::AtStart { after } => {
                self.place.cells = Some((0, after));
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

/// Writes the key before (`is_lower`) or after all cells of `row`.
pub(crate) fn write_row_edge(out: &mut Vec<u8>, row: &[u8], is_lower: bool) {
    out.clear();
    if is_lower {
        key::write(out, row, b"", b"", i64::MAX, CellType::MAXIMUM);
    } else {
        key::write(out, row, b"", b"", i64::MIN, CellType::MINIMUM);
    }
}
