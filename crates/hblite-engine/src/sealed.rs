//! Small protobuf files with a checksum that HBase ignores.
//!
//! ```text
//! message = the fields of HBase | seal
//! seal    = field 104729 of type fixed32: the CRC-32 of every byte of the message before it
//! ```
//!
//! HBase keeps or skips fields that it does not know, so it reads a sealed message like any other.
//! The bytes before the message ("PBUF", a length) depend on the kind of file and are not covered;
//! readers check them exactly.
//!
//! Files that HBase or an earlier version of hblite wrote have no seal. They are accepted, and
//! their readers compare them with related data. A message without a seal has only fields that
//! HBase has; any other field is a damaged seal.
//!
//! Threads: any.

use std::path::Path;

use hblite_model::protobuf::{self, MessageWriter};
use hblite_model::{Error, Exception};

/// Number of the field with the checksum, above all numbers that HBase uses.
const SEAL_FIELD: u32 = 104_729;
/// The field's key as it is encoded: number and wire type 5.
const SEAL_KEY: [u8; 3] = [0xcd, 0x91, 0x33];
/// Bytes of a seal: key and checksum.
const SEAL_SIZE: usize = SEAL_KEY.len() + 4;
/// No message of HBase has a field with a higher number.
const FIELD_MAX: u32 = 1_000;

const _: () = {
    let key = (SEAL_FIELD as u64) << 3 | 5;
    assert!(SEAL_KEY[0] as u64 == (key & 0x7f | 0x80));
    assert!(SEAL_KEY[1] as u64 == (key >> 7 & 0x7f | 0x80));
    assert!(SEAL_KEY[2] as u64 == key >> 14);
};

/// Whether a message had a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    /// It had one, and it is correct.
    Verified,
    /// It had none: HBase or an earlier version of hblite wrote it.
    Absent,
}

/// The message with its seal.
pub(crate) fn seal(message: MessageWriter) -> Vec<u8> {
    let mut bytes = message.finish();
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&SEAL_KEY);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// "PBUF" and the message with its seal.
pub(crate) fn seal_with_magic(message: MessageWriter) -> Vec<u8> {
    [protobuf::MAGIC.as_slice(), &seal(message)].concat()
}

/// The fields of a message that may have a seal, or what is wrong with it.
pub(crate) fn unseal(message: &[u8]) -> Result<(&[u8], Seal), &'static str> {
    if let Some((fields, checksum)) = split_seal(message) {
        return match crc32fast::hash(fields) == checksum {
            true => Ok((fields, Seal::Verified)),
            false => Err("the checksum is wrong"),
        };
    }
    let mut field_max = 0;
    let read = protobuf::read_message(message, |field, _| {
        field_max = field_max.max(field);
        Ok(())
    });
    match read {
        Err(_) => Err("it is not a protobuf message"),
        Ok(()) if field_max > FIELD_MAX => Err("its last field is a damaged checksum"),
        Ok(()) => Ok((message, Seal::Absent)),
    }
}

/// Like [`unseal`], for a message that follows the magic "PBUF".
pub(crate) fn unseal_with_magic(content: &[u8]) -> Result<(&[u8], Seal), &'static str> {
    let message = content.strip_prefix(protobuf::MAGIC.as_slice());
    unseal(message.ok_or("it does not begin with PBUF")?)
}

/// The error for a small file that is damaged: what is wrong with it, and what to do.
pub(crate) fn damaged(path: &Path, what: impl std::fmt::Display, remedy: &str) -> Error {
    Error::corrupt(Exception::CorruptHFile, path, 0, format!("{what}; {remedy}"))
}

fn split_seal(message: &[u8]) -> Option<(&[u8], u32)> {
    let (fields, seal) = message.split_at_checked(message.len().checked_sub(SEAL_SIZE)?)?;
    let checksum = seal.strip_prefix(&SEAL_KEY)?.try_into().ok()?;
    Some((fields, u32::from_le_bytes(checksum)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> MessageWriter {
        MessageWriter::new().bytes(1, "a table").number(2, 300).bytes(3, [0xff; 20])
    }

    #[test]
    fn a_seal_is_the_last_field_and_readers_that_do_not_know_it_read_on() {
        let sealed = seal(message());
        let mut fields = Vec::new();
        protobuf::read_message(&sealed, |field, _| {
            fields.push(field);
            Ok(())
        })
        .unwrap();
        assert_eq!(fields, [1, 2, 3, SEAL_FIELD]);
        assert_eq!(unseal(&sealed), Ok((message().finish().as_slice(), Seal::Verified)));
        assert_eq!(unseal(&message().finish()).map(|(_, seal)| seal), Ok(Seal::Absent));
        assert_eq!(unseal(b"").map(|(_, seal)| seal), Ok(Seal::Absent));
    }

    /// Every flipped bit and every cut is an error or leaves the fields as they were.
    #[test]
    fn damage_never_changes_a_field() {
        let sound = message().finish();
        let sealed = seal(message());
        for bit in 0..sealed.len() * 8 {
            let mut damaged = sealed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let read = unseal(&damaged);
            assert!(read.is_err() || damaged.starts_with(&sound), "bit {bit}: {read:?}");
        }
        for cut in sound.len() + 1..sealed.len() {
            assert!(unseal(&sealed[..cut]).is_err(), "cut at {cut}");
        }
    }
}
