//! A budget for the memory of calls: requests, plain cell blocks, answers, open scanners.
//!
//! Memory is charged before it is allocated. A whole server has one [`MemoryBudget`]. Each of its
//! [`MemoryAccount`]s (a connection, or all scanners together) may use a share of it, so that none
//! takes everything. A part is reserved for accounts that use little, so that small calls are
//! answered while large ones are refused.
//!
//! Invariant: the live charges add up to the use of their account and of the budget; dropping a
//! charge releases it.
//!
//! A budget also keeps large buffers for their next use; see [`MemoryBudget::keep`].
//!
//! Threads: any.

mod kept;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::kept::KeptBuffers;
use crate::machine;

/// An account that uses no more than this may use the reserved part.
const SMALL_ACCOUNT_BYTES: usize = 256 * 1024;
/// The reserved part of a budget is one divided by this.
const RESERVED_SHARE: usize = 8;

/// A full buffer doubles, within these bounds.
const GROWTH_MIN: usize = 256;
const GROWTH_MAX: usize = 16 * 1024 * 1024;

/// The default size of a budget is the machine's memory divided by this.
const MACHINE_SHARE: usize = 8;
/// The minimum default size of a budget.
const DEFAULT_MIN_BYTES: usize = 64 * 1024 * 1024;

/// The memory of a family's descriptor, most of it settings with their defaults.
const FAMILY_BYTES: usize = 4 * 1024;
/// The memory of a region while it is created, in addition to what it keeps: its description, its
/// key, and its row of hbase:meta.
const NEW_REGION_BYTES: usize = 2 * 1024;

/// The memory for carrying out a request that describes a table with as many families, to be split
/// at as many keys. The table itself is not part of it.
pub fn table_request_bytes(families: usize, split_keys: usize) -> usize {
    families
        .saturating_mul(FAMILY_BYTES)
        .saturating_add(split_keys.saturating_mul(NEW_REGION_BYTES))
}

/// Memory that may be used at the same time.
#[derive(Debug)]
pub struct MemoryBudget {
    size_bytes: usize,
    used: AtomicUsize,
    /// Charges that were refused.
    refused: AtomicUsize,
    kept: KeptBuffers,
}

impl MemoryBudget {
    /// A budget of `size_bytes`.
    pub fn new(size_bytes: usize) -> Self {
        let (used, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { size_bytes, used, refused, kept: KeptBuffers::default() }
    }

    /// The size that a budget has by default: an eighth of the memory of the machine, or of what
    /// its container is limited to; at least 64 MiB.
    pub fn default_size_bytes() -> usize {
        (machine::memory_bytes().unwrap_or(0) / MACHINE_SHARE).max(DEFAULT_MIN_BYTES)
    }

    /// Total bytes.
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Bytes in use, with those of the buffers that are kept.
    pub fn used_bytes(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// How often a charge was refused.
    pub fn refusals(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }

    /// An account that may use at most `share_bytes` of the budget.
    pub fn account(self: &Arc<Self>, share_bytes: usize) -> Arc<MemoryAccount> {
        let (budget, used) = (Arc::clone(self), AtomicUsize::new(0));
        Arc::new(MemoryAccount { budget, share_bytes, used })
    }

    /// Keeps the memory of a buffer that is no longer used, if it is large, for the next one. The
    /// system would unmap it, and map and clear each page of the next: that takes longer than
    /// filling them. Nothing is kept beyond a share of the budget, and all of it is released as
    /// soon as an account needs room.
    pub fn keep(&self, buffer: Vec<u8>) {
        self.kept.put(buffer, self);
    }

    /// Releases what is kept if it was not used since the previous call.
    pub fn release_unused(&self) {
        self.kept.release_unused(self);
    }

    /// Whether `bytes` can be added to what is used.
    fn has_room(&self, bytes: usize, is_small: bool) -> bool {
        let fits = || self.used_bytes().saturating_add(bytes) <= self.limit(is_small);
        fits() || (self.kept.release(self) && fits())
    }

    /// Adds `bytes` to what is used, unless that would exceed the limit.
    fn try_use(&self, bytes: usize, is_small: bool) -> bool {
        let limit = self.limit(is_small);
        try_add(&self.used, bytes, limit)
            || (self.kept.release(self) && try_add(&self.used, bytes, limit))
    }

    /// The limit for a charge, depending on whether its account is small.
    fn limit(&self, is_small: bool) -> usize {
        self.size_bytes - if is_small { 0 } else { self.size_bytes / RESERVED_SHARE }
    }
}

/// Adds `bytes` unless that would exceed `limit`.
fn try_add(used: &AtomicUsize, bytes: usize, limit: usize) -> bool {
    let add = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= limit);
    used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
}

/// A user of memory of a budget.
#[derive(Debug)]
pub struct MemoryAccount {
    budget: Arc<MemoryBudget>,
    share_bytes: usize,
    used: AtomicUsize,
}

impl MemoryAccount {
    /// The budget that it belongs to.
    pub fn budget(&self) -> &Arc<MemoryBudget> {
        &self.budget
    }

    /// Bytes that it may use at most.
    pub fn share_bytes(&self) -> usize {
        self.share_bytes
    }

    /// Bytes in use.
    pub fn used_bytes(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether this many more bytes are available right now.
    pub fn has_room(&self, bytes: usize) -> bool {
        let of_account = self.used_bytes().saturating_add(bytes);
        let is_small = of_account <= SMALL_ACCOUNT_BYTES;
        of_account <= self.share_bytes && self.budget.has_room(bytes, is_small)
    }

    /// A charge of nothing, to be resized.
    pub fn charge(self: &Arc<Self>) -> MemoryCharge {
        MemoryCharge { account: Arc::clone(self), bytes: 0 }
    }

    fn try_take(&self, bytes: usize) -> bool {
        if !try_add(&self.used, bytes, self.share_bytes) {
            self.budget.refused.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        let is_small = self.used_bytes() <= SMALL_ACCOUNT_BYTES;
        if !self.budget.try_use(bytes, is_small) {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            self.budget.refused.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        true
    }

    fn give_back(&self, bytes: usize) {
        let of_account = self.used.fetch_sub(bytes, Ordering::Relaxed);
        let of_budget = self.budget.used.fetch_sub(bytes, Ordering::Relaxed);
        debug_assert!(of_account >= bytes && of_budget >= bytes, "given back and never taken");
    }
}

/// Memory that is in use until this is dropped.
#[derive(Debug)]
pub struct MemoryCharge {
    account: Arc<MemoryAccount>,
    bytes: usize,
}

impl MemoryCharge {
    /// The account that it belongs to.
    pub fn account(&self) -> &Arc<MemoryAccount> {
        &self.account
    }

    /// Its size in bytes.
    pub fn size_bytes(&self) -> usize {
        self.bytes
    }

    /// Resizes it to this many bytes. False, with nothing changed, if the account's share or the
    /// budget does not have them; shrinking always succeeds.
    #[must_use]
    pub fn try_resize(&mut self, bytes: usize) -> bool {
        if bytes > self.bytes {
            if !self.account.try_take(bytes - self.bytes) {
                return false;
            }
        } else if bytes < self.bytes {
            self.account.give_back(self.bytes - bytes);
        }
        self.bytes = bytes;
        true
    }

    /// Grows it by this many bytes. False, with nothing changed, if they are not available.
    #[must_use]
    pub fn try_grow(&mut self, bytes: usize) -> bool {
        self.bytes.checked_add(bytes).is_some_and(|sum| self.try_resize(sum))
    }

    /// Resizes it even if the bytes are not available: for an answer that must not be lost because
    /// its call has changed something. Later charges are refused instead.
    pub fn overdraw(&mut self, bytes: usize) {
        if !self.try_resize(bytes) {
            let more = bytes - self.bytes;
            self.account.used.fetch_add(more, Ordering::Relaxed);
            self.account.budget.used.fetch_add(more, Ordering::Relaxed);
            self.bytes = bytes;
        }
    }

    /// Shrinks it to at most this many bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        let kept = self.bytes.min(bytes);
        self.account.give_back(self.bytes - kept);
        self.bytes = kept;
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.account.give_back(self.bytes);
        }
    }
}

/// Memory that grows on demand: first some that is free, because it is counted elsewhere, then a
/// charge.
#[derive(Debug)]
pub struct Room {
    free_bytes: usize,
    charge: MemoryCharge,
}

impl Room {
    /// The memory of `charge`, and `free_bytes` in addition.
    pub fn new(charge: MemoryCharge, free_bytes: usize) -> Self {
        Self { free_bytes, charge }
    }

    /// Room for this many bytes, shared with no other account.
    pub fn of(size_bytes: usize) -> Self {
        // A part of a budget is reserved.
        let budget = Arc::new(MemoryBudget::new(size_bytes.saturating_mul(2)));
        Self::new(budget.account(size_bytes).charge(), 0)
    }

    /// Gives `buffer` a capacity between `capacity` and `capacity_max`, twice its current one if
    /// possible. False, with nothing changed, if there is no room.
    #[must_use]
    pub fn try_grow_to(
        &mut self,
        buffer: &mut Vec<u8>,
        capacity: usize,
        capacity_max: usize,
    ) -> bool {
        if buffer.capacity() >= capacity {
            return true;
        }
        // The first write is often the only one.
        let is_first = buffer.capacity() == 0;
        let spare = if is_first { 0 } else { buffer.capacity().clamp(GROWTH_MIN, GROWTH_MAX) };
        let wanted = capacity.max(buffer.capacity().saturating_add(spare)).min(capacity_max);
        let fits = [wanted, capacity].into_iter().find(|bytes| self.try_hold(*bytes));
        fits.is_some_and(|bytes| buffer.try_reserve_exact(bytes - buffer.len()).is_ok())
    }

    /// Reserves room for `bytes` in total. False if there is none.
    #[must_use]
    pub fn try_hold(&mut self, bytes: usize) -> bool {
        let charged = bytes.saturating_sub(self.free_bytes);
        charged <= self.charge.size_bytes() || self.charge.try_resize(charged)
    }

    /// Charges all of `bytes`. False if that is not possible.
    #[must_use]
    pub fn try_charge(&mut self, bytes: usize) -> bool {
        self.free_bytes = 0;
        self.charge.try_resize(bytes)
    }

    /// Gives `buffer` the capacity for `more` additional bytes, with some spare as in a vector.
    /// False, with nothing changed, if there is no room.
    #[must_use]
    pub fn try_reserve(&mut self, buffer: &mut Vec<u8>, more: usize) -> bool {
        match buffer.len().checked_add(more) {
            Some(capacity) => {
                self.reuse_for(buffer, capacity) || self.try_grow_to(buffer, capacity, usize::MAX)
            }
            None => false,
        }
    }

    /// Continues `buffer` in one that was kept. False, with nothing changed, if there is none, or
    /// no room for it.
    fn reuse_for(&mut self, buffer: &mut Vec<u8>, capacity: usize) -> bool {
        let budget = &self.charge.account.budget;
        let Some(mut larger) = budget.kept.take(capacity, budget) else { return false };
        if !self.try_hold(larger.capacity()) {
            return false;
        }
        larger.extend_from_slice(buffer);
        *buffer = larger;
        true
    }

    /// Keeps room for at most `bytes`.
    pub fn shrink_to(&mut self, bytes: usize) {
        self.charge.shrink_to(bytes.saturating_sub(self.free_bytes));
    }

    /// Takes `bytes` in total, even if they are not available: see [`MemoryCharge::overdraw`].
    pub fn overdraw(&mut self, bytes: usize) {
        self.charge.overdraw(bytes.saturating_sub(self.free_bytes).max(self.charge.size_bytes()));
    }

    /// The charge. The free part is no longer counted here.
    pub fn into_charge(self) -> MemoryCharge {
        self.charge
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn what_is_dropped_is_no_longer_in_use() {
        let budget = Arc::new(MemoryBudget::new(16 * MIB));
        let account = budget.account(8 * MIB);
        let mut first = account.charge();
        assert!(first.try_resize(6 * MIB));
        let mut second = account.charge();
        assert!(!second.try_resize(3 * MIB), "beyond the share of the account");
        assert!(second.try_resize(2 * MIB));
        assert_eq!((account.used_bytes(), budget.used_bytes()), (8 * MIB, 8 * MIB));
        first.shrink_to(MIB);
        first.shrink_to(2 * MIB);
        assert!(second.try_grow(MIB));
        assert_eq!((first.size_bytes(), second.size_bytes()), (MIB, 3 * MIB));
        drop((first, second));
        assert_eq!((account.used_bytes(), budget.used_bytes(), budget.refusals()), (0, 0, 1));
    }

    #[test]
    fn small_accounts_are_served_when_large_ones_are_refused() {
        let budget = Arc::new(MemoryBudget::new(16 * MIB));
        let accounts = [budget.account(8 * MIB), budget.account(8 * MIB)];
        let mut large: Vec<MemoryCharge> = accounts.iter().map(MemoryAccount::charge).collect();
        assert!(large[0].try_resize(8 * MIB) && large[1].try_resize(6 * MIB));
        assert!(!large[1].try_resize(8 * MIB));
        let small = budget.account(8 * MIB);
        let mut charge = small.charge();
        assert!(charge.try_resize(SMALL_ACCOUNT_BYTES));
        assert!(!charge.try_grow(1), "it is no longer small");
        assert!(!charge.try_grow(usize::MAX));
        assert_eq!(budget.used_bytes(), 14 * MIB + SMALL_ACCOUNT_BYTES);
    }

    #[test]
    fn a_buffer_grows_as_far_as_there_is_room() {
        let budget = Arc::new(MemoryBudget::new(16 * MIB));
        let mut room = Room::new(budget.account(MIB).charge(), 1000);
        let mut buffer = Vec::new();
        assert!(room.try_reserve(&mut buffer, 1000));
        assert_eq!((buffer.capacity(), budget.used_bytes()), (1000, 0));
        while room.try_reserve(&mut buffer, 1) {
            buffer.resize(buffer.capacity(), 7);
            assert!(budget.used_bytes() + 1000 >= buffer.capacity());
        }
        // All of the share, and what is free.
        assert_eq!(buffer.len(), MIB + 1000);
        assert!(!room.try_reserve(&mut buffer, usize::MAX));
        drop(room);
        assert_eq!(budget.used_bytes(), 0);
    }

    #[test]
    fn no_more_is_used_than_there_is_whoever_asks() {
        let budget = Arc::new(MemoryBudget::new(MIB));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let account = budget.account(MIB / 2);
                scope.spawn(move || {
                    for bytes in (0..20_000).map(|i| i * 7919 % (MIB / 2)) {
                        let mut charge = account.charge();
                        let _ = charge.try_resize(bytes);
                        assert!(account.budget().used_bytes() <= MIB);
                    }
                });
            }
        });
        assert_eq!(budget.used_bytes(), 0);
    }
}
