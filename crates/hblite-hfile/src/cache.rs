//! The cache of data blocks that had to be decompressed or decoded.
//!
//! Blocks of plain files are used in place in the mapped file and are never cached here. The cache
//! also counts, for all readers together, the memory for cell offsets of such blocks.
//!
//! Eviction:   second chance. A hand moves over the slots; a block that was requested since the
//!             hand last passed it stays for another round. Preferred blocks stay while they are
//!             at most a quarter of their shard and others are left.
//! Invariants: a shard's size is that of its slots and within its capacity; a slot is found by its
//!             key; no more offsets are released than were charged.
//! Threads:    shared; 16 shards, a hit takes a read lock.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::RwLock;

use crate::data_block::DataBlock;
use crate::invariants::ARE_CHECKED;

const SHARDS: usize = 16;
/// The fraction of the capacity that cell offsets of plain blocks may use in addition.
const OFFSETS_DIVISOR: usize = 4;
/// Preferred blocks are treated like others when they take more than this part of a shard
/// (`hbase.lru.blockcache.memory.percentage`).
const PREFERRED_DIVISOR: usize = 4;
/// The memory of a slot in addition to its block.
const SLOT_SIZE: usize = 128;

/// Which block of which open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BlockKey {
    pub(crate) file: u64,
    pub(crate) offset: u64,
}

/// A bounded cache, shared by readers.
#[derive(Debug)]
pub struct BlockCache {
    shards: Box<[RwLock<Shard>]>,
    shard_capacity: usize,
    hits: AtomicU64,
    misses: AtomicU64,
    next_file: AtomicU64,
    offsets: OffsetsBudget,
}

#[derive(Debug, Default)]
struct Shard {
    slots_by_key: HashMap<BlockKey, usize>,
    slots: Vec<Slot>,
    hand: usize,
    size_bytes: usize,
    preferred_bytes: usize,
}

#[derive(Debug)]
struct Slot {
    key: BlockKey,
    block: Arc<DataBlock>,
    was_requested: AtomicBool,
    is_preferred: bool,
}

impl Slot {
    fn size(&self) -> usize {
        self.block.heap_size() + SLOT_SIZE
    }

    fn preferred_size(&self) -> usize {
        if self.is_preferred { self.size() } else { 0 }
    }
}

impl BlockCache {
    /// A cache of at most `capacity_bytes` of decoded blocks, and a quarter of that for offsets.
    pub fn new(capacity_bytes: usize) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| RwLock::default()).collect(),
            shard_capacity: capacity_bytes / SHARDS,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            next_file: AtomicU64::new(0),
            offsets: OffsetsBudget::new(capacity_bytes / OFFSETS_DIVISOR),
        }
    }

    /// Bytes of the blocks in the cache.
    pub fn size_bytes(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().size_bytes).sum()
    }

    /// Whether at least seven eighths of the capacity are used, so that more blocks would soon
    /// evict others.
    pub(crate) fn is_full(&self) -> bool {
        self.size_bytes() >= self.shard_capacity * SHARDS / 8 * 7
    }

    /// Lookups served from the cache.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// Lookups that the cache could not serve.
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// A number that no other reader has.
    pub(crate) fn register_file(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn offsets(&self) -> &OffsetsBudget {
        &self.offsets
    }

    fn shard(&self, key: BlockKey) -> &RwLock<Shard> {
        let mixed = (key.file ^ key.offset.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &self.shards[(mixed >> 60) as usize % SHARDS]
    }

    /// The block, if it is in the cache. Counts a hit or a miss.
    pub(crate) fn get(&self, key: BlockKey) -> Option<Arc<DataBlock>> {
        let shard = self.shard(key).read();
        let Some(&slot) = shard.slots_by_key.get(&key) else {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let slot = &shard.slots[slot];
        slot.was_requested.store(true, Ordering::Relaxed);
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some(slot.block.clone())
    }

    /// Adds a block; a block too large for its shard is not kept.
    pub(crate) fn insert(&self, key: BlockKey, block: Arc<DataBlock>, is_preferred: bool) {
        let slot = Slot { key, block, was_requested: AtomicBool::new(false), is_preferred };
        if slot.size() > self.shard_capacity {
            return;
        }
        let mut shard = self.shard(key).write();
        if shard.slots_by_key.contains_key(&key) {
            return;
        }
        while shard.size_bytes + slot.size() > self.shard_capacity {
            shard.evict_one(self.shard_capacity);
        }
        shard.push(slot);
        assert!(shard.size_bytes <= self.shard_capacity, "a shard keeps to its capacity");
        shard.check();
    }

    /// Removes all blocks of a file. Returns how many there were.
    pub(crate) fn evict_file(&self, file: u64) -> u64 {
        let mut count = 0;
        for shard in &self.shards {
            let mut shard = shard.write();
            let mut index = 0;
            while index < shard.slots.len() {
                if shard.slots[index].key.file == file {
                    shard.remove(index);
                    count += 1;
                } else {
                    index += 1;
                }
            }
            shard.check();
        }
        count
    }
}

impl Shard {
    fn push(&mut self, slot: Slot) {
        self.size_bytes += slot.size();
        self.preferred_bytes += slot.preferred_size();
        self.slots_by_key.insert(slot.key, self.slots.len());
        self.slots.push(slot);
    }

    /// The sizes are those of the slots, and each slot is found by its key.
    fn check(&self) {
        assert!(self.preferred_bytes <= self.size_bytes, "preferred blocks count as blocks");
        assert_eq!(self.slots.len(), self.slots_by_key.len(), "a slot has one key");
        if ARE_CHECKED {
            let sum = |size: fn(&Slot) -> usize| self.slots.iter().map(size).sum::<usize>();
            assert_eq!(self.size_bytes, sum(Slot::size));
            assert_eq!(self.preferred_bytes, sum(Slot::preferred_size));
            let is_found = |(index, slot): (usize, &Slot)| {
                self.slots_by_key.get(&slot.key).is_some_and(|found| *found == index)
            };
            assert!(self.slots.iter().enumerate().all(is_found));
        }
    }

    /// Removes the next block that was not requested since the hand last passed it.
    fn evict_one(&mut self, capacity: usize) {
        assert!(!self.slots.is_empty(), "a block that fits a shard is inserted");
        let has_others = self.preferred_bytes < self.size_bytes;
        let are_preferred_safe = has_others && self.preferred_bytes <= capacity / PREFERRED_DIVISOR;
        loop {
            self.hand = if self.hand < self.slots.len() { self.hand } else { 0 };
            if are_preferred_safe && self.slots[self.hand].is_preferred {
                self.hand += 1;
                continue;
            }
            if self.slots[self.hand].was_requested.swap(false, Ordering::Relaxed) {
                self.hand += 1;
            } else {
                self.remove(self.hand);
                return;
            }
        }
    }

    /// Removes a slot; the last one takes its place.
    fn remove(&mut self, index: usize) {
        let slot = self.slots.swap_remove(index);
        self.size_bytes -= slot.size();
        self.preferred_bytes -= slot.preferred_size();
        self.slots_by_key.remove(&slot.key);
        if let Some(moved) = self.slots.get(index) {
            self.slots_by_key.insert(moved.key, index);
        }
    }
}

/// How much memory the cell offsets of plain blocks may take.
#[derive(Debug)]
pub(crate) struct OffsetsBudget {
    limit: usize,
    used: AtomicUsize,
}

impl OffsetsBudget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, used: AtomicUsize::new(0) }
    }

    /// Takes `size` bytes from the budget, if they are available.
    pub(crate) fn take(&self, size: usize) -> bool {
        let take = |used: usize| used.checked_add(size).filter(|used| *used <= self.limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// Whether at most an eighth is left.
    pub(crate) fn is_used_up(&self) -> bool {
        self.used.load(Ordering::Relaxed) >= self.limit / 8 * 7
    }

    /// Returns `size` bytes to the budget.
    pub(crate) fn give_back(&self, size: usize) {
        let before = self.used.fetch_sub(size, Ordering::Relaxed);
        assert!(before >= size, "{size} bytes are given back, and {before} were taken");
    }
}

#[cfg(test)]
mod tests {
    use hblite_model::CellComparator;

    use super::*;
    use crate::block::Payload;
    use crate::encoding::cells::CellLayout;

    fn block(value_size: usize) -> Arc<DataBlock> {
        let layout = CellLayout { has_tags: false, has_mvcc: false };
        let cell = hblite_model::Cell::new(
            b"r",
            b"f",
            b"q",
            1,
            hblite_model::CellType::Put,
            &vec![0; value_size],
        );
        let mut cells = Vec::new();
        layout.append(&mut cells, &cell.as_ref());
        Arc::new(DataBlock::new(Payload::owned(cells), layout, CellComparator::Default).unwrap())
    }

    #[test]
    fn the_cache_stays_within_its_capacity_and_forgets_closed_files() {
        let cache = BlockCache::new(SHARDS * 10_000);
        for file in 0..2 {
            for offset in 0..500 {
                let key = BlockKey { file, offset };
                cache.insert(key, block(1_000), false);
                assert!(cache.get(key).is_some());
                assert!(cache.size_bytes() <= SHARDS * 10_000);
            }
        }
        cache.insert(BlockKey { file: 3, offset: 0 }, block(20_000), false);
        assert!(cache.get(BlockKey { file: 3, offset: 0 }).is_none());
        cache.evict_file(0);
        cache.evict_file(1);
        assert_eq!(cache.size_bytes(), 0);
        assert_eq!((cache.hits(), cache.misses()), (1_000, 1));
    }

    #[test]
    fn a_block_that_is_asked_for_stays() {
        let cache = BlockCache::new(SHARDS * 10_000);
        let hot = BlockKey { file: 0, offset: 0 };
        cache.insert(hot, block(1_000), false);
        for offset in 1..1_000 {
            cache.insert(BlockKey { file: 0, offset }, block(1_000), false);
            assert!(cache.get(hot).is_some(), "after {offset} others");
        }
    }
    #[test]
    fn preferred_blocks_stay_up_to_a_quarter() {
        let cache = BlockCache::new(SHARDS * 40_000);
        let is_there = |file, offset| cache.get(BlockKey { file, offset }).is_some();
        for offset in 0..64 {
            cache.insert(BlockKey { file: 0, offset }, block(1_000), true);
        }
        for offset in 0..5_000 {
            cache.insert(BlockKey { file: 1, offset }, block(1_000), false);
        }
        let first = (0..64).filter(|offset| is_there(0, *offset)).count();
        assert!(first >= 32, "{first} of 64 are there, though none was asked for");
        for offset in 64..2_000 {
            cache.insert(BlockKey { file: 0, offset }, block(1_000), true);
        }
        for offset in 5_000..20_000 {
            cache.insert(BlockKey { file: 1, offset }, block(1_000), false);
        }
        let count = |file, offsets: u64| (0..offsets).filter(|o| is_there(file, *o)).count();
        let (preferred, others) = (count(0, 2_000), count(1, 20_000));
        assert!(preferred > 50 && preferred < others / 2, "{preferred} and {others}");
    }
}
