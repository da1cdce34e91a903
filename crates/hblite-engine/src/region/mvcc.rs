//! Which writes of a region a reader sees (`MultiVersionConcurrencyControl`).
//!
//! Every write gets a sequence id when it begins. The read point is the highest id up to which
//! all writes are complete; a reader takes it once and sees exactly the cells up to it.
//!
//! Invariants: ids are assigned one after the other. Those above the read point are in progress,
//!             except for the ones in `complete`; the lowest of them always is. The read point
//!             never goes back, and is at most the last id.
//! Threads:    any.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite_env::sync::{Mutex, spin_until};

use crate::invariants::ARE_CHECKED;
use crate::signal::Signal;

/// The writes in progress of a region, and what its readers see.
///
/// What each write changes is together in memory, and not with anything else.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Mvcc {
    read_point: AtomicU64,
    last_id: AtomicU64,
    /// Ids whose writes are complete, while one before them is not. The read point changes under
    /// this lock.
    complete: Mutex<BinaryHeap<Reverse<u64>>>,
    /// Notified when the read point has advanced.
    advanced: Signal,
}

impl Mvcc {
    /// A region whose latest write has this id.
    pub(crate) fn new(last_id: u64) -> Self {
        Self {
            read_point: AtomicU64::new(last_id),
            last_id: AtomicU64::new(last_id),
            complete: Mutex::default(),
            advanced: Signal::default(),
        }
    }

    /// The highest id that a reader sees.
    #[inline]
    pub(crate) fn read_point(&self) -> u64 {
        self.read_point.load(Ordering::Acquire)
    }

    /// Begins a write and returns its id, which must be passed to [`Mvcc::complete_and_wait`], even
    /// if the write fails.
    pub(crate) fn begin(&self) -> u64 {
        let id = self.last_id.fetch_add(1, Ordering::AcqRel) + 1;
        assert!(self.read_point() < id, "a read point covers only assigned ids");
        id
    }

    /// Ends a write and waits until it is visible, that is, until all writes that began before it
    /// have ended.
    pub(crate) fn complete_and_wait(&self, id: u64) {
        self.complete(id);
        // The earlier writes are about to end, too.
        let is_visible = || self.read_point() >= id;
        if !spin_until(is_visible) {
            self.advanced.wait(is_visible);
        }
    }

    /// Ends a write.
    pub(crate) fn complete(&self, id: u64) {
        let mut complete = self.complete.lock();
        let before = self.read_point();
        assert!(before < id && id <= self.last_id(), "a write that completes has begun");
        let is_first = id == before + 1;
        if is_first {
            let mut visible = id;
            while complete.peek() == Some(&Reverse(visible + 1)) {
                complete.pop();
                visible += 1;
            }
            self.read_point.store(visible, Ordering::Release);
        } else {
            complete.push(Reverse(id));
        }
        self.check(&complete);
        drop(complete);
        if is_first {
            self.advanced.notify();
        }
    }

    /// Whether no write is in progress.
    pub(crate) fn is_quiet(&self) -> bool {
        self.last_id() == self.read_point()
    }

    fn last_id(&self) -> u64 {
        self.last_id.load(Ordering::Acquire)
    }

    fn check(&self, complete: &BinaryHeap<Reverse<u64>>) {
        if ARE_CHECKED {
            let mut ids: Vec<u64> = complete.iter().map(|Reverse(id)| *id).collect();
            ids.sort_unstable();
            assert!(ids.is_sorted_by(|left, right| left < right), "a write completes once");
            let in_progress = self.read_point() + 1..=self.last_id();
            assert!(ids.iter().all(|id| in_progress.contains(id) && id != in_progress.start()));
        }
    }

    /// Advances to `id`, the highest id of the writes replayed from the log.
    pub(crate) fn advance_to(&self, id: u64) {
        assert!(self.is_quiet(), "recovery runs before any write");
        if id > self.last_id() {
            self.last_id.store(id, Ordering::Release);
            self.read_point.store(id, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_write_is_visible_only_after_all_before_it() {
        let mvcc = Arc::new(Mvcc::new(7));
        let (first, second) = (mvcc.begin(), mvcc.begin());
        assert_eq!((first, second), (8, 9));
        let waiter = {
            let mvcc = Arc::clone(&mvcc);
            std::thread::spawn(move || {
                mvcc.complete_and_wait(second);
                mvcc.read_point()
            })
        };
        while mvcc.complete.lock().is_empty() && mvcc.read_point() < second {
            std::thread::yield_now();
        }
        assert!(mvcc.read_point() < second, "the first write is not complete");
        mvcc.complete_and_wait(first);
        assert_eq!(waiter.join().unwrap(), second);
    }

    #[test]
    fn many_writers_end_with_every_write_visible() {
        let mvcc = Mvcc::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let id = mvcc.begin();
                        mvcc.complete_and_wait(id);
                        assert!(mvcc.read_point() >= id);
                    }
                });
            }
        });
        assert_eq!(mvcc.read_point(), 8_000);
    }
}
