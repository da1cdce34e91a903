//! A window of time: the requests of each region in it, and some of their rows.

use std::sync::Arc;

use hblite::{RegionInfo, RegionLoad, RowCounts};

/// Windows with what was counted of rows.
pub(crate) const ROWS_WINDOWS: usize = 12;
/// Sampled keys of a window.
pub(crate) const KEYS_MAX: usize = 200;

/// A sampled key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyInWindow {
    pub(crate) region: Arc<RegionInfo>,
    pub(crate) row: Box<[u8]>,
    pub(crate) is_write: bool,
}

/// The requests of a region in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Load {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) bytes_read: u64,
    pub(crate) bytes_written: u64,
}

impl Load {
    pub(crate) fn between(before: &RegionLoad, now: &RegionLoad) -> Self {
        // A counter that decreased belongs to a region that was opened again.
        let since = |before: u64, now: u64| if now >= before { now - before } else { now };
        Self {
            reads: since(before.read_requests, now.read_requests),
            writes: since(before.write_requests, now.write_requests),
            bytes_read: since(before.bytes_read, now.bytes_read),
            bytes_written: since(before.bytes_written, now.bytes_written),
        }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.reads = self.reads.saturating_add(other.reads);
        self.writes = self.writes.saturating_add(other.writes);
        self.bytes_read = self.bytes_read.saturating_add(other.bytes_read);
        self.bytes_written = self.bytes_written.saturating_add(other.bytes_written);
    }
}

/// A window of time.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Begin and end, in milliseconds since 1970-01-01 UTC.
    pub(crate) start_ms: i64,
    pub(crate) end_ms: i64,
    /// Regions with requests.
    pub(crate) loads: Vec<(Arc<RegionInfo>, Load)>,
    /// A sample of the rows of these requests.
    pub(crate) keys: Vec<KeyInWindow>,
    /// What is known of the rows of these requests, if the window is one of the last.
    pub(crate) rows: Option<RowCounts>,
    /// Calls that a server answered, if there is one.
    pub(crate) calls: Option<u64>,
}

impl Window {
    pub(crate) fn seconds(&self) -> f64 {
        (self.end_ms - self.start_ms).max(1) as f64 / 1000.0
    }

    pub(crate) fn total(&self) -> Load {
        let mut total = Load::default();
        for (_, load) in &self.loads {
            total.add(load);
        }
        total
    }
}
