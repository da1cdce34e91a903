//! Row keys for HBase: how to write them, and which scans read them back.

#![forbid(unsafe_code)]

mod bounds;
mod bytes;
mod check;
mod design;
mod error;
mod hash;
mod lexer;
mod lookup;
mod merge;
mod number;
mod parse;
mod part;
mod plan;
mod presplit;
mod query;
mod spread;
mod support;
mod text;
mod value;

pub use bytes::{KeyRange, ScanBounds, next_after_prefix, printable};
pub use design::{Design, KEY_LENGTH_MAX};
pub use error::{Error, ErrorKind, Result};
pub use hash::{MD5_CHARACTERS, MD5_WIDTH, md5, md5_hex, salt_hash};
pub use lookup::{IdStore, Ids};
pub use merge::{Keyed, Merge};
pub use number::Number;
pub use part::{
    Bucket, COUNT_MAX, Encoding, Field, HashForm, HashPrefix, Labels, Part, Salt, SaltBy,
};
pub use plan::{Access, Check, Plan};
pub use presplit::{REGIONS_MAX, quantile_splits};
pub use query::{Condition, Order, Query};
pub use spread::Spread;
pub use support::{Known, Support};
pub use text::{End, Text, Turn, reverse, reverse_domain};
pub use value::Value;
