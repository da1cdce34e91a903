//! OpenTSDB 2.x: bytes of a row, of a column's name, and of a value.
//!
//! ```text
//! row        [metric 3][hour, seconds since 1970, 4][tag name 3][tag value 3]…
//! qualifier  seconds: 2 bytes   oooooooo oooo ffff           offset in seconds, flags
//!            millis:  4 bytes   1111oooo oooooooo oooooooo oo00ffff    offset in milliseconds
//! flags      bit 3: the value is a float; bits 2 to 0: its length in bytes minus 1
//! value      integer: 1, 2, 4 or 8 bytes, the fewest that hold it; float: 4 or 8 bytes
//! compacted  qualifiers one after the other in order of time; their values likewise, and a last
//!            byte: 0, or 1 if some offsets are in seconds and some in milliseconds
//! ```
//!
//! A qualifier of 2 bytes, or of 4 with the first four bits set, is one point; any other of even
//! length is compacted. An offset of seconds is below 3600, so it never begins with four set bits.

use std::fmt;

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
}

/// Seconds of one row.
pub const ROW_SECONDS: u64 = 3_600;

const FLOAT: u8 = 0b1000;
const LENGTH: u8 = 0b0111;
const MILLIS: u8 = 0b1111_0000;

impl Number {
    /// The bytes and the flags that name them.
    pub fn encode(self) -> (Vec<u8>, u8) {
        let (bytes, flags) = match self {
            Self::Integer(number) => (shortest(number), 0),
            Self::Float(number) => {
                let single = number as f32;
                if f64::from(single) == number {
                    (single.to_be_bytes().to_vec(), FLOAT)
                } else {
                    (number.to_be_bytes().to_vec(), FLOAT)
                }
            }
        };
        let length = bytes.len() as u8 - 1;
        (bytes, flags | length)
    }

    /// The number of these bytes and flags; `None` if they do not match.
    pub fn decode(bytes: &[u8], flags: u8) -> Option<Self> {
        let of_eight = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).ok();
        let of_four = |bytes: &[u8]| <[u8; 4]>::try_from(bytes).ok();
        if flags & FLOAT != 0 {
            return match bytes.len() {
                4 => Some(Self::Float(f64::from(f32::from_be_bytes(of_four(bytes)?)))),
                8 => Some(Self::Float(f64::from_be_bytes(of_eight(bytes)?))),
                _ => None,
            };
        }
        Some(Self::Integer(match *bytes {
            [byte] => i64::from(byte as i8),
            [high, low] => i64::from(i16::from_be_bytes([high, low])),
            _ if bytes.len() == 4 => i64::from(i32::from_be_bytes(of_four(bytes)?)),
            _ => i64::from_be_bytes(of_eight(bytes)?),
        }))
    }

    /// Parses the output of [`fmt::Display`].
    pub fn parse(text: &str) -> Option<Self> {
        match text.parse() {
            Ok(integer) => Some(Self::Integer(integer)),
            Err(_) => text.parse().ok().map(Self::Float),
        }
    }
}

fn shortest(number: i64) -> Vec<u8> {
    if let Ok(byte) = i8::try_from(number) {
        byte.to_be_bytes().to_vec()
    } else if let Ok(short) = i16::try_from(number) {
        short.to_be_bytes().to_vec()
    } else if let Ok(word) = i32::try_from(number) {
        word.to_be_bytes().to_vec()
    } else {
        number.to_be_bytes().to_vec()
    }
}

/// Floats always have a decimal point, so that they are read back as floats.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number:?}"),
        }
    }
}

/// The name of a point's column: its offset from the row's time, and the flags of its value.
///
/// ```
/// use hblite_casestudies::studies::time_series::layout::qualifier;
/// assert_eq!(qualifier(74_000, 0), [0x04, 0xA0]); // 74 seconds, an integer of one byte
/// assert_eq!(qualifier(74_500, 0), [0xF0, 0x48, 0xC1, 0x00]); // 74.5 seconds
/// ```
pub fn qualifier(offset_ms: u64, flags: u8) -> Vec<u8> {
    if offset_ms.is_multiple_of(1_000) {
        let bits = ((offset_ms / 1_000) as u16) << 4 | u16::from(flags & 0x0F);
        bits.to_be_bytes().to_vec()
    } else {
        let bits = u32::from(MILLIS) << 24 | (offset_ms as u32) << 6 | u32::from(flags & 0x0F);
        bits.to_be_bytes().to_vec()
    }
}

/// A point's position in a row: offset in milliseconds, and value.
pub type Placed = (u64, Number);

/// The length of the first of these qualifiers.
fn qualifier_length(qualifiers: &[u8]) -> usize {
    if qualifiers.first().is_some_and(|byte| byte & MILLIS == MILLIS) { 4 } else { 2 }
}

/// The points of one column, compacted or not; `None` if the bytes have a different layout.
pub fn decode_column(mut qualifiers: &[u8], mut values: &[u8]) -> Option<Vec<Placed>> {
    let is_compacted = qualifiers.len() > qualifier_length(qualifiers);
    let mut points = Vec::new();
    while !qualifiers.is_empty() {
        let (name, rest) = qualifiers.split_at_checked(qualifier_length(qualifiers))?;
        qualifiers = rest;
        let (offset_ms, flags) = match *name {
            [high, low] => {
                let bits = u16::from_be_bytes([high, low]);
                (u64::from(bits >> 4) * 1_000, (bits & 0x0F) as u8)
            }
            [a, b, c, d] => {
                let bits = u32::from_be_bytes([a, b, c, d]);
                (u64::from(bits >> 6 & 0x3F_FFFF), (bits & 0x0F) as u8)
            }
            _ => return None,
        };
        let (value, rest) = values.split_at_checked(usize::from(flags & LENGTH) + 1)?;
        values = rest;
        points.push((offset_ms, Number::decode(value, flags)?));
    }
    let is_whole = match values {
        [] => !is_compacted,
        [0 | 1] => is_compacted,
        _ => false,
    };
    is_whole.then_some(points)
}

/// Points as one compacted column: its name and its value. They must be in time order.
pub fn encode_compacted(points: &[Placed]) -> (Vec<u8>, Vec<u8>) {
    let (mut qualifiers, mut values) = (Vec::new(), Vec::new());
    let mut seconds = 0;
    for (offset_ms, number) in points {
        let (value, flags) = number.encode();
        qualifiers.extend_from_slice(&qualifier(*offset_ms, flags));
        values.extend_from_slice(&value);
        seconds += usize::from(offset_ms.is_multiple_of(1_000));
    }
    if points.len() > 1 {
        values.push(u8::from(seconds != 0 && seconds != points.len()));
    }
    (qualifiers, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_columns() {
        // 3599 seconds, one byte; 3599.999 seconds, a float of 8 bytes.
        assert_eq!(qualifier(3_599_000, 0), [0xE0, 0xF0]);
        assert_eq!(qualifier(3_599_999, 0b1111), [0xFD, 0xBB, 0x9F, 0xCF]);
        assert_eq!(Number::Integer(-3).encode(), (vec![0xFD], 0));
        assert_eq!(Number::Integer(300).encode(), (vec![1, 0x2C], 1));
        assert_eq!(Number::Integer(1 << 40).encode().1, 7);
        assert_eq!(Number::Float(0.5).encode(), (vec![0x3F, 0, 0, 0], 0b1011));
        assert_eq!(Number::Float(0.1).encode().1, 0b1111);
    }

    #[test]
    fn columns_are_read_back() {
        let points = [
            (0, Number::Integer(7)),
            (1_000, Number::Float(0.1)),
            (1_500, Number::Integer(-70_000)),
            (3_599_000, Number::Float(2.5)),
        ];
        for point in points {
            let (value, flags) = point.1.encode();
            let column = decode_column(&qualifier(point.0, flags), &value);
            assert_eq!(column, Some(vec![point]));
        }
        for count in 1..=points.len() {
            let (name, value) = encode_compacted(&points[..count]);
            assert_eq!(decode_column(&name, &value).as_deref(), Some(&points[..count]));
        }
        assert_eq!(encode_compacted(&points[..2]).1.last(), Some(&0));
        assert_eq!(encode_compacted(&points[..3]).1.last(), Some(&1));
    }

    #[test]
    fn bytes_of_another_layout_are_refused() {
        let points = [(0, Number::Integer(7)), (1_000, Number::Integer(8))];
        let (name, value) = encode_compacted(&points);
        assert_eq!(decode_column(&name, &value[..1]), None);
        assert_eq!(decode_column(&name[..3], &value), None);
        assert_eq!(decode_column(&name, &[7, 8, 9]), None);
        assert_eq!(decode_column(&[0xFF; 3], &[0; 8]), None);
        assert_eq!(decode_column(&[0, 2], &[1, 2, 3]), None, "no integer has three bytes");
    }
}
