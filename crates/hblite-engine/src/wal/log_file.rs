//! The files of a log: their names and headers, and positions in them.
//!
//! A header is made durable, and the file's name with it, before the first record follows.

use std::path::{Path, PathBuf};

use crate::layout::StoreId;

/// Bytes of the header at the start of each log file.
pub(super) const HEADER_SIZE: usize = 96;
/// The first bytes of each log file.
const MAGIC: [u8; 8] = *b"hbliteWL";
/// The version of the format, in the header.
const VERSION: u32 = 2;
const NAME_PREFIX: &str = "hblite-wal.";
/// Bytes of the header's checksum, over everything before it.
const CHECKSUM_SIZE: usize = 4;

// A header fits one sector, so a disk writes all of it or nothing.
const _: () = assert!(HEADER_SIZE <= 512);

/// A position in the log: log file number (from 1; 0 is before the log) and offset in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct LogPosition {
    /// The log file's number.
    pub(super) log_file: u64,
    /// Bytes from the start of its file.
    pub(super) offset: u64,
}

/// The path of a log file in the log's directory.
pub(super) fn log_file_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{NAME_PREFIX}{number:010}"))
}

/// No log gets to a greater number: there is room for those of all later log files.
pub(super) const NUMBER_MAX: u64 = 1 << 62;

/// The number in a file name, if it is the name of a log file.
pub(super) fn log_file_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(NAME_PREFIX)?;
    let number = digits.parse().ok()?;
    ((1..=NUMBER_MAX).contains(&number) && format!("{number:010}") == digits).then_some(number)
}

/// What the start of a log file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogFileHeader {
    /// The number in the file's name.
    pub(super) number: u64,
    /// Random; the start of the records' checksums.
    pub(super) salt: u32,
    /// The store that the log file belongs to.
    pub(super) store: StoreId,
    /// Where the log before this log file ends. What follows is not part of the log.
    pub(super) previous_end: LogPosition,
    /// The salt of the previous log file, which distinguishes it from every other one; 0 if there
    /// is none.
    pub(super) previous_salt: u32,
    /// The oldest log file that was needed when this one began.
    pub(super) oldest_live: u64,
    /// Milliseconds since 1970-01-01 UTC.
    pub(super) created: i64,
}

impl LogFileHeader {
    /// The bytes of the header.
    pub(super) fn encode(&self) -> Vec<u8> {
        assert!(self.previous_end.log_file < self.number && self.oldest_live <= self.number);
        let mut bytes = Vec::with_capacity(HEADER_SIZE);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_be_bytes());
        bytes.extend_from_slice(&self.salt.to_be_bytes());
        bytes.extend_from_slice(&self.number.to_be_bytes());
        bytes.extend_from_slice(self.store.as_bytes());
        bytes.extend_from_slice(&self.previous_end.log_file.to_be_bytes());
        bytes.extend_from_slice(&self.previous_end.offset.to_be_bytes());
        bytes.extend_from_slice(&self.previous_salt.to_be_bytes());
        bytes.extend_from_slice(&self.oldest_live.to_be_bytes());
        bytes.extend_from_slice(&self.created.to_be_bytes());
        bytes.resize(HEADER_SIZE - CHECKSUM_SIZE, 0);
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_be_bytes());
        bytes
    }

    /// The header in these first bytes of a file; the error says what is wrong with it.
    pub(super) fn decode(file: &[u8]) -> Result<Self, String> {
        if !file.starts_with(&MAGIC) {
            return Err("not a file of a write-ahead log: wrong magic".to_owned());
        }
        let mut fields = Fields { rest: file.get(MAGIC.len()..).unwrap_or_default() };
        let version = u32::from_be_bytes(fields.take());
        if version != VERSION {
            return Err(format!("version {version} of the log format, expected {VERSION}"));
        }
        let Some((header, stored)) =
            file.get(..HEADER_SIZE).and_then(|header| header.split_last_chunk::<CHECKSUM_SIZE>())
        else {
            return Err(format!("the file has {} bytes, and its header {HEADER_SIZE}", file.len()));
        };
        let (stored, computed) = (u32::from_be_bytes(*stored), crc32fast::hash(header));
        if stored != computed {
            return Err(format!(
                "checksum of the header is {computed:#010x}, expected {stored:#010x}"
            ));
        }
        let salt = u32::from_be_bytes(fields.take());
        let number = u64::from_be_bytes(fields.take());
        let store = StoreId::from_bytes(fields.take());
        let log_file = u64::from_be_bytes(fields.take());
        let previous_end = LogPosition { log_file, offset: u64::from_be_bytes(fields.take()) };
        let previous_salt = u32::from_be_bytes(fields.take());
        let oldest_live = u64::from_be_bytes(fields.take());
        let created = i64::from_be_bytes(fields.take());
        Ok(Self { number, salt, store, previous_end, previous_salt, oldest_live, created })
    }
}

/// Whether a file with this content is a log file whose creation ended before its header was
/// written: a part of one, or zeros that a power cut left in its place.
pub(super) fn is_unfinished(file: &[u8]) -> bool {
    let magic = &file[..file.len().min(MAGIC.len())];
    file.len() <= HEADER_SIZE
        && (MAGIC.starts_with(magic) || file.iter().all(|byte| *byte == 0))
        && LogFileHeader::decode(file).is_err()
}

/// Reads numbers from a header whose length was checked; beyond its end they are zeros.
struct Fields<'a> {
    rest: &'a [u8],
}

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (field, rest) = self.rest.split_first_chunk().unwrap_or((&[0; N], &[]));
        self.rest = rest;
        *field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: LogFileHeader = LogFileHeader {
        number: 7,
        salt: 0xdead_beef,
        store: StoreId::from_bytes(*b"0123456789abcdef"),
        previous_end: LogPosition { log_file: 6, offset: 99 },
        previous_salt: 0xcafe,
        oldest_live: 3,
        created: -5,
    };

    #[test]
    fn a_header_comes_back_and_any_flipped_byte_is_noticed() {
        let bytes = HEADER.encode();
        assert_eq!(bytes.len(), HEADER_SIZE);
        assert_eq!(LogFileHeader::decode(&bytes), Ok(HEADER));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(LogFileHeader::decode(&damaged).is_err(), "byte {at}");
            assert!(LogFileHeader::decode(&bytes[..at]).is_err(), "{at} bytes");
        }
    }

    #[test]
    fn a_file_is_unfinished_if_it_is_a_part_of_a_header_and_nothing_else() {
        let bytes = HEADER.encode();
        assert!((0..bytes.len()).all(|length| is_unfinished(&bytes[..length])));
        assert!(!is_unfinished(&bytes), "a complete header");
        assert!(!is_unfinished(&[&bytes[..], b"x"].concat()), "records");
        assert!(is_unfinished(&[0; HEADER_SIZE]) && !is_unfinished(&[0; HEADER_SIZE + 1]));
        assert!(!is_unfinished(b"hello") && !is_unfinished(b"hbliteXL"));
    }

    #[test]
    fn names_of_log_files_are_recognized_exactly() {
        let path = log_file_path(Path::new("/d/WALs"), 12);
        assert_eq!(path, Path::new("/d/WALs/hblite-wal.0000000012"));
        assert_eq!(log_file_number("hblite-wal.0000000012"), Some(12));
        assert_eq!(log_file_number("hblite-wal.99999999999"), Some(99_999_999_999));
        for name in ["hblite-wal.12", "hblite-wal.0000000000", "hblite-wal.000000001x", "x"] {
            assert_eq!(log_file_number(name), None, "{name}");
        }
    }
}
