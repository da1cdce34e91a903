//! Text and bytes in a key: how a value is transformed, where it ends, and what it must not
//! contain.
//!
//! A value of unknown length that is followed by another field needs a mark for its end. The mark
//! must sort before every byte of a value; otherwise "web" and "web-1" would be in the wrong order.
//! So values may only contain bytes greater than the delimiter, or their zero bytes are escaped.

use std::borrow::Cow;

use crate::value::Value;

/// The transformation of a value before it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Turn {
    /// Written unchanged.
    Plain,
    /// Characters reversed: `www.iteblog.com` → `moc.golbeti.www`.
    Reversed,
    /// Labels reversed: `www.cnn.com` → `com.cnn.www`.
    Domain,
}

/// Where a value ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// After this many bytes. Shorter text is padded with zero bytes, which values must not
    /// contain; bytes must have exactly this width.
    Fixed(u16),
    /// Before this byte, which is omitted after the last field. Values contain greater bytes only.
    Delimiter(u8),
    /// Before `00 01`; a zero byte in the value is written `00 FF`. Omitted after the last field.
    Escaped,
    /// At the end of the key: the last field only.
    Rest,
}

/// Text or bytes as a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text {
    /// Whether values must be UTF-8 and are returned as text.
    pub is_text: bool,
    /// The transformation of a value.
    pub turn: Turn,
    /// Where a value ends.
    pub end: End,
}

const ESCAPED_ZERO: [u8; 2] = [0x00, 0xFF];
const ESCAPED_END: [u8; 2] = [0x00, 0x01];

impl Text {
    /// The name of the type in the design language, without its arguments.
    pub fn name(&self) -> &'static str {
        match (self.is_text, self.turn) {
            (false, _) => "bytes",
            (true, Turn::Plain) => "str",
            (true, Turn::Reversed) => "reversed_str",
            (true, Turn::Domain) => "domain",
        }
    }

    /// The value in the form that the field sorts by.
    pub(crate) fn turned<'v>(&self, value: &'v Value<'_>) -> Result<Cow<'v, [u8]>, String> {
        let bytes = value
            .as_bytes()
            .ok_or_else(|| format!("expects {} but got {value}, {}", self.kind(), value.kind()))?;
        if !self.is_text {
            return Ok(Cow::Borrowed(bytes));
        }
        let text =
            std::str::from_utf8(bytes).map_err(|error| format!("{value} is not UTF-8: {error}"))?;
        Ok(match self.turn {
            Turn::Plain => Cow::Borrowed(bytes),
            Turn::Reversed => Cow::Owned(reverse(text).into_bytes()),
            Turn::Domain => Cow::Owned(reverse_domain(text).into_bytes()),
        })
    }

    fn kind(&self) -> &'static str {
        if self.is_text { "text" } else { "bytes" }
    }

    /// Writes the value without the mark for its end: the beginning of every key with this value or
    /// a longer one.
    pub(crate) fn push_open(
        &self,
        value: &Value<'_>,
        is_last: bool,
        key: &mut Vec<u8>,
    ) -> Result<(), String> {
        let bytes = self.turned(value)?;
        match self.end {
            End::Fixed(width) => {
                let length = bytes.len();
                if length > usize::from(width) {
                    return Err(format!("{value} has {length} bytes, but the field has {width}"));
                }
                if self.is_text && bytes.contains(&0) {
                    return Err(format!("{value} contains a zero byte, which pads shorter values"));
                }
            }
            End::Delimiter(delimiter) if !is_last => {
                if let Some(byte) = bytes.iter().find(|byte| **byte <= delimiter) {
                    return Err(format!(
                        "{value} has the byte {byte:#04x}, and the delimiter {delimiter:#04x} \
                         keeps order only before greater ones: escape it, str(escape)"
                    ));
                }
            }
            End::Escaped if !is_last => {
                for &byte in bytes.iter() {
                    match byte {
                        0 => key.extend_from_slice(&ESCAPED_ZERO),
                        _ => key.push(byte),
                    }
                }
                return Ok(());
            }
            End::Delimiter(_) | End::Escaped | End::Rest => {}
        }
        key.extend_from_slice(&bytes);
        Ok(())
    }

    /// Writes the mark for the end of a value of `length` bytes.
    pub(crate) fn push_end(
        &self,
        length: usize,
        is_last: bool,
        key: &mut Vec<u8>,
    ) -> Result<(), String> {
        match self.end {
            End::Fixed(width) => {
                let missing = usize::from(width) - length.min(usize::from(width));
                if missing > 0 && !self.is_text {
                    return Err(format!("the value has {length} bytes, but the field has {width}"));
                }
                key.resize(key.len() + missing, 0);
            }
            End::Delimiter(delimiter) if !is_last => key.push(delimiter),
            End::Escaped if !is_last => key.extend_from_slice(&ESCAPED_END),
            End::Delimiter(_) | End::Escaped | End::Rest => {}
        }
        Ok(())
    }

    /// Takes a value from the front of `key`: the value, and what follows its end.
    pub(crate) fn read<'k>(
        &self,
        key: &'k [u8],
        is_last: bool,
    ) -> Result<(Value<'k>, &'k [u8]), String> {
        let (bytes, rest): (Cow<'k, [u8]>, &[u8]) = match self.end {
            End::Fixed(width) => {
                let (field, rest) = key
                    .split_at_checked(usize::from(width))
                    .ok_or_else(|| format!("the key ends within its {width} bytes"))?;
                // Text was padded with zero bytes, which it does not contain itself.
                let end = field.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
                (Cow::Borrowed(if self.is_text { &field[..end] } else { field }), rest)
            }
            End::Delimiter(delimiter) if !is_last => {
                let at = key.iter().position(|byte| *byte == delimiter);
                let at = at.ok_or_else(|| format!("its delimiter {delimiter:#04x} is missing"))?;
                (Cow::Borrowed(&key[..at]), &key[at + 1..])
            }
            End::Escaped if !is_last => unescape(key)?,
            End::Delimiter(_) | End::Escaped | End::Rest => (Cow::Borrowed(key), &[]),
        };
        Ok((self.value_of(bytes)?, rest))
    }

    fn value_of<'k>(&self, bytes: Cow<'k, [u8]>) -> Result<Value<'k>, String> {
        if !self.is_text {
            return Ok(Value::Bytes(bytes));
        }
        let text = match bytes {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed),
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Cow::Owned(text)),
                Err(error) => Err(error.utf8_error()),
            },
        };
        let text = text.map_err(|error| format!("its bytes are not UTF-8: {error}"))?;
        Ok(Value::Text(match self.turn {
            Turn::Plain => text,
            Turn::Reversed => Cow::Owned(reverse(&text)),
            Turn::Domain => Cow::Owned(reverse_domain(&text)),
        }))
    }
}

fn unescape(key: &[u8]) -> Result<(Cow<'_, [u8]>, &[u8]), String> {
    let mut value = Vec::new();
    let mut at = 0;
    while let Some(&byte) = key.get(at) {
        if byte != 0 {
            value.push(byte);
            at += 1;
            continue;
        }
        match key.get(at..at + 2) {
            Some(pair) if pair == ESCAPED_ZERO => value.push(0),
            Some(pair) if pair == ESCAPED_END => return Ok((Cow::Owned(value), &key[at + 2..])),
            _ => break,
        }
        at += 2;
    }
    Err("its end, 00 01, is missing".to_owned())
}

/// The characters in reverse order.
///
/// ```
/// assert_eq!(hblite_rowkey::reverse("www.iteblog.com"), "moc.golbeti.www");
/// ```
pub fn reverse(text: &str) -> String {
    text.chars().rev().collect()
}

/// The labels of a domain in reverse order.
///
/// ```
/// assert_eq!(hblite_rowkey::reverse_domain("www.cnn.com"), "com.cnn.www");
/// ```
pub fn reverse_domain(domain: &str) -> String {
    let mut labels: Vec<&str> = domain.split('.').collect();
    labels.reverse();
    labels.join(".")
}
