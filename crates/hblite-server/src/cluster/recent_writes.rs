//! Separates writes that are made within one millisecond.
//!
//! Timestamps are milliseconds, and calls are faster here than in HBase, where these cases are
//! rare:
//!
//! - A delete marker hides cells with its own timestamp, whatever came first: a put right after the
//!   delete of its row would be hidden.
//! - An increment or append of a cell that was written in this millisecond has the next one's
//!   timestamp: a later put would be hidden by it, and a later delete would not cover it. An append
//!   to several columns would give some of them this timestamp and some the next.
//!
//! Such a write to a row waits until the clock has passed the earlier one. Counters wait only for
//! deletes, so that they can be faster than one step per millisecond; they may then run ahead of
//! the clock, as in HBase.
//!
//! Threads: any.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hblite_engine::{Engine, RegionHandle};
use hblite_model::{LATEST_TIMESTAMP, Mutation, MutationKind};
use parking_lot::Mutex;

/// There is no wait for a stopped clock.
const WAIT_MAX: Duration = Duration::from_millis(4);
const PAUSE: Duration = Duration::from_micros(100);
/// Maximum number of rows to remember.
const ROWS_MAX: usize = 10_000;

/// Rows that were deleted, incremented or appended to in the latest milliseconds.
#[derive(Debug, Default)]
pub(crate) struct RecentWrites {
    /// The latest timestamp of any row.
    latest_ms: AtomicI64,
    rows: Mutex<HashMap<u64, Recent>>,
    hasher: RandomState,
}

/// The latest timestamps that the writes of a row may have.
#[derive(Debug, Clone, Copy)]
struct Recent {
    deleted_ms: i64,
    changed_ms: i64,
}

impl Recent {
    const NEVER: Self = Self { deleted_ms: i64::MIN, changed_ms: i64::MIN };

    /// The first millisecond in which this write can follow.
    fn free_ms(self, mutation: &Mutation) -> i64 {
        // A delete of a row has no cells yet.
        let mut times = mutation.cells().iter().map(|cell| cell.timestamp());
        let is_stamped = match mutation.cells().is_empty() {
            true => mutation.timestamp() == LATEST_TIMESTAMP,
            false => times.any(|time| time == LATEST_TIMESTAMP),
        };
        let after_delete = self.deleted_ms.saturating_add(1);
        match mutation.kind() {
            MutationKind::Put if is_stamped => after_delete.max(self.changed_ms),
            MutationKind::Delete if is_stamped => self.changed_ms,
            // A cell with the current time would get the next timestamp.
            MutationKind::Append if mutation.cells().len() > 1 => {
                after_delete.max(self.changed_ms.saturating_add(1))
            }
            MutationKind::Increment | MutationKind::Append => after_delete,
            MutationKind::Put | MutationKind::Delete => i64::MIN,
        }
    }
}

impl RecentWrites {
    /// Records those of the mutations just done for which later writes may have to wait.
    pub(crate) fn note<'a>(
        &self,
        engine: &Engine,
        region: &RegionHandle,
        done: impl IntoIterator<Item = &'a Mutation>,
    ) {
        let mut changes = done.into_iter().filter(|one| one.kind() != MutationKind::Put).peekable();
        if changes.peek().is_none() {
            return;
        }
        let now = engine.now_millis();
        let mut rows = self.rows.lock();
        if self.latest_ms.load(Ordering::Acquire) < now {
            rows.clear();
        }
        for change in changes.take(ROWS_MAX.saturating_sub(rows.len())) {
            let recent = rows.entry(self.hash(region, change)).or_insert(Recent::NEVER);
            let latest = match change.kind() {
                MutationKind::Delete => {
                    recent.deleted_ms = now;
                    now
                }
                _ => {
                    recent.changed_ms = now.saturating_add(1);
                    recent.changed_ms
                }
            };
            self.latest_ms.fetch_max(latest, Ordering::AcqRel);
        }
    }

    /// Whether one of these writes would get the same timestamp as an earlier one if it were done
    /// now.
    pub(crate) fn must_wait(
        &self,
        engine: &Engine,
        region: &RegionHandle,
        wanted: &[Mutation],
    ) -> bool {
        if !self.has_any(engine) {
            return false;
        }
        let now = engine.now_millis();
        let rows = self.rows.lock();
        wanted.iter().any(|one| {
            rows.get(&self.hash(region, one)).is_some_and(|recent| now < recent.free_ms(one))
        })
    }

    /// Whether any write might have to wait.
    pub(crate) fn has_any(&self, engine: &Engine) -> bool {
        self.latest_ms.load(Ordering::Acquire) >= engine.now_millis()
    }

    /// Waits until all of these writes can follow the earlier ones.
    pub(crate) fn wait(&self, engine: &Engine, region: &RegionHandle, wanted: &[Mutation]) {
        let start = Instant::now();
        while self.must_wait(engine, region, wanted) && start.elapsed() < WAIT_MAX {
            thread::sleep(PAUSE);
        }
    }

    fn hash(&self, region: &RegionHandle, mutation: &Mutation) -> u64 {
        self.hasher.hash_one((region.info().encoded_name(), mutation.row()))
    }
}
