//! The heap size that a memstore reports, compared with what the process really uses for it.
//!
//! Only what the measuring thread allocates is counted: the test harness has threads of its own.
#![allow(unsafe_code)] // A counting allocator has to be a `GlobalAlloc`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use hblite_engine::memstore::MemStore;
use hblite_env::Pages;
use hblite_model::cell::{CellBuffer, CellComparator, CellType};

/// The system's allocator, counting.
struct Counting;

thread_local! {
    /// Bytes allocated and not freed.
    static REQUESTED: Cell<usize> = const { Cell::new(0) };
    /// The same with what an allocator adds: 8 bytes in front, rounded up to 16 (glibc's malloc).
    static OCCUPIED: Cell<usize> = const { Cell::new(0) };
}

fn occupied(layout: Layout) -> usize {
    (layout.size() + 8).next_multiple_of(16).max(32)
}

/// What one thread allocates another may free, so the counters may wrap.
fn count(requested: usize, occupied: usize) {
    REQUESTED.set(REQUESTED.get().wrapping_add(requested));
    OCCUPIED.set(OCCUPIED.get().wrapping_add(occupied));
}

// SAFETY: forwards every call to `System` unchanged. Counting does not allocate: the counters need
// neither initialisation nor a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), occupied(layout));
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size().wrapping_neg(), occupied(layout).wrapping_neg());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Large chunks are mapped, which no allocator sees; only the measuring thread has any.
fn in_use() -> [usize; 2] {
    [REQUESTED.get(), OCCUPIED.get()].map(|bytes| bytes.wrapping_add(Pages::mapped_bytes()))
}

/// Asserts that `reported` is within 10 % of the growth in use since `start`, by either count.
fn check(reported: usize, start: [usize; 2], what: &str) {
    for (now, start) in in_use().into_iter().zip(start) {
        let used = now.wrapping_sub(start);
        let is_close = reported.abs_diff(used) * 10 <= used;
        assert!(is_close, "{what}: reported {reported}, used {used}");
    }
}

fn put(cells: &mut CellBuffer, index: usize, value_length: usize) {
    let row = format!("{:016x}", (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (put, value) = (CellType::Put.code(), vec![b'v'; value_length]);
    cells.clear();
    cells.push_parts(row.as_bytes(), b"f", b"qualifie", 1, put, &value);
    cells.set_sequence_id(index as u64 + 1);
}

/// Fills a memstore, flattens its frozen segment and clears it, checking the heap throughout.
fn fill_and_flush(cell_count: usize, value_length: usize) {
    let what = format!("{cell_count} cells of {value_length} bytes");
    let mut cells = CellBuffer::new();
    put(&mut cells, 0, value_length);

    let start = in_use();
    let memstore = MemStore::new(CellComparator::Default, b"", Arc::default());
    for index in 0..cell_count {
        put(&mut cells, index, value_length);
        memstore.add(&cells);
    }
    check(memstore.size().heap_size, start, &what);
    let frozen = memstore.freeze().expect("there are cells");
    frozen.segment().flatten();
    check(memstore.size().heap_size, start, &what);
    memstore.clear_frozen(frozen.id()).expect("the frozen segment is there");
    drop(frozen);
    drop(memstore);
    assert_eq!(in_use(), start, "{what}: not all was given back");
}

#[test]
fn the_reported_heap_size_is_within_a_tenth_of_what_is_used() {
    // What a thread sets up on its first use of a skip list is not the memstore's.
    MemStore::new(CellComparator::Default, b"", Arc::default()).add(&one_cell());
    for cell_count in [1, 10, 100, 1_000, 20_000, 200_000] {
        for value_length in [20, 100, 500, 2_000] {
            if cell_count * value_length <= 20_000_000 {
                fill_and_flush(cell_count, value_length);
            }
        }
    }
}

fn one_cell() -> CellBuffer {
    let mut cells = CellBuffer::new();
    put(&mut cells, 0, 1);
    cells
}
