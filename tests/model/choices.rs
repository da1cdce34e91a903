//! Choices that bytes make.
//!
//! Byte 0 selects the simplest alternative, and so do missing bytes, so shrinking the bytes shrinks
//! what is made from them.

/// Draws choices from bytes.
pub(crate) struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes: bytes.iter() }
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % count
    }

    /// Any number, out of what is left.
    pub(crate) fn number(&mut self) -> u64 {
        self.bytes.by_ref().fold(0, |number, byte| (number << 8) | u64::from(*byte))
    }

    /// True once in `times`; never without bytes.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub(crate) fn pick<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }
}
