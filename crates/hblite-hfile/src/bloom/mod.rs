//! Bloom filters in chunks: whether a key may be in the file at all.
//!
//! ```text
//! chunk (BLMFBLK2)   the bits, nothing else
//! meta  (BLMFMET2, DFBLMET2)
//!   i32 version 3 | i64 bytes of all chunks | i32 hash count | i32 hash number | i64 keys
//!   i64 keys that all chunks can hold | i32 number of chunks | bytes(comparator class)
//!   chunk list in the root format of indexes: key = first key of the chunk
//! ```
//!
//! | filter | key |
//! |---|---|
//! | ROW | row |
//! | ROWCOL | flat key of row, no family, qualifier, largest timestamp, type 255 |
//! | ROWPREFIX_FIXED_LENGTH | first n bytes of the row |
//! | delete family | row of each DeleteFamily and DeleteFamilyVersion cell |
//!
//! Position i of a key in a chunk of B bytes is `|h1 + i·h2| mod 8B`, computed in wrapping 32 bits.
//! Source: HBase's `CompoundBloomFilter`, `BloomFilterUtil`.

mod hash;
mod probe;
mod reader;
mod writer;

pub use hash::BloomHash;
pub use probe::{KeyHash, RowProbe};
pub use reader::BloomMeta;
pub(crate) use reader::BloomReader;
pub(crate) use writer::{BloomWriter, is_family_delete};

use hblite_model::cell::key;
use hblite_model::{CellType, LATEST_TIMESTAMP};

/// Version number in meta blocks.
const META_VERSION: i32 = 3;
/// Chunks can be folded this many times (`io.storefile.bloom.max.fold`).
const FOLD_FACTOR: usize = 7;
/// Comparator class in the meta of ROWCOL filters; that of others is empty.
const ROWCOL_COMPARATOR: &[u8] = b"org.apache.hadoop.hbase.CellComparatorImpl";

/// Which part of a cell is the key of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BloomKey {
    Row,
    RowCol,
    /// This many bytes of the row.
    RowPrefix(usize),
}

/// The key of a ROWCOL filter.
pub(crate) fn write_row_column_key(out: &mut Vec<u8>, row: &[u8], qualifier: &[u8]) {
    key::write(out, row, b"", qualifier, LATEST_TIMESTAMP, CellType::MAXIMUM);
}

/// Size of a chunk, and what follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ChunkSizing {
    bytes: usize,
    hash_count: u32,
    keys_max: u64,
}

impl ChunkSizing {
    /// Chunks of about `chunk_size` bytes with this rate of false positives.
    fn new(chunk_size: usize, error_rate: f32, key: BloomKey) -> Self {
        let bytes = chunk_size.max(1).next_multiple_of(1 << FOLD_FACTOR);
        let mut error_rate = f64::from(error_rate);
        if key == BloomKey::RowCol {
            // Such a filter is queried twice, for the column and for the row.
            error_rate = f64::from((1.0 - (1.0 - error_rate).sqrt()) as f32);
        }
        let bits = (bytes * 8) as f64;
        let ln2 = std::f64::consts::LN_2;
        let ideal_keys = (bits * (ln2 * ln2 / -error_rate.ln())).floor().max(1.0);
        let hash_count = (ln2 * (bits / ideal_keys).floor()).ceil().max(1.0);
        let keys_max = -bits / hash_count * (1.0 - (error_rate.ln() / hash_count).exp()).ln();
        Self { bytes, hash_count: hash_count as u32, keys_max: keys_max.max(1.0) as u64 }
    }
}

/// Calls `visit` with each position of a key among `bits` bits; stops when it returns false.
#[inline]
fn positions(
    (h1, h2): (u32, u32),
    hash_count: u32,
    bits: u64,
    mut visit: impl FnMut(usize) -> bool,
) -> bool {
    let mut hash = h1;
    for _ in 0..hash_count {
        // The remainder of the signed number, then its absolute value, as Java computes it.
        let position = u64::from((hash as i32).unsigned_abs()) % bits;
        if !visit(position as usize) {
            return false;
        }
        hash = hash.wrapping_add(h2);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_hbase() {
        let sizing = |size, rate, key| {
            let sizing = ChunkSizing::new(size, rate, key);
            (sizing.bytes, sizing.hash_count, sizing.keys_max)
        };
        assert_eq!(sizing(131_072, 0.01, BloomKey::Row), (131_072, 7, 109_306));
        assert_eq!(sizing(131_072, 0.01, BloomKey::RowCol), (131_072, 8, 95_069));
        assert_eq!(sizing(500, 0.01, BloomKey::Row), (512, 7, 426));
        assert_eq!(sizing(256, 0.001, BloomKey::RowPrefix(3)), (256, 10, 142));
    }
}
