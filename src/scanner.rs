//! Results of a scan, one row after the other.

use hblite_engine::TableScanner;
use hblite_model::{CellRef, Result, RowResult};

/// The rows of a scan.
///
/// Two ways to read it: [`ResultScanner::next_row`] lends a row until the next call and reuses
/// its memory; the iterator gives rows to keep. For the last bit of speed
/// [`ResultScanner::for_each_cell`] shows cells where they lie in the files.
#[derive(Debug)]
pub struct ResultScanner {
    scanner: TableScanner,
    row: RowResult,
    has_failed: bool,
}

impl ResultScanner {
    pub(crate) fn new(scanner: TableScanner) -> Self {
        Self { scanner, row: RowResult::default(), has_failed: false }
    }

    /// The next row, or `None` after the last one.
    ///
    /// # Errors
    /// As [`crate::Table`]; the scan cannot go on after an error.
    pub fn next_row(&mut self) -> Result<Option<&RowResult>> {
        let has_row = self.scanner.next_row(&mut self.row)?;
        Ok(has_row.then_some(&self.row))
    }

    /// Calls `visit` with every cell that is left, without copying it.
    ///
    /// Cells of one row follow one another; a new row begins where [`CellRef::row`] changes.
    ///
    /// # Errors
    /// As [`ResultScanner::next_row`].
    pub fn for_each_cell(&mut self, visit: impl FnMut(&CellRef<'_>)) -> Result<()> {
        self.scanner.for_each_cell(visit)
    }
}

/// Rows to keep. After an error the iteration ends.
impl Iterator for ResultScanner {
    type Item = Result<RowResult>;

    fn next(&mut self) -> Option<Result<RowResult>> {
        if self.has_failed {
            return None;
        }
        let mut row = RowResult::default();
        match self.scanner.next_row(&mut row) {
            Ok(true) => Some(Ok(row)),
            Ok(false) => None,
            Err(error) => {
                self.has_failed = true;
                Some(Err(error))
            }
        }
    }
}
