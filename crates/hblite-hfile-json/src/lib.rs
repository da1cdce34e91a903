//! HFiles described as JSON: settings, cells, and what the file must say.
//!
//! The shape is that of `tests/golden/hfile/*.json`, whose README names every member. A
//! [`Description`] is what such a text says; [`Description::compare`] holds a file against it, and
//! [`write_description`] describes a file.
//!
//! A crate of its own, so that who embeds hblite takes no JSON with it. Threads: values.

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
