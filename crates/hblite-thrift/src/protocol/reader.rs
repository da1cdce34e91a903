//! Reads the values of one message in either protocol.
//!
//! A required field that is missing does not stop the reader: the rest of the message is read, so
//! that the connection stays usable, and [`Reader::missing`] returns what was missing.

use super::error::{ProtocolError, Result};
use super::input::Input;
use super::{MessageHead, MessageType, NESTING_MAX, Protocol, types};

/// First bytes of a message in the binary protocol, version 1. The low byte is the message type.
const BINARY_VERSION: u32 = 0x8001_0000;
/// First byte of a message in the compact protocol.
pub(crate) const COMPACT_ID: u8 = 0x82;
const COMPACT_VERSION: u8 = 1;
/// The longest name of a method.
const NAME_MAX: usize = 256;
/// Memory for elements per byte of the largest message.
const ELEMENT_MEMORY: usize = 6;
/// The memory of a binary value for each byte: itself, and its copy in an operation.
const BYTES_FACTOR: usize = 2;
/// The overhead of such a value.
const ALLOCATION_BYTES: usize = 16;

/// Reads one message.
pub(crate) struct Reader<'i> {
    input: &'i mut Input,
    protocol: Protocol,
    depth: usize,
    /// Bytes of memory that elements of containers may still take.
    memory_left: usize,
    /// Number of the last field of each open struct (compact).
    last_ids: Vec<i16>,
    /// The value of a boolean field, which the compact protocol encodes in the field's type.
    pending_bool: Option<bool>,
    missing: Option<String>,
}

impl<'i> Reader<'i> {
    pub(crate) fn new(input: &'i mut Input, protocol: Protocol, message_size_max: usize) -> Self {
        Self {
            input,
            protocol,
            depth: 0,
            memory_left: message_size_max.saturating_mul(ELEMENT_MEMORY),
            last_ids: Vec::new(),
            pending_bool: None,
            missing: None,
        }
    }

    /// All that is needed of the message has been read.
    pub(crate) fn message_is_read(&mut self) -> Result<()> {
        self.input.message_is_read()
    }

    /// The first required field that was missing, in the words of Thrift's Java library.
    pub(crate) fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Notes that a required field is missing.
    pub(crate) fn set_missing(&mut self, of: &str, field: &str) {
        self.missing.get_or_insert_with(|| {
            format!("Required field '{field}' was not present! Struct: {of}")
        });
    }

    /// Accounts for memory that a container takes for `count` elements of `size` bytes.
    pub(crate) fn charge(&mut self, count: usize, size: usize) -> Result<()> {
        match self.memory_left.checked_sub(count.saturating_mul(size)) {
            Some(left) => self.memory_left = left,
            None => {
                let message = "its lists and maps take too much memory".to_owned();
                return Err(ProtocolError::TooLarge(message));
            }
        }
        match self.input.allowance().try_take(count.saturating_mul(size)) {
            true => Ok(()),
            false => Err(ProtocolError::NoMemory),
        }
    }

    pub(crate) fn message_head(&mut self) -> Result<MessageHead> {
        match self.protocol {
            Protocol::Binary => self.binary_head(),
            Protocol::Compact => self.compact_head(),
        }
    }

    fn binary_head(&mut self) -> Result<MessageHead> {
        let first = self.input.take_array().map(u32::from_be_bytes)?;
        if first & 0x8000_0000 == 0 {
            // Without a version, as old clients write it: the first number is the name's length.
            let name = self.name(first as usize)?;
            let [kind] = self.input.take_array()?;
            let sequence = self.input.take_array().map(i32::from_be_bytes)?;
            return Ok(MessageHead { name, kind: message_type(kind)?, sequence });
        }
        if first & 0xffff_0000 != BINARY_VERSION {
            return Err(ProtocolError::malformed("Bad version in readMessageBegin"));
        }
        let kind = message_type(first.to_be_bytes()[3])?;
        let length = self.input.take_array().map(u32::from_be_bytes)?;
        let name = self.name(length as usize)?;
        let sequence = self.input.take_array().map(i32::from_be_bytes)?;
        Ok(MessageHead { name, kind, sequence })
    }

    fn compact_head(&mut self) -> Result<MessageHead> {
        let [id, version] = self.input.take_array()?;
        if id != COMPACT_ID || version & 0x1f != COMPACT_VERSION {
            return Err(ProtocolError::malformed("neither compact nor binary protocol, version 1"));
        }
        let kind = message_type(version >> 5)?;
        let sequence = self.varint()? as i32;
        let length = self.length()?;
        Ok(MessageHead { name: self.name(length)?, kind, sequence })
    }

    fn name(&mut self, length: usize) -> Result<String> {
        if length > NAME_MAX {
            return Err(ProtocolError::malformed("the name of the method is too long"));
        }
        Ok(String::from_utf8_lossy(self.input.take(length)?).into_owned())
    }

    pub(crate) fn struct_begin(&mut self) -> Result<()> {
        self.enter()?;
        self.last_ids.push(0);
        Ok(())
    }

    pub(crate) fn struct_end(&mut self) {
        self.depth -= 1;
        self.last_ids.pop();
    }

    fn enter(&mut self) -> Result<()> {
        if self.depth == NESTING_MAX {
            return Err(ProtocolError::malformed(format!("nested more than {NESTING_MAX} deep")));
        }
        self.depth += 1;
        Ok(())
    }

    /// Type and number of the next field; `None` after the last.
    pub(crate) fn field(&mut self) -> Result<Option<(u8, i16)>> {
        let [first] = self.input.take_array()?;
        if first == types::STOP {
            return Ok(None);
        }
        if self.protocol == Protocol::Binary {
            return Ok(Some((first, self.input.take_array().map(i16::from_be_bytes)?)));
        }
        let compact = first & 0x0f;
        let kind = compact_type(compact)?;
        let last = self.last_ids.last().copied().unwrap_or(0);
        let id = match first >> 4 {
            0 => self.zigzag()? as i16,
            difference => last.wrapping_add(i16::from(difference)),
        };
        if let Some(last) = self.last_ids.last_mut() {
            *last = id;
        }
        if kind == types::BOOL {
            self.pending_bool = Some(compact == 1);
        }
        Ok(Some((kind, id)))
    }

    pub(crate) fn bool(&mut self) -> Result<bool> {
        if let Some(value) = self.pending_bool.take() {
            return Ok(value);
        }
        let [byte] = self.input.take_array()?;
        Ok(byte == 1)
    }

    pub(crate) fn i8(&mut self) -> Result<i8> {
        self.input.take_array().map(i8::from_be_bytes)
    }

    pub(crate) fn i16(&mut self) -> Result<i16> {
        match self.protocol {
            Protocol::Binary => self.input.take_array().map(i16::from_be_bytes),
            Protocol::Compact => Ok(self.zigzag()? as i16),
        }
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        match self.protocol {
            Protocol::Binary => self.input.take_array().map(i32::from_be_bytes),
            Protocol::Compact => Ok(self.zigzag()? as i32),
        }
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        match self.protocol {
            Protocol::Binary => self.input.take_array().map(i64::from_be_bytes),
            Protocol::Compact => self.zigzag(),
        }
    }

    pub(crate) fn f64(&mut self) -> Result<f64> {
        match self.protocol {
            Protocol::Binary => self.input.take_array().map(f64::from_be_bytes),
            Protocol::Compact => self.input.take_array().map(f64::from_le_bytes),
        }
    }

    /// A value that is going to be copied.
    pub(crate) fn bytes(&mut self) -> Result<&[u8]> {
        let length = self.length()?;
        self.charge(1, length.saturating_mul(BYTES_FACTOR) + ALLOCATION_BYTES)?;
        self.input.take(length)
    }

    fn skip_bytes(&mut self) -> Result<()> {
        let length = self.length()?;
        self.input.take(length).map(drop)
    }

    /// Type of the elements and their number, of a list or set.
    pub(crate) fn list_begin(&mut self) -> Result<(u8, usize)> {
        self.enter()?;
        let [first] = self.input.take_array()?;
        if self.protocol == Protocol::Binary {
            let count = self.count()?;
            return Ok((first, count));
        }
        let count = match first >> 4 {
            15 => self.count()?,
            count => self.check_count(usize::from(count))?,
        };
        Ok((compact_type(first & 0x0f)?, count))
    }

    /// Types of keys and values, and their number.
    pub(crate) fn map_begin(&mut self) -> Result<(u8, u8, usize)> {
        self.enter()?;
        if self.protocol == Protocol::Binary {
            let [key, value] = self.input.take_array()?;
            return Ok((key, value, self.count()?));
        }
        let count = self.count()?;
        if count == 0 {
            return Ok((types::STOP, types::STOP, 0));
        }
        let [kinds] = self.input.take_array()?;
        Ok((compact_type(kinds >> 4)?, compact_type(kinds & 0x0f)?, count))
    }

    pub(crate) fn container_end(&mut self) {
        self.depth -= 1;
    }

    /// Reads a value of any type and drops it.
    pub(crate) fn skip(&mut self, kind: u8) -> Result<()> {
        match kind {
            types::BOOL => self.bool().map(drop),
            types::BYTE => self.i8().map(drop),
            types::DOUBLE => self.f64().map(drop),
            types::I16 => self.i16().map(drop),
            types::I32 => self.i32().map(drop),
            types::I64 => self.i64().map(drop),
            types::STRING => self.skip_bytes(),
            types::STRUCT => {
                self.struct_begin()?;
                while let Some((kind, _)) = self.field()? {
                    self.skip(kind)?;
                }
                self.struct_end();
                Ok(())
            }
            types::LIST | types::SET => {
                let (kind, count) = self.list_begin()?;
                self.skip_elements(count, |reader| reader.skip(kind))
            }
            types::MAP => {
                let (key, value, count) = self.map_begin()?;
                self.skip_elements(count, |reader| {
                    reader.skip(key).and_then(|()| reader.skip(value))
                })
            }
            _ => Err(ProtocolError::malformed(format!("unknown type {kind}"))),
        }
    }

    fn skip_elements(
        &mut self,
        count: usize,
        mut skip: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        for _ in 0..count {
            skip(self)?;
        }
        self.container_end();
        Ok(())
    }

    /// The length of a string: one that exceeds the rest of the message is an error before anything
    /// is read.
    fn length(&mut self) -> Result<usize> {
        self.count()
    }

    /// The number of elements of a container, each of which takes at least a byte.
    fn count(&mut self) -> Result<usize> {
        let count = match self.protocol {
            Protocol::Binary => self.input.take_array().map(u32::from_be_bytes)?,
            Protocol::Compact => self.varint()? as u32,
        };
        self.check_count(count as usize)
    }

    fn check_count(&self, count: usize) -> Result<usize> {
        if i32::try_from(count).is_err() {
            return Err(ProtocolError::malformed("negative size"));
        }
        if count > self.input.left() {
            let message =
                format!("a size of {count}, and the message has {} left", self.input.left());
            return Err(ProtocolError::TooLarge(message));
        }
        Ok(count)
    }

    fn zigzag(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.input.take_array()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ProtocolError::malformed("a number of more than 10 bytes"))
    }
}

fn message_type(number: u8) -> Result<MessageType> {
    let unknown = || ProtocolError::malformed(format!("unknown message type {number}"));
    MessageType::from_number(number).ok_or_else(unknown)
}

fn compact_type(number: u8) -> Result<u8> {
    let kind = types::COMPACT.get(usize::from(number)).copied();
    kind.ok_or_else(|| ProtocolError::malformed(format!("unknown type {number}")))
}
