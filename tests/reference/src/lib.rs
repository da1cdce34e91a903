//! What a read of HBase's data model answers, by plain loops over all cells.
//!
//! The only reference model of reads. The random sequences of `tests/model` compare whole stores
//! with it, and the unit tests of the engine's scanners compare merged sources with it. It knows
//! cells, their order and their markers ([`cell`]), what a read asks for ([`read`]), what filters
//! let through ([`filter`]), and which cells of a row and family are returned ([`reader`]); what
//! writes, flushes and compactions make of cells stands in `tests/model`. [`writes`] is about
//! sequences of writes without timestamps, at any speed.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "only tests use it; fields have the names of HBase's settings")]

pub mod cell;
pub mod filter;
pub mod new_versions;
pub mod read;
pub mod reader;
pub mod writes;
