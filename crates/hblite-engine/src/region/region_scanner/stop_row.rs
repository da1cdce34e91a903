//! Where a region's scan ends.

use hblite_model::{CellComparator, Direction, Scan};

/// Where a scan ends.
pub(super) struct StopRow {
    row: Vec<u8>,
    is_inclusive: bool,
    comparator: CellComparator,
    direction: Direction,
}

impl StopRow {
    pub(super) fn new(scan: &Scan, comparator: CellComparator) -> Self {
        let (row, direction) = (scan.stop_row().to_vec(), scan.direction());
        Self { row, is_inclusive: scan.is_stop_inclusive(), comparator, direction }
    }

    /// Whether the scan goes to the end of the region.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.row.is_empty()
    }

    #[inline]
    pub(super) fn is_beyond(&self, row: &[u8]) -> bool {
        if self.is_open() {
            return false;
        }
        let order = self.direction.apply(self.comparator.compare_rows(row, &self.row));
        order.is_gt() || (order.is_eq() && !self.is_inclusive)
    }
}
