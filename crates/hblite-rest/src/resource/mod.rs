//! The resources: what each path answers.
//!
//! - `root`, `exists`, `regions`, `schema`, `namespaces`, `cluster`: tables and the store
//! - `row`, `row_update`, `row_check`: one row, or a range of them
//! - `multi_row`: several rows by their keys
//! - `scanner`: scans that a client comes back to
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

use crate::java;

/// Adds families and columns to a get or a scan.
pub(crate) fn add_columns<'a, R>(
    read: R,
    columns: impl IntoIterator<Item = &'a Vec<u8>>,
    with_family: impl Fn(R, &'a [u8]) -> R,
    with_column: impl Fn(R, &'a [u8], &'a [u8]) -> R,
) -> R {
    columns.into_iter().fold(read, |read, column| match java::parse_column(column) {
        (family, None) => with_family(read, family),
        (family, Some(qualifier)) => with_column(read, family, qualifier),
    })
}
