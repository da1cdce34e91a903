//! The plain cells that a decoder writes.
//!
//! A block announces the size of its cells. A decoder that writes more fails, so a damaged block
//! cannot take more memory than it announces.

use crate::error::{Parsed, ensure, reserve};

/// Bytes of output to reserve initially, at most this many times the input.
const RESERVE_FACTOR: usize = 8;

/// The plain cells of a block, and where the current and the previous cell begin.
#[derive(Debug)]
pub(crate) struct DecodedCells {
    bytes: Vec<u8>,
    size_max: usize,
    key_start: usize,
    key_length: usize,
    value_length: usize,
    previous_key_start: usize,
    previous_key_length: usize,
    previous_value_length: usize,
}

impl DecodedCells {
    /// Reserves space for cells of `size_max` bytes decoded from `input_size` bytes.
    pub(crate) fn new(size_max: usize, input_size: usize) -> Parsed<Self> {
        let mut bytes = Vec::new();
        reserve(&mut bytes, size_max.min(input_size.saturating_mul(RESERVE_FACTOR)))?;
        Ok(Self {
            bytes,
            size_max,
            key_start: 0,
            key_length: 0,
            value_length: 0,
            previous_key_start: 0,
            previous_key_length: 0,
            previous_value_length: 0,
        })
    }

    /// Key length of the last cell that was begun.
    pub(crate) fn key_length(&self) -> usize {
        self.key_length
    }

    /// Value length of the last cell that was begun.
    pub(crate) fn value_length(&self) -> usize {
        self.value_length
    }

    /// Begins a cell with its two lengths.
    pub(crate) fn begin(&mut self, key_length: usize, value_length: usize) -> Parsed<()> {
        self.previous_key_start = self.key_start;
        self.previous_key_length = self.key_length;
        self.previous_value_length = self.value_length;
        self.push(&(key_length as u32).to_be_bytes())?;
        self.push(&(value_length as u32).to_be_bytes())?;
        self.key_start = self.bytes.len();
        (self.key_length, self.value_length) = (key_length, value_length);
        Ok(())
    }

    /// Appends bytes to the cell.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Parsed<()> {
        ensure(
            bytes.len() <= self.size_max - self.bytes.len(),
            "encoded block decodes to more than it announces",
        )?;
        reserve(&mut self.bytes, bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends the first `length` bytes of the previous cell's key.
    pub(crate) fn copy_from_previous_key(&mut self, length: usize) -> Parsed<()> {
        ensure(length <= self.previous_key_length, "common prefix is longer than the last key")?;
        self.copy(self.previous_key_start, length)
    }

    /// Appends the value of the previous cell, which must be as long as this one's.
    pub(crate) fn copy_previous_value(&mut self) -> Parsed<()> {
        let same = self.previous_value_length == self.value_length;
        ensure(same, "the length of a repeated value differs from the previous cell's")?;
        self.copy(self.previous_key_start + self.previous_key_length, self.value_length)
    }

    fn copy(&mut self, start: usize, length: usize) -> Parsed<()> {
        ensure(
            length <= self.size_max - self.bytes.len(),
            "encoded block decodes to more than it announces",
        )?;
        reserve(&mut self.bytes, length)?;
        self.bytes.extend_from_within(start..start + length);
        Ok(())
    }

    /// The part of the key appended so far.
    pub(crate) fn key_so_far(&self) -> &[u8] {
        &self.bytes[self.key_start..]
    }

    /// The bytes of the previous cell's key from `start` on; there must be `N`.
    pub(crate) fn previous_key_tail<const N: usize>(&self) -> Parsed<[u8; N]> {
        let end = self.previous_key_start + self.previous_key_length;
        ensure(self.previous_key_length >= N, "there is no previous key")?;
        let mut tail = [0; N];
        tail.copy_from_slice(&self.bytes[end - N..end]);
        Ok(tail)
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
