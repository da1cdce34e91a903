//! Comparators, with which filters compare rows, families, qualifiers and values.
//!
//! A comparator compares itself with bytes, in this order: `Greater` means that the comparator is
//! greater. Comparators that only match or do not match return `Equal` and `Greater`. The variants
//! name their HBase classes.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use super::big_decimal::BigDecimal;
use super::regex::{RegexEngine, RegexFlags, RegexString};
use crate::error::{Error, Exception, Result};

/// How stored bytes must compare with the given ones (`CompareOperator`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOperator {
    /// Less than the given bytes.
    Less,
    /// Less than or equal to the given bytes.
    LessOrEqual,
    /// Equal to the given bytes.
    Equal,
    /// Not equal to the given bytes.
    NotEqual,
    /// Greater than or equal to the given bytes.
    GreaterOrEqual,
    /// Greater than the given bytes.
    Greater,
    /// No comparison: nothing passes, or it is an error.
    NoOp,
}

impl CompareOperator {
    /// Every operator.
    pub const ALL: &'static [Self] = &[
        Self::Less,
        Self::LessOrEqual,
        Self::Equal,
        Self::NotEqual,
        Self::GreaterOrEqual,
        Self::Greater,
        Self::NoOp,
    ];

    /// HBase's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Less => "LESS",
            Self::LessOrEqual => "LESS_OR_EQUAL",
            Self::Equal => "EQUAL",
            Self::NotEqual => "NOT_EQUAL",
            Self::GreaterOrEqual => "GREATER_OR_EQUAL",
            Self::Greater => "GREATER",
            Self::NoOp => "NO_OP",
        }
    }

    /// The operator with HBase's name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|operator| operator.name() == name)
    }

    /// Whether stored bytes pass, if the given value compares with them as `given_to_stored`.
    ///
    /// # Errors
    /// `IOException` for [`CompareOperator::NoOp`].
    pub fn accepts(self, given_to_stored: Ordering) -> Result<bool> {
        Ok(match self {
            Self::Less => given_to_stored.is_gt(),
            Self::LessOrEqual => given_to_stored.is_ge(),
            Self::Equal => given_to_stored.is_eq(),
            Self::NotEqual => given_to_stored.is_ne(),
            Self::GreaterOrEqual => given_to_stored.is_le(),
            Self::Greater => given_to_stored.is_lt(),
            Self::NoOp => {
                return Err(Error::invalid_argument(Exception::Io, "Unknown Compare op NO_OP"));
            }
        })
    }
}

impl fmt::Display for CompareOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a [`Comparator::Bit`] combines bytes (`BitComparator.BitwiseOp`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BitwiseOperator {
    /// Both bits.
    And,
    /// Either bit.
    Or,
    /// One bit but not both.
    Xor,
}

/// What bytes are compared with.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Comparator {
    /// `BinaryComparator`: byte order.
    Binary(Vec<u8>),
    /// `BinaryPrefixComparator`: byte order of the first bytes, as many as this has.
    BinaryPrefix(Vec<u8>),
    /// `BinaryComponentComparator`: byte order of the bytes at an offset. Bytes that end before
    /// the component does are an error.
    BinaryComponent {
        /// What is compared.
        value: Vec<u8>,
        /// Where the component begins.
        offset: usize,
    },
    /// `BitComparator`: a match if the lengths are equal and the combination has a bit set.
    Bit {
        /// One operand.
        value: Vec<u8>,
        /// How the operands are combined.
        operator: BitwiseOperator,
    },
    /// `LongComparator`: the bytes are a signed big-endian number of 8 bytes.
    Long(i64),
    /// `BigDecimalComparator`: the bytes are a decimal number as `Bytes.toBytes` writes it.
    BigDecimal(BigDecimal),
    /// `NullComparator`: a match if there is no value. Stored bytes, even empty ones, are a value.
    Null,
    /// `RegexStringComparator`: a match if the pattern is found in the text.
    Regex(RegexString),
    /// `SubstringComparator`: a match if the text, converted to lower case, contains this.
    #[non_exhaustive]
    Substring {
        /// The text to look for, in lower case.
        substring: String,
    },
}

impl Comparator {
    /// `BinaryComparator`.
    pub fn binary(value: impl Into<Vec<u8>>) -> Self {
        Self::Binary(value.into())
    }

    /// `BinaryPrefixComparator`.
    pub fn binary_prefix(value: impl Into<Vec<u8>>) -> Self {
        Self::BinaryPrefix(value.into())
    }

    /// `RegexStringComparator` with HBase's defaults: DOTALL, Java's syntax.
    ///
    /// # Errors
    /// `PatternSyntaxException`; see [`RegexString::new`].
    pub fn regex(pattern: &str) -> Result<Self> {
        Ok(Self::Regex(RegexString::new(pattern, RegexFlags::DOTALL, RegexEngine::Java)?))
    }

    /// `SubstringComparator`, ignoring case.
    pub fn substring(substring: &str) -> Self {
        Self::Substring { substring: substring.to_lowercase() }
    }

    /// The simple name of the HBase class.
    pub fn class_name(&self) -> &'static str {
        match self {
            Self::Binary(_) => "BinaryComparator",
            Self::BinaryPrefix(_) => "BinaryPrefixComparator",
            Self::BinaryComponent { .. } => "BinaryComponentComparator",
            Self::Bit { .. } => "BitComparator",
            Self::Long(_) => "LongComparator",
            Self::BigDecimal(_) => "BigDecimalComparator",
            Self::Null => "NullComparator",
            Self::Regex(_) => "RegexStringComparator",
            Self::Substring { .. } => "SubstringComparator",
        }
    }

    /// The comparator's value as bytes (`ByteArrayComparable.getValue`).
    pub fn value(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Binary(value)
            | Self::BinaryPrefix(value)
            | Self::BinaryComponent { value, .. }
            | Self::Bit { value, .. } => Cow::Borrowed(value),
            Self::Long(number) => Cow::Owned(number.to_be_bytes().to_vec()),
            Self::BigDecimal(number) => Cow::Owned(number.to_bytes()),
            Self::Null => Cow::Borrowed(b""),
            Self::Regex(regex) => Cow::Borrowed(regex.pattern().as_bytes()),
            Self::Substring { substring } => Cow::Borrowed(substring.as_bytes()),
        }
    }

    /// Compares this with `bytes`.
    ///
    /// # Errors
    /// `IOException` where HBase's comparator throws: a component beyond the end, a decimal
    /// number of less than 5 bytes or over [`BigDecimal::BYTES_MAX`].
    #[inline]
    pub fn compare(&self, bytes: &[u8]) -> Result<Ordering> {
        Ok(match self {
            Self::Binary(value) => value.as_slice().cmp(bytes),
            Self::BinaryPrefix(value) => {
                value.as_slice().cmp(&bytes[..bytes.len().min(value.len())])
            }
            Self::BinaryComponent { value, offset } => {
                let end = offset.checked_add(value.len());
                let component = end.and_then(|end| bytes.get(*offset..end)).ok_or_else(|| {
                    let length = bytes.len();
                    let message = format!("component at {offset} is beyond {length} bytes");
                    Error::invalid_argument(Exception::Io, message)
                })?;
                value.as_slice().cmp(component)
            }
            Self::Bit { value, operator } => matched(has_bit(value, *operator, bytes)),
            Self::Long(number) => number.cmp(&read_long(bytes)),
            Self::BigDecimal(number) => number.cmp_value(&BigDecimal::from_bytes(bytes)?),
            Self::Null => Ordering::Greater,
            Self::Regex(regex) => matched(regex.is_found_in(bytes)),
            Self::Substring { substring } => matched(contains_folded(bytes, substring)),
        })
    }

    /// Whether stored `bytes` satisfy `operator` with this comparator; never for
    /// [`CompareOperator::NoOp`].
    ///
    /// # Errors
    /// Those of [`Comparator::compare`].
    #[inline]
    pub fn passes(&self, operator: CompareOperator, bytes: &[u8]) -> Result<bool> {
        if operator == CompareOperator::NoOp {
            return Ok(false);
        }
        operator.accepts(self.compare(bytes)?)
    }
}

fn matched(is_match: bool) -> Ordering {
    if is_match { Ordering::Equal } else { Ordering::Greater }
}

fn has_bit(value: &[u8], operator: BitwiseOperator, bytes: &[u8]) -> bool {
    value.len() == bytes.len()
        && value.iter().zip(bytes).any(|(left, right)| match operator {
            BitwiseOperator::And => left & right != 0,
            BitwiseOperator::Or => left | right != 0,
            BitwiseOperator::Xor => left ^ right != 0,
        })
}

/// The number in the first 8 bytes. HBase reads 8 bytes of memory whatever the length; here, a
/// short value is padded with zeros.
fn read_long(bytes: &[u8]) -> i64 {
    let mut number = [0; 8];
    let length = bytes.len().min(8);
    number[..length].copy_from_slice(&bytes[..length]);
    i64::from_be_bytes(number)
}

/// Whether `bytes` as text, in lower case, contain `substring`. ASCII text is not copied.
fn contains_folded(bytes: &[u8], substring: &str) -> bool {
    if !bytes.is_ascii() {
        return String::from_utf8_lossy(bytes).to_lowercase().contains(substring);
    }
    let wanted = substring.as_bytes();
    let Some(&first) = wanted.first() else {
        return true;
    };
    bytes.len() >= wanted.len()
        && bytes[..=bytes.len() - wanted.len()].iter().enumerate().any(|(at, byte)| {
            byte.to_ascii_lowercase() == first
                && bytes[at..at + wanted.len()]
                    .iter()
                    .zip(wanted)
                    .all(|(byte, wanted)| byte.to_ascii_lowercase() == *wanted)
        })
}
