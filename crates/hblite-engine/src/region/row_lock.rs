//! Locks on rows: shared by plain writes, exclusive for read-modify-write.
//!
//! Rows share a fixed number of locks by hash, so locking allocates nothing per row and memory does
//! not grow with rows. Two rows that share a lock sometimes wait for each other, but never
//! deadlock: a caller takes all its locks together, in ascending order.
//!
//! While rows are counted, whoever locks a row exclusively says which: who has to wait for the lock
//! counts the wait for the row that is held, not for its own, which only may be the same. Plain
//! writes do not say; a wait for one is counted without a row.
//!
//! Each lock has the traces of its rows' latest writes next to it: a writer changes both, so they
//! share a line of memory. A region that is not written to has neither.
//!
//! Threads: any.

use std::hint::black_box;
use std::sync::OnceLock;

use hblite_env::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use hblite_env::time::Instant;
use hblite_model::ROW_MAX;

use super::recent_writes::RecentWrites;
use crate::invariants::ARE_CHECKED;
use crate::row_counts::{RegionRowCounts, RowCounting};
use crate::row_hash::row_hash;

const LOCK_COUNT: usize = 512;

/// The locks of a region's rows.
#[derive(Debug, Default)]
pub(crate) struct RowLocks {
    locks: OnceLock<Box<[RowLock]>>,
    /// The row that holds each lock exclusively.
    held: OnceLock<Box<[Mutex<HeldRow>]>>,
}

/// A row that holds, or held, a lock exclusively.
#[derive(Debug, Default)]
struct HeldRow {
    /// Cut after [`ROW_MAX`] bytes.
    row: Vec<u8>,
    is_held: bool,
    /// How often a row was said.
    said: u64,
}

/// Where waits are counted.
#[derive(Clone, Copy)]
pub(super) struct Waits<'a> {
    pub(super) counting: &'a RowCounting,
    pub(super) counts: &'a RegionRowCounts,
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

/// Exclusive locks of some rows.
pub(crate) struct ExclusiveRows<'a> {
    /// The locks whose rows were said, to be forgotten before they are free.
    said: Option<(&'a [Mutex<HeldRow>], Chosen)>,
    _guards: Vec<RwLockWriteGuard<'a, ()>>,
}

impl Drop for ExclusiveRows<'_> {
    fn drop(&mut self) {
        if let Some((held, chosen)) = &self.said {
            chosen.indexes().for_each(|at| held[at].lock().is_held = false);
        }
    }
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
        waits: Waits<'_>,
    ) -> SharedRows<'_> {
        if row_hashes.len() == 1
            && let Some(row) = row_hashes.clone().next()
        {
            return SharedRows::One { _guard: self.read(index(row), waits) };
        }
        let chosen = Chosen::by(row_hashes);
        SharedRows::Many { _guards: chosen.indexes().map(|at| self.read(at, waits)).collect() }
    }

    /// Locks rows, given with their hashes, against every other write.
    pub(super) fn exclusive<'r>(
        &self,
        rows: impl Iterator<Item = (u64, &'r [u8])> + Clone,
        waits: Waits<'_>,
    ) -> ExclusiveRows<'_> {
        let chosen = Chosen::by(rows.clone().map(|(hash, _)| hash));
        let guards = chosen.indexes().map(|at| self.write(at, waits)).collect();
        let said = waits.counting.is_on().then(|| {
            let new = || (0..LOCK_COUNT).map(|_| Mutex::default()).collect();
            let held = &**self.held.get_or_init(new);
            for (hash, row) in rows {
                let mut held = held[index(hash)].lock();
                if !held.is_held {
                    held.row.clear();
                    held.row.extend_from_slice(&row[..row.len().min(ROW_MAX)]);
                    held.is_held = true;
                    held.said += 1;
                }
            }
            (held, chosen)
        });
        ExclusiveRows { said, _guards: guards }
    }

    #[inline]
    fn read(&self, at: usize, waits: Waits<'_>) -> RwLockReadGuard<'_, ()> {
        let lock = &self.locks()[at].lock;
        lock.try_read().unwrap_or_else(|| self.wait(at, waits, || lock.read()))
    }

    fn write(&self, at: usize, waits: Waits<'_>) -> RwLockWriteGuard<'_, ()> {
        let lock = &self.locks()[at].lock;
        lock.try_write().unwrap_or_else(|| self.wait(at, waits, || lock.write()))
    }

    /// Waits for a lock, and counts that for the row that holds it now, or else the last one that
    /// held it meanwhile: who is given the lock says so only when its thread runs.
    #[cold]
    fn wait<G>(&self, at: usize, waits: Waits<'_>, lock: impl FnOnce() -> G) -> G {
        if !waits.counting.is_on() {
            return lock();
        }
        let held = || self.held.get().map(|held| held[at].lock());
        let (mut row, mut said) = (Vec::new(), 0);
        if let Some(held) = held() {
            said = held.said;
            if held.is_held {
                row.clone_from(&held.row);
            }
        }
        let since = Instant::now();
        let guard = lock();
        let waited = since.elapsed();
        if let Some(held) = held().filter(|held| row.is_empty() && held.said != said) {
            row.clone_from(&held.row);
        }
        waits.counting.note_wait(waits.counts, &row, waited);
        guard
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
    use hblite_model::{RegionInfo, WaitedRow};

    use super::*;

    #[derive(Default)]
    struct Counted {
        counting: RowCounting,
        counts: RegionRowCounts,
    }

    impl Counted {
        fn waits(&self) -> Waits<'_> {
            Waits { counting: &self.counting, counts: &self.counts }
        }

        fn waited(&self, after: u64) -> (u64, Vec<WaitedRow>) {
            let region = RegionInfo::new("t".parse().unwrap(), b"", b"", 1);
            let mut counts = self.counting.after(after, [(&region, &self.counts)]);
            (counts.until, counts.regions.pop().map(|region| region.waits.rows).unwrap_or_default())
        }
    }

    /// Two rows of one lock.
    fn neighbors() -> [String; 2] {
        let name = |number: u32| format!("row {number}");
        let at = |name: &str| index(row_hash(name.as_bytes()));
        let first = name(0);
        let other = (1..).map(name).find(|other| at(other) == at(&first)).unwrap();
        [first, other]
    }

    fn named(row: &str) -> std::iter::Once<(u64, &[u8])> {
        std::iter::once((row_hash(row.as_bytes()), row.as_bytes()))
    }

    #[test]
    fn waits_are_counted_for_the_row_that_is_held() {
        let (locks, counted) = (RowLocks::default(), Counted::default());
        let waits = counted.waits();
        let [held, neighbor] = neighbors();
        let at = index(row_hash(neighbor.as_bytes()));
        // It was not asked for yet.
        let holder = locks.exclusive(named(&held), waits);
        locks.wait(at, waits, || drop(holder));
        let (start, _) = counted.waited(u64::MAX);
        for round in 1..=5 {
            let holder = locks.exclusive(named(&held), waits);
            assert!(locks.locks()[at].lock.try_read().is_none());
            let begun = Instant::now();
            let mut least = std::time::Duration::ZERO;
            locks.wait(at, waits, || {
                let begun = Instant::now();
                while begun.elapsed() < std::time::Duration::from_millis(round) {
                    std::thread::yield_now();
                }
                drop(holder);
                least = begun.elapsed();
            });
            let most = begun.elapsed().as_micros() as u64;
            let (_, rows) = counted.waited(start + round - 1);
            let [WaitedRow { row, micros, waits }] = &rows[..] else { panic!("{rows:?}") };
            assert_eq!((&row[..], *waits), (held.as_bytes(), 1));
            assert!((least.as_micros() as u64..=most).contains(micros), "{micros}");
        }
        // A plain write does not say its row, and what was said ends with the lock.
        let holder = locks.shared(named(&held).map(|(hash, _)| hash), waits);
        locks.wait(at, waits, || drop(holder));
        assert_eq!(counted.waited(start + 5).1[0].row, b"");
        // Who does not have to wait is not counted.
        drop(locks.exclusive(named(&neighbor), waits));
        drop(locks.shared(named(&neighbor).map(|(hash, _)| hash), waits));
        assert_eq!(counted.waited(start + 6).1, []);
    }

    #[test]
    fn a_lock_and_its_traces_fill_a_line_of_memory() {
        assert_eq!(size_of::<RowLock>(), 64);
    }

    #[test]
    fn every_row_is_locked_and_no_other_lock_is_taken() {
        let locks = RowLocks::default();
        let counted = Counted::default();
        let waits = counted.waits();
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
            let shared = locks.shared(rows(), waits);
            assert_eq!(taken(), expected);
            assert!(locks.locks().iter().all(|row| row.lock.try_read().is_some()));
            drop(shared);
            let named = names.iter().map(|name| (row_hash(name.as_bytes()), name.as_bytes()));
            let exclusive = locks.exclusive(named, waits);
            assert_eq!(taken(), expected);
            assert!(expected.iter().all(|at| locks.locks()[*at].lock.try_read().is_none()));
            drop(exclusive);
            assert_eq!(taken(), []);
        }
    }
}
