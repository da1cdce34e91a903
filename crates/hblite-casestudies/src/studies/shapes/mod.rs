//! Tall, wide and in between: rows or versions, rows or columns, lists of values.

pub mod lists;
pub mod rows_columns;
pub mod rows_versions;
mod slices;
