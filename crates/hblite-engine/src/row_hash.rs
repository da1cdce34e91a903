//! The hash of a row, for locks and for Bloom filters in memory.
//!
//! It never leaves the process, so it may change at any time. The Bloom filters of files have
//! HBase's own hashes (`hblite_hfile`).

/// A 64-bit hash by folded multiplication, eight bytes at a time. All bits are well mixed.
#[inline]
pub(crate) fn row_hash(row: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        (product >> 64) as u64 ^ product as u64
    };
    let (words, tail) = row.as_chunks::<8>();
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    let state = words
        .iter()
        .fold(row.len() as u64 ^ FACTOR, |state, word| mix(state, u64::from_le_bytes(*word)));
    mix(mix(state, u64::from_le_bytes(last)), FACTOR.rotate_left(32))
}
