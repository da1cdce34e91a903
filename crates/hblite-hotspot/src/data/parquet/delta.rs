//! Numbers as differences: the encodings that begin with DELTA.
//!
//! ```text
//! DELTA_BINARY_PACKED   values per block, mini-blocks per block, values, first value; then blocks
//! block                 least difference, bits of each mini-block, mini-blocks of packed numbers
//! ```

use super::levels::{take, varint, wide_bits};
use super::{Bad, Result};

/// Mini-blocks of a block.
const MINI_BLOCKS_MAX: u64 = 1 << 16;

/// Reads the numbers of DELTA_BINARY_PACKED one by one.
#[derive(Debug)]
pub(super) struct Deltas<'b> {
    bytes: &'b [u8],
    mini_blocks: u64,
    per_mini_block: u64,
    /// Numbers still to come.
    left: u64,
    value: i64,
    is_first: bool,
    least: i64,
    widths: &'b [u8],
    packed: &'b [u8],
    width: u32,
    in_mini_block: u64,
}

impl<'b> Deltas<'b> {
    pub(super) fn new(mut bytes: &'b [u8]) -> Result<Self> {
        let per_block = varint(&mut bytes)?;
        let mini_blocks = varint(&mut bytes)?;
        let left = varint(&mut bytes)?;
        let value = zigzag(varint(&mut bytes)?);
        if mini_blocks == 0 || mini_blocks > MINI_BLOCKS_MAX || per_block % mini_blocks != 0 {
            return Err(Bad::new("a block is not divided evenly"));
        }
        let per_mini_block = per_block / mini_blocks;
        if per_mini_block == 0 || per_mini_block % 8 != 0 || per_mini_block > 1 << 24 {
            return Err(Bad::new(format!("a mini-block of {per_mini_block} values")));
        }
        Ok(Self {
            bytes,
            mini_blocks,
            per_mini_block,
            left,
            value,
            is_first: true,
            least: 0,
            widths: &[],
            packed: &[],
            width: 0,
            in_mini_block: per_mini_block,
        })
    }

    /// The next number; `None` after the last.
    pub(super) fn next_number(&mut self) -> Result<Option<i64>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        if self.is_first {
            self.is_first = false;
            return Ok(Some(self.value));
        }
        if self.in_mini_block == self.per_mini_block {
            self.begin_mini_block()?;
        }
        let at = self.in_mini_block * u64::from(self.width);
        let difference = wide_bits(self.packed, at, self.width);
        self.in_mini_block += 1;
        let difference = self.least.wrapping_add(difference as i64);
        self.value = self.value.wrapping_add(difference);
        Ok(Some(self.value))
    }

    fn begin_mini_block(&mut self) -> Result<()> {
        if self.widths.is_empty() {
            self.least = zigzag(varint(&mut self.bytes)?);
            self.widths = take(&mut self.bytes, self.mini_blocks)?;
        }
        self.width = u32::from(self.widths[0]);
        self.widths = &self.widths[1..];
        if self.width > 64 {
            return Err(Bad::new(format!("differences of {} bits", self.width)));
        }
        let length = self.per_mini_block * u64::from(self.width) / 8;
        self.packed = take(&mut self.bytes, length)?;
        self.in_mini_block = 0;
        Ok(())
    }

    /// All numbers as lengths, at most `count_max` of them, and the bytes after the last block.
    pub(super) fn lengths(mut self, count_max: usize) -> Result<(Vec<usize>, &'b [u8])> {
        let mut lengths = Vec::new();
        while let Some(number) = self.next_number()? {
            let length = usize::try_from(number);
            lengths.push(length.map_err(|_| Bad::new(format!("a length of {number}")))?);
            if lengths.len() > count_max {
                return Err(Bad::new("more lengths than values"));
            }
        }
        // Mini-blocks of the last block that have no values may be missing; if they are there,
        // they have no bits.
        Ok((lengths, self.bytes))
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
