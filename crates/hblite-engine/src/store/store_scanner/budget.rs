//! How far one step of a scan may go: how much it may return, and how much it may examine.
//!
//! Work is counted in cells, not in time: a limit of work stops a scan at the same cell each time.

use hblite_model::CellRef;

/// The work counted for a cell that a filter evaluates.
pub(crate) const JUDGED_CELL_WORK: u64 = 4;

/// How much of a row may still be returned at once (HBase's `ScannerContext`), and how much may be
/// read before the scan must pause.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowBudget {
    cells_left: usize,
    bytes_left: u64,
    /// In cells; see [`RowBudget::work_on`] for those that a filter evaluates.
    work_left: u64,
    /// The work ran out within the row.
    is_paused: bool,
}

impl RowBudget {
    /// No limit.
    pub(crate) const UNLIMITED: Self = Self {
        cells_left: usize::MAX,
        bytes_left: u64::MAX,
        work_left: u64::MAX,
        is_paused: false,
    };

    /// `None` means no limit.
    pub(crate) fn new(cells: Option<usize>, bytes: Option<u64>) -> Self {
        let cells_left = cells.unwrap_or(usize::MAX);
        Self { cells_left, bytes_left: bytes.unwrap_or(u64::MAX), ..Self::UNLIMITED }
    }

    /// No limit except the remaining work.
    pub(crate) fn only_work(&self) -> Self {
        Self { work_left: self.work_left, ..Self::UNLIMITED }
    }

    /// Reading pauses after this much work.
    pub(crate) fn allow_work(&mut self, work: u64) {
        self.work_left = work;
    }

    /// The remaining work before reading pauses.
    pub(crate) fn work_left(&self) -> u64 {
        self.work_left
    }

    /// Whether reading has paused within the row.
    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// The budget of a row that is continued, with the remaining work of `other`.
    pub(crate) fn resumed(self, other: &Self) -> Self {
        Self { work_left: other.work_left, is_paused: false, ..self }
    }

    /// Counts a cell of which only the key is examined.
    #[inline]
    pub(super) fn work_on_key(&mut self) {
        self.work_left = self.work_left.saturating_sub(1);
    }

    /// The same for this many cells.
    #[inline]
    pub(super) fn work_on_keys(&mut self, cells: usize) {
        self.work_left = self.work_left.saturating_sub(cells as u64);
    }

    /// Counts a cell. A cell that a filter evaluates takes longer: it counts as four, plus one per
    /// KiB of its value.
    #[inline]
    pub(crate) fn work_on(&mut self, cell: &CellRef<'_>, is_judged: bool) {
        let work = if is_judged { JUDGED_CELL_WORK + (cell.value().len() as u64 >> 10) } else { 1 };
        self.work_left = self.work_left.saturating_sub(work);
    }

    /// Whether reading must pause; records if so.
    #[inline]
    pub(super) fn pauses(&mut self) -> bool {
        self.is_paused |= self.work_left == 0;
        self.is_paused
    }

    /// Whether only a number of cells cuts rows.
    #[inline]
    pub(crate) fn is_batch(&self) -> bool {
        self.cells_left != usize::MAX && self.bytes_left == u64::MAX
    }

    /// Sets the limit of bytes; `None` means no limit.
    pub(crate) fn limit_bytes(&mut self, bytes: Option<u64>) {
        self.bytes_left = bytes.unwrap_or(u64::MAX);
    }

    /// Leaves only the limit of cells.
    pub(crate) fn forget_bytes(&mut self) {
        self.bytes_left = u64::MAX;
    }

    #[inline]
    pub(super) fn take(&mut self, cell: &CellRef<'_>) {
        self.cells_left = self.cells_left.saturating_sub(1);
        self.bytes_left = self.bytes_left.saturating_sub(cell.heap_size() as u64);
    }

    /// Whether no row can be cut.
    #[inline]
    pub(crate) fn is_unlimited(&self) -> bool {
        self.cells_left == usize::MAX && self.bytes_left == u64::MAX
    }

    /// Whether the row must be cut here.
    #[inline]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.cells_left == 0 || self.bytes_left == 0
    }
}
