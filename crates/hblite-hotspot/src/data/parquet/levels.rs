//! Runs of small numbers: definition levels, positions in a dictionary, booleans.
//!
//! ```text
//! run          count << 1 as a varint, then the value in as many bytes as it needs
//! bit-packed   groups << 1 | 1 as a varint, then 8 values per group, lowest bits first
//! ```

use hblite_model::protobuf::read_varint;

use super::{Bad, Result};

/// Reads numbers of a fixed number of bits.
#[derive(Debug)]
pub(super) struct Runs<'b> {
    bytes: &'b [u8],
    width: u32,
    run: Run<'b>,
}

#[derive(Debug)]
enum Run<'b> {
    Same { value: u32, left: u64 },
    Packed { bytes: &'b [u8], next: u64, left: u64 },
}

impl<'b> Runs<'b> {
    /// Numbers of `width` bits, 32 at most.
    pub(super) fn new(bytes: &'b [u8], width: u32) -> Result<Self> {
        if width > u32::BITS {
            return Err(Bad::new(format!("numbers of {width} bits")));
        }
        Ok(Self { bytes, width, run: Run::Same { value: 0, left: 0 } })
    }

    pub(super) fn next_number(&mut self) -> Result<u32> {
        loop {
            match &mut self.run {
                Run::Same { value, left } if *left > 0 => {
                    *left -= 1;
                    return Ok(*value);
                }
                Run::Packed { bytes, next, left } if *left > 0 => {
                    *left -= 1;
                    let value = bits(bytes, *next, self.width);
                    *next += u64::from(self.width);
                    return Ok(value);
                }
                _ => self.begin_run()?,
            }
        }
    }

    fn begin_run(&mut self) -> Result<()> {
        let head = varint(&mut self.bytes)?;
        let count = head >> 1;
        if count == 0 {
            return Err(Bad::new("a run of nothing"));
        }
        if head & 1 == 0 {
            let mut value = [0; 4];
            let length = self.width.div_ceil(8) as usize;
            value[..length].copy_from_slice(take(&mut self.bytes, length as u64)?);
            self.run = Run::Same { value: u32::from_le_bytes(value), left: count };
            return Ok(());
        }
        // The last group may be cut off after the last value.
        let length = count.saturating_mul(u64::from(self.width));
        let length = length.min(self.bytes.len() as u64);
        let bytes = take(&mut self.bytes, length)?;
        let left = match self.width {
            0 => count.saturating_mul(8),
            width => (length * 8 / u64::from(width)).min(count.saturating_mul(8)),
        };
        if left == 0 {
            return Err(Bad::new("its numbers end early"));
        }
        self.run = Run::Packed { bytes, next: 0, left };
        Ok(())
    }
}

/// As [`wide_bits`], of 32 bits at most.
fn bits(bytes: &[u8], at: u64, width: u32) -> u32 {
    wide_bits(bytes, at, width) as u32
}

/// The number of `width` bits, 64 at most, from bit `at` on. Bits after the end are zero.
pub(super) fn wide_bits(bytes: &[u8], at: u64, width: u32) -> u64 {
    let (first, shift) = ((at / 8) as usize, at % 8);
    let mut window = 0_u128;
    for (index, byte) in bytes.iter().skip(first).take(9).enumerate() {
        window |= u128::from(*byte) << (8 * index);
    }
    let mask = (1_u128 << width) - 1;
    (window >> shift & mask) as u64
}

/// The next bytes.
pub(super) fn take<'b>(bytes: &mut &'b [u8], count: u64) -> Result<&'b [u8]> {
    match usize::try_from(count).ok().and_then(|count| bytes.split_at_checked(count)) {
        Some((taken, rest)) => {
            *bytes = rest;
            Ok(taken)
        }
        None => Err(Bad::new("its values end early")),
    }
}

/// The next number of variable length.
pub(super) fn varint(bytes: &mut &[u8]) -> Result<u64> {
    read_varint(bytes).ok_or_else(|| Bad::new("a number ends early or is too long"))
}

/// Bits that numbers up to `max` need.
pub(super) fn width_of(max: u32) -> u32 {
    u32::BITS - max.leading_zeros()
}
