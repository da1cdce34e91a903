//! Computes the checksums of a changed file again, so that a change reaches the parser that they
//! protect.
//!
//! The modules that write the formats describe them; this file knows where their checksums are and
//! uses none of their code.

use std::path::Path;

use hblite_env::{FileSystem, MemFileSystem};
use hblite_hfile::{BlockHeader, ChecksumType, HFileReader};

use crate::kind::Format;

const MAGIC: &[u8] = b"PBUF";
/// Key of the field with the checksum of a sealed message.
const SEAL_KEY: [u8; 3] = [0xcd, 0x91, 0x33];
const SEAL_SIZE: usize = SEAL_KEY.len() + 4;
const LOG_FILE_HEADER_SIZE: usize = 96;
const RECORD_HEADER_SIZE: usize = 8;
const BLOCK_HEADER_SIZE: usize = 33;

/// The changed file with correct checksums; nothing if the format has none where it was changed.
pub(crate) fn corrected(format: Format, before: &[u8], changed: &[u8]) -> Option<Vec<u8>> {
    let corrected = match format {
        Format::Bare => return None,
        Format::Fixed(size) => correct_fixed(changed, size)?,
        Format::SealedBare => sealed(changed),
        Format::Sealed => {
            let message = changed.strip_prefix(MAGIC)?;
            [MAGIC, &sealed(message)].concat()
        }
        Format::SealedWithLength => {
            let message =
                &changed.strip_prefix(MAGIC)?.get(varint_size(&before[MAGIC.len()..])..)?;
            let message = sealed(message);
            [MAGIC, &varint(message.len()), &message].concat()
        }
        Format::Log => correct_log(changed)?,
        Format::HFile => correct_hfile(before, changed)?,
    };
    (corrected != before).then_some(corrected)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut field = [0; 4];
    field.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(field)
}

fn correct_fixed(changed: &[u8], size: usize) -> Option<Vec<u8>> {
    let (content, _) = changed.get(..size)?.split_at(size - 4);
    Some([content, &crc32fast::hash(content).to_be_bytes(), &changed[size..]].concat())
}

/// The message with a correct seal, whatever happened to the original one.
fn sealed(message: &[u8]) -> Vec<u8> {
    let fields = match message.len().checked_sub(SEAL_SIZE) {
        Some(end) if message[end..].starts_with(&SEAL_KEY) => &message[..end],
        _ => message,
    };
    [fields, &SEAL_KEY, &crc32fast::hash(fields).to_le_bytes()].concat()
}

fn varint_size(bytes: &[u8]) -> usize {
    1 + bytes.iter().take_while(|byte| **byte & 0x80 != 0).count()
}

fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A log file with a correct header and correct records, as far as their lengths can be followed.
fn correct_log(changed: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = changed.to_vec();
    let end = LOG_FILE_HEADER_SIZE - 4;
    let checksum = crc32fast::hash(bytes.get(..end)?);
    bytes.get_mut(end..LOG_FILE_HEADER_SIZE)?.copy_from_slice(&checksum.to_be_bytes());
    let salt = u32_at(&bytes, 12);
    let mut at = LOG_FILE_HEADER_SIZE;
    while at + RECORD_HEADER_SIZE <= bytes.len() {
        let length = u32_at(&bytes, at) as usize;
        let begin = at + RECORD_HEADER_SIZE;
        let Some(payload) = bytes.get(begin..begin.saturating_add(length)) else { break };
        let start = salt ^ at as u32 ^ (length as u32).rotate_left(16);
        let mut hasher = crc32fast::Hasher::new_with_initial(start);
        hasher.update(payload);
        bytes[at + 4..begin].copy_from_slice(&hasher.finalize().to_be_bytes());
        at = begin + length;
    }
    Some(bytes)
}

/// A store file with correct checksums in the changed blocks.
fn correct_hfile(before: &[u8], changed: &[u8]) -> Option<Vec<u8>> {
    if before.len() != changed.len() {
        return None;
    }
    let fs = MemFileSystem::new();
    let path = Path::new("f");
    fs.create(path).and_then(|mut file| file.write_all(before)).ok()?;
    let reader = HFileReader::open(&fs, path, None).ok()?;
    let mut bytes = changed.to_vec();
    for header in reader.block_headers() {
        let (offset, header) = header.ok()?;
        correct_block(&mut bytes[usize::try_from(offset).ok()?..], &header);
    }
    Some(bytes)
}

fn correct_block(bytes: &mut [u8], header: &BlockHeader) {
    let data_size = BLOCK_HEADER_SIZE + header.stored_size;
    let (data, rest) = bytes.split_at_mut(data_size);
    for (chunk, stored) in data.chunks(header.bytes_per_checksum).zip(rest.chunks_exact_mut(4)) {
        let checksum = match header.checksum_type {
            ChecksumType::Null => 0,
            ChecksumType::Crc32 => crc32fast::hash(chunk),
            ChecksumType::Crc32C => crc32c::crc32c(chunk),
        };
        stored.copy_from_slice(&checksum.to_be_bytes());
    }
}
