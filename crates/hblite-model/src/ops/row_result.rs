//! The cells of one row.

use super::value::{self, FromValue};
use crate::cell::{CellBuffer, CellBufferIter, CellRef};
use crate::error::Result;

/// The result of reading one row: HBase's `Result`, a name that Rust already uses.
///
/// Cells come in stored order: family, qualifier, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowResult {
    cells: CellBuffer,
    may_have_more_cells: bool,
    is_stale: bool,
}

impl RowResult {
    /// A result from these cells, which must belong to one row and be in order.
    pub fn new(cells: CellBuffer) -> Self {
        Self { cells, may_have_more_cells: false, is_stale: false }
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
        self.cells.is_empty()
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// The size of the cells, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.cells.size_bytes()
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
        self.cells.get(0).map_or(&[], |cell| cell.row())
    }

    /// The cells in order.
    pub fn cells(&self) -> CellBufferIter<'_> {
        self.cells.iter()
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
        self.cells
    }

    /// Empties the result and returns the buffer for its next cells, which keeps its memory. They
    /// must belong to one row and be in order.
    ///
    /// A scan refills one result in place: moving it out and back cost 7 ns a row.
    #[inline]
    pub fn refill(&mut self) -> &mut CellBuffer {
        self.cells.clear();
        self.may_have_more_cells = false;
        self.is_stale = false;
        &mut self.cells
    }

    /// Like [`RowResult::with_more_cells`], in place.
    #[inline]
    pub fn set_more_cells(&mut self, may_have_more_cells: bool) {
        self.may_have_more_cells = may_have_more_cells;
    }
}

impl<'a> IntoIterator for &'a RowResult {
    type Item = CellRef<'a>;
    type IntoIter = CellBufferIter<'a>;

    fn into_iter(self) -> CellBufferIter<'a> {
        self.cells()
    }
}
