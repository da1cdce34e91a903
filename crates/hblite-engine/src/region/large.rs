//! Large cells and rows of a region, by what its store files say of themselves.

use std::collections::BTreeMap;

use hblite_model::cell::key;
use hblite_model::{LARGE_CELL_BYTES, LARGE_ROW_BYTES, LargeItem, ROW_MAX};

use super::Region;

impl Region {
    /// The largest cell of each file, and the largest row, if they are large. A row has the sum of
    /// the files whose largest row it is.
    pub(crate) fn large(&self) -> Vec<LargeItem> {
        let mut large = Vec::new();
        let mut rows: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let item = |row: &[u8], column, bytes| LargeItem {
            table: self.info().table().clone(),
            region: self.info().encoded_name().to_owned(),
            row: row[..row.len().min(ROW_MAX)].to_vec(),
            column,
            bytes,
        };
        for store in self.stores() {
            for file in store.files().iter() {
                // In a half of a file, either may be in the other half.
                let own = |row: &[u8]| self.info().contains_row(row);
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
}
