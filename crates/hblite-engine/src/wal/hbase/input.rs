//! Bytes of a log, consumed from the front.
//!
//! Every length is checked against the rest, and nothing is copied.

use hblite_model::protobuf;

/// Why something could not be decoded.
#[derive(Debug, Clone, Copy)]
pub(super) enum Damage {
    /// The bytes end.
    End,
    Malformed(&'static str),
}

impl Damage {
    pub(super) fn is_end(self) -> bool {
        matches!(self, Self::End)
    }

    pub(super) fn what(self) -> &'static str {
        match self {
            Self::End => "it runs over the end of the entries",
            Self::Malformed(what) => what,
        }
    }
}

impl From<&'static str> for Damage {
    fn from(what: &'static str) -> Self {
        Self::Malformed(what)
    }
}

pub(super) type Decoded<T> = Result<T, Damage>;

/// Bytes that are consumed from the front.
pub(super) struct Input<'b> {
    rest: &'b [u8],
    length: usize,
}

impl<'b> Input<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes, length: bytes.len() }
    }

    /// How many bytes were consumed.
    pub(super) fn position(&self) -> usize {
        self.length - self.rest.len()
    }

    /// What was not consumed.
    pub(super) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    pub(super) fn take(&mut self, length: usize) -> Decoded<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Damage::End)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Damage::End)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn u8(&mut self) -> Decoded<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Decoded<usize> {
        self.array().map(|bytes| u32::from_be_bytes(bytes) as usize)
    }

    /// A length or count of 32 bits.
    pub(super) fn varint(&mut self) -> Decoded<u32> {
        let before = self.rest;
        match protobuf::read_varint(&mut self.rest) {
            Some(number) => {
                u32::try_from(number).map_err(|_| "a length is larger than 32 bits".into())
            }
            None if before.len() < VARINT_SIZE_MAX => Err(Damage::End),
            None => Err("a length is not a varint".into()),
        }
    }
}

/// Maximum bytes of a varint.
const VARINT_SIZE_MAX: usize = 10;
