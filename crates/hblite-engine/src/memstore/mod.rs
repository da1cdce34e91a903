//! The memstore: cells of one store that are in the log and not yet in a file.
//!
//! Writers add to the active segment. A flush freezes it, and an empty one takes its place. The
//! flush writes the frozen segment to a file and then clears it. Readers see both throughout.
//!
//! Cells in memory have the same layout as in files and in the log (see `cells::arena`).
//!
//! Invariants:
//! 1. There is at most one frozen segment. A failed flush leaves it in place; the next flush takes
//!    the same one.
//! 2. A cell never moves or leaves a segment, so earlier reads stay valid.
//!
//! Threads: any number of writers and readers at once. The set of segments is replaced as a whole.
//! A segment is frozen when no add is in flight: under the region's updates lock.

mod cells;
mod row_bloom;
mod segment;
mod segment_scanner;
mod size;

#[cfg(test)]
mod tests;

pub use cells::ChunkPool;
pub use segment::FrozenSegment;
pub use segment_scanner::SegmentScanner;
pub use size::MemStoreSize;

use std::sync::Arc;

use hblite_env::Published;
use hblite_env::sync::Mutex;
use hblite_model::cell::{CellComparator, CellRef};
use hblite_model::{Error, Exception, Result, bytes};

use segment::MutableSegment;

/// The memstore of one store (HBase's `DefaultMemStore`).
pub struct MemStore {
    comparator: CellComparator,
    chunks: Arc<ChunkPool>,
    segments: Published<Segments>,
    /// Held while the segments are replaced.
    replacing: Mutex<()>,
}

/// The segments of a memstore at one moment.
pub struct Segments {
    active: Arc<MutableSegment>,
    frozen: Option<FrozenMemStore>,
    last_frozen_id: u64,
    /// The expected common prefix of the rows in the next active segment.
    shared_row_prefix: Vec<u8>,
}

/// The frozen cells that a flush writes.
#[derive(Clone)]
pub struct FrozenMemStore {
    id: u64,
    segment: Arc<FrozenSegment>,
}

impl FrozenMemStore {
    /// The argument for [`MemStore::clear_frozen`], once the cells are in a file.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The cells.
    pub fn segment(&self) -> &FrozenSegment {
        &self.segment
    }
}

impl MemStore {
    /// An empty memstore.
    ///
    /// `shared_row_prefix` is the expected common prefix of the rows, empty if unknown: that of the
    /// region's start and end keys, or of the first and last keys of its files. It only affects
    /// speed, and each flush improves it. The memory comes from `chunks` and returns there.
    pub fn new(
        comparator: CellComparator,
        shared_row_prefix: &[u8],
        chunks: Arc<ChunkPool>,
    ) -> Self {
        let active = MutableSegment::new(comparator, shared_row_prefix, Arc::clone(&chunks));
        Self {
            comparator,
            chunks,
            segments: Published::new(Arc::new(Segments {
                active: Arc::new(active),
                frozen: None,
                last_frozen_id: 0,
                shared_row_prefix: shared_row_prefix.to_vec(),
            })),
            replacing: Mutex::default(),
        }
    }

    /// The segments now.
    pub fn segments(&self) -> Arc<Segments> {
        self.segments.to_arc()
    }

    /// Adds cells, each with the sequence id it carries, and returns their cost.
    ///
    /// Readers whose read point covers a sequence id see the cell once this has returned. Of cells
    /// with the same key and sequence id, readers find the last added first. The caller makes sure
    /// that nothing is frozen meanwhile: a cell added after that would be in no file.
    pub fn add<'a>(
        &self,
        cells: impl IntoIterator<Item = CellRef<'a>, IntoIter: Clone>,
    ) -> MemStoreSize {
        self.segments.read().active.add(cells.into_iter())
    }

    /// Brings memory that an insert of `row` uses into the processor's cache: that of many
    /// memstores is in none, and the processor waits for all of it at once.
    pub(crate) fn prefetch(&self, row: &[u8]) {
        self.segments.read().active.prefetch(row);
    }

    /// The cost of all cells, active and frozen.
    pub fn size(&self) -> MemStoreSize {
        let segments = self.segments.read();
        let frozen = segments.frozen.as_ref().map(|frozen| frozen.segment.size());
        segments.active.size() + frozen.unwrap_or_default()
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        let segments = self.segments.read();
        segments.active.is_empty() && segments.frozen.is_none()
    }

    /// Freezes the active segment and starts an empty one. `None` if there is nothing to flush.
    ///
    /// If the last one was not cleared, this returns it and does nothing else. The caller makes
    /// sure that no write is in flight (with the region's updates lock).
    pub fn freeze(&self) -> Option<FrozenMemStore> {
        let _replacing = self.replacing.lock();
        let segments = self.segments.read();
        if segments.frozen.is_some() || segments.active.is_empty() {
            return segments.frozen.clone();
        }
        let frozen = segments.active.freeze();
        let shared_row_prefix = segments.next_shared_row_prefix(&frozen);
        let chunks = Arc::clone(&self.chunks);
        let active = MutableSegment::new(self.comparator, &shared_row_prefix, chunks);
        let id = segments.last_frozen_id + 1;
        let frozen = FrozenMemStore { id, segment: Arc::new(frozen) };
        self.segments.set(Arc::new(Segments {
            active: Arc::new(active),
            frozen: Some(frozen.clone()),
            last_frozen_id: id,
            shared_row_prefix,
        }));
        Some(frozen)
    }

    /// Drops the frozen segment, whose cells are now in a file, and returns its cost.
    ///
    /// # Errors
    /// If `id` is not that of the frozen segment: nothing was dropped.
    pub fn clear_frozen(&self, id: u64) -> Result<MemStoreSize> {
        let _replacing = self.replacing.lock();
        let segments = self.segments.read();
        let Some(cleared) = segments.frozen.as_ref().filter(|frozen| frozen.id == id) else {
            let found = segments.frozen.as_ref().map_or(0, |frozen| frozen.id);
            let message = format!("Current snapshot id is {found},passed {id}");
            return Err(
                Error::new(Exception::Io, message).with_kind(hblite_model::ErrorKind::WrongState)
            );
        };
        self.segments.set(Arc::new(Segments {
            active: Arc::clone(&segments.active),
            frozen: None,
            last_frozen_id: segments.last_frozen_id,
            shared_row_prefix: segments.shared_row_prefix.clone(),
        }));
        Ok(cleared.segment.size())
    }

    /// [`Segments::scanners`] now.
    pub fn scanners(&self, read_point: u64) -> Vec<SegmentScanner> {
        self.segments.read().scanners(read_point)
    }
}

impl Segments {
    /// Scanners over all segments that have cells, the newest first, for readers at `read_point`.
    pub fn scanners(&self, read_point: u64) -> Vec<SegmentScanner> {
        self.select_scanners(read_point, |_| true, |_| true)
    }

    /// Like [`Segments::scanners`], without segments that certainly have no cell of `row`.
    pub fn scanners_of_row(&self, read_point: u64, row: &[u8]) -> Vec<SegmentScanner> {
        self.select_scanners(
            read_point,
            |active| active.may_contain_row(row),
            |frozen| frozen.may_contain_row(row),
        )
    }

    fn select_scanners(
        &self,
        read_point: u64,
        wants_active: impl FnOnce(&MutableSegment) -> bool,
        wants_frozen: impl FnOnce(&FrozenSegment) -> bool,
    ) -> Vec<SegmentScanner> {
        let mut scanners = Vec::new();
        if !self.active.is_empty() && wants_active(&self.active) {
            scanners.push(self.active.scanner(read_point));
        }
        if let Some(frozen) = &self.frozen
            && wants_frozen(&frozen.segment)
        {
            scanners.push(frozen.segment.scanner(read_point));
        }
        scanners
    }

    /// Rows of the next segment will most likely begin like those of the frozen one.
    fn next_shared_row_prefix(&self, frozen: &FrozenSegment) -> Vec<u8> {
        let (mut first, mut last) = (frozen.scanner(u64::MAX), frozen.scanner(u64::MAX));
        if let (Ok(true), Ok(true)) = (first.seek_first(), last.seek_last())
            && let (Some(first), Some(last)) = (first.current(), last.current())
            && first.row() != last.row()
        {
            let length = bytes::common_prefix_length(first.row(), last.row());
            return first.row()[..length].to_vec();
        }
        self.shared_row_prefix.clone()
    }
}
