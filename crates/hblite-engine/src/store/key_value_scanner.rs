//! The sources that a scan merges: segments of the memstore and store files.
//!
//! Order:      as stored: row, family, qualifier, newest timestamp, type, newest sequence id.
//! Visibility: a source shows only cells whose sequence id is covered by the read point.
//! Reverse:    [`DirectedScanner`] makes rows descend while the cells of a row keep their order.
//! Threads:    a source belongs to one scan.

mod directed;
mod select;
mod store_file_scanner;
#[cfg(test)]
pub(crate) mod vec_scanner;

pub(crate) use directed::{DirectedScanner, write_row_edge};
pub(crate) use select::select_sources;
pub(crate) use store_file_scanner::StoreFileScanner;

use hblite_model::Result;
use hblite_model::cell::{CellRef, key};

use crate::memstore::SegmentScanner;

/// A position among sorted cells (HBase's `KeyValueScanner`).
///
/// A fresh scanner is at no cell. Moves tell whether they led to a cell; off either end there is
/// none, and only seeks lead back. Keys are well-formed flat keys.
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

    /// Moves to the cell before.
    fn prev(&mut self) -> Result<bool>;

    /// Moves to the first cell with a key of `key` or greater.
    fn seek(&mut self, key: &[u8]) -> Result<bool>;

    /// As [`KeyValueScanner::seek`] for a key that is not before the current cell's: cheap when
    /// it is near.
    fn reseek(&mut self, key: &[u8]) -> Result<bool>;

    /// Moves to the last cell with a key less than `key`.
    fn seek_before(&mut self, key: &[u8]) -> Result<bool>;

    /// Moves to the first cell.
    fn seek_first(&mut self) -> Result<bool>;

    /// Moves to the last cell.
    fn seek_last(&mut self) -> Result<bool>;

    /// Moves back by `cells` and further to the first cell of the row that is reached.
    ///
    /// At most [`WALK_CELLS_MAX`] cells of that row are walked over; if it has more, the scanner
    /// stays inside it and a copy of the row is in `row`.
    fn walk_back(&mut self, cells: usize, row: &mut Vec<u8>) -> Result<WalkedBack> {
        walk_back_by_steps(self, cells, row)
    }
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
    for behind in 0..WALK_CELLS_MAX {
        let is_at_first_row = !scanner.prev()?;
        if is_at_first_row {
            scanner.seek_first()?;
            return Ok(WalkedBack::AtStart { behind });
        }
        if scanner.current_key().is_none_or(|key| !key::is_same_row(key::row(key), row)) {
            scanner.next()?;
            return Ok(WalkedBack::AtStart { behind });
        }
    }
    Ok(WalkedBack::Inside)
}

/// Cells that are walked back before a seek is cheaper.
const WALK_CELLS_MAX: usize = 32;

/// Where [`KeyValueScanner::walk_back`] led.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkedBack {
    /// There is no row before.
    NoRow,
    /// To the first cell of a row, behind which it has so many.
    AtStart {
        /// Cells of the row behind the first.
        behind: usize,
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
        // Looks first at the cells around.
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
        dispatch!(self, scanner => KeyValueScanner::reseek(scanner, key))
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
        dispatch!(self, scanner => KeyValueScanner::walk_back(scanner, cells, row))
    }
}
