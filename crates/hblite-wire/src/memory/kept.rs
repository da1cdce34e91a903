//! Large buffers between two uses.
//!
//! Invariant: the capacities of the kept buffers are part of what their budget uses.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{MemoryBudget, try_add};

/// A smaller buffer comes from memory that the process has already.
const SIZE_MIN: usize = 128 * 1024;
/// The largest buffer that is kept. An answer of the default size, 2 MiB, may need a little more,
/// and buffers double.
const SIZE_MAX: usize = 4 * 1024 * 1024;
/// At most this many bytes are kept, and at most the share of the budget divided by this.
const KEPT_MAX: usize = 16 * 1024 * 1024;
const KEPT_SHARE: usize = 8;

#[derive(Debug, Default)]
pub(super) struct KeptBuffers {
    buffers: Mutex<Vec<Vec<u8>>>,
    /// Whether one was asked for since the last look.
    is_wanted: AtomicBool,
}

impl KeptBuffers {
    /// Keeps a buffer of `budget`, or releases it.
    pub(super) fn put(&self, mut buffer: Vec<u8>, budget: &MemoryBudget) {
        let capacity = buffer.capacity();
        if !(SIZE_MIN..=SIZE_MAX).contains(&capacity) {
            return;
        }
        buffer.clear();
        let mut buffers = self.lock();
        let kept = buffers.iter().map(Vec::capacity).sum::<usize>() + capacity;
        let may_keep = kept <= KEPT_MAX.min(budget.size_bytes / KEPT_SHARE);
        if may_keep && try_add(&budget.used, capacity, budget.limit(false)) {
            buffers.push(buffer);
        }
    }

    /// Takes one of at least this capacity. It is no longer part of what the budget uses.
    pub(super) fn take(&self, capacity: usize, budget: &MemoryBudget) -> Option<Vec<u8>> {
        if capacity < SIZE_MIN {
            return None;
        }
        self.is_wanted.store(true, Ordering::Relaxed);
        let mut buffers = self.lock();
        let index = buffers.iter().position(|buffer| buffer.capacity() >= capacity)?;
        let buffer = buffers.swap_remove(index);
        budget.used.fetch_sub(buffer.capacity(), Ordering::Relaxed);
        Some(buffer)
    }

    /// Releases all. Returns whether there were any.
    pub(super) fn release(&self, budget: &MemoryBudget) -> bool {
        let mut buffers = self.lock();
        let released = std::mem::take(&mut *buffers);
        // Under the lock: whoever takes or keeps one sees both changed, or neither.
        budget.used.fetch_sub(released.iter().map(Vec::capacity).sum(), Ordering::Relaxed);
        !released.is_empty()
    }

    pub(super) fn release_unused(&self, budget: &MemoryBudget) {
        if !self.is_wanted.swap(false, Ordering::Relaxed) {
            self.release(budget);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        // A panic leaves the list complete.
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Room;
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn a_kept_buffer_is_used_again() {
        let budget = Arc::new(MemoryBudget::new(64 * MIB));
        let kept = vec![1; 2 * MIB];
        let address = kept.as_ptr();
        budget.keep(kept);
        budget.keep(vec![1; SIZE_MIN - 1]);
        budget.keep(vec![1; SIZE_MAX + 1]);
        assert_eq!(budget.used_bytes(), 2 * MIB, "the others are too small and too large");
        let mut room = Room::new(budget.account(8 * MIB).charge(), 0);
        let mut buffer = Vec::new();
        assert!(room.try_reserve(&mut buffer, 10) && buffer.as_ptr() != address);
        buffer.extend_from_slice(b"the start");
        assert!(room.try_reserve(&mut buffer, MIB));
        assert_eq!((buffer.as_ptr(), buffer.as_slice()), (address, b"the start".as_slice()));
        assert_eq!(budget.used_bytes(), 2 * MIB, "it is charged to the room now");
        drop(room);
        assert_eq!(budget.used_bytes(), 0);
    }

    #[test]
    fn little_is_kept_and_goes_when_it_is_needed() {
        let budget = Arc::new(MemoryBudget::new(16 * MIB));
        (0..3).for_each(|_| budget.keep(vec![1; MIB]));
        assert_eq!(budget.used_bytes(), 2 * MIB, "an eighth");
        let mut charge = budget.account(16 * MIB).charge();
        assert!(charge.try_resize(13 * MIB));
        assert_eq!(budget.used_bytes(), 13 * MIB);
        budget.keep(vec![1; 2 * MIB]);
        assert_eq!(budget.used_bytes(), 13 * MIB, "there is no room for it");
        drop(charge);
        budget.keep(vec![1; MIB]);
        assert!(budget.kept.take(2 * MIB, &budget).is_none(), "it is smaller");
        budget.release_unused();
        assert_eq!(budget.used_bytes(), MIB, "one was asked for");
        budget.release_unused();
        assert_eq!(budget.used_bytes(), 0);
    }

    #[test]
    fn what_is_kept_is_room_for_others() {
        let budget = Arc::new(MemoryBudget::new(16 * MIB));
        let account = budget.account(16 * MIB);
        let mut charge = account.charge();
        assert!(charge.try_resize(12 * MIB));
        budget.keep(vec![1; 2 * MIB]);
        assert_eq!(budget.used_bytes(), 14 * MIB, "all that is not reserved");
        assert!(account.has_room(MIB));
        assert_eq!(budget.used_bytes(), 12 * MIB);
    }

    #[test]
    fn a_buffer_that_a_share_cannot_hold_is_released() {
        let budget = Arc::new(MemoryBudget::new(64 * MIB));
        budget.keep(vec![1; 4 * MIB]);
        let mut room = Room::new(budget.account(MIB).charge(), 0);
        let mut buffer = Vec::new();
        assert!(room.try_reserve(&mut buffer, SIZE_MIN));
        assert!((SIZE_MIN..MIB).contains(&buffer.capacity()));
        assert_eq!(budget.used_bytes(), buffer.capacity());
    }
}
