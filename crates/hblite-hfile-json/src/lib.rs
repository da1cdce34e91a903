//! HFiles described as JSON: settings, cells, and the expected contents of the file.
//!
//! The format is that of `tests/golden/hfile/*.json`, whose README lists every member. A
//! [`Description`] is a parsed text; [`Description::compare`] compares a file with it, and
//! [`write_description`] describes a file.
//!
//! This is a crate of its own so that programs that embed hblite do not depend on JSON. Threads:
//! values.

#![forbid(unsafe_code)]

mod compare;
mod describe;
mod description;
mod digest;
mod hex;

pub use compare::Difference;
pub use describe::write_description;
pub use description::{Description, InvalidDescription};
pub use digest::{CellDigest, digest};
pub use hex::{hex, unhex};
