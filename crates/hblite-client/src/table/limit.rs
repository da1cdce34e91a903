//! The row limit of a scan, counted as HBase's client counts it.
//!
//! A server ends a scan that has as many rows as were requested. The client subtracts the rows of
//! each fetch before the next one. A row in batches may count twice: when its last batch is full,
//! and again when another row or an empty fetch follows. A client that has counted more rows than
//! requested no longer has a limit. Limit 0 is not sent, and ends the scan after the first fetch.
//!
//! Source: `ClientScanner.loadCache` and `BatchScanResultCache` of HBase 2.6.

use hblite_model::{RowResult, Scan};

/// Counts the rows of a scan.
#[derive(Debug)]
pub(super) struct RowLimit {
    /// Rows still needed; below 0 all of them. `None` without a limit.
    left: Option<i64>,
    /// Cells of a full result, if results are batches.
    batch: Option<usize>,
    /// Rows of the current fetch.
    rows: i64,
    /// The row of the last result that may have more cells; only for full batches.
    open_row: Option<Vec<u8>>,
}

impl RowLimit {
    pub(super) fn new(scan: &Scan) -> Self {
        let batch = scan.batch().map(|cells| cells as usize);
        Self { left: scan.limit().map(i64::from), batch, rows: 0, open_row: None }
    }

    /// The rows to request; `None` for all.
    pub(super) fn of_request(&self) -> Option<u32> {
        self.left.and_then(|left| u32::try_from(left).ok()).filter(|left| *left > 0)
    }

    /// Counts a result.
    pub(super) fn count(&mut self, result: &RowResult) {
        let has_more = result.may_have_more_cells();
        let is_next_row = self.open_row.as_deref().is_some_and(|row| row != result.row());
        self.rows += i64::from(is_next_row) + i64::from(!has_more);
        if self.batch.is_none_or(|cells| result.len() >= cells) {
            self.open_row = has_more.then(|| result.row().to_vec());
        }
    }

    /// Ends a fetch. Returns whether it was the last one.
    pub(super) fn end_fetch(&mut self, is_empty: bool) -> bool {
        if is_empty && self.open_row.is_some() && self.batch.is_some() {
            self.rows += 1;
        }
        let rows = std::mem::take(&mut self.rows);
        let Some(left) = &mut self.left else { return false };
        if *left > 0 {
            *left -= rows;
        }
        *left == 0
    }
}

#[cfg(test)]
mod tests {
    use hblite_model::CellBuffer;

    use super::*;

    fn result(row: &str, cells: usize, has_more: bool) -> RowResult {
        let mut buffer = CellBuffer::new();
        for number in 0..cells {
            buffer.push_parts(row.as_bytes(), b"f", &[number as u8], 1, 4, b"v");
        }
        RowResult::new(buffer).with_more_cells(has_more)
    }

    #[test]
    fn a_scan_ends_with_its_last_row() {
        let mut limit = RowLimit::new(&Scan::new().with_limit(2));
        limit.count(&result("a", 3, false));
        assert!(!limit.end_fetch(false));
        assert_eq!(limit.of_request(), Some(1));
        limit.count(&result("b", 3, false));
        assert!(limit.end_fetch(false));
        assert!(RowLimit::new(&Scan::new().with_limit(0)).end_fetch(true));
    }

    #[test]
    fn a_full_batch_may_count_twice() {
        let mut limit = RowLimit::new(&Scan::new().with_limit(2).with_batch(2));
        limit.count(&result("a", 2, true));
        limit.count(&result("a", 1, false));
        limit.count(&result("b", 2, false));
        assert!(limit.end_fetch(false) || limit.of_request().is_none(), "no further row is wanted");
    }
}
