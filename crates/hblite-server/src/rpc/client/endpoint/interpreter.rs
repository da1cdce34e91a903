//! Column interpreters: what values mean, and how to calculate with them.

use std::cmp::Ordering;

use bytes::Bytes;
use hblite_wire::{RemoteException, pb};
use num_bigint::{BigInt, Sign};
use prost::Message as _;

/// Decimals are kept with this many digits after the point.
const SCALE: i32 = 2;
/// Maximum length of a decimal, and maximum shift of its point in digits.
const DECIMAL_BYTES_MAX: usize = 8 * 1024;
const SHIFT_MAX: i32 = 20_000;

/// A value that can be summed and compared.
pub(super) trait Interpreter: Sized {
    /// The value in a cell; `None` if it is not such a value.
    ///
    /// Those of HBase's interpreter.
    fn of_value(bytes: &[u8]) -> Result<Option<Self>, RemoteException>;
    fn plus(&self, other: &Self) -> Self;
    fn times(&self, other: &Self) -> Self;
    fn compare(&self, other: &Self) -> Ordering;
    /// `getMinValue`.
    fn least() -> Self;
    fn message(&self) -> Bytes;

    fn is_gt(&self, other: &Self) -> bool {
        self.compare(other).is_gt()
    }

    fn is_lt(&self, other: &Self) -> bool {
        self.compare(other).is_lt()
    }
}

/// `LongColumnInterpreter`: 8 bytes, big-endian; sums wrap.
pub(super) struct Longs(i64);

impl Interpreter for Longs {
    fn of_value(bytes: &[u8]) -> Result<Option<Self>, RemoteException> {
        Ok(bytes.try_into().ok().map(|bytes| Self(i64::from_be_bytes(bytes))))
    }

    fn plus(&self, other: &Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    fn times(&self, other: &Self) -> Self {
        Self(self.0.wrapping_mul(other.0))
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }

    fn least() -> Self {
        Self(i64::MIN)
    }

    fn message(&self) -> Bytes {
        pb::LongMsg { long_msg: self.0 }.encode_to_vec().into()
    }
}

/// `DoubleColumnInterpreter`: 8 bytes, big-endian IEEE 754.
pub(super) struct Doubles(f64);

impl Interpreter for Doubles {
    fn of_value(bytes: &[u8]) -> Result<Option<Self>, RemoteException> {
        Ok(bytes.try_into().ok().map(|bytes| Self(f64::from_be_bytes(bytes))))
    }

    fn plus(&self, other: &Self) -> Self {
        Self(self.0 + other.0)
    }

    fn times(&self, other: &Self) -> Self {
        Self(self.0 * other.0)
    }

    /// Java's order: -0.0 is less than 0.0, and NaN is the greatest.
    fn compare(&self, other: &Self) -> Ordering {
        match (self.0.is_nan(), other.0.is_nan()) {
            (false, false) => self.0.total_cmp(&other.0),
            (left, right) => left.cmp(&right),
        }
    }

    /// Java's `Double.MIN_VALUE` is the smallest value above 0.
    fn least() -> Self {
        Self(f64::from_bits(1))
    }

    fn message(&self) -> Bytes {
        pb::DoubleMsg { double_msg: self.0 }.encode_to_vec().into()
    }
}

/// `BigDecimalColumnInterpreter`: rounded to two digits, half to even.
pub(super) struct BigDecimals {
    unscaled: BigInt,
    scale: i32,
}

impl BigDecimals {
    fn with_two_digits(unscaled: BigInt) -> Self {
        Self { unscaled, scale: SCALE }
    }
}

impl Interpreter for BigDecimals {
    fn of_value(bytes: &[u8]) -> Result<Option<Self>, RemoteException> {
        let Some((scale, unscaled)) = bytes.split_first_chunk::<4>().filter(|(_, u)| !u.is_empty())
        else {
            let message = format!(
                "java.lang.NullPointerException: {} bytes are not a decimal number",
                bytes.len()
            );
            return Err(RemoteException::do_not_retry(message));
        };
        let scale = i32::from_be_bytes(*scale);
        if unscaled.len() > DECIMAL_BYTES_MAX || scale < -SHIFT_MAX {
            let message = format!("a decimal number of {} bytes is too long", bytes.len());
            return Err(RemoteException::do_not_retry(message));
        }
        let unscaled = BigInt::from_signed_bytes_be(unscaled);
        Ok(Some(Self::with_two_digits(rescaled(unscaled, scale))))
    }

    fn plus(&self, other: &Self) -> Self {
        Self::with_two_digits(&self.unscaled + &other.unscaled)
    }

    fn times(&self, other: &Self) -> Self {
        let product = &self.unscaled * &other.unscaled;
        Self::with_two_digits(rescaled(product, self.scale + other.scale))
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.unscaled.cmp(&other.unscaled)
    }

    /// `BigDecimal.valueOf(Double.MIN_VALUE)`, 4.9E-324.
    fn least() -> Self {
        Self { unscaled: BigInt::from(49), scale: 325 }
    }

    fn message(&self) -> Bytes {
        let mut bytes = self.scale.to_be_bytes().to_vec();
        bytes.extend(self.unscaled.to_signed_bytes_be());
        pb::BigDecimalMsg { bigdecimal_msg: bytes.into() }.encode_to_vec().into()
    }
}

/// The number with two digits after the point, rounded half to even.
fn rescaled(unscaled: BigInt, scale: i32) -> BigInt {
    let ten_to = |digits: u32| BigInt::from(10).pow(digits);
    let dropped = scale.saturating_sub(SCALE);
    let Ok(dropped) = u32::try_from(dropped) else {
        return unscaled * ten_to(dropped.unsigned_abs());
    };
    // A number of this many bits has at most a third as many digits, so nothing of it remains.
    if u64::from(dropped) > unscaled.bits() / 3 + 1 {
        return BigInt::ZERO;
    }
    let divisor = ten_to(dropped);
    let (whole, rest) = (&unscaled / &divisor, &unscaled % &divisor);
    let twice = BigInt::from_biguint(Sign::Plus, rest.magnitude() * 2_u32);
    let rounds_away = match twice.cmp(&divisor) {
        Ordering::Less => false,
        Ordering::Equal => whole.bit(0),
        Ordering::Greater => true,
    };
    match rounds_away {
        false => whole,
        true if unscaled.sign() == Sign::Minus => whole - 1,
        true => whole + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(unscaled: i64, scale: i32) -> BigDecimals {
        let mut bytes = scale.to_be_bytes().to_vec();
        bytes.extend(BigInt::from(unscaled).to_signed_bytes_be());
        BigDecimals::of_value(&bytes).ok().flatten().unwrap()
    }

    #[test]
    fn decimals_are_rounded_half_to_even() {
        for (unscaled, scale, cents) in [
            (12345, 3, 1234),
            (12355, 3, 1236),
            (-12345, 3, -1234),
            (-12355, 3, -1236),
            (12346, 3, 1235),
            (123_450_001, 7, 1235),
            (7, 0, 700),
            (7, -3, 700_000),
            (5, 3, 0),
            (15, 3, 2),
            (-5, 3, 0),
            (999, i32::MAX, 0),
            (0, i32::MAX, 0),
            (0, 0, 0),
        ] {
            let found = decimal(unscaled, scale);
            assert_eq!(
                (found.unscaled, found.scale),
                (BigInt::from(cents), 2),
                "{unscaled} {scale}"
            );
        }
        // 1.23 * 1.50 = 1.845
        assert_eq!(decimal(123, 2).times(&decimal(150, 2)).unscaled, BigInt::from(184));
        for bytes in [&b""[..], b"\0\0\0\0", b"\x80\0\0\0\x01"] {
            assert!(BigDecimals::of_value(bytes).is_err());
        }
    }

    #[test]
    fn doubles_are_ordered_as_javas() {
        let order = [f64::NEG_INFINITY, -1.0, -0.0, 0.0, f64::from_bits(1), 1.0, f64::INFINITY];
        for (index, left) in order.iter().enumerate() {
            for (other, right) in order.iter().enumerate() {
                assert_eq!(Doubles(*left).compare(&Doubles(*right)), index.cmp(&other));
            }
            assert!(Doubles(-f64::NAN).is_gt(&Doubles(*left)));
        }
        assert_eq!(Doubles(f64::NAN).compare(&Doubles(-f64::NAN)), Ordering::Equal);
    }

    #[test]
    fn longs_wrap_and_other_values_do_not_count() {
        let most = Longs(i64::MAX);
        assert_eq!(most.plus(&Longs(1)).0, i64::MIN);
        assert_eq!(most.times(&Longs(2)).0, -2);
        assert!(Longs::of_value(b"1234567").ok().flatten().is_none());
    }
}
