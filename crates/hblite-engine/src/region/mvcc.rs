//! Which writes of a region a reader sees (`MultiVersionConcurrencyControl`).
//!
//! Every write gets a sequence id when it begins. The read point is the highest id up to which
//! all writes are complete; a reader takes it once and sees exactly the cells up to it.
//!
//! Invariants: ids are assigned in ascending order; `pending` holds those that began and are not
//!             yet covered by the read point, in that order; the read point never goes back, and is
//!             at most the last id.
//! Threads:    any.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite_env::sync::{Mutex, spin_until};

use crate::invariants::ARE_CHECKED;
use crate::signal::Signal;

/// The writes in progress of a region, and what its readers see.
#[derive(Debug)]
pub(crate) struct Mvcc {
    read_point: AtomicU64,
    writes: Mutex<Writes>,
    /// Notified when the read point has advanced.
    advanced: Signal,
}

#[derive(Debug)]
struct Writes {
    last_id: u64,
    /// Ids that began, with whether they are complete.
    pending: VecDeque<(u64, bool)>,
}

impl Mvcc {
    /// A region whose latest write has this id.
    pub(crate) fn new(last_id: u64) -> Self {
        Self {
            read_point: AtomicU64::new(last_id),
            writes: Mutex::new(Writes { last_id, pending: VecDeque::new() }),
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
        let mut writes = self.writes.lock();
        writes.last_id += 1;
        let id = writes.last_id;
        assert!(self.read_point() < id, "a read point covers only assigned ids");
        writes.pending.push_back((id, false));
        self.check(&writes);
        id
    }

    /// Ends a write and waits until it is visible, that is, until all writes that began before it
    /// have ended.
    pub(crate) fn complete_and_wait(&self, id: u64) {
        let mut writes = self.writes.lock();
        match writes.pending.front_mut() {
            Some(front) if front.0 == id => front.1 = true,
            _ => {
                let at = writes.pending.partition_point(|(pending, _)| *pending < id);
                let entry = writes.pending.get_mut(at).filter(|(pending, _)| *pending == id);
                entry.expect("a write that completes has begun, and completes once").1 = true;
            }
        }
        let mut visible = None;
        while let Some(&(done, true)) = writes.pending.front() {
            writes.pending.pop_front();
            visible = Some(done);
        }
        if let Some(visible) = visible {
            let before = self.read_point.swap(visible, Ordering::Release);
            assert!(before < visible && visible <= writes.last_id, "the read point advances");
            self.check(&writes);
        }
        drop(writes);
        if visible.is_some() {
            self.advanced.notify();
        }
        // The earlier writes are about to end, too.
        let is_visible = || self.read_point() >= id;
        if !spin_until(is_visible) {
            self.advanced.wait(is_visible);
        }
    }

    /// Whether no write is in progress.
    pub(crate) fn is_quiet(&self) -> bool {
        self.writes.lock().pending.is_empty()
    }

    fn check(&self, writes: &Writes) {
        if ARE_CHECKED {
            let ids = || writes.pending.iter().map(|(id, _)| *id);
            assert!(ids().is_sorted_by(|left, right| left < right), "ids are pending in order");
            assert!(ids().all(|id| self.read_point() < id && id <= writes.last_id));
        }
    }

    /// Advances to `id`, the highest id of the writes replayed from the log.
    pub(crate) fn advance_to(&self, id: u64) {
        let mut writes = self.writes.lock();
        assert!(writes.pending.is_empty(), "recovery runs before any write");
        if id > writes.last_id {
            writes.last_id = id;
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
