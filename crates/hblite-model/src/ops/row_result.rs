//! The cells of one row.

use super::value::{self, FromValue};
use crate::cell::{CellBuffer, CellBufferIter, CellRef, SharedCells};
use crate::error::Result;

/// The result of reading one row: HBase's `Result`, a name that Rust already uses.
///
/// Cells come in stored order: family, qualifier, newest first.
///
/// Rows that a scan or a batch receives from a cluster share the memory of their answer; that of a
/// scan has 2 MiB unless the scan says otherwise. It is released with the last of them. Programs
/// that keep few of many rows keep their [copies](RowResult::detached).
#[derive(Debug, Clone, Default)]
pub struct RowResult {
    cells: Cells,
    may_have_more_cells: bool,
    is_stale: bool,
}

#[derive(Debug, Clone)]
enum Cells {
    Owned(CellBuffer),
    Shared(SharedCells),
}

impl Default for Cells {
    fn default() -> Self {
        Self::Owned(CellBuffer::new())
    }
}

impl RowResult {
    /// A result from these cells, which must belong to one row and be in order.
    pub fn new(cells: CellBuffer) -> Self {
        Self { cells: Cells::Owned(cells), may_have_more_cells: false, is_stale: false }
    }

    /// A result whose cells, of one row and in order, stay in the memory of an answer.
    pub fn sharing(cells: SharedCells) -> Self {
        Self { cells: Cells::Shared(cells), may_have_more_cells: false, is_stale: false }
    }

    /// The same result in memory of its own.
    #[must_use]
    pub fn detached(self) -> Self {
        let (may_have_more_cells, is_stale) = (self.may_have_more_cells, self.is_stale);
        Self { cells: Cells::Owned(self.into_cells()), may_have_more_cells, is_stale }
    }

    /// Sets whether this is a partial result, whose row may continue in the next one.
    #[must_use]
    pub fn with_more_cells(self, may_have_more_cells: bool) -> Self {
        Self { may_have_more_cells, ..self }
    }

    /// Sets whether a replica answered.
    #[must_use]
    pub fn with_stale(self, is_stale: bool) -> Self {
        Self { is_stale, ..self }
    }

    /// Whether the row has no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.cells().len()
    }

    /// The size of the cells, in bytes.
    pub fn size_bytes(&self) -> usize {
        match &self.cells {
            Cells::Owned(cells) => cells.size_bytes(),
            Cells::Shared(cells) => cells.size_bytes(),
        }
    }

    /// Whether the row may continue in the next result (`mayHaveMoreCellsInRow`).
    pub fn may_have_more_cells(&self) -> bool {
        self.may_have_more_cells
    }

    /// Whether a replica that may lag behind its region answered; see
    /// [`Consistency::Timeline`](crate::Consistency::Timeline).
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// The row; empty if there are no cells.
    pub fn row(&self) -> &[u8] {
        self.cells().next().map_or(&[], |cell| cell.row())
    }

    /// The cells in order.
    pub fn cells(&self) -> CellBufferIter<'_> {
        match &self.cells {
            Cells::Owned(cells) => cells.iter(),
            Cells::Shared(cells) => cells.iter(),
        }
    }

    /// The newest cell of a column.
    pub fn cell(
        &self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
    ) -> Option<CellRef<'_>> {
        let (family, qualifier) = (family.as_ref(), qualifier.as_ref());
        self.cells().find(|cell| cell.family() == family && cell.qualifier() == qualifier)
    }

    /// The newest value of a column.
    pub fn value(&self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Option<&[u8]> {
        self.cell(family, qualifier).map(|cell| cell.value())
    }

    /// The newest value of a column as a number or text; `None` if the row has no such column.
    ///
    /// ```
    /// # use hblite_model as hblite;
    /// # let mut cells = hblite::CellBuffer::new();
    /// # cells.push_parts(b"u1", b"info", b"visits", 1, 4, &7_i64.to_be_bytes());
    /// # let row = hblite::RowResult::new(cells);
    /// assert_eq!(row.value_as::<i64>("info", "visits")?, Some(7));
    /// # Ok::<(), hblite::Error>(())
    /// ```
    ///
    /// # Errors
    /// `IllegalArgument` if the value is not of this type; it names the column.
    pub fn value_as<T: FromValue>(
        &self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
    ) -> Result<Option<T>> {
        self.cell(family, qualifier).map(|cell| value::typed(&cell)).transpose()
    }

    /// The newest value of a column as text; `None` if the row has no such column.
    ///
    /// ```
    /// # use hblite_model as hblite;
    /// # let mut cells = hblite::CellBuffer::new();
    /// # cells.push_parts(b"u1", b"info", b"name", 1, 4, b"Ada");
    /// # let row = hblite::RowResult::new(cells);
    /// assert_eq!(row.text("info", "name")?, Some("Ada"));
    /// # Ok::<(), hblite::Error>(())
    /// ```
    ///
    /// # Errors
    /// `IllegalArgument` if the value is not UTF-8; it names the column.
    pub fn text(
        &self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
    ) -> Result<Option<&str>> {
        let Some(cell) = self.cell(family, qualifier) else { return Ok(None) };
        let text = std::str::from_utf8(cell.value());
        text.map(Some).map_err(|_| value::unreadable(&cell, String::NAME))
    }

    /// The cells, by value.
    pub fn into_cells(self) -> CellBuffer {
        match self.cells {
            Cells::Owned(cells) => cells,
            Cells::Shared(cells) => cells.to_buffer(),
        }
    }

    /// Empties the result and returns the buffer for its next cells, which keeps its memory. They
    /// must belong to one row and be in order.
    ///
    /// A scan refills one result in place: moving it out and back cost 7 ns a row.
    #[inline]
    pub fn refill(&mut self) -> &mut CellBuffer {
        self.may_have_more_cells = false;
        self.is_stale = false;
        if let Cells::Shared(_) = self.cells {
            self.cells = Cells::default();
        }
        match &mut self.cells {
            Cells::Owned(cells) => {
                cells.clear();
                cells
            }
            Cells::Shared(_) => unreachable!("it was replaced"),
        }
    }

    /// Like [`RowResult::with_more_cells`], in place.
    #[inline]
    pub fn set_more_cells(&mut self, may_have_more_cells: bool) {
        self.may_have_more_cells = may_have_more_cells;
    }
}

impl PartialEq for RowResult {
    fn eq(&self, other: &Self) -> bool {
        let flags = |result: &Self| (result.may_have_more_cells, result.is_stale);
        flags(self) == flags(other) && self.cells().eq(other.cells())
    }
}

impl Eq for RowResult {}

impl<'a> IntoIterator for &'a RowResult {
    type Item = CellRef<'a>;
    type IntoIter = CellBufferIter<'a>;

    fn into_iter(self) -> CellBufferIter<'a> {
        self.cells()
    }
}
