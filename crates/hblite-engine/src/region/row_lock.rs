//! Locks on rows: shared by plain writes, exclusive for read-modify-write.
//!
//! Rows share a fixed number of locks by hash, so locking allocates nothing per row and memory
//! does not grow with rows. Two rows that share a lock wait for one another now and then, never
//! for ever: a caller takes all its locks at once, in ascending order.
//!
//! Threads: any.

use std::hash::{BuildHasher as _, RandomState};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

const LOCK_COUNT: usize = 512;

#[derive(Debug)]
pub(crate) struct RowLocks {
    locks: Box<[RwLock<()>]>,
    hasher: RandomState,
}

/// Shared locks of some rows.
pub(crate) enum SharedRows<'a> {
    One { _guard: RwLockReadGuard<'a, ()> },
    Many { _guards: Vec<RwLockReadGuard<'a, ()>> },
}

impl RowLocks {
    pub(crate) fn new() -> Self {
        Self {
            locks: (0..LOCK_COUNT).map(|_| RwLock::new(())).collect(),
            hasher: RandomState::new(),
        }
    }

    fn index(&self, row: &[u8]) -> usize {
        self.hasher.hash_one(row) as usize % LOCK_COUNT
    }

    /// Locks rows against read-modify-write.
    pub(crate) fn shared<'a>(&'a self, rows: impl Iterator<Item = &'a [u8]>) -> SharedRows<'a> {
        let mut rows = rows.peekable();
        let first = rows.next().map_or(0, |row| self.index(row));
        if rows.peek().is_none() {
            return SharedRows::One { _guard: self.locks[first].read() };
        }
        let mut indexes: Vec<usize> = rows.map(|row| self.index(row)).collect();
        indexes.push(first);
        indexes.sort_unstable();
        indexes.dedup();
        SharedRows::Many { _guards: indexes.into_iter().map(|at| self.locks[at].read()).collect() }
    }

    /// Locks rows against every other write.
    pub(crate) fn exclusive<'a>(
        &'a self,
        rows: impl Iterator<Item = &'a [u8]>,
    ) -> Vec<RwLockWriteGuard<'a, ()>> {
        let mut indexes: Vec<usize> = rows.map(|row| self.index(row)).collect();
        indexes.sort_unstable();
        indexes.dedup();
        indexes.into_iter().map(|at| self.locks[at].write()).collect()
    }
}
