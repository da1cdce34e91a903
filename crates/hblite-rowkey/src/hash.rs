//! Hashes for keys: MD5, which every client has, and a fast one for salts.

use md5::{Digest as _, Md5};

/// Bytes of an MD5 digest.
pub const MD5_WIDTH: usize = 16;
/// Characters of an MD5 digest in hexadecimal.
pub const MD5_CHARACTERS: u8 = 32;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The MD5 digest.
pub fn md5(bytes: &[u8]) -> [u8; MD5_WIDTH] {
    Md5::digest(bytes).into()
}

/// The first `characters` of the MD5 digest in hexadecimal, as `substr(md5(id), 0, x)`; at most 32.
///
/// ```
/// assert_eq!(hblite_rowkey::md5_hex(b"foo0001", 6), "95f18c");
/// ```
pub fn md5_hex(bytes: &[u8], characters: u8) -> String {
    let mut text = Vec::new();
    push_hex(&md5(bytes), characters, &mut text);
    text.into_iter().map(char::from).collect()
}

/// Writes the first hexadecimal characters of a digest.
#[inline]
pub(crate) fn push_hex(digest: &[u8; MD5_WIDTH], characters: u8, key: &mut Vec<u8>) {
    let count = usize::from(characters.min(MD5_CHARACTERS));
    let mut text = [0; MD5_CHARACTERS as usize];
    for (pair, byte) in text.chunks_exact_mut(2).zip(&digest[..count.div_ceil(2)]) {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 15)];
    }
    key.extend_from_slice(&text[..count]);
}

/// The hash for deterministic salts: FNV-1a with 64 bits, then the finalizer of MurmurHash3,
/// because FNV alone gives similar keys similar low bits. It takes two lines in any language, so
/// other clients can find the rows.
///
/// ```
/// assert_eq!(hblite_rowkey::salt_hash(b""), 0xefd0_1f60_ba99_2926);
/// ```
#[inline]
pub fn salt_hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}
