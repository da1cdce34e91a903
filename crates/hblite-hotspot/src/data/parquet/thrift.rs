//! Thrift's compact protocol, as far as Parquet needs it.
//!
//! ```text
//! field    delta of the id (4 bits) | kind (4 bits), or 0 | kind, then the id as a zigzag varint
//! struct   fields, then a zero byte
//! list     count (4 bits) | kind (4 bits), or 15 | kind, then the count as a varint
//! binary   length as a varint, bytes
//! ```
//!
//! Invariant: a list never has more elements than bytes are left.

use super::levels::varint;
use super::{Bad, Result};

/// The kind of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    True,
    False,
    Byte,
    Int,
    Double,
    Binary,
    List,
    Map,
    Struct,
}

/// Structs within structs, beyond which something is wrong.
const DEPTH_MAX: usize = 32;

impl Kind {
    fn of(code: u8) -> Result<Self> {
        Ok(match code {
            1 => Self::True,
            2 => Self::False,
            3 => Self::Byte,
            4..=6 => Self::Int,
            7 => Self::Double,
            8 => Self::Binary,
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            _ => return Err(Bad::new(format!("unknown Thrift type {code}"))),
        })
    }
}

/// A place in Thrift's bytes.
#[derive(Debug)]
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    position: usize,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.position
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8]> {
        if count > self.left() {
            return Err(Bad::new("it ends early"));
        }
        let bytes = &self.bytes[self.position..self.position + count];
        self.position += count;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn varint(&mut self) -> Result<u64> {
        let mut rest = &self.bytes[self.position..];
        let value = varint(&mut rest)?;
        self.position = self.bytes.len() - rest.len();
        Ok(value)
    }

    /// An integer of 16 to 64 bits.
    pub(super) fn int(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A length or count.
    pub(super) fn size(&mut self) -> Result<usize> {
        let value = self.int()?;
        usize::try_from(value).map_err(|_| Bad::new(format!("a size of {value}")))
    }

    pub(super) fn binary(&mut self) -> Result<&'b [u8]> {
        let length = self.varint()?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// Calls `each` with the reader before each element of a list of structs.
    pub(super) fn structs(&mut self, mut each: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let (kind, count) = self.list()?;
        if count > 0 && kind != Kind::Struct {
            return Err(Bad::new("a list has the wrong type"));
        }
        (0..count).try_for_each(|_| each(self))
    }

    fn list(&mut self) -> Result<(Kind, usize)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        let kind = Kind::of(head & 0x0F)?;
        match usize::try_from(count).ok().filter(|count| *count <= self.left()) {
            Some(count) => Ok((kind, count)),
            None => Err(Bad::new(format!("a list of {count} in {} bytes", self.left()))),
        }
    }

    /// Calls `each` with the id and kind of each field of a struct. It returns whether it has read
    /// the value; otherwise the value is skipped.
    pub(super) fn fields(
        &mut self,
        mut each: impl FnMut(&mut Self, i64, Kind) -> Result<bool>,
    ) -> Result<()> {
        let mut id = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            id = match head >> 4 {
                0 => self.int()?,
                delta => id.saturating_add(i64::from(delta)),
            };
            let kind = Kind::of(head & 0x0F)?;
            if !each(self, id, kind)? {
                self.skip(kind, 0)?;
            }
        }
    }

    fn skip(&mut self, kind: Kind, depth: usize) -> Result<()> {
        if depth > DEPTH_MAX {
            return Err(Bad::new("it is nested too deeply"));
        }
        match kind {
            Kind::True | Kind::False => Ok(()),
            Kind::Byte => self.byte().map(drop),
            Kind::Int => self.varint().map(drop),
            Kind::Double => self.take(8).map(drop),
            Kind::Binary => self.binary().map(drop),
            Kind::List => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth))
            }
            Kind::Map => {
                let count = self.varint()?;
                if count == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                let (key, value) = (Kind::of(kinds >> 4)?, Kind::of(kinds & 0x0F)?);
                // Each element takes at least a byte, so this ends with the bytes.
                (0..count).try_for_each(|_| {
                    self.skip_element(key, depth)?;
                    self.skip_element(value, depth)
                })
            }
            Kind::Struct => loop {
                let head = self.byte()?;
                if head == 0 {
                    return Ok(());
                }
                if head >> 4 == 0 {
                    self.int()?;
                }
                self.skip(Kind::of(head & 0x0F)?, depth + 1)?;
            },
        }
    }

    /// In lists and maps, booleans take a byte.
    fn skip_element(&mut self, kind: Kind, depth: usize) -> Result<()> {
        match kind {
            Kind::True | Kind::False => self.byte().map(drop),
            kind => self.skip(kind, depth + 1),
        }
    }
}
