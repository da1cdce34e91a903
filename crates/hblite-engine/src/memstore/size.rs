//! The memory cost of cells.

use std::ops::{Add, AddAssign};

/// Size of a segment or memstore, or what a write added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemStoreSize {
    /// Number of cells.
    pub cell_count: usize,
    /// Bytes of the cells as serialized, including tags: compared with flush limits.
    pub data_size: usize,
    /// Bytes of memory in use for them: chunks, nodes and bookkeeping.
    pub heap_size: usize,
}

impl Add for MemStoreSize {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cell_count: self.cell_count + other.cell_count,
            data_size: self.data_size + other.data_size,
            heap_size: self.heap_size + other.heap_size,
        }
    }
}

impl AddAssign for MemStoreSize {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
