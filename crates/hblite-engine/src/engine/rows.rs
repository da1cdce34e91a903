//! What is known of single rows: which are requested, and which are large.

use hblite_model::{LARGE_MAX, LargeItem, RowCounts};

use super::Engine;

impl Engine {
    /// Which rows were requested since an earlier call, whose `until` is `after`; with
    /// [`u64::MAX`], nothing yet. Rows are counted from the first call on.
    pub fn row_counts(&self, after: u64) -> RowCounts {
        let regions = self.catalog.all_regions();
        let regions = regions.iter().map(|region| (region.info(), region.row_counts()));
        let mut counts = self.context.row_counting.after(after, regions);
        counts.large = self.large();
        counts
    }

    /// Large cells and rows, the largest first.
    pub fn large(&self) -> Vec<LargeItem> {
        let regions = self.catalog.all_regions();
        let mut large: Vec<LargeItem> = regions.iter().flat_map(|region| region.large()).collect();
        large.sort_by_key(|item| std::cmp::Reverse(item.bytes));
        large.truncate(LARGE_MAX);
        large
    }
}
