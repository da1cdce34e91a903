//! The messages of HBase's protocol, which hblite-messages generates from the files in
//! `proto/`.
//!
//! Fields that hblite does not use are left out there; decoding skips them. Enumerations are plain
//! numbers, so that a value of a later version is not an error.

#![allow(missing_docs, clippy::all)]

include!("../generated/messages.rs");
