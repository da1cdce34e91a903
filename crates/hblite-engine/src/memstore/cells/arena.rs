//! Bump-allocated memory for cells, and for the nodes of skip lists (see `skip_list/nodes`).
//!
//! Layout of a stored cell, without padding; the numbers of the header are in native byte order:
//!
//! ```text
//! u64 sequence id | u32 tags length | u32 repeat and comparator     (header)
//! i32 key length | i32 value length | flat key | value | tags       (KeyValue, then its tags)
//! ```
//!
//! Chunks begin with [`CHUNK_SIZE_MIN`] bytes or less, so that an idle region costs little. They
//! grow with the arena up to [`CHUNK_SIZE_MAX`]: beyond four times the first one, a new one adds at
//! most a quarter, so that the memory of many regions is not charged for bytes that no cell uses. A
//! chunk holds at least four of the cells it was allocated for, which bounds the waste at its end
//! to a quarter; larger cells get a chunk of their own. Chunks of [`CHUNK_SIZE_MAX`] go from one
//! arena to the next through a [`ChunkPool`]. Such chunks are mapped, not allocated, because an
//! allocator keeps freed memory: after a load, an idle process would still hold what the load
//! needed.
//!
//! Invariants:
//! 1. A chunk neither moves nor is freed or used again before its arena is dropped.
//! 2. A range of a chunk is reserved by one `fetch_add`, so it belongs to one writer, and is
//!    written before the pointer to it is handed out. Afterwards it is never written, except for
//!    the links of nodes, which are atomic.
//! 3. A [`CellPointer`] is used only while its arena, or the buffer of its search key, is alive.
//!    Only the sibling modules see pointers; `super` says how they uphold this.
//!
//! Threads: every method may be called from any thread; reserving does not lock, except where a
//! new chunk is needed.
#![allow(unsafe_code)] // Measured: pointers to packed cells double the inserts of boxed cells.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use hblite_env::Pages;
use hblite_env::sync::Mutex;
use hblite_model::cell::{CellComparator, CellRef, KEY_VALUE_HEADER_SIZE};

use crate::prefetch::prefetch;

/// Bytes of the first chunk for cells.
pub(super) const CHUNK_SIZE_MIN: usize = 4 << 10;
/// How much of what is going to be written is prefetched: most cells are smaller.
const PREFETCHED_BYTES: usize = 256;
/// Where chunks begin.
pub(super) const CHUNK_ALIGNMENT: usize = 8;
/// Bytes of the largest chunk that cells share.
const CHUNK_SIZE_MAX: usize = 1 << 20;
/// Maximum bytes that a pool keeps, and with it an idle store.
const POOL_SIZE_MAX: usize = 16 << 20;
/// Larger cells get a chunk of their own.
const SHARED_CELL_SIZE_MAX: usize = CHUNK_SIZE_MAX / 4;

/// Bytes in front of the key: the header and the two lengths of the `KeyValue`.
const PREAMBLE_SIZE: usize = 16 + KEY_VALUE_HEADER_SIZE;
/// Where the field `repeat and comparator` begins.
const REPEAT_AT: usize = 12;
/// The bit of `repeat and comparator` that stands for the order of hbase:meta.
const META_FLAG: u32 = 1 << 31;

/// The bytes in front of the key of `cell`, with repeat 0.
fn preamble(cell: &CellRef<'_>, comparator: CellComparator) -> [u8; PREAMBLE_SIZE] {
    let length = |part: &[u8]| u32::try_from(part.len()).expect("parts of a cell are under 4 GiB");
    let flag = if comparator == CellComparator::Meta { META_FLAG } else { 0 };
    let mut bytes = [0; PREAMBLE_SIZE];
    bytes[..8].copy_from_slice(&cell.sequence_id().to_ne_bytes());
    bytes[8..12].copy_from_slice(&length(cell.tags()).to_ne_bytes());
    bytes[REPEAT_AT..16].copy_from_slice(&flag.to_ne_bytes());
    bytes[16..20].copy_from_slice(&length(cell.key()).to_be_bytes());
    bytes[20..].copy_from_slice(&length(cell.value()).to_be_bytes());
    bytes
}

/// Lays out `cell` in `buffer` as the arena would, for [`CellPointer::to_search_key`].
pub(super) fn write_search_key(
    buffer: &mut Vec<u8>,
    cell: &CellRef<'_>,
    comparator: CellComparator,
) {
    buffer.clear();
    buffer.extend_from_slice(&preamble(cell, comparator));
    for part in [cell.key(), cell.value(), cell.tags()] {
        buffer.extend_from_slice(part);
    }
}

/// Chunks for later arenas: memory that the process has used before need not be mapped and zeroed
/// by the operating system again (HBase's `ChunkCreator` pools chunks for the same reason).
///
/// Threads: any.
#[derive(Default)]
pub struct ChunkPool {
    free: Mutex<Vec<Chunk>>,
    chunks_max: usize,
}

impl ChunkPool {
    /// A pool that keeps at most `size_bytes`, and at most 16 MiB, in whole chunks of 1 MiB.
    pub fn new(size_bytes: usize) -> Self {
        let size_bytes = size_bytes.min(POOL_SIZE_MAX);
        Self { free: Mutex::default(), chunks_max: size_bytes / CHUNK_SIZE_MAX }
    }

    /// A chunk of `capacity` bytes, of which none is reserved.
    fn take(&self, capacity: usize) -> Chunk {
        let pooled = if capacity == CHUNK_SIZE_MAX { self.free.lock().pop() } else { None };
        pooled.unwrap_or_else(|| Chunk::allocate(capacity, 0))
    }

    /// Keeps a chunk to which no pointer is left, or frees it.
    fn give_back(&self, mut chunk: Chunk) {
        if chunk.capacity == CHUNK_SIZE_MAX {
            let mut free = self.free.lock();
            if free.len() < self.chunks_max {
                *chunk.used.get_mut() = 0;
                free.push(chunk);
            }
        }
    }
}

/// Cells back to back in chunks.
pub(super) struct Arena {
    pool: Arc<ChunkPool>,
    /// The chunk that is being filled; null until the first cell arrives.
    current: AtomicPtr<Chunk>,
    /// All chunks, to be given back. Each comes from `Box::leak`.
    chunks: Mutex<Vec<NonNull<Chunk>>>,
    /// Bytes of the first shared chunk.
    first_size: usize,
    allocated_bytes: AtomicUsize,
}

/// Owns its memory.
struct Chunk {
    start: NonNull<u8>,
    capacity: usize,
    /// The mapping; `None` if the memory comes from the allocator.
    pages: Option<Pages>,
    /// Bytes reserved; beyond `capacity` once a reservation has failed.
    used: AtomicUsize,
}

// SAFETY: a chunk owns the memory that it points to.
unsafe impl Send for Chunk {}

// SAFETY: the arena owns its chunks. Their bytes are written only through a reservation that no
// other thread has (invariant 2) and are immutable once they can be read.
unsafe impl Send for Arena {}
// SAFETY: as above; everything else in the arena is atomic or behind the mutex.
unsafe impl Sync for Arena {}

impl Arena {
    /// An arena without chunks. It gets them from `pool`, the first with `first_size` bytes.
    pub(super) fn new(pool: Arc<ChunkPool>, first_size: usize) -> Self {
        Self {
            pool,
            current: AtomicPtr::new(ptr::null_mut()),
            chunks: Mutex::default(),
            first_size,
            allocated_bytes: AtomicUsize::new(0),
        }
    }

    /// Bytes of all chunks and their bookkeeping.
    pub(super) fn allocated_bytes(&self) -> usize {
        self.allocated_bytes.load(Ordering::Relaxed)
    }

    /// Copies `cell` into the arena. Also returns how many bytes the arena grew by.
    ///
    /// # Panics
    /// If key, value or tags have 4 GiB or more: a `KeyValue` cannot express that.
    pub(super) fn store(
        &self,
        cell: &CellRef<'_>,
        comparator: CellComparator,
    ) -> (UnpublishedCell, usize) {
        let preamble = preamble(cell, comparator);
        let parts = [&preamble, cell.key(), cell.value(), cell.tags()];
        let (start, grown) = self.reserve(parts.iter().map(|part| part.len()).sum());
        let mut target = start;
        for part in parts {
            // SAFETY: the lengths of the parts add up to the bytes that begin at `start` and that
            // no other thread uses (invariant 2), so both the copy and the end stay within them.
            unsafe {
                ptr::copy_nonoverlapping(part.as_ptr(), target.as_ptr(), part.len());
                target = target.add(part.len());
            }
        }
        (UnpublishedCell(CellPointer(start)), grown)
    }

    /// Tells the processor where the next cell is going to be written.
    pub(super) fn prefetch_free(&self) {
        // SAFETY: `current` is null or a chunk that lives as long as the arena (invariant 1).
        if let Some(chunk) = unsafe { self.current.load(Ordering::Acquire).as_ref() } {
            let free = chunk.start.as_ptr().wrapping_add(chunk.used.load(Ordering::Relaxed));
            (0..PREFETCHED_BYTES).step_by(64).for_each(|at| prefetch(free.wrapping_add(at)));
        }
    }

    /// Reserves `size` bytes. Also returns how many bytes the arena grew by.
    pub(super) fn reserve(&self, size: usize) -> (NonNull<u8>, usize) {
        if size > SHARED_CELL_SIZE_MAX {
            let chunk = Chunk::allocate(size, size);
            let start = chunk.start;
            return (start, self.keep(&mut self.chunks.lock(), chunk).1);
        }
        let mut grown = 0;
        loop {
            let current = self.current.load(Ordering::Acquire);
            // SAFETY: `current` is null or a chunk that lives as long as the arena (invariant 1).
            if let Some(chunk) = unsafe { current.as_ref() }
                && let Some(start) = chunk.reserve(size)
            {
                return (start, grown);
            }
            grown += self.replace_current(current, size);
        }
    }

    /// Begins a new shared chunk unless another thread already did; returns the growth in bytes.
    fn replace_current(&self, full: *mut Chunk, size: usize) -> usize {
        let mut chunks = self.chunks.lock();
        if self.current.load(Ordering::Relaxed) != full {
            return 0;
        }
        // An eighth to a quarter of what there is.
        let usual = (self.allocated_bytes() / 8 + 1).next_power_of_two().min(CHUNK_SIZE_MAX);
        let capacity = usual.max(self.first_size).max((4 * size).next_power_of_two());
        let (chunk, grown) = self.keep(&mut chunks, self.pool.take(capacity));
        self.current.store(chunk.as_ptr(), Ordering::Release);
        grown
    }

    /// Takes over a chunk until the arena is dropped; returns the growth in bytes.
    fn keep(&self, chunks: &mut Vec<NonNull<Chunk>>, chunk: Chunk) -> (NonNull<Chunk>, usize) {
        let grown = chunk.capacity + size_of::<Chunk>() + size_of::<NonNull<Chunk>>();
        let chunk = NonNull::from(Box::leak(Box::new(chunk)));
        chunks.push(chunk);
        self.allocated_bytes.fetch_add(grown, Ordering::Relaxed);
        (chunk, grown)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for chunk in self.chunks.get_mut().drain(..) {
            // SAFETY: every element comes from `Box::leak` in `keep` and is taken back only here;
            // no reference into the chunk is left, since nothing borrows the arena.
            let chunk = unsafe { Box::from_raw(chunk.as_ptr()) };
            self.pool.give_back(*chunk);
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if self.pages.is_none() {
            // SAFETY: `Chunk::allocate` took the memory with this layout, and nothing else owns it.
            unsafe { dealloc(self.start.as_ptr(), Self::layout(self.capacity)) };
        }
    }
}

impl Chunk {
    fn layout(capacity: usize) -> Layout {
        Layout::from_size_align(capacity, CHUNK_ALIGNMENT)
            .expect("a chunk is far smaller than the address space")
    }

    /// A chunk of which the first `used` bytes are reserved. `capacity` is not 0.
    fn allocate(capacity: usize, used: usize) -> Self {
        if capacity >= CHUNK_SIZE_MAX
            && let Some(mut pages) = Pages::map(capacity)
        {
            let start = pages.start();
            return Self { start, capacity, pages: Some(pages), used: AtomicUsize::new(used) };
        }
        let layout = Self::layout(capacity);
        // SAFETY: the layout has a size: a stored cell has at least a header.
        let start = unsafe { alloc(layout) };
        let Some(start) = NonNull::new(start) else {
            handle_alloc_error(layout);
        };
        Self { start, capacity, pages: None, used: AtomicUsize::new(used) }
    }

    /// Reserves `size` bytes, or none if they do not fit.
    fn reserve(&self, size: usize) -> Option<NonNull<u8>> {
        // Each thread fails once per chunk at most, so `used` stays far from overflowing.
        let at = self.used.fetch_add(size, Ordering::Relaxed);
        if at + size > self.capacity {
            return None;
        }
        // SAFETY: `at + size` lies within the allocation of `capacity` bytes.
        Some(unsafe { self.start.add(at) })
    }
}

/// A stored cell that no other thread can see yet.
pub(super) struct UnpublishedCell(CellPointer);

impl UnpublishedCell {
    /// Where the cell lies.
    pub(super) fn pointer(&self) -> CellPointer {
        self.0
    }

    /// Sets the cell's rank among cells of the same key and sequence id; the higher sorts first.
    pub(super) fn set_repeat(&mut self, repeat: u32) {
        let flag = self.0.repeat_and_comparator() & META_FLAG;
        let field = (flag | (repeat & !META_FLAG)).to_ne_bytes();
        let CellPointer(start) = self.0;
        // SAFETY: the field lies within the preamble. The cell was not published, so the thread
        // that reserved its bytes is the only one to use them.
        unsafe { start.add(REPEAT_AT).cast::<[u8; 4]>().write_unaligned(field) };
    }
}

/// Where a cell lies. See invariant 3: it does not keep the cell alive.
#[derive(Clone, Copy)]
pub(super) struct CellPointer(NonNull<u8>);

// SAFETY: it points to bytes that do not change (invariant 2).
unsafe impl Send for CellPointer {}
// SAFETY: as above.
unsafe impl Sync for CellPointer {}

impl CellPointer {
    /// A pointer to what [`write_search_key`] wrote; to be used while `bytes` stay as they are.
    pub(super) fn to_search_key(bytes: &[u8]) -> Self {
        assert!(bytes.len() >= PREAMBLE_SIZE, "not a search key");
        Self(NonNull::from(bytes).cast())
    }

    /// The cell.
    #[inline]
    pub(super) fn cell(&self) -> CellRef<'_> {
        let tags_length = u32::from_ne_bytes(self.field(8)) as usize;
        let value_length = u32::from_be_bytes(self.field(20)) as usize;
        let key = self.key();
        // SAFETY: value and tags follow the key (see `preamble` for the lengths), are alive
        // (invariant 3) and do not change (invariant 2).
        let (value, tags) = unsafe {
            let value = self.0.add(PREAMBLE_SIZE + key.len());
            let tags = value.add(value_length);
            (
                slice::from_raw_parts(value.as_ptr(), value_length),
                slice::from_raw_parts(tags.as_ptr(), tags_length),
            )
        };
        CellRef::new(key, value, tags, self.sequence_id())
    }

    /// The flat key.
    #[inline]
    pub(super) fn key(&self) -> &[u8] {
        let key_length = u32::from_be_bytes(self.field(16)) as usize;
        // SAFETY: the key follows the preamble; see `cell`.
        unsafe { slice::from_raw_parts(self.0.add(PREAMBLE_SIZE).as_ptr(), key_length) }
    }

    /// Tells the processor that the cell is going to be read. Consecutive cells may be anywhere in
    /// memory, so a scan would otherwise wait for each.
    #[inline]
    pub(super) fn prefetch(self) {
        prefetch(self.0.as_ptr());
    }

    /// The sequence id.
    #[inline]
    pub(super) fn sequence_id(self) -> u64 {
        u64::from_ne_bytes(self.field(0))
    }

    /// The rank among cells of the same key and sequence id.
    #[inline]
    pub(super) fn repeat(self) -> u32 {
        self.repeat_and_comparator() & !META_FLAG
    }

    /// The order that the cell was stored under.
    #[inline]
    pub(super) fn comparator(self) -> CellComparator {
        if self.repeat_and_comparator() & META_FLAG == 0 {
            CellComparator::Default
        } else {
            CellComparator::Meta
        }
    }

    #[inline]
    fn repeat_and_comparator(self) -> u32 {
        u32::from_ne_bytes(self.field(REPEAT_AT))
    }

    /// A field of the preamble.
    #[inline]
    fn field<const SIZE: usize>(self, at: usize) -> [u8; SIZE] {
        debug_assert!(at + SIZE <= PREAMBLE_SIZE);
        // SAFETY: the pointer is to a whole preamble (invariant 3); bytes need no alignment.
        unsafe { self.0.add(at).cast::<[u8; SIZE]>().read_unaligned() }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use hblite_model::cell::{Cell, CellType};

    use super::*;

    fn cell(row: &str, value_length: usize) -> Cell {
        Cell::new(row.as_bytes(), b"f", b"q", 7, CellType::Put, &vec![b'v'; value_length])
    }

    fn store(arena: &Arena, cell: &CellRef<'_>) -> CellPointer {
        arena.store(cell, CellComparator::Default).0.pointer()
    }

    #[test]
    fn cells_stay_where_they_were_stored() {
        let arena = Arena::new(Arc::default(), CHUNK_SIZE_MIN);
        assert_eq!(arena.allocated_bytes(), 0);
        let lengths = [0, 1, 100, 5_000, 70_000, SHARED_CELL_SIZE_MAX, 3 << 20, 10];
        let stored: Vec<_> = (0..3 * lengths.len())
            .map(|i| {
                let cell = cell(&format!("row{i}"), lengths[i % lengths.len()]);
                let with_tags =
                    CellRef::new(cell.as_ref().key(), cell.value(), b"\0\x03\x08ab", i as u64);
                (store(&arena, &with_tags), with_tags.to_cell())
            })
            .collect();
        for (pointer, expected) in &stored {
            assert_eq!(pointer.cell(), expected.as_ref());
            assert_eq!(pointer.sequence_id(), expected.sequence_id());
            assert_eq!(pointer.comparator(), CellComparator::Default);
        }
    }

    #[test]
    fn a_repeat_leaves_the_other_fields_alone() {
        let arena = Arena::new(Arc::default(), CHUNK_SIZE_MIN);
        let cell = cell("row", 3);
        let (mut stored, grown) = arena.store(&cell.as_ref(), CellComparator::Meta);
        assert_eq!((stored.pointer().repeat(), grown), (0, arena.allocated_bytes()));
        stored.set_repeat(5);
        let pointer = stored.pointer();
        assert_eq!((pointer.repeat(), pointer.comparator()), (5, CellComparator::Meta));
        assert_eq!(pointer.cell(), cell.as_ref());
    }

    #[test]
    fn a_search_key_reads_as_a_stored_cell() {
        let cell = cell("row", 3);
        let mut buffer = vec![9; 100];
        let sought = cell.as_ref().with_sequence_id(u64::MAX);
        write_search_key(&mut buffer, &sought, CellComparator::Default);
        let pointer = CellPointer::to_search_key(&buffer);
        assert_eq!(pointer.key(), cell.as_ref().key());
        assert_eq!(pointer.sequence_id(), u64::MAX);
    }

    #[test]
    fn writers_never_share_bytes() {
        let arena = Arena::new(Arc::default(), CHUNK_SIZE_MIN);
        let cells_per_thread = if cfg!(miri) { 50 } else { 5_000 };
        let write = |thread: usize| {
            let cells = (0..cells_per_thread).map(|i| {
                let cell = cell(&format!("{thread}-{i}"), i * 7 % 300);
                (store(&arena, &cell.as_ref()), cell)
            });
            cells.collect::<Vec<_>>()
        };
        let stored = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|t| scope.spawn(move || write(t))).collect();
            threads.into_iter().flat_map(|t| t.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(stored.len(), 4 * cells_per_thread);
        for (pointer, expected) in &stored {
            assert_eq!(pointer.cell(), expected.as_ref());
        }
    }

    #[test]
    fn chunks_of_the_largest_size_are_used_again_up_to_the_limit() {
        let pool = Arc::new(ChunkPool::new(2 * CHUNK_SIZE_MAX + 1));
        let large = cell("row", 100_000);
        let fill = || {
            let arena = Arena::new(Arc::clone(&pool), CHUNK_SIZE_MIN);
            let stored: Vec<_> = (0..100).map(|_| store(&arena, &large.as_ref())).collect();
            assert!(stored.iter().all(|pointer| pointer.cell() == large.as_ref()));
            arena.allocated_bytes()
        };
        let pooled = || {
            let free = pool.free.lock();
            assert!(free.iter().all(|chunk| chunk.used.load(Ordering::Relaxed) == 0));
            free.iter().map(|chunk| chunk.start).collect::<Vec<_>>()
        };
        let first = fill();
        let chunks = pooled();
        assert_eq!(chunks.len(), 2);
        assert_eq!(fill(), first);
        assert!(pooled().iter().any(|chunk| chunks.contains(chunk)));
        let arena = Arena::new(Arc::clone(&pool), CHUNK_SIZE_MIN);
        let stored: Vec<_> = (0..50).map(|_| store(&arena, &large.as_ref())).collect();
        assert_eq!(stored.len(), 50);
        assert!(pooled().len() < 2);
    }

    #[test]
    fn chunks_grow_with_what_they_hold() {
        let arena = Arena::new(Arc::default(), CHUNK_SIZE_MIN);
        let mut stored = 0;
        while stored < 200_000 {
            stored += PREAMBLE_SIZE + cell("row", 100).as_ref().serialized_size();
            store(&arena, &cell("row", 100).as_ref());
            assert!(arena.allocated_bytes() <= CHUNK_SIZE_MIN + 100 + stored * 3 / 2);
        }
    }
}
