//! The parts of a key, as plain data.

use crate::hash::{MD5_CHARACTERS, MD5_WIDTH};
use crate::number::Number;
use crate::text::{End, Text, Turn};

/// The longest row key that HBase accepts.
pub const KEY_LENGTH_MAX: usize = i16::MAX as usize;

/// A piece of a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// One of n prefixes, which spreads rows that would otherwise be adjacent.
    Salt(Salt),
    /// `field % count`: rows with adjacent times get different prefixes.
    Bucket(Bucket),
    /// The beginning of a hash of fields that are also in the key themselves.
    Hash(HashPrefix),
    /// Bytes that every key of the design has here: a record type, a dash.
    Literal(Vec<u8>),
    /// A value of the record.
    Field(Field),
}

/// A value of the record in the key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name, for values and queries.
    pub name: String,
    /// How it is written.
    pub encoding: Encoding,
}

/// How a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// A number of fixed width.
    Number(Number),
    /// Text or bytes.
    Text(Text),
    /// The MD5 digest of the value, 16 bytes. The value cannot be read back.
    Md5,
    /// This many characters of the MD5 digest in hexadecimal. The value cannot be read back.
    Md5Hex(u8),
}

/// One of n prefixes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Salt {
    /// What the prefixes look like.
    pub labels: Labels,
    /// How the prefix is chosen.
    pub by: SaltBy,
}

/// What the prefixes of a salt look like.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Labels {
    /// The numbers from 0, in one byte if 256 are enough, otherwise in two.
    Numbered(u32),
    /// These bytes, all of one length.
    Texts(Vec<Vec<u8>>),
}

/// How the salt of a row is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SaltBy {
    /// At random by the writer: even for one hot row, but finding a row takes n reads.
    Random,
    /// By a hash of these fields: a query that knows them takes one read.
    Fields(Vec<String>),
    /// By a hash of everything that follows in the key.
    Rest,
}

/// `field % count`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// The number that is divided.
    pub field: String,
    /// How many buckets.
    pub count: u32,
}

/// The beginning of an MD5 digest of concatenated fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HashPrefix {
    /// The hashed fields, as written in the key without delimiter and padding.
    pub fields: Vec<String>,
    /// How much of the digest is written.
    pub form: HashForm,
}

/// How much of a digest is written, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HashForm {
    /// This many hexadecimal characters.
    Hex(u8),
    /// This many bytes.
    Bytes(u8),
}

/// The maximum number of salts or buckets: what two bytes can hold.
pub const COUNT_MAX: u32 = 1 << 16;

impl Labels {
    /// How many there are.
    pub fn count(&self) -> u32 {
        match self {
            Self::Numbered(count) => *count,
            Self::Texts(texts) => u32::try_from(texts.len()).unwrap_or(u32::MAX),
        }
    }

    /// Bytes of each label.
    pub fn width(&self) -> usize {
        match self {
            Self::Numbered(count) => numbered_width(*count),
            Self::Texts(texts) => texts.first().map_or(0, Vec::len),
        }
    }

    /// Writes the label with this number, which must be below [`Labels::count`].
    #[inline]
    pub(crate) fn push(&self, index: u32, key: &mut Vec<u8>) {
        match self {
            Self::Numbered(count) => push_numbered(*count, index, key),
            Self::Texts(texts) => {
                if let Some(text) = texts.get(index as usize) {
                    key.extend_from_slice(text);
                }
            }
        }
    }
}

/// Bytes that a number below `count` takes.
pub(crate) fn numbered_width(count: u32) -> usize {
    if count <= 256 { 1 } else { 2 }
}

#[inline]
pub(crate) fn push_numbered(count: u32, index: u32, key: &mut Vec<u8>) {
    if count > 256 {
        key.push((index >> 8) as u8);
    }
    key.push(index as u8);
}

impl HashForm {
    /// Bytes in the key.
    pub fn width(self) -> usize {
        match self {
            Self::Hex(count) | Self::Bytes(count) => usize::from(count),
        }
    }

    pub(crate) fn check(self) -> Result<(), String> {
        match self {
            Self::Hex(0) | Self::Bytes(0) => {
                Err("a prefix of 0 characters of a hash spreads nothing: use 5 or 6".to_owned())
            }
            Self::Hex(count) if count > MD5_CHARACTERS => {
                Err(format!("an MD5 digest has 32 hexadecimal characters, not {count}"))
            }
            Self::Bytes(count) if usize::from(count) > MD5_WIDTH => {
                Err(format!("an MD5 digest has 16 bytes, not {count}"))
            }
            _ => Ok(()),
        }
    }
}

impl Encoding {
    /// Text that ends at a zero byte unless it is the last field.
    pub const TEXT: Self =
        Self::Text(Text { is_text: true, turn: Turn::Plain, end: End::Delimiter(0) });

    /// Text in this many bytes.
    pub const fn text(width: u16) -> Self {
        Self::Text(Text { is_text: true, turn: Turn::Plain, end: End::Fixed(width) })
    }

    /// The number of bytes in every key, or `None` if it depends on the value.
    pub fn width(&self) -> Option<usize> {
        match self {
            Self::Number(number) => Some(number.width()),
            Self::Text(Text { end: End::Fixed(width), .. }) => Some(usize::from(*width)),
            Self::Text(_) => None,
            Self::Md5 => Some(MD5_WIDTH),
            Self::Md5Hex(characters) => Some(usize::from(*characters)),
        }
    }

    /// Whether keys sort like the values, or in the opposite order.
    pub fn is_ordered(&self) -> bool {
        match self {
            Self::Number(number) => number.is_ordered(),
            Self::Text(text) => text.turn == Turn::Plain,
            Self::Md5 | Self::Md5Hex(_) => false,
        }
    }

    /// Whether greater values sort first.
    pub fn is_descending(&self) -> bool {
        matches!(self, Self::Number(number) if number.is_descending())
    }

    /// Whether the value can be read back from the key.
    pub fn is_reversible(&self) -> bool {
        !matches!(self, Self::Md5 | Self::Md5Hex(_))
    }
}

impl Field {
    /// A field.
    pub fn new(name: impl Into<String>, encoding: Encoding) -> Self {
        Self { name: name.into(), encoding }
    }
}
