//! Row keys for HBase: how to write them, and which scans read them back.
//!
//! HBase has one index, the row key, and keeps rows in the order of its bytes. What comes first in
//! it decides which region takes a write, and what a query must know to need only a short scan.
//! This crate makes such keys from typed fields, and plans the scans of a query. It does no I/O and
//! needs no store: its output is bytes, for hblite as for any HBase.
//!
//! ```
//! use hblite_rowkey::{Design, Merge, Query, Value};
//!
//! // Four buckets of the time spread the writes of a log over four regions.
//! let design = Design::parse("bucket(ts, 4)|ts:timestamp|host:str")?;
//! let key = design.encode(&[Value::from(1_500_000_007_u64), "web1".into()])?;
//! assert_eq!(key, b"\x03\x00\x00\x00\x00Yh/\x07web1");
//!
//! // A period of all hosts, newest first: four reversed scans, merged by the key after the bucket.
//! let period = Query::new().range("ts", 1_500_000_000_u64..1_500_000_060);
//! let query = period.descending("ts").limit(9);
//! let plan = design.plan(&query)?;
//! assert_eq!((plan.ranges.len(), plan.is_reversed, plan.merge_skip), (4, true, Some(1)));
//! let bounds = plan.ranges[3].scan(plan.is_reversed);
//! assert_eq!(bounds.stop, b"\x03\x00\x00\x00\x00Yh/\x00");
//! # let streams: Vec<std::vec::IntoIter<Result<Vec<u8>, ()>>> = vec![];
//! // With a stream of rows for each scan:
//! let rows = Merge::new(streams, plan.merge_skip.unwrap_or(0), plan.is_reversed);
//! for row in rows.take(9) { /* … */ }
//! # Ok::<(), hblite_rowkey::Error>(())
//! ```
//!
//! # The design language
//!
//! A design is parts with `|` between them, the bytes of a key in their order. [`Design::parse`]
//! reads it, `Display` writes it, and an error says where the text is wrong
//! ([`Error::pointing_into`]).
//!
//! | part | bytes | what it is |
//! |---|---|---|
//! | `n:u8` `n:u16` `n:u32` `n:u64` | 1, 2, 4, 8 | big-endian |
//! | `n:reversed_u64` | 8 | 2⁶⁴ − 1 − n: the greatest first |
//! | `n:bit_reversed_u64` | 8 | the least significant bit first: successive numbers are far apart |
//! | `n:i64` | 8 | the sign bit flipped: negative numbers first |
//! | `ts:timestamp` | 8 | as `Bytes.toBytes(long)`, from 0: the oldest first |
//! | `ts:reverse_timestamp` | 8 | `Long.MAX_VALUE` − ts: the newest first |
//! | `s:str` | length + 1 | UTF-8, then `00`; nothing after the last part |
//! | `s:str("-")` | length + 1 | UTF-8 of bytes above `-`, then `-` |
//! | `s:str(16)` | 16 | UTF-8, padded with `00` |
//! | `s:str(escape)` | length + 2 | UTF-8 with `00` written `00 FF`, then `00 01` |
//! | `s:str(rest)` | length | UTF-8 to the end of the key; the last part only |
//! | `s:reversed_str…` | as `str` | the characters backwards: `moc.golbeti.www` |
//! | `s:domain…` | as `str` | the labels backwards: `com.cnn.www` |
//! | `b:bytes` `b:bytes(16)` `b:bytes(escape)` | as `str` | any bytes; `bytes` goes to the end |
//! | `h:md5` | 16 | the MD5 digest of the value, which cannot be read back |
//! | `h:md5hex(6)` | 6 | the first hexadecimal digits of that digest |
//! | `salt(16)` | 1, or 2 above 256 | one of 16 numbers, at random |
//! | `salt(16, h)` `salt(16, *)` | 1 or 2 | [`salt_hash`] of fields, or of what follows, mod 16 |
//! | `salt("a-", "b-")` | 2 | one of these |
//! | `bucket(ts, 16)` | 1 or 2 | ts modulo 16 |
//! | `md5hex(h, 6)` `md5(h, 4)` | 6, 4 | the first digits or bytes of the MD5 digest of fields |
//! | `"text\x00"` | its length | the same in every key |
//!
//! A hash is computed from a field as the key stores it, without delimiter or padding; one of
//! several fields from their bytes one after the other.
//!
//! # The hash of salts
//!
//! [`salt_hash`] is FNV-1a with 64 bits, then the finalizer of MurmurHash3. Products are modulo
//! 2⁶⁴, shifts fill with zeros:
//!
//! 1. h = `0xcbf29ce484222325`
//! 2. for each byte b: h = (h xor b) · `0x100000001b3`
//! 3. h = (h xor (h >> 33)) · `0xff51afd7ed558ccd`
//! 4. h = (h xor (h >> 33)) · `0xc4ceb9fe1a85ec53`
//! 5. h = h xor (h >> 33)
//!
//! The salt is the label with the number h mod n, h without sign:
//!
//! ```
//! let hash = hblite_rowkey::salt_hash(b"web1");
//! assert_eq!((hash, hash % 16), (0x9477_fbf2_4a3c_9866, 6));
//! let key = hblite_rowkey::Design::parse("salt(16, host)|host:str")?.encode(&["web1".into()])?;
//! assert_eq!(key, b"\x06web1");
//! # Ok::<(), hblite_rowkey::Error>(())
//! ```
//!
//! [`Design::code`] prints a program that makes and reads the keys of a design, for Java, Python,
//! Go and Rust.
//!
//! # Where things are
//!
//! [`Design`] encodes, decodes, plans ([`Design::plan`]), says which queries it serves
//! ([`Design::support_matrix`], [`Design::spread`]) and where to split a table
//! ([`Design::natural_splits`], [`quantile_splits`]). [`Merge`] makes one ordered stream of the
//! scans of a plan. [`Ids`] keeps short numbers for long names in a table.

#![forbid(unsafe_code)]

mod bounds;
mod bytes;
mod check;
mod code;
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
pub use code::Language;
pub use design::Design;
pub use error::{Error, ErrorKind, Result};
pub use hash::{MD5_CHARACTERS, MD5_WIDTH, md5, md5_hex, salt_hash};
pub use lookup::{IdStore, Ids};
pub use merge::{Keyed, Merge};
pub use number::Number;
pub use part::{
    Bucket, COUNT_MAX, Encoding, Field, HashForm, HashPrefix, KEY_LENGTH_MAX, Labels, Part, Salt,
    SaltBy,
};
pub use plan::{Access, Check, Plan};
pub use presplit::{REGIONS_MAX, quantile_splits};
pub use query::{FieldCondition, Order, Query};
pub use spread::Spread;
pub use support::{Known, Support};
pub use text::{End, Text, Turn, reverse, reverse_domain};
pub use value::Value;
