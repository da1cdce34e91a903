//! The value of one field of a key.

use std::borrow::Cow;
use std::fmt;

/// The value of a field, which may be borrowed.
///
/// ```
/// use hblite_rowkey::Value;
/// assert_eq!(Value::from(7_u64), Value::Unsigned(7));
/// assert_eq!(Value::from("web1"), Value::Text("web1".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value<'a> {
    /// A number.
    Unsigned(u64),
    /// A number that may be negative.
    Signed(i64),
    /// Text, ordered by its UTF-8 bytes, which is the order of its code points.
    Text(Cow<'a, str>),
    /// Any bytes.
    Bytes(Cow<'a, [u8]>),
    /// What remains in a key of a value that was hashed.
    Digest(Cow<'a, [u8]>),
}

impl Value<'_> {
    /// The same value, borrowing nothing.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Unsigned(number) => Value::Unsigned(number),
            Self::Signed(number) => Value::Signed(number),
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => Value::Bytes(Cow::Owned(bytes.into_owned())),
            Self::Digest(bytes) => Value::Digest(Cow::Owned(bytes.into_owned())),
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<i128> {
        match self {
            Self::Unsigned(number) => Some(i128::from(*number)),
            Self::Signed(number) => Some(i128::from(*number)),
            _ => None,
        }
    }

    /// The text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes of a text, a byte string or a digest.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Text(text) => Some(text.as_bytes()),
            Self::Bytes(bytes) | Self::Digest(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Unsigned(_) | Self::Signed(_) => "a number",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::Digest(_) => "a digest",
        }
    }
}

/// Numbers in decimal, text in quotes, bytes as `Bytes.toStringBinary` prints them.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(number) => write!(f, "{number}"),
            Self::Signed(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{}", Quoted(text.as_bytes())),
            Self::Bytes(bytes) | Self::Digest(bytes) => write!(f, "{}", Quoted(bytes)),
        }
    }
}

/// Bytes between quotes, as the design language writes them.
pub(crate) struct Quoted<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for &byte in self.0 {
            match byte {
                b'"' | b'\\' => write!(f, "\\x{byte:02X}")?,
                b' '..=b'~' => write!(f, "{}", char::from(byte))?,
                _ => write!(f, "\\x{byte:02X}")?,
            }
        }
        f.write_str("\"")
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Unsigned(number)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Unsigned(u64::from(number))
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Signed(number)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(Cow::Owned(bytes))
    }
}
