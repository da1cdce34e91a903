//! Memory that goes back to the operating system as soon as it is freed.
//!
//! Allocators keep freed memory for later, in pieces that other allocations hold in place. For
//! large blocks that come and go together that is waste: see docs/operations.md, "Memory of a
//! server".

use std::ptr::NonNull;

/// Pages of zeros; unmapped when dropped.
#[derive(Debug)]
pub struct Pages(memmap2::MmapMut);

impl Pages {
    /// Maps `size_bytes`, which are more than none. Nothing if the system has no more, or cannot.
    pub fn map(size_bytes: usize) -> Option<Self> {
        // Miri checks the memory of its own allocator better than mapped memory.
        if cfg!(miri) {
            return None;
        }
        memmap2::MmapMut::map_anon(size_bytes).ok().map(Self)
    }

    /// Where they begin. They stay there until they are dropped.
    pub fn start(&mut self) -> NonNull<u8> {
        NonNull::from(&mut self.0[..]).cast()
    }
}
