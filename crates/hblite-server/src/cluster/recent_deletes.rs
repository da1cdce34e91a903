//! Keeps a value that is written right after a delete from being hidden by it.
//!
//! A delete marker hides what has its own timestamp, whatever came first, and timestamps are
//! milliseconds. On HBase a call takes so long that this is rare; here a client gets through a
//! delete and a put within one. So a put of a row that was deleted in this very millisecond waits
//! for the next.
//!
//! Threads: any.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hblite_engine::{Engine, RegionHandle};
use hblite_model::{LATEST_TIMESTAMP, Mutation, MutationKind};
use parking_lot::Mutex;

/// A clock that stands still is not waited for.
const WAIT_MAX: Duration = Duration::from_millis(2);
const PAUSE: Duration = Duration::from_micros(100);
/// More rows than this are not remembered of one millisecond.
const ROWS_MAX: usize = 10_000;

/// Rows that were deleted in the latest millisecond in which one was.
#[derive(Debug, Default)]
pub(crate) struct RecentDeletes {
    time_ms: AtomicI64,
    rows: Mutex<HashSet<u64>>,
    hasher: RandomState,
}

impl RecentDeletes {
    /// Notes the deletes among mutations that were just done.
    pub(crate) fn note(&self, engine: &Engine, region: &RegionHandle, done: &[Mutation]) {
        let deletes = || done.iter().filter(|one| one.kind() == MutationKind::Delete);
        if deletes().next().is_none() {
            return;
        }
        let now = engine.now_millis();
        let mut rows = self.rows.lock();
        if self.time_ms.swap(now, Ordering::AcqRel) != now {
            rows.clear();
        }
        if rows.len() < ROWS_MAX {
            rows.extend(deletes().map(|delete| self.hash(region, delete)));
        }
    }

    /// Whether one of these puts would be hidden by a delete if it were done now.
    pub(crate) fn hides(
        &self,
        engine: &Engine,
        region: &RegionHandle,
        wanted: &[Mutation],
    ) -> bool {
        if self.time_ms.load(Ordering::Acquire) != engine.now_millis() {
            return false;
        }
        let rows = self.rows.lock();
        wanted.iter().any(|one| is_stamped(one) && rows.contains(&self.hash(region, one)))
    }

    /// Waits until no delete hides these puts.
    pub(crate) fn wait(&self, engine: &Engine, region: &RegionHandle, wanted: &[Mutation]) {
        let start = Instant::now();
        while self.hides(engine, region, wanted) && start.elapsed() < WAIT_MAX {
            thread::sleep(PAUSE);
        }
    }

    fn hash(&self, region: &RegionHandle, mutation: &Mutation) -> u64 {
        self.hasher.hash_one((region.info().encoded_name(), mutation.row()))
    }
}

/// Whether the server gives it the time.
fn is_stamped(mutation: &Mutation) -> bool {
    mutation.kind() != MutationKind::Delete
        && mutation.cells().iter().any(|cell| cell.timestamp() == LATEST_TIMESTAMP)
}
