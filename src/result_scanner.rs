//! Results of a scan, one row after the other.

use std::ops::ControlFlow;
use std::time::Duration;

use hblite_model::{CellRef, Result, RowResult, ScanMetrics, ScanStep};

use crate::backend::Rows;

/// The rows of a scan.
///
/// There are three ways to read it. [`ResultScanner::next_row`] lends a row until the next call and
/// reuses its memory. The iterator returns owned rows. [`ResultScanner::for_each_cell`], the
/// fastest, visits cells without copying them.
#[derive(Debug)]
pub struct ResultScanner {
    rows: Rows,
    row: RowResult,
    has_failed: bool,
}

impl ResultScanner {
    pub(crate) fn new(rows: Rows) -> Self {
        Self { rows, row: RowResult::default(), has_failed: false }
    }

    /// The next row, or `None` after the last one.
    ///
    /// # Errors
    /// As for [`crate::Table`]; the scan cannot continue after an error.
    pub fn next_row(&mut self) -> Result<Option<&RowResult>> {
        let has_row = self.rows.next_row(&mut self.row)?;
        Ok(has_row.then_some(&self.row))
    }

    /// What the scan has done so far. On a cluster, servers count rows only with
    /// [`Scan::with_metrics`](crate::Scan::with_metrics).
    ///
    /// ```
    /// use hblite::filter::parse_filter;
    /// use hblite::{ColumnFamilyDescriptor, Put, Scan, TableDescriptor};
    ///
    /// let connection = hblite::open_in_memory()?;
    /// let family = ColumnFamilyDescriptor::new("f");
    /// connection.admin().create_table(&TableDescriptor::new("t".parse()?).with_family(family))?;
    /// let table = connection.table("t")?;
    /// for row in ["a", "b", "c"] {
    ///     table.put(&Put::new(row).add("f", "q", "value"))?;
    /// }
    /// let filter = parse_filter(b"RowFilter(=, 'binary:b')")?;
    /// let mut scanner = table.scan(&Scan::new().with_filter(filter))?;
    /// while scanner.next_row()?.is_some() {}
    /// let metrics = scanner.metrics();
    /// assert_eq!((metrics.rows_scanned, metrics.rows_filtered), (3, 2));
    /// # Ok::<(), hblite::Error>(())
    /// ```
    pub fn metrics(&self) -> ScanMetrics {
        self.rows.metrics()
    }

    /// Like [`ResultScanner::next_row`], but searches for a row no longer than `limit` (by the
    /// store's clock, to the millisecond). This way a scan whose filter rejects many rows can
    /// report progress, be cancelled, or be continued later from its cursor.
    ///
    /// Each call advances by at least one row, as HBase's heartbeats do
    /// (`Scan.setNeedCursorResult`).
    ///
    /// ```
    /// use hblite::filter::{Comparator, CompareOperator, Filter};
    /// use hblite::{ColumnFamilyDescriptor, Put, Scan, ScanStep, TableDescriptor};
    /// use std::time::Duration;
    ///
    /// # fn main() -> hblite::Result<()> {
    /// let connection = hblite::open_in_memory()?;
    /// let family = ColumnFamilyDescriptor::new("f");
    /// let descriptor = TableDescriptor::new("t".parse()?).with_family(family);
    /// connection.admin().create_table(&descriptor)?;
    /// let table = connection.table("t")?;
    /// for row in ["a", "b", "c"] {
    ///     table.put(&Put::new(row).add("f", "q", row))?;
    /// }
    /// let rare = Filter::value(CompareOperator::Equal, Comparator::binary("c"));
    /// let mut scanner = table.scan(&Scan::new().with_filter(rare))?;
    /// let mut cursors = Vec::new();
    /// loop {
    ///     match scanner.next_row_within(Duration::ZERO)? {
    ///         ScanStep::Row(row) => assert_eq!(row.row(), b"c"),
    ///         ScanStep::Cursor(row) => cursors.push(row),
    ///         ScanStep::End => break,
    ///     }
    /// }
    /// assert_eq!(cursors, [b"b", b"c"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`ResultScanner::next_row`].
    pub fn next_row_within(&mut self, limit: Duration) -> Result<ScanStep<&RowResult>> {
        let step = self.rows.next_row_within(&mut self.row, limit)?;
        Ok(step.map_row(|()| &self.row))
    }

    /// Calls `visit` with every remaining cell, without copying it.
    ///
    /// Cells of one row follow one another; a new row begins where [`CellRef::row`] changes.
    ///
    /// # Errors
    /// As [`ResultScanner::next_row`].
    pub fn for_each_cell(&mut self, visit: impl FnMut(&CellRef<'_>)) -> Result<()> {
        self.rows.for_each_cell(visit)
    }

    /// Like [`ResultScanner::for_each_cell`], until `visit` breaks. The rest of the row in which it
    /// breaks is skipped; the scan can continue with the next row.
    ///
    /// ```
    /// # use hblite::{ColumnFamilyDescriptor, Put, Scan, TableDescriptor};
    /// # let connection = hblite::open_in_memory()?;
    /// # let family = ColumnFamilyDescriptor::new("f");
    /// # let descriptor = TableDescriptor::new("t".parse()?).with_family(family);
    /// # connection.admin().create_table(&descriptor)?;
    /// # let table = connection.table("t")?;
    /// use std::ops::ControlFlow;
    ///
    /// table.put(&Put::new("a").add("f", "q", "1"))?;
    /// table.put(&Put::new("b").add("f", "q", "wanted"))?;
    /// let found = table.scan(&Scan::new())?.try_for_each_cell(|cell| match cell.value() {
    ///     b"wanted" => ControlFlow::Break(cell.row().to_vec()),
    ///     _ => ControlFlow::Continue(()),
    /// })?;
    /// assert_eq!(found, ControlFlow::Break(b"b".to_vec()));
    /// # Ok::<(), hblite::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ResultScanner::next_row`].
    pub fn try_for_each_cell<B>(
        &mut self,
        visit: impl FnMut(&CellRef<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>> {
        self.rows.try_for_each_cell(visit)
    }
}

/// Owned rows. After an error the iteration ends.
impl Iterator for ResultScanner {
    type Item = Result<RowResult>;

    fn next(&mut self) -> Option<Result<RowResult>> {
        if self.has_failed {
            return None;
        }
        let mut row = RowResult::default();
        match self.rows.next_row(&mut row) {
            Ok(true) => Some(Ok(row)),
            Ok(false) => None,
            Err(error) => {
                self.has_failed = true;
                Some(Err(error))
            }
        }
    }
}
