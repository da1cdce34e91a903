//! The system's allocator, counting the bytes that the process holds and their peak.
//!
//! A test that measures memory includes this file by its path and installs the allocator:
//!
//! ```text
//! #[path = "../../../tests/testkit/counting.rs"]
//! mod counting;
//! #[global_allocator]
//! static ALLOCATOR: counting::Counting = counting::Counting;
//! ```
//!
//! The counts are those of the whole process, so such a test runs its cases one at a time.
#![allow(unsafe_code)] // A counting allocator has to be a `GlobalAlloc`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The allocator to install.
pub(crate) struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Bytes that the process holds.
pub(crate) fn used_bytes() -> usize {
    USED.load(Ordering::Relaxed)
}

/// The most bytes that the process has held since [`reset_peak`].
pub(crate) fn peak_bytes() -> usize {
    PEAK.load(Ordering::Relaxed)
}

/// Begins a measurement: what the process holds now, which is the peak so far.
pub(crate) fn reset_peak() -> usize {
    let used = used_bytes();
    PEAK.store(used, Ordering::Relaxed);
    used
}

fn grow(bytes: usize) {
    let used = USED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(used, Ordering::Relaxed);
}

// SAFETY: forwards every call to `System` unchanged. Counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The system moves large blocks without a copy.
        match size.checked_sub(layout.size()) {
            Some(more) => grow(more),
            None => _ = USED.fetch_sub(layout.size() - size, Ordering::Relaxed),
        }
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
