//! The hash functions of Bloom filters.
//!
//! All work on 32 bits and wrap. Source: HBase's `JenkinsHash`, `MurmurHash`, `MurmurHash3`.

use hblite_model::bytes::jenkins_hash;

/// Which hash function a filter uses (`hbase.hash.type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BloomHash {
    /// Bob Jenkins' lookup3.
    Jenkins,
    /// `MurmurHash2` as HBase computes it: HBase's default.
    #[default]
    Murmur,
    /// `MurmurHash3`, x86, 32 bits.
    Murmur3,
}

impl BloomHash {
    /// The number in Bloom meta blocks.
    pub(crate) fn code(self) -> i32 {
        self as i32
    }

    /// The function with this number.
    pub(crate) fn from_code(code: i32) -> Option<Self> {
        [Self::Jenkins, Self::Murmur, Self::Murmur3].into_iter().find(|hash| hash.code() == code)
    }

    /// HBase's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jenkins => "jenkins",
            Self::Murmur => "murmur",
            Self::Murmur3 => "murmur3",
        }
    }

    /// The function with HBase's name for it.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Jenkins, Self::Murmur, Self::Murmur3].into_iter().find(|hash| hash.name() == name)
    }

    fn hash(self, bytes: &[u8], seed: u32) -> u32 {
        match self {
            Self::Jenkins => jenkins_hash(bytes, seed),
            Self::Murmur => murmur(bytes, seed),
            Self::Murmur3 => murmur3(bytes, seed),
        }
    }

    /// The two numbers that determine all positions of a key.
    #[inline]
    pub(crate) fn pair(self, key: &[u8]) -> (u32, u32) {
        let first = self.hash(key, 0);
        (first, self.hash(key, first))
    }
}

#[inline]
fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn murmur(bytes: &[u8], seed: u32) -> u32 {
    const M: u32 = 0x5bd1_e995;
    const R: u32 = 24;
    let mut h = seed ^ bytes.len() as u32;
    let words = bytes.chunks_exact(4);
    let tail = words.remainder();
    for chunk in words {
        let mut k = word(chunk).wrapping_mul(M);
        k ^= k >> R;
        h = h.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    if !tail.is_empty() {
        // Java's bytes are signed: a tail byte of 0x80 and above sets all bits over it.
        for (position, &byte) in tail.iter().enumerate().rev() {
            h ^= (i32::from(byte as i8) as u32) << (8 * position);
        }
        h = h.wrapping_mul(M);
    }
    h ^= h >> 13;
    h = h.wrapping_mul(M);
    h ^ h >> 15
}

fn murmur3(bytes: &[u8], seed: u32) -> u32 {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    let mix = |k: u32| k.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let mut h = seed;
    let words = bytes.chunks_exact(4);
    let tail = words.remainder();
    for chunk in words {
        h = (h ^ mix(word(chunk))).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    if !tail.is_empty() {
        let mut k = 0;
        for (position, &byte) in tail.iter().enumerate() {
            k |= u32::from(byte) << (8 * position);
        }
        h ^= mix(k);
    }
    h ^= bytes.len() as u32;
    h = (h ^ h >> 16).wrapping_mul(0x85eb_ca6b);
    h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_hbase() {
        type Pairs = [(u32, u32); 3];
        let cases: [(&[u8], Pairs); 4] = [
            (b"a", [(0x92685f5e, 0x5b2b9c66), (0x3c2569b2, 0x8935f798), (0x58d68708, 0x00bb489d)]),
            (
                b"abcd",
                [(0x26873021, 0xe0ba3fa1), (0x43ed676a, 0x842337ac), (0xb5f4889c, 0xd3dbd989)],
            ),
            (
                b"row-1",
                [(0x8a0effc4, 0x6d736fde), (0x3059327e, 0x2726f67d), (0xb1c89bed, 0xa6dfd06e)],
            ),
            (
                b"\xff\xfe\xfd",
                [(0xe3203b2b, 0xdab8e3be), (0xd2bef2dc, 0xca7bdfe9), (0x0cad3b2e, 0xc4966117)],
            ),
        ];
        for (key, [murmur, murmur3, jenkins]) in cases {
            assert_eq!(BloomHash::Murmur.pair(key), murmur);
            assert_eq!(BloomHash::Murmur3.pair(key), murmur3);
            assert_eq!(BloomHash::Jenkins.pair(key), jenkins);
        }
        let row_column = b"\0\x03row\0q\x7f\xff\xff\xff\xff\xff\xff\xff\xff";
        assert_eq!(BloomHash::Murmur.pair(row_column), (0x9350b067, 0xf1a34ec0));
    }
}
