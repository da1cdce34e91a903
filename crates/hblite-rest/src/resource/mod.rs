//! The resources: the answer of each path.
//!
//! - `root`, `exists`, `regions`, `schema`, `namespaces`, `cluster`: tables and the store
//! - `target`, `row`, `row_update`, `row_check`: one row, or a range of them
//! - `multi_row`: several rows by their keys
//! - `scanner`: scans over several requests
//! - `table_scan`: scans in one answer

pub(crate) mod cluster;
pub(crate) mod exists;
pub(crate) mod multi_row;
pub(crate) mod namespaces;
pub(crate) mod regions;
pub(crate) mod root;
pub(crate) mod row;
mod row_check;
mod row_update;
pub(crate) mod scanner;
pub(crate) mod schema;
pub(crate) mod table_scan;
pub(crate) mod target;
