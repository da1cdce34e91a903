//! Checksums of blocks.
//!
//! ```text
//! header and stored payload, cut into chunks of `bytes per checksum`; then one u32 per chunk
//! ```
//!
//! The checksum bytes themselves are not covered. Type NULL stores four zero bytes per chunk.

/// Which checksum the blocks of a file carry (`ChecksumType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChecksumType {
    /// None; zeros are stored in its place.
    Null,
    /// The CRC of zlib.
    Crc32,
    /// The Castagnoli CRC, for which processors have instructions: HBase's default.
    #[default]
    Crc32C,
}

/// Bytes of one checksum.
pub(crate) const CHECKSUM_SIZE: usize = 4;

impl ChecksumType {
    /// The number in block headers.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// The type with this number.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Self::Null, Self::Crc32, Self::Crc32C].into_iter().find(|known| known.code() == code)
    }

    /// HBase's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Crc32 => "CRC32",
            Self::Crc32C => "CRC32C",
        }
    }

    /// The type with HBase's name for it.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Null, Self::Crc32, Self::Crc32C].into_iter().find(|known| known.name() == name)
    }

    /// The checksum of one chunk.
    fn compute(self, chunk: &[u8]) -> u32 {
        match self {
            Self::Null => 0,
            Self::Crc32 => crc32fast::hash(chunk),
            Self::Crc32C => crc32c::crc32c(chunk),
        }
    }

    /// Appends the checksums of `out[from..]`.
    pub(crate) fn append(self, out: &mut Vec<u8>, from: usize, bytes_per_checksum: usize) {
        let end = out.len();
        for start in (from..end).step_by(bytes_per_checksum) {
            let chunk = &out[start..end.min(start + bytes_per_checksum)];
            let checksum = self.compute(chunk);
            out.extend_from_slice(&checksum.to_be_bytes());
        }
    }

    /// The first chunk of `data` whose checksum is not the stored one.
    pub(crate) fn mismatch(
        self,
        data: &[u8],
        bytes_per_checksum: usize,
        stored: &[u8],
    ) -> Option<Mismatch> {
        let chunks = data.chunks(bytes_per_checksum).zip(stored.chunks_exact(CHECKSUM_SIZE));
        for (index, (chunk, stored)) in chunks.enumerate() {
            let mut expected = [0; CHECKSUM_SIZE];
            expected.copy_from_slice(stored);
            let expected = u32::from_be_bytes(expected);
            let found = self.compute(chunk);
            if found != expected {
                return Some(Mismatch { start: index * bytes_per_checksum, expected, found });
            }
        }
        None
    }
}

/// A checksum that does not match the bytes.
#[derive(Debug)]
pub(crate) struct Mismatch {
    /// Where the chunk begins, counted from the block's first byte.
    pub(crate) start: usize,
    /// The checksum in the file.
    pub(crate) expected: u32,
    /// The checksum of the bytes.
    pub(crate) found: u32,
}
