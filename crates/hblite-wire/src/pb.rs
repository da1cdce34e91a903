//! The messages of HBase's protocol, made from the files in `proto/`.
//!
//! Fields that hblite never looks at are left out there; decoding skips them. Enumerations are
//! plain numbers, so that a value of a later version is no error.

#![allow(missing_docs, clippy::all)]

include!(concat!(env!("OUT_DIR"), "/hbase.pb.rs"));
