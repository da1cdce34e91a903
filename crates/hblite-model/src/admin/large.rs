//! Large cells and large rows.

use crate::TableName;

/// Bytes from which a cell is large.
pub const LARGE_CELL_BYTES: u64 = 1 << 20;
/// Bytes from which a row is large.
pub const LARGE_ROW_BYTES: u64 = 16 << 20;

/// A large cell, or a large row.
///
/// Sizes are those in store files: what is only in memory is missing, and what was deleted or
/// replaced counts until a major compaction. A file knows its largest cell, exactly, and its
/// largest row, of which the beginning and the end, at most a block each, may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargeItem {
    /// Its table.
    pub table: TableName,
    /// The encoded name of its region.
    pub region: String,
    /// The row, cut after [`ROW_MAX`](super::ROW_MAX) bytes.
    pub row: Vec<u8>,
    /// Family and qualifier of a cell; `None` for a row.
    pub column: Option<(Vec<u8>, Vec<u8>)>,
    /// Bytes of the cell, with its key, or of all cells of the row.
    pub bytes: u64,
}
