//! Which entries a store may drop when it rewrites all of them: delete markers and what they hide.

use super::{column_of, is_marker};

/// Decides for the entries of a store, which come in the order of their keys.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    /// The column of the last marker; empty before the first.
    deleted: Vec<u8>,
}

impl Sweep {
    /// Whether the next entry may be dropped. What is not a cell is kept.
    pub(crate) fn drops(&mut self, key: &[u8]) -> bool {
        let Ok(column) = column_of(key) else {
            return false;
        };
        if is_marker(key) {
            self.deleted.clear();
            self.deleted.extend_from_slice(column);
            return true;
        }
        // Newer versions come before the marker, so all that follow are older.
        !column.is_empty() && self.deleted == column
    }
}
