//! Writes the values of one message in either protocol, into memory.

use super::reader::COMPACT_ID;
use super::{MessageHead, Protocol, types};

/// Writes one message.
pub(crate) struct Writer {
    protocol: Protocol,
    bytes: Vec<u8>,
    /// Number of the last field of each open struct (compact).
    last_ids: Vec<i16>,
}

impl Writer {
    /// A writer that appends to `bytes`.
    pub(crate) fn new(protocol: Protocol, bytes: Vec<u8>) -> Self {
        Self { protocol, bytes, last_ids: Vec::new() }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn message_head(&mut self, head: &MessageHead) {
        match self.protocol {
            Protocol::Binary => {
                self.bytes.extend([0x80, 1, 0, head.kind as u8]);
                self.bytes(head.name.as_bytes());
                self.bytes.extend(head.sequence.to_be_bytes());
            }
            Protocol::Compact => {
                self.bytes.extend([COMPACT_ID, 1 | (head.kind as u8) << 5]);
                self.varint(u64::from(head.sequence as u32));
                self.bytes(head.name.as_bytes());
            }
        }
    }

    pub(crate) fn struct_begin(&mut self) {
        self.last_ids.push(0);
    }

    pub(crate) fn struct_end(&mut self) {
        self.bytes.push(types::STOP);
        self.last_ids.pop();
    }

    /// The head of a field that is not a boolean, or of a boolean in the binary protocol.
    pub(crate) fn field(&mut self, kind: u8, id: i16) {
        match self.protocol {
            Protocol::Binary => {
                self.bytes.push(kind);
                self.bytes.extend(id.to_be_bytes());
            }
            Protocol::Compact => self.compact_field(compact_number(kind), id),
        }
    }

    /// A boolean field.
    pub(crate) fn bool_field(&mut self, id: i16, value: bool) {
        match self.protocol {
            Protocol::Binary => {
                self.field(types::BOOL, id);
                self.bytes.push(u8::from(value));
            }
            Protocol::Compact => self.compact_field(if value { 1 } else { 2 }, id),
        }
    }

    fn compact_field(&mut self, number: u8, id: i16) {
        let last = self.last_ids.last().copied().unwrap_or(0);
        match u8::try_from(i32::from(id) - i32::from(last)) {
            Ok(difference @ 1..=15) => self.bytes.push(difference << 4 | number),
            _ => {
                self.bytes.push(number);
                self.zigzag(i64::from(id));
            }
        }
        if let Some(last) = self.last_ids.last_mut() {
            *last = id;
        }
    }

    /// A boolean that is an element of a container.
    pub(crate) fn bool(&mut self, value: bool) {
        let byte = match self.protocol {
            Protocol::Binary => u8::from(value),
            Protocol::Compact => 2 - u8::from(value),
        };
        self.bytes.push(byte);
    }

    pub(crate) fn i8(&mut self, value: i8) {
        self.bytes.extend(value.to_be_bytes());
    }

    pub(crate) fn i16(&mut self, value: i16) {
        match self.protocol {
            Protocol::Binary => self.bytes.extend(value.to_be_bytes()),
            Protocol::Compact => self.zigzag(i64::from(value)),
        }
    }

    pub(crate) fn i32(&mut self, value: i32) {
        match self.protocol {
            Protocol::Binary => self.bytes.extend(value.to_be_bytes()),
            Protocol::Compact => self.zigzag(i64::from(value)),
        }
    }

    pub(crate) fn i64(&mut self, value: i64) {
        match self.protocol {
            Protocol::Binary => self.bytes.extend(value.to_be_bytes()),
            Protocol::Compact => self.zigzag(value),
        }
    }

    pub(crate) fn f64(&mut self, value: f64) {
        match self.protocol {
            Protocol::Binary => self.bytes.extend(value.to_be_bytes()),
            Protocol::Compact => self.bytes.extend(value.to_le_bytes()),
        }
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) {
        self.size(value.len());
        self.bytes.extend_from_slice(value);
    }

    /// Bytes that are these parts one after another.
    pub(crate) fn bytes_of(&mut self, parts: &[&[u8]]) {
        self.size(parts.iter().map(|part| part.len()).sum());
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
    }

    pub(crate) fn list_begin(&mut self, kind: u8, count: usize) {
        match self.protocol {
            Protocol::Binary => {
                self.bytes.push(kind);
                self.size(count);
            }
            Protocol::Compact if count < 15 => {
                self.bytes.push((count as u8) << 4 | compact_number(kind));
            }
            Protocol::Compact => {
                self.bytes.push(0xf0 | compact_number(kind));
                self.size(count);
            }
        }
    }

    pub(crate) fn map_begin(&mut self, key: u8, value: u8, count: usize) {
        match self.protocol {
            Protocol::Binary => {
                self.bytes.extend([key, value]);
                self.size(count);
            }
            Protocol::Compact => {
                self.size(count);
                if count > 0 {
                    self.bytes.push(compact_number(key) << 4 | compact_number(value));
                }
            }
        }
    }

    /// A length or count. The limit on results keeps it far below 2 GiB.
    fn size(&mut self, size: usize) {
        debug_assert!(i32::try_from(size).is_ok(), "{size} elements or bytes");
        match self.protocol {
            Protocol::Binary => self.bytes.extend((size as u32).to_be_bytes()),
            Protocol::Compact => self.varint(size as u64),
        }
    }

    fn zigzag(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

/// The number of a type in the compact protocol.
fn compact_number(kind: u8) -> u8 {
    let position = types::COMPACT.iter().position(|known| *known == kind);
    position.and_then(|number| u8::try_from(number).ok()).unwrap_or(types::STOP)
}
