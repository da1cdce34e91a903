//! Decimal numbers of any size, with the operations that comparisons need.
//!
//! A number is an integer and a scale, `unscaled / 10^scale`, as in `java.math.BigDecimal`. Its
//! bytes are those of HBase's `Bytes.toBytes(BigDecimal)`:
//!
//! ```text
//! i32 scale | unscaled: two's complement, big-endian, at least one byte
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Exception, Result};

/// A decimal number.
///
/// `==` is Java's `equals`, for which `1.5` and `1.50` are not equal. [`BigDecimal::cmp_value`] is
/// Java's `compareTo`, for which they are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BigDecimal {
    is_negative: bool,
    /// Base 2^32, least first, without leading zeros; empty is zero.
    magnitude: Vec<u32>,
    scale: i32,
}

impl BigDecimal {
    /// Longest accepted serialized number: comparing takes time quadratic in the length.
    pub const BYTES_MAX: usize = 8 * 1024;

    /// The number with these bytes.
    ///
    /// # Errors
    /// `IOException` for less than 5 bytes, where HBase fails with a NullPointerException, and for
    /// more than [`BigDecimal::BYTES_MAX`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let length = bytes.len();
        let Some((scale, unscaled)) = bytes
            .split_first_chunk::<4>()
            .filter(|parts| !parts.1.is_empty() && length <= Self::BYTES_MAX)
        else {
            let message = format!("{length} bytes are not a decimal number");
            return Err(Error::invalid_argument(Exception::Io, message));
        };
        let is_negative = unscaled[0] & 0x80 != 0;
        let mut magnitude: Vec<u32> = unscaled
            .rchunks(4)
            .map(|chunk| {
                let fill = if is_negative { u32::MAX } else { 0 };
                chunk.iter().fold(fill, |limb, byte| limb << 8 | u32::from(*byte))
            })
            .collect();
        if is_negative {
            negate(&mut magnitude);
        }
        trim(&mut magnitude);
        Ok(Self { is_negative, magnitude, scale: i32::from_be_bytes(*scale) })
    }

    /// The bytes of the number.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut limbs = self.magnitude.clone();
        limbs.push(0);
        if self.is_negative {
            negate(&mut limbs);
        }
        let unscaled: Vec<u8> = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
        // The shortest form that keeps the sign bit.
        let sign: u8 = if self.is_negative { 0xff } else { 0 };
        let redundant = unscaled
            .windows(2)
            .take_while(|pair| pair[0] == sign && (pair[1] ^ sign) & 0x80 == 0)
            .count();
        let mut bytes = self.scale.to_be_bytes().to_vec();
        bytes.extend_from_slice(&unscaled[redundant..]);
        bytes
    }

    /// Compares the numbers by value, ignoring the scale.
    pub fn cmp_value(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.magnitude.is_empty(), number.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let ordering = sign(self).cmp(&sign(other));
        if ordering != Ordering::Equal || self.magnitude.is_empty() {
            return ordering;
        }
        let ordering = self.cmp_magnitude(other);
        if self.is_negative { ordering.reverse() } else { ordering }
    }

    fn cmp_magnitude(&self, other: &Self) -> Ordering {
        let (least, most) = (self.exponent_bounds(), other.exponent_bounds());
        if least.0 > most.1 {
            return Ordering::Greater;
        }
        if least.1 < most.0 {
            return Ordering::Less;
        }
        // The exponents are close, so the scales differ by little more than the number of digits.
        let shift = i64::from(self.scale) - i64::from(other.scale);
        let (mut left, mut right) = (self.magnitude.clone(), other.magnitude.clone());
        multiply_by_power_of_ten(if shift < 0 { &mut left } else { &mut right }, shift.abs());
        left.len().cmp(&right.len()).then_with(|| left.iter().rev().cmp(right.iter().rev()))
    }

    /// Bounds of the decimal exponent of the magnitude, which is not zero.
    fn exponent_bounds(&self) -> (i64, i64) {
        let top = self.magnitude.last().map_or(0, |limb| 32 - i64::from(limb.leading_zeros()));
        let bits = (self.magnitude.len() as i64 - 1) * 32 + top;
        // log10(2) lies between 0.30102 and 0.30103.
        let least = (bits - 1) * 30_102 / 100_000 - i64::from(self.scale);
        let most = bits * 30_103 / 100_000 + 1 - i64::from(self.scale);
        (least, most)
    }
}

/// Parses Java's notation: `-1.50`, `2E+3`.
impl FromStr for BigDecimal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::illegal_argument(format!("{text:?} is not a decimal number"));
        if text.len() > Self::BYTES_MAX {
            return Err(wrong());
        }
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().map_err(|_| wrong())?),
            None => (text, 0),
        };
        let unsigned = number.strip_prefix(['+', '-']).unwrap_or(number);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = || whole.bytes().chain(fraction.bytes());
        if digits().count() == 0 || !digits().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        let mut magnitude = Vec::new();
        for digit in digits() {
            multiply_add(&mut magnitude, 10, u32::from(digit - b'0'));
        }
        let scale = fraction.len() as i64 - i64::from(exponent);
        let scale = i32::try_from(scale).map_err(|_| wrong())?;
        let is_negative = number.starts_with('-') && !magnitude.is_empty();
        Ok(Self { is_negative, magnitude, scale })
    }
}

impl fmt::Debug for BigDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_negative { "-" } else { "" };
        f.write_str(sign)?;
        f.write_str("0x")?;
        for limb in self.magnitude.iter().rev() {
            write!(f, "{limb:08x}")?;
        }
        write!(f, "E{}", -i64::from(self.scale))
    }
}

/// Two's complement in place.
fn negate(limbs: &mut [u32]) {
    let mut carry = true;
    for limb in limbs {
        let (sum, overflows) = (!*limb).overflowing_add(u32::from(carry));
        *limb = sum;
        carry = overflows;
    }
}

fn trim(limbs: &mut Vec<u32>) {
    while limbs.last() == Some(&0) {
        limbs.pop();
    }
}

fn multiply_add(limbs: &mut Vec<u32>, factor: u32, summand: u32) {
    let mut carry = u64::from(summand);
    for limb in limbs.iter_mut() {
        let product = u64::from(*limb) * u64::from(factor) + carry;
        *limb = product as u32;
        carry = product >> 32;
    }
    if carry != 0 {
        limbs.push(carry as u32);
    }
}

fn multiply_by_power_of_ten(limbs: &mut Vec<u32>, exponent: i64) {
    const STEP: i64 = 9;
    for _ in 0..exponent / STEP {
        multiply_add(limbs, 1_000_000_000, 0);
    }
    multiply_add(limbs, 10u32.pow((exponent % STEP) as u32), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> BigDecimal {
        text.parse().unwrap()
    }

    #[test]
    fn bytes_are_those_of_hbase() {
        let cases: [(&str, &[u8]); 8] = [
            ("1.50", b"\0\0\0\x02\0\x96"),
            ("1.5", b"\0\0\0\x01\x0f"),
            ("-3", b"\0\0\0\0\xfd"),
            ("0", b"\0\0\0\0\0"),
            ("1.501", b"\0\0\0\x03\x05\xdd"),
            ("100000000000000000.000", b"\0\0\0\x03\x05k\xc7^-c\x10\0\0"),
            ("-128", b"\0\0\0\0\x80"),
            ("-129", b"\0\0\0\0\xff\x7f"),
        ];
        for (text, bytes) in cases {
            assert_eq!(number(text).to_bytes(), bytes, "{text}");
            assert_eq!(BigDecimal::from_bytes(bytes).unwrap(), number(text), "{text}");
        }
        assert!(BigDecimal::from_bytes(b"\0\0\0\0").is_err());
        assert!("1.x".parse::<BigDecimal>().is_err() && "".parse::<BigDecimal>().is_err());
    }

    #[test]
    fn order_is_by_value() {
        let ascending = [
            "-1E+2147483647",
            "-99999999999999999999",
            "-3",
            "-0.001",
            "0",
            "1E-2147483647",
            "1.499999999999999999999",
            "1.5",
            "1.501",
            "2",
            "9999999999",
            "1E+10",
            "1E+2147483647",
        ];
        for (i, left) in ascending.iter().enumerate() {
            for (j, right) in ascending.iter().enumerate() {
                let ordering = number(left).cmp_value(&number(right));
                assert_eq!(ordering, i.cmp(&j), "{left} against {right}");
            }
        }
        assert_eq!(number("1.5").cmp_value(&number("1.500000000000000000000")), Ordering::Equal);
        assert_eq!(number("0E+7").cmp_value(&number("-0.00")), Ordering::Equal);
        assert_ne!(number("1.5"), number("1.50"));
    }
}
