//! A segment: the cells of a memstore between two flushes.
//!
//! A mutable segment accepts cells. A flush freezes it: from then on it is only read, first from
//! the same skip list, and from a sorted array once the flush has built one.
//!
//! Threads: any number of threads add and read at once. Freezing requires that no add is in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use hblite_env::sync::RwLock;
use hblite_model::cell::{CellComparator, CellRef, CellType};

use super::MemStoreSize;
use super::cells::{CellArray, CellCursor, CellList, ChunkPool, begin_inserts};
use super::row_bloom::RowBloom;
use super::segment_scanner::{SegmentMarkers, SegmentScanner};
use crate::invariants::ARE_CHECKED;

/// Bytes of the length field before the tags of a serialized cell.
const TAGS_LENGTH_SIZE: usize = 2;

/// A segment that cells are added to (HBase's `MutableSegment`).
pub(super) struct MutableSegment {
    cells: Arc<CellList>,
    summary: Arc<Summary>,
}

impl MutableSegment {
    /// An empty segment. Rows are expected to begin with `shared_row_prefix`.
    pub(super) fn new(
        comparator: CellComparator,
        shared_row_prefix: &[u8],
        chunks: Arc<ChunkPool>,
    ) -> Self {
        Self {
            cells: Arc::new(CellList::new(comparator, shared_row_prefix, chunks)),
            summary: Arc::default(),
        }
    }

    /// Adds cells, each with the sequence id it carries, and returns what they cost.
    pub(super) fn add<'a>(&self, cells: impl Iterator<Item = CellRef<'a>> + Clone) -> MemStoreSize {
        // Before the cells, so that no reader finds a cell but not its row. And separately, because
        // the processor then waits for the words of many rows at once.
        let mut added =
            MemStoreSize { heap_size: self.add_rows(cells.clone()), ..Default::default() };
        let guard = begin_inserts();
        for cell in cells {
            self.summary.statistics.include(&cell);
            added.heap_size += self.cells.insert(&cell, &guard);
            debug_assert!(self.may_contain_row(cell.row()), "rows come before their cells");
            added.data_size += data_size(&cell);
            added.cell_count += 1;
        }
        let statistics = &self.summary.statistics;
        statistics.data_size.fetch_add(added.data_size, Ordering::Relaxed);
        if ARE_CHECKED {
            let is_frozen = statistics.is_frozen.load(Ordering::Relaxed);
            assert!(!is_frozen, "nothing is frozen while cells are added");
        }
        added
    }

    /// Adds the rows of cells and returns the additional heap bytes.
    fn add_rows<'a>(&self, cells: impl Iterator<Item = CellRef<'a>>) -> usize {
        let mut last_row = None;
        let rows = cells.map(|cell| cell.row()).filter(|row| last_row.replace(*row) != Some(*row));
        self.summary.rows.insert_all(rows)
    }

    /// Brings memory that an insert of `row` uses into the processor's cache.
    pub(super) fn prefetch(&self, row: &[u8]) {
        self.summary.rows.prefetch(row);
        self.cells.prefetch_free();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cells.len() == 0
    }

    pub(super) fn size(&self) -> MemStoreSize {
        MemStoreSize {
            cell_count: self.cells.len(),
            data_size: self.summary.data_size(),
            heap_size: size_of::<Self>() + self.cells.heap_size() + self.summary.heap_size(),
        }
    }

    pub(super) fn may_contain_row(&self, row: &[u8]) -> bool {
        self.summary.rows.may_contain(row)
    }

    pub(super) fn scanner(&self, read_point: u64) -> SegmentScanner {
        let cursor = CellCursor::over_list(Arc::clone(&self.cells));
        self.summary.statistics.scanner(cursor, read_point)
    }

    /// The same cells as a frozen segment. No add may be in flight, and none may follow.
    pub(super) fn freeze(&self) -> FrozenSegment {
        self.summary.statistics.is_frozen.store(true, Ordering::Relaxed);
        FrozenSegment {
            cells: RwLock::new(FrozenCells::List(Arc::clone(&self.cells))),
            summary: Arc::clone(&self.summary),
        }
    }
}

/// A segment that no longer changes (HBase's `ImmutableSegment`).
pub struct FrozenSegment {
    cells: RwLock<FrozenCells>,
    summary: Arc<Summary>,
}

enum FrozenCells {
    List(Arc<CellList>),
    Array(Arc<CellArray>),
}

impl FrozenSegment {
    /// Turns the skip list into a sorted array, for all scanners opened from now on.
    ///
    /// This also frees the list, which takes time, so it happens here, in the flushing thread,
    /// unless a scanner still reads the list. Readers do not wait.
    pub fn flatten(&self) {
        let list = match &*self.cells.read() {
            FrozenCells::List(list) => Arc::clone(list),
            FrozenCells::Array(_) => return,
        };
        let array = list.to_array();
        assert_eq!(array.len(), list.len(), "a frozen segment gets no cells");
        let array = FrozenCells::Array(Arc::new(array));
        let replaced = std::mem::replace(&mut *self.cells.write(), array);
        drop(replaced);
    }

    /// A scanner over the cells with sequence ids up to `read_point`.
    pub fn scanner(&self, read_point: u64) -> SegmentScanner {
        let cursor = match &*self.cells.read() {
            FrozenCells::List(list) => CellCursor::over_list(Arc::clone(list)),
            FrozenCells::Array(array) => CellCursor::over_array(Arc::clone(array)),
        };
        self.summary.statistics.scanner(cursor, read_point)
    }

    /// What the cells cost; the heap size falls when the segment is flattened.
    pub fn size(&self) -> MemStoreSize {
        let (cell_count, cells_heap_size) = match &*self.cells.read() {
            FrozenCells::List(list) => (list.len(), list.heap_size()),
            FrozenCells::Array(array) => (array.len(), array.heap_size()),
        };
        MemStoreSize {
            cell_count,
            data_size: self.summary.data_size(),
            heap_size: size_of::<Self>() + cells_heap_size + self.summary.heap_size(),
        }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.size().cell_count == 0
    }

    /// Whether the row may have cells here; false is certain.
    pub fn may_contain_row(&self, row: &[u8]) -> bool {
        self.summary.rows.may_contain(row)
    }

    /// Least and greatest timestamp, as [`SegmentScanner::timestamps`] describes them.
    pub fn timestamps(&self) -> Option<(i64, i64)> {
        self.summary.statistics.timestamps()
    }

    /// Whether any cell has tags.
    pub fn has_tags(&self) -> bool {
        self.summary.statistics.has_tags.load(Ordering::Relaxed)
    }
}

/// What a segment knows about its cells. The numbers that each write changes are at the end of the
/// one and the beginning of the other: in one line of the processor's cache.
#[derive(Default)]
#[repr(C, align(64))]
struct Summary {
    rows: RowBloom,
    statistics: Statistics,
}

impl Summary {
    fn data_size(&self) -> usize {
        self.statistics.data_size.load(Ordering::Relaxed)
    }

    /// Heap bytes of this and of the filter of rows.
    fn heap_size(&self) -> usize {
        size_of::<Self>() + self.rows.heap_size()
    }
}

/// Bytes of a cell as serialized (`KeyValue.getSerializedSize` with tags).
fn data_size(cell: &CellRef<'_>) -> usize {
    let tags_size = match cell.tags().len() {
        0 => 0,
        length => TAGS_LENGTH_SIZE + length,
    };
    cell.serialized_size() + tags_size
}

/// Sums and extremes of the cells.
#[repr(C)]
struct Statistics {
    data_size: AtomicUsize,
    timestamp_min: AtomicI64,
    timestamp_max: AtomicI64,
    has_tags: AtomicBool,
    has_markers: AtomicBool,
    has_family_markers: AtomicBool,
    is_frozen: AtomicBool,
}

impl Default for Statistics {
    fn default() -> Self {
        Self {
            data_size: AtomicUsize::new(0),
            timestamp_min: AtomicI64::new(i64::MAX),
            timestamp_max: AtomicI64::new(i64::MIN),
            has_tags: AtomicBool::new(false),
            has_markers: AtomicBool::new(false),
            has_family_markers: AtomicBool::new(false),
            is_frozen: AtomicBool::new(false),
        }
    }
}

impl Statistics {
    /// Records `cell`. Writes only what changes: most cells change nothing, and writers share these
    /// fields.
    fn include(&self, cell: &CellRef<'_>) {
        let timestamp = cell.timestamp();
        let reaches_back =
            matches!(cell.cell_type(), Some(CellType::DeleteFamily | CellType::DeleteColumn));
        // Such a marker matters to scans of any earlier time.
        let earliest = if reaches_back { timestamp.min(0) } else { timestamp };
        if earliest < self.timestamp_min.load(Ordering::Relaxed) {
            self.timestamp_min.fetch_min(earliest, Ordering::Relaxed);
        }
        if timestamp > self.timestamp_max.load(Ordering::Relaxed) {
            self.timestamp_max.fetch_max(timestamp, Ordering::Relaxed);
        }
        if !cell.tags().is_empty() && !self.has_tags.load(Ordering::Relaxed) {
            self.has_tags.store(true, Ordering::Relaxed);
        }
        if cell.type_code() != CellType::Put.code() {
            self.has_markers.store(true, Ordering::Relaxed);
            let family_marker = [CellType::DeleteFamily, CellType::DeleteFamilyVersion];
            if family_marker.iter().any(|marker| marker.code() == cell.type_code()) {
                self.has_family_markers.store(true, Ordering::Relaxed);
            }
        }
    }

    fn scanner(&self, cursor: CellCursor, read_point: u64) -> SegmentScanner {
        let markers = SegmentMarkers {
            any: self.has_markers.load(Ordering::Relaxed),
            of_families: self.has_family_markers.load(Ordering::Relaxed),
        };
        SegmentScanner::new(cursor, read_point, self.timestamps(), markers)
    }

    fn timestamps(&self) -> Option<(i64, i64)> {
        let min = self.timestamp_min.load(Ordering::Relaxed);
        let max = self.timestamp_max.load(Ordering::Relaxed);
        (min <= max).then_some((min, max))
    }
}
