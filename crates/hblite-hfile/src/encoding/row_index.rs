//! `ROW_INDEX_V1`: unencoded cells, followed by an index of where rows begin.
//!
//! ```text
//! cells | i32 number of rows | i32 offset of each row's first cell | i32 bytes of cells
//! ```
//!
//! The reader needs only the cells: it keeps the offset of every cell anyway.

use std::ops::Range;

use hblite_model::CellRef;

use crate::error::{Parsed, ensure};
use crate::input::Input;

const FIELD_SIZE: usize = 4;

/// Remembers where rows begin.
#[derive(Debug, Default)]
pub(crate) struct RowIndexEncoder {
    row: Vec<u8>,
    starts: Vec<u32>,
}

impl RowIndexEncoder {
    pub(crate) fn clear(&mut self) {
        self.starts.clear();
    }

    /// Records a cell that begins `at` bytes after the first; returns the bytes that its row takes
    /// in the index.
    pub(crate) fn note(&mut self, cell: &CellRef<'_>, at: usize) -> usize {
        if !self.starts.is_empty() && cell.row() == self.row {
            return 0;
        }
        self.row.clear();
        self.row.extend_from_slice(cell.row());
        self.starts.push(at as u32);
        FIELD_SIZE
    }

    /// Appends the index to `cells_size` bytes of cells.
    pub(crate) fn finish(&self, cells_size: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.starts.len() as u32).to_be_bytes());
        for start in &self.starts {
            out.extend_from_slice(&start.to_be_bytes());
        }
        out.extend_from_slice(&(cells_size as u32).to_be_bytes());
    }
}

/// Where the cells lie in a payload without its encoding id.
pub(crate) fn cells(payload: &[u8]) -> Parsed<Range<usize>> {
    ensure(payload.len() >= 2 * FIELD_SIZE, "row index block is too small")?;
    let size = Input::new(&payload[payload.len() - FIELD_SIZE..]).length()?;
    ensure(size <= payload.len() - 2 * FIELD_SIZE, "row index gives too many bytes of cells")?;
    let mut index = Input::new(&payload[size..]);
    let rows = index.length()?;
    ensure(
        index.remaining() - FIELD_SIZE == rows.saturating_mul(FIELD_SIZE),
        "row index does not fill its block",
    )?;
    Ok(0..size)
}
