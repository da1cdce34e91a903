//! Numbers as bytes of fixed width that sort like the numbers, in the opposite order, or, with
//! their bits reversed, by the last bits first.

use crate::value::Value;

/// How a number is written in a key. All are of fixed width, and all but
/// [`Number::BitReversedU64`] are big-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Number {
    /// 1 byte, 0 to 255: record types, small counts.
    U8,
    /// 2 bytes, 0 to 65,535.
    U16,
    /// 4 bytes, 0 to 2³² − 1: for example seconds since 1970.
    U32,
    /// 8 bytes, 0 to 2⁶⁴ − 1.
    U64,
    /// 8 bytes, 2⁶⁴ − 1 − value: the greatest number sorts first.
    ReversedU64,
    /// 8 bytes, the least significant bit first, as `Bytes.toBytes(Long.reverse(n))` writes it:
    /// successive numbers are far apart.
    BitReversedU64,
    /// 8 bytes with the sign bit flipped, so that negative numbers sort first.
    /// `Bytes.toBytes(long)` differs: it puts them last.
    I64,
    /// 8 bytes, 0 to `Long.MAX_VALUE`, as `Bytes.toBytes(long)` writes it: the oldest sorts first.
    Timestamp,
    /// 8 bytes, `Long.MAX_VALUE` − value: the newest sorts first.
    ReverseTimestamp,
}

const SIGN: u64 = 1 << 63;

impl Number {
    /// Every kind of number.
    pub const ALL: [Self; 9] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::ReversedU64,
        Self::BitReversedU64,
        Self::I64,
        Self::Timestamp,
        Self::ReverseTimestamp,
    ];

    /// The name in the design language.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::ReversedU64 => "reversed_u64",
            Self::BitReversedU64 => "bit_reversed_u64",
            Self::I64 => "i64",
            Self::Timestamp => "timestamp",
            Self::ReverseTimestamp => "reverse_timestamp",
        }
    }

    /// Bytes in the key.
    pub fn width(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
            _ => 8,
        }
    }

    /// Whether greater numbers sort first.
    pub fn is_descending(self) -> bool {
        matches!(self, Self::ReversedU64 | Self::ReverseTimestamp)
    }

    /// Whether keys sort like the numbers, or in the opposite order.
    pub fn is_ordered(self) -> bool {
        self != Self::BitReversedU64
    }

    /// The least number that fits.
    pub fn least(self) -> i128 {
        if self == Self::I64 { i128::from(i64::MIN) } else { 0 }
    }

    /// The greatest number that fits.
    pub fn greatest(self) -> i128 {
        match self {
            Self::U8 => i128::from(u8::MAX),
            Self::U16 => i128::from(u16::MAX),
            Self::U32 => i128::from(u32::MAX),
            Self::U64 | Self::ReversedU64 | Self::BitReversedU64 => i128::from(u64::MAX),
            Self::I64 | Self::Timestamp | Self::ReverseTimestamp => i128::from(i64::MAX),
        }
    }

    /// The number as the bits in the key, or `None` if it does not fit.
    #[inline]
    pub(crate) fn bits(self, value: &Value<'_>) -> Option<u64> {
        match self {
            Self::U64 => unsigned(value),
            Self::ReversedU64 => unsigned(value).map(|number| !number),
            Self::BitReversedU64 => unsigned(value).map(u64::reverse_bits),
            Self::I64 => signed(value).map(|number| number as u64 ^ SIGN),
            Self::Timestamp => unsigned(value).filter(|number| *number < SIGN),
            Self::ReverseTimestamp => {
                unsigned(value).filter(|number| *number < SIGN).map(|number| SIGN - 1 - number)
            }
            Self::U32 => unsigned(value).filter(|number| *number <= u64::from(u32::MAX)),
            Self::U16 => unsigned(value).filter(|number| *number <= u64::from(u16::MAX)),
            Self::U8 => unsigned(value).filter(|number| *number <= u64::from(u8::MAX)),
        }
    }

    /// Appends bits to a key.
    #[inline]
    pub(crate) fn push(self, bits: u64, key: &mut Vec<u8>) {
        match self {
            Self::U8 => key.push(bits as u8),
            Self::U16 => key.extend_from_slice(&(bits as u16).to_be_bytes()),
            Self::U32 => key.extend_from_slice(&(bits as u32).to_be_bytes()),
            _ => key.extend_from_slice(&bits.to_be_bytes()),
        }
    }

    /// The value of bytes of this width; `None` if the kind cannot have written them.
    pub(crate) fn read(self, bytes: &[u8]) -> Option<Value<'static>> {
        let bits = bytes.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        match self {
            Self::I64 => Some(Value::Signed((bits ^ SIGN) as i64)),
            Self::ReversedU64 => Some(Value::Unsigned(!bits)),
            Self::BitReversedU64 => Some(Value::Unsigned(bits.reverse_bits())),
            Self::Timestamp => (bits < SIGN).then_some(Value::Unsigned(bits)),
            Self::ReverseTimestamp => (bits < SIGN).then(|| Value::Unsigned(SIGN - 1 - bits)),
            _ => Some(Value::Unsigned(bits)),
        }
    }

    /// The bits of a number that is known to fit.
    pub(crate) fn bits_of(self, number: i128) -> Option<u64> {
        match u64::try_from(number) {
            Ok(number) => self.bits(&Value::Unsigned(number)),
            Err(_) => self.bits(&Value::Signed(i64::try_from(number).ok()?)),
        }
    }
}

#[inline]
fn unsigned(value: &Value<'_>) -> Option<u64> {
    match value {
        Value::Unsigned(number) => Some(*number),
        Value::Signed(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

#[inline]
fn signed(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Signed(number) => Some(*number),
        Value::Unsigned(number) => i64::try_from(*number).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_that_java_clients_write() {
        let bytes = |number: Number, value: Value<'_>| {
            let mut key = Vec::new();
            number.push(number.bits(&value).expect("fits"), &mut key);
            key
        };
        let ts = Value::from(1_500_000_000_u64);
        assert_eq!(bytes(Number::Timestamp, ts.clone()), b"\x00\x00\x00\x00Yh/\x00");
        assert_eq!(bytes(Number::ReverseTimestamp, ts), b"\x7F\xFF\xFF\xFF\xA6\x97\xD0\xFF");
        assert_eq!(bytes(Number::I64, Value::from(-1_i64)), b"\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
        assert_eq!(bytes(Number::ReversedU64, Value::from(0_u64)), [0xFF; 8]);
        let reversed = bytes(Number::BitReversedU64, Value::from(0x0103_u64));
        assert_eq!(reversed, [0xC0, 0x80, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Number::BitReversedU64.read(&reversed), Some(Value::from(0x0103_u64)));
        assert_eq!(bytes(Number::U32, Value::from(1_500_000_000_u64)), b"Yh/\x00");
    }

    #[test]
    fn numbers_beyond_the_width_do_not_fit() {
        for number in Number::ALL {
            let beyond = [number.least() - 1, number.greatest() + 1];
            for number_beyond in beyond {
                assert_eq!(number.bits_of(number_beyond), None, "{number:?} {number_beyond}");
            }
            for within in [number.least(), number.greatest()] {
                assert!(number.bits_of(within).is_some(), "{number:?} {within}");
            }
        }
        assert_eq!(Number::U64.bits(&Value::from("7")), None);
    }
}
