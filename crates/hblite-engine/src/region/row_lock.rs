//! Locks on rows: shared by plain writes, exclusive for read-modify-write.
//!
//! Rows share a fixed number of locks by hash, so locking allocates nothing per row and memory does
//! not grow with rows. Two rows that share a lock sometimes wait for each other, but never
//! deadlock: a caller takes all its locks together, in ascending order.
//!
//! Each lock has the traces of its rows' latest writes next to it: a writer changes both, so they
//! share a line of memory. A region that is not written to has neither.
//!
//! Threads: any.

use std::hint::black_box;
use std::sync::OnceLock;

use hblite_env::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::recent_writes::RecentWrites;
use crate::invariants::ARE_CHECKED;
use crate::row_hash::row_hash;

const LOCK_COUNT: usize = 512;

/// The locks of a region's rows.
#[derive(Debug, Default)]
pub(crate) struct RowLocks {
    locks: OnceLock<Box<[RowLock]>>,
}

/// The lock of some rows, and the latest writes to them.
#[derive(Debug, Default)]
#[repr(align(64))]
struct RowLock {
    lock: RwLock<()>,
    writes: RecentWrites,
}

/// Shared locks of some rows.
pub(crate) enum SharedRows<'a> {
    One { _guard: RwLockReadGuard<'a, ()> },
    Many { _guards: Vec<RwLockReadGuard<'a, ()>> },
}

impl RowLocks {
    #[inline]
    fn locks(&self) -> &[RowLock] {
        self.locks.get_or_init(|| (0..LOCK_COUNT).map(|_| RowLock::default()).collect())
    }

    /// Reads the lock of a row, so that the processor has it when it is taken.
    pub(crate) fn prefetch(&self, row: &[u8]) {
        black_box(self.locks()[index(row_hash(row))].lock.is_locked());
    }

    /// The latest writes to the row with this hash.
    #[inline]
    pub(super) fn recent_writes(&self, row_hash: u64) -> &RecentWrites {
        &self.locks()[index(row_hash)].writes
    }

    /// Forgets all recent writes.
    pub(super) fn forget_writes(&self) {
        self.locks().iter().for_each(|lock| lock.writes.forget());
    }

    /// Locks the rows with these hashes against read-modify-write.
    pub(super) fn shared(
        &self,
        row_hashes: impl ExactSizeIterator<Item = u64> + Clone,
    ) -> SharedRows<'_> {
        if row_hashes.len() == 1
            && let Some(row) = row_hashes.clone().next()
        {
            return SharedRows::One { _guard: self.locks()[index(row)].lock.read() };
        }
        let (locks, chosen) = (self.locks(), Chosen::by(row_hashes));
        SharedRows::Many { _guards: chosen.indexes().map(|at| locks[at].lock.read()).collect() }
    }

    /// Locks the rows with these hashes against every other write.
    pub(super) fn exclusive(
        &self,
        row_hashes: impl Iterator<Item = u64>,
    ) -> Vec<RwLockWriteGuard<'_, ()>> {
        let locks = self.locks();
        Chosen::by(row_hashes).indexes().map(|at| locks[at].lock.write()).collect()
    }
}

/// The lock of the row with this hash.
#[inline]
fn index(row_hash: u64) -> usize {
    row_hash as usize % LOCK_COUNT
}

/// A set of locks: a bit for each.
struct Chosen([u64; LOCK_COUNT / 64]);

impl Chosen {
    fn by(row_hashes: impl Iterator<Item = u64>) -> Self {
        let mut words = [0; LOCK_COUNT / 64];
        for at in row_hashes.map(index) {
            words[at / 64] |= 1 << (at % 64);
        }
        let chosen = Self(words);
        if ARE_CHECKED {
            let ascend = chosen.indexes().is_sorted_by(|left, right| left < right);
            assert!(ascend, "locks are taken in ascending order, each once");
        }
        chosen
    }

    /// The locks in ascending order.
    fn indexes(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(place, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(place * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_and_its_traces_fill_a_line_of_memory() {
        assert_eq!(size_of::<RowLock>(), 64);
    }

    #[test]
    fn every_row_is_locked_and_no_other_lock_is_taken() {
        let locks = RowLocks::default();
        for count in [1, 2, 100, 5_000] {
            let names: Vec<String> = (0..count).map(|row| format!("row {row}")).collect();
            let rows = || names.iter().map(|name| row_hash(name.as_bytes()));
            let mut expected: Vec<usize> = rows().map(index).collect();
            expected.sort_unstable();
            expected.dedup();
            let taken = || {
                let all = locks.locks().iter().enumerate();
                all.filter(|(_, row)| row.lock.is_locked()).map(|(at, _)| at).collect::<Vec<_>>()
            };
            let shared = locks.shared(rows());
            assert_eq!(taken(), expected);
            assert!(locks.locks().iter().all(|row| row.lock.try_read().is_some()));
            drop(shared);
            let exclusive = locks.exclusive(rows());
            assert_eq!(taken(), expected);
            assert!(expected.iter().all(|at| locks.locks()[*at].lock.try_read().is_none()));
            drop(exclusive);
            assert_eq!(taken(), []);
        }
    }
}
