//! Rewrites the columns of a row into one.
//!
//! Every cell stores the whole row key and the family; one column with all points of an hour stores
//! them once. One step (`mutateRow`) puts the new column and deletes the others. It deletes only
//! the versions that were read, so a point written meanwhile survives.

use hblite::{Delete, Put, RowMutations, RowResult};

use super::layout::{Placed, decode_column, encode_compacted};
use crate::error::{Error, Result};

/// The points of a row in time order. If two columns have the same offset, the one written last
/// wins.
///
/// # Errors
/// `Row` if a column has a different layout.
pub fn points_of(row: &RowResult, family: &str) -> Result<Vec<Placed>> {
    let mut points: Vec<(u64, i64, Placed)> = Vec::new();
    for cell in row.cells().filter(|cell| cell.family() == family.as_bytes()) {
        let column = decode_column(cell.qualifier(), cell.value()).ok_or_else(|| {
            let name = hblite_rowkey::printable(cell.qualifier());
            Error::row(row.row(), format!("column {name} does not have OpenTSDB's layout"))
        })?;
        points.extend(column.into_iter().map(|point| (point.0, cell.timestamp(), point)));
    }
    points.sort_by_key(|(offset_ms, written, _)| (*offset_ms, std::cmp::Reverse(*written)));
    points.dedup_by_key(|(offset_ms, ..)| *offset_ms);
    Ok(points.into_iter().map(|(.., point)| point).collect())
}

/// The mutations that rewrite a row into one column; `None` if it has only one.
///
/// # Errors
/// As [`points_of`].
pub fn compacted(row: &RowResult, family: &str) -> Result<Option<RowMutations>> {
    if row.len() < 2 {
        return Ok(None);
    }
    let (name, value) = encode_compacted(&points_of(row, family)?);
    let mut delete = Delete::new(row.row());
    let mut deletes = 0;
    for cell in row.cells().filter(|cell| cell.qualifier() != name) {
        delete = delete.columns_at(family, cell.qualifier(), cell.timestamp());
        deletes += 1;
    }
    let put = Put::new(row.row()).add(family, &name, value);
    let mutations = RowMutations::new(row.row()).add(put);
    Ok(Some(if deletes > 0 { mutations.add(delete) } else { mutations }))
}
