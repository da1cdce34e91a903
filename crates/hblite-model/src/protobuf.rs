//! The part of the protobuf wire format that HBase's small files need.
//!
//! ```text
//! message = (varint key | payload)*     key = field number << 3 | wire type
//! wire types used: 0 varint, 2 varint length + bytes; 1 and 5 (fixed 64 and 32) are skipped
//! ```

use crate::error::{Error, Result};

/// The bytes that precede protobuf content in HBase's files and cells.
pub const MAGIC: &[u8; 4] = b"PBUF";

const WIRE_VARINT: u64 = 0;
const WIRE_FIXED64: u64 = 1;
const WIRE_BYTES: u64 = 2;
const WIRE_FIXED32: u64 = 5;

/// Appends a number, 7 bits per byte, low group first.
pub fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a number from the front of `bytes` and advances; `None` if it is incomplete.
pub fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Builds a message.
#[derive(Debug, Clone, Default)]
pub struct MessageWriter(Vec<u8>);

impl MessageWriter {
    /// An empty message.
    pub fn new() -> Self {
        Self::default()
    }

    /// A numeric field (also booleans and enums).
    #[must_use]
    pub fn number(mut self, field: u32, value: u64) -> Self {
        write_varint(&mut self.0, u64::from(field) << 3 | WIRE_VARINT);
        write_varint(&mut self.0, value);
        self
    }

    /// A field of bytes, text or a message.
    #[must_use]
    pub fn bytes(mut self, field: u32, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        write_varint(&mut self.0, u64::from(field) << 3 | WIRE_BYTES);
        write_varint(&mut self.0, value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// The message.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    /// The message, preceded by [`MAGIC`].
    pub fn finish_with_magic(self) -> Vec<u8> {
        [MAGIC.as_slice(), &self.0].concat()
    }
}

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// A number.
    Number(u64),
    /// Bytes, text or a message.
    Bytes(&'a [u8]),
}

impl<'a> FieldValue<'a> {
    /// The number, 0 if the value is not one.
    pub fn as_number(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Bytes(_) => 0,
        }
    }

    /// The bytes, empty if the value is a number.
    pub fn as_bytes(self) -> &'a [u8] {
        match self {
            Self::Number(_) => &[],
            Self::Bytes(bytes) => bytes,
        }
    }

    /// The bytes as text.
    pub fn as_text(self) -> String {
        String::from_utf8_lossy(self.as_bytes()).into_owned()
    }
}

/// Calls `visit` with number and value of each field of `message`.
///
/// # Errors
/// `Io` if the bytes are not a message, and those of `visit`.
pub fn read_message<'a>(
    mut message: &'a [u8],
    mut visit: impl FnMut(u32, FieldValue<'a>) -> Result<()>,
) -> Result<()> {
    while !message.is_empty() {
        let key = read_varint(&mut message).ok_or_else(malformed)?;
        let field = u32::try_from(key >> 3).map_err(|_| malformed())?;
        let value = match key & 7 {
            WIRE_VARINT => FieldValue::Number(read_varint(&mut message).ok_or_else(malformed)?),
            WIRE_BYTES => {
                let length = read_varint(&mut message).ok_or_else(malformed)?;
                FieldValue::Bytes(take(&mut message, length)?)
            }
            WIRE_FIXED64 => FieldValue::Bytes(take(&mut message, 8)?),
            WIRE_FIXED32 => FieldValue::Bytes(take(&mut message, 4)?),
            _ => return Err(malformed()),
        };
        visit(field, value)?;
    }
    Ok(())
}

/// The message after [`MAGIC`], or all of `bytes` if there is none.
pub fn strip_magic(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MAGIC.as_slice()).unwrap_or(bytes)
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Result<&'a [u8]> {
    let length = usize::try_from(length).map_err(|_| malformed())?;
    let (taken, rest) = bytes.split_at_checked(length).ok_or_else(malformed)?;
    *bytes = rest;
    Ok(taken)
}

fn malformed() -> Error {
    Error::malformed("malformed protobuf message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_and_cut_ones_are_refused() {
        let message = MessageWriter::new().number(1, 300).bytes(2, "text").finish();
        assert_eq!(message, b"\x08\xac\x02\x12\x04text");
        let mut seen = Vec::new();
        read_message(&message, |field, value| {
            seen.push((field, value));
            Ok(())
        })
        .unwrap();
        assert_eq!(seen, [(1, FieldValue::Number(300)), (2, FieldValue::Bytes(b"text"))]);
        for cut in [1, 2, 4, 5, 8] {
            assert!(read_message(&message[..cut], |_, _| Ok(())).is_err(), "cut at {cut}");
        }
    }
}
