//! Histories of concurrent operations, recorded and checked.
//!
//! `atomic_row` is one row as an atomic thing; `recorder` writes down what was asked and answered, and
//! when; `checker` looks for an order that explains a row's history; `report` makes the smallest
//! unexplainable part of it a table. `client` does operations on a real store, `workload` chooses
//! them, and `stirrer` makes the store work meanwhile.

pub(crate) mod atomic_row;
pub(crate) mod checker;
pub(crate) mod client;
pub(crate) mod handwritten;
pub(crate) mod recorder;
pub(crate) mod report;
pub(crate) mod stirrer;
pub(crate) mod workload;
