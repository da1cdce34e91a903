//! The rows of hbase:meta, grouped by table.

use std::collections::BTreeMap;

use hblite_model::{RegionInfo, TableName, TableState};

use super::meta::{MetaRow, RegionRow};
use crate::layout::NAMESPACE_REGION_ID;

/// Tables as hbase:meta has them.
pub(crate) type TableRows = BTreeMap<TableName, (TableState, Vec<RegionRow>)>;

/// The row of hbase:meta for hbase:namespace, with which every store begins.
pub(crate) fn namespace_row() -> RegionRow {
    let table = TableName::namespace_table();
    RegionRow::new(RegionInfo::new(table, b"", b"", NAMESPACE_REGION_ID), 1)
}

/// What the rows of hbase:meta say about each table.
pub(crate) fn group_rows(rows: impl IntoIterator<Item = MetaRow>) -> TableRows {
    let mut states = BTreeMap::new();
    let mut regions: BTreeMap<TableName, Vec<RegionRow>> = BTreeMap::new();
    for row in rows {
        match row {
            MetaRow::Region(row) => {
                regions.entry(row.info.table().clone()).or_default().push(row);
            }
            MetaRow::Table(name, state) => {
                states.insert(name, state.settled());
            }
            MetaRow::Other => {}
        }
    }
    let mut tables = TableRows::new();
    for (name, state) in &states {
        tables.insert(name.clone(), (*state, regions.remove(name).unwrap_or_default()));
    }
    // A table without a state was never disabled.
    for (name, rows) in regions {
        tables.insert(name, (TableState::Enabled, rows));
    }
    tables.remove(&TableName::meta());
    tables
}
