//! Memory that is returned to the operating system as soon as it is freed.
//!
//! Allocators keep freed memory for reuse, in pieces that other allocations pin. This wastes memory
//! if large blocks are allocated and freed together: see docs/operations.md, "Memory of a server".

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of all pages that this process has mapped.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// Pages of zeros; unmapped when dropped.
#[derive(Debug)]
pub struct Pages(memmap2::MmapMut);

impl Pages {
    /// Maps `size_bytes`, which is not 0. `None` if the system has no more memory, or cannot map
    /// it.
    pub fn map(size_bytes: usize) -> Option<Self> {
        // Miri checks the memory of its own allocator better than mapped memory.
        if cfg!(miri) {
            return None;
        }
        let pages = memmap2::MmapMut::map_anon(size_bytes).ok()?;
        MAPPED.fetch_add(pages.len(), Ordering::Relaxed);
        Some(Self(pages))
    }

    /// Bytes of all pages that the process has mapped and not dropped. No allocator counts them.
    pub fn mapped_bytes() -> usize {
        MAPPED.load(Ordering::Relaxed)
    }

    /// The address of the pages, which is fixed until they are dropped.
    pub fn start(&mut self) -> NonNull<u8> {
        NonNull::from(&mut self.0[..]).cast()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        MAPPED.fetch_sub(self.0.len(), Ordering::Relaxed);
    }
}
