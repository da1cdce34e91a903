//! The files of a log: their names and headers, and positions in them.
//!
//! A header is made durable, and the file's name with it, before the first record follows.

use std::path::{Path, PathBuf};

/// Bytes of the header at the start of each segment.
pub(super) const HEADER_SIZE: usize = 64;
/// The first bytes of each segment.
const MAGIC: [u8; 8] = *b"hbliteWL";
/// The version of the format, in the header.
const VERSION: u32 = 1;
const NAME_PREFIX: &str = "hblite-wal.";
/// Where the header's checksum stands, over everything before it.
const CHECKSUM_OFFSET: usize = HEADER_SIZE - 4;

/// A place in the log: segment number (from 1; 0 is before the log) and offset in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct LogPosition {
    /// The segment's number.
    pub(super) segment: u64,
    /// Bytes from the start of its file.
    pub(super) offset: u64,
}

/// The path of a segment in the log's directory.
pub(super) fn segment_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{NAME_PREFIX}{number:010}"))
}

/// The number in a file name, if it is the name of a segment.
pub(super) fn segment_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(NAME_PREFIX)?;
    let number = digits.parse().ok()?;
    (number > 0 && format!("{number:010}") == digits).then_some(number)
}

/// What the start of a segment says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    /// The number in the file's name.
    pub(super) number: u64,
    /// Random; the start of the records' checksums.
    pub(super) salt: u32,
    /// Where the log before this segment ends. What follows there is no part of the log.
    pub(super) previous_end: LogPosition,
    /// The oldest segment that was needed when this one began.
    pub(super) oldest_live: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub(super) created: i64,
}

impl SegmentHeader {
    pub(super) fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&MAGIC);
        put(&VERSION.to_be_bytes());
        put(&self.salt.to_be_bytes());
        put(&self.number.to_be_bytes());
        put(&self.previous_end.segment.to_be_bytes());
        put(&self.previous_end.offset.to_be_bytes());
        put(&self.oldest_live.to_be_bytes());
        put(&self.created.to_be_bytes());
        let checksum = crc32fast::hash(&bytes[..CHECKSUM_OFFSET]);
        bytes[CHECKSUM_OFFSET..].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    /// The header in `bytes`; the error says what is wrong with it.
    pub(super) fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<Self, String> {
        let u32_at = |at: usize| u32::from_be_bytes(field(bytes, at));
        let u64_at = |at: usize| u64::from_be_bytes(field(bytes, at));
        if bytes[..MAGIC.len()] != MAGIC {
            return Err("not a segment of a write-ahead log: wrong magic".to_owned());
        }
        let (stored, computed) =
            (u32_at(CHECKSUM_OFFSET), crc32fast::hash(&bytes[..CHECKSUM_OFFSET]));
        if stored != computed {
            return Err(format!(
                "checksum of the header is {computed:#010x}, expected {stored:#010x}"
            ));
        }
        if u32_at(8) != VERSION {
            return Err(format!("version {} of the log format, expected {VERSION}", u32_at(8)));
        }
        Ok(Self {
            salt: u32_at(12),
            number: u64_at(16),
            previous_end: LogPosition { segment: u64_at(24), offset: u64_at(32) },
            oldest_live: u64_at(40),
            created: u64_at(48) as i64,
        })
    }
}

fn field<const N: usize>(bytes: &[u8; HEADER_SIZE], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_and_any_flipped_byte_is_noticed() {
        let header = SegmentHeader {
            number: 7,
            salt: 0xdead_beef,
            previous_end: LogPosition { segment: 6, offset: 99 },
            oldest_live: 3,
            created: -5,
        };
        let bytes = header.encode();
        assert_eq!(SegmentHeader::decode(&bytes), Ok(header));
        for at in 0..HEADER_SIZE {
            let mut damaged = bytes;
            damaged[at] ^= 0x10;
            assert!(SegmentHeader::decode(&damaged).is_err(), "byte {at}");
        }
    }

    #[test]
    fn names_of_segments_are_recognised_exactly() {
        let path = segment_path(Path::new("/d/WALs"), 12);
        assert_eq!(path, Path::new("/d/WALs/hblite-wal.0000000012"));
        assert_eq!(segment_number("hblite-wal.0000000012"), Some(12));
        assert_eq!(segment_number("hblite-wal.99999999999"), Some(99_999_999_999));
        for name in ["hblite-wal.12", "hblite-wal.0000000000", "hblite-wal.000000001x", "x"] {
            assert_eq!(segment_number(name), None, "{name}");
        }
    }
}
