//! Numbers as HFiles store them, and a reader over untrusted bytes.
//!
//! ```text
//! fixed    big-endian
//! vlong    one byte for -112..=127; else a byte -112-n (positive) or -120-n (negative), then n
//!          bytes of magnitude, big-endian; the magnitude of a negative value v is !v
//! varint   7 bits per byte, low group first, high bit = more follows
//! ```
//!
//! Source: Hadoop's `WritableUtils` (vlong), HBase's `ByteBufferUtils.putCompressedInt` (varint).

use crate::error::{Damage, Parsed, ensure};

/// Longest vlong in bytes.
const VLONG_SIZE_MAX: usize = 9;

/// Bytes that [`write_vlong`] appends for `value`.
#[inline]
pub(crate) fn vlong_size(value: i64) -> usize {
    if (-112..=127).contains(&value) {
        return 1;
    }
    let magnitude = (value ^ (value >> 63)) as u64;
    1 + (64 - magnitude.leading_zeros() as usize).div_ceil(8)
}

/// Bytes of the whole vlong that begins with `first`.
#[inline]
pub(crate) fn vlong_size_of_first(first: u8) -> usize {
    match first as i8 {
        -112..=127 => 1,
        first @ -120..=-113 => (-111 - i16::from(first)) as usize,
        first => (-119 - i16::from(first)) as usize,
    }
}

/// Appends `value` as a vlong.
#[inline]
pub(crate) fn write_vlong(out: &mut Vec<u8>, value: i64) {
    if (-112..=127).contains(&value) {
        out.push(value as u8);
        return;
    }
    let magnitude = (value ^ (value >> 63)) as u64;
    let size = vlong_size(value) - 1;
    let base = if value < 0 { -120 } else { -112 };
    out.push((base - size as i16) as u8);
    out.extend_from_slice(&magnitude.to_be_bytes()[8 - size..]);
}

/// The vlong at the front of `bytes`, which must hold all of it.
#[inline]
pub(crate) fn vlong_at(bytes: &[u8]) -> i64 {
    let first = bytes[0];
    let size = vlong_size_of_first(first);
    if size == 1 {
        return i64::from(first as i8);
    }
    let magnitude = match bytes.get(1..).and_then(|rest| rest.first_chunk::<8>()) {
        // Bytes of whatever follows are shifted out.
        Some(chunk) => u64::from_be_bytes(*chunk) >> (8 * (VLONG_SIZE_MAX - size)),
        None => bytes[1..size].iter().fold(0, |value, &byte| value << 8 | u64::from(byte)),
    };
    let value = magnitude as i64;
    if (first as i8) < -120 { !value } else { value }
}

/// Appends a 32-bit number as a varint.
#[inline]
pub(crate) fn write_varint(out: &mut Vec<u8>, value: usize) {
    hblite_model::protobuf::write_varint(out, value as u64);
}

/// Reads a slice from front to back; running out of bytes is [`Damage`].
#[derive(Debug, Clone)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// A reader at the first byte.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes left.
    #[inline]
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Whether everything was read.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// The next `length` bytes.
    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> Parsed<&'a [u8]> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| Damage::new("ends too early"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Parsed<u8> {
        Ok(self.array::<1>()?[0])
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Parsed<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn i32(&mut self) -> Parsed<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn i64(&mut self) -> Parsed<i64> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// An i32 that must not be negative.
    #[inline]
    pub(crate) fn length(&mut self) -> Parsed<usize> {
        usize::try_from(self.i32()?).map_err(|_| Damage::new("a length is negative"))
    }

    /// An i64 that must not be negative.
    pub(crate) fn offset(&mut self) -> Parsed<u64> {
        u64::try_from(self.i64()?).map_err(|_| Damage::new("an offset is negative"))
    }

    #[inline]
    pub(crate) fn vlong(&mut self) -> Parsed<i64> {
        let first = *self.bytes.get(self.at).ok_or_else(|| Damage::new("ends too early"))?;
        Ok(vlong_at(self.take(vlong_size_of_first(first))?))
    }

    /// The raw bytes of a vlong.
    #[inline]
    pub(crate) fn raw_vlong(&mut self) -> Parsed<&'a [u8]> {
        let first = *self.bytes.get(self.at).ok_or_else(|| Damage::new("ends too early"))?;
        self.take(vlong_size_of_first(first))
    }

    /// `vint length | bytes` (`Bytes.readByteArray`).
    pub(crate) fn byte_array(&mut self) -> Parsed<&'a [u8]> {
        let length = self.vlong()?;
        let length = usize::try_from(length).map_err(|_| Damage::new("a length is negative"))?;
        self.take(length)
    }

    /// A varint of at most 31 bits.
    #[inline]
    pub(crate) fn varint(&mut self) -> Parsed<usize> {
        let mut value = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                ensure(value <= i32::MAX as u64, "a length is negative")?;
                return Ok(value as usize);
            }
        }
        Err(Damage::new("a length has more than five bytes"))
    }
}

/// Appends `vint length | bytes` (`Bytes.writeByteArray`).
pub(crate) fn write_byte_array(out: &mut Vec<u8>, bytes: &[u8]) {
    write_vlong(out, bytes.len() as i64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vlongs_are_those_of_hadoop() {
        let cases: [(i64, &[u8]); 9] = [
            (0, b"\x00"),
            (112, b"\x70"),
            (127, b"\x7f"),
            (128, b"\x8f\x80"),
            (256, b"\x8e\x01\x00"),
            (-112, b"\x90"),
            (-113, b"\x87\x70"),
            (1_700_000_000_000, b"\x8a\x01\x8b\xcf\xe5\x68\x00"),
            (i64::MAX, b"\x88\x7f\xff\xff\xff\xff\xff\xff\xff"),
        ];
        for (value, bytes) in cases {
            let mut written = Vec::new();
            write_vlong(&mut written, value);
            assert_eq!(written, bytes, "{value}");
            assert_eq!(vlong_size(value), bytes.len());
            assert_eq!(vlong_size_of_first(bytes[0]), bytes.len());
            assert_eq!(Input::new(bytes).vlong().unwrap(), value);
        }
    }

    #[test]
    fn vlongs_of_every_size_come_back() {
        for shift in 0..63 {
            for value in [1_i64 << shift, (1 << shift) - 1, -(1 << shift), i64::MIN >> shift] {
                let mut written = Vec::new();
                write_vlong(&mut written, value);
                assert_eq!((vlong_at(&written), vlong_size(value)), (value, written.len()));
                for cut in 0..written.len() {
                    assert!(Input::new(&written[..cut]).vlong().is_err());
                }
            }
        }
    }

    #[test]
    fn varints_come_back_and_endless_ones_are_refused() {
        for (value, bytes) in [(127, &b"\x7f"[..]), (128, b"\x80\x01"), (300, b"\xac\x02")] {
            let mut written = Vec::new();
            write_varint(&mut written, value);
            assert_eq!(written, bytes);
            assert_eq!(Input::new(bytes).varint().unwrap(), value);
        }
        assert!(Input::new(b"\xff\xff\xff\xff\xff\x01").varint().is_err());
        assert!(Input::new(b"\xff\xff\xff\xff\x0f").varint().is_err());
    }
}
