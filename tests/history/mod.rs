//! Histories of concurrent operations, recorded and checked.
//!
//! `atomic_row` is a row that one operation at a time changes; `recorder` keeps what was asked
//! and answered, and when; `checker` looks for an order that explains a row's history; `report`
//! prints the smallest part of it that no order explains. `workload` chooses operations, `client`
//! sends them to a real store, and `stirrer` keeps that store busy.

pub(crate) mod atomic_row;
pub(crate) mod checker;
pub(crate) mod client;
pub(crate) mod handwritten;
pub(crate) mod recorder;
pub(crate) mod report;
pub(crate) mod stirrer;
pub(crate) mod workload;
