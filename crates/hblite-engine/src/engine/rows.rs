//! What is known of single rows: which are requested, and which are large.

use std::collections::BTreeMap;

use hblite_model::cell::key;
use hblite_model::{LARGE_CELL_BYTES, LARGE_MAX, LARGE_ROW_BYTES, LargeItem, ROW_MAX, RowCounts};

use super::Engine;
use crate::region::Region;

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
        let mut large: Vec<LargeItem> =
            regions.iter().flat_map(|region| large_in(region)).collect();
        large.sort_by_key(|item| std::cmp::Reverse(item.bytes));
        large.truncate(LARGE_MAX);
        large
    }
}

/// The largest cell of each file, and the largest row, if they are large. A row has the sum of the
/// files whose largest row it is.
fn large_in(region: &Region) -> Vec<LargeItem> {
    let mut large = Vec::new();
    let mut rows: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    let item = |row: &[u8], column, bytes| LargeItem {
        table: region.info().table().clone(),
        region: region.info().encoded_name().to_owned(),
        row: row[..row.len().min(ROW_MAX)].to_vec(),
        column,
        bytes,
    };
    for store in region.stores() {
        for file in store.files().iter() {
            // In a half of a file, either may be in the other half.
            let own = |row: &[u8]| region.info().contains_row(row);
            let cell = file.largest_cell().filter(|(_, bytes)| *bytes >= LARGE_CELL_BYTES);
            if let Some((cell, bytes)) = cell.filter(|(cell, _)| own(key::row(cell))) {
                let column = (key::family(cell).to_vec(), key::qualifier(cell).to_vec());
                large.push(item(key::row(cell), Some(column), bytes));
            }
            if let Some((row, bytes)) = file.largest_row().filter(|(row, _)| own(row)) {
                *rows.entry(row.to_vec()).or_default() += bytes;
            }
        }
    }
    let rows = rows.into_iter().filter(|(_, bytes)| *bytes >= LARGE_ROW_BYTES);
    large.extend(rows.map(|(row, bytes)| item(&row, None, bytes)));
    large
}
