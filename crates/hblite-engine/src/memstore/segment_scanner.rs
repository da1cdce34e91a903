//! A scanner over one segment.
//!
//! Order:      as stored: row, family, qualifier, newest timestamp, type, newest sequence id.
//! Visibility: cells with a sequence id above the read point are skipped, in every direction.
//! Threads:    a scanner belongs to one thread at a time. It holds the memory of its segment, even
//!             after the memstore has dropped it; writes and flushes never make it wait.

use hblite_model::Result;
use hblite_model::cell::CellRef;

use super::cells::CellCursor;

/// Moves over the visible cells of a segment in both directions (HBase's `SegmentScanner`).
///
/// A new scanner is at no cell. Moving off either end leaves it at none, and then only seeks move
/// it back to one. No method fails today; they return `Result` like all scanners of a store.
pub struct SegmentScanner {
    cursor: CellCursor,
    read_point: u64,
    timestamps: Option<(i64, i64)>,
    markers: SegmentMarkers,
}

/// Which markers a segment had when the scanner was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentMarkers {
    /// Whether it had one of any kind.
    pub any: bool,
    /// Whether it had one of a whole family.
    pub of_families: bool,
}

impl SegmentScanner {
    pub(super) fn new(
        cursor: CellCursor,
        read_point: u64,
        timestamps: Option<(i64, i64)>,
        markers: SegmentMarkers,
    ) -> Self {
        Self { cursor, read_point, timestamps, markers }
    }

    /// Least and greatest timestamp of the segment when the scanner was opened, `None` if it was
    /// empty. Markers that delete everything up to their timestamp count from 0, since scans of any
    /// time range have to see them.
    pub fn timestamps(&self) -> Option<(i64, i64)> {
        self.timestamps
    }

    /// Which markers the segment had when the scanner was opened.
    pub fn markers(&self) -> SegmentMarkers {
        self.markers
    }

    /// The cell at the scanner.
    #[inline]
    pub fn current(&self) -> Option<CellRef<'_>> {
        debug_assert!(
            self.cursor.sequence_id().is_none_or(|id| id <= self.read_point),
            "a scanner is at a visible cell"
        );
        self.cursor.current()
    }

    /// Moves to the first cell whose key is `key` or greater; returns whether there is one.
    ///
    /// `key` is a well-formed flat key. Seeking forward over a short distance costs less.
    pub fn seek(&mut self, key: &[u8]) -> Result<bool> {
        self.cursor.seek(key);
        Ok(self.skip_invisible_forward())
    }

    /// Moves to the last cell whose key is less than `key`; returns whether there is one.
    pub fn seek_before(&mut self, key: &[u8]) -> Result<bool> {
        self.cursor.seek_before(key);
        Ok(self.skip_invisible_backward())
    }

    /// Moves to the first cell; returns whether there is one.
    pub fn seek_first(&mut self) -> Result<bool> {
        self.cursor.seek_first();
        Ok(self.skip_invisible_forward())
    }

    /// Moves to the last cell; returns whether there is one.
    pub fn seek_last(&mut self) -> Result<bool> {
        self.cursor.seek_last();
        Ok(self.skip_invisible_backward())
    }

    /// Moves to the next cell; returns whether there is one.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "a lending cursor is not an iterator")]
    pub fn next(&mut self) -> Result<bool> {
        self.cursor.next();
        Ok(self.skip_invisible_forward())
    }

    /// Moves to the previous cell; returns whether there is one.
    #[inline]
    pub fn prev(&mut self) -> Result<bool> {
        self.cursor.prev();
        Ok(self.skip_invisible_backward())
    }

    #[inline]
    fn skip_invisible_forward(&mut self) -> bool {
        while let Some(sequence_id) = self.cursor.sequence_id() {
            if sequence_id <= self.read_point {
                return true;
            }
            self.cursor.next();
        }
        false
    }

    #[inline]
    fn skip_invisible_backward(&mut self) -> bool {
        while let Some(sequence_id) = self.cursor.sequence_id() {
            if sequence_id <= self.read_point {
                return true;
            }
            self.cursor.prev();
        }
        false
    }
}
