//! The data index: from a key to the block that may hold it.
//!
//! ```text
//! entry         (key, offset of the block, its on-disk size)
//! root format   ( i64 offset | i32 size | vint key length | key )*          count: see trailer
//! node format   i32 n | i32 × (n+1) marks | ( i64 offset | i32 size | key )*
//! ```
//!
//! Mark i is where entry i begins, counted from the end of the marks; the last mark is the size of
//! all entries. One level: the root points at data blocks. Two: at leaves, which point at data
//! blocks. More: intermediate nodes in between.
//!
//! An entry's key k need not be the first key of its block: the invariant is `last key of the
//! previous block < k <= first key of this block`.

mod node;
mod reader;
mod separator;
mod writer;

pub(crate) use node::{IndexNode, NodeBuilder};
pub(crate) use reader::{DataBlockPosition, DataIndex, root_entries};
pub(crate) use separator::index_key;
pub(crate) use writer::{FinishedIndex, IndexWriter, write_root_entry};

/// Bytes of an entry without its key.
pub(crate) const ENTRY_FIXED_SIZE: usize = 8 + 4;
/// Bytes of the mid-key after the entries of a root with more than one level: `i64 offset of a leaf
/// | i32 its on-disk size | i32 entry in it`.
pub(crate) const MID_KEY_SIZE: usize = 8 + 4 + 4;
/// Maximum number of levels, for reading and writing.
pub(crate) const LEVELS_MAX: u32 = 16;
