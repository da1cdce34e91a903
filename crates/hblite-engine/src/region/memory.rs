//! Memory admission: when a region is flushed, and when its writes wait for a flush.
//!
//! Flush:   a region whose active memstores exceed the flush size, or any that is written to while
//!          all regions together come near the store's limit, asks for a flush, once.
//! Wait:    above the blocking size of the region, or the limit of the store, writes wait until a
//!          flush has freed memory, and are refused when that takes too long
//!          (`HRegion.checkResources`).
//! Slow:    while compactions have fallen behind, writes are slowed down (see `write_pace`).
//! Threads: any. A write waits before it takes locks that a flush needs.

use std::sync::atomic::Ordering;

use hblite_env::time::{Duration, Instant};
use hblite_model::{Durability, Error, Exception, Result};

use super::Region;

impl Region {
    /// Whether everything is in files.
    pub(crate) fn is_memory_empty(&self) -> bool {
        self.stores.iter().all(|store| store.memstore().is_empty())
    }

    /// Bytes in memory, including those being flushed.
    pub(crate) fn memstore_size_bytes(&self) -> usize {
        self.stores.iter().map(|store| store.memstore().size().heap_size).sum()
    }

    /// How full the memory for writes is, in percent: that of this region compared with the size at
    /// which it is flushed, and that of all regions compared with its limit.
    pub(crate) fn memstore_load_percent(&self) -> (usize, usize) {
        let percent = |used: usize, of: usize| (used.saturating_mul(100) / of.max(1)).min(100);
        let total = self.context.options.memstore_total_size_bytes;
        (
            percent(self.memstore_size_bytes(), self.settings.flush_size_bytes),
            percent(self.context.memory.bytes(), total),
        )
    }

    /// Requests a flush if the region, or all regions together, are large enough.
    pub(super) fn request_flush_if_large(&self) {
        let is_large = active_size_bytes(self) > self.settings.flush_size_bytes;
        if is_large || self.context.is_memory_short() {
            self.request_flush();
        }
    }

    /// Requests a flush, unless one was requested and has not begun.
    fn request_flush(&self) {
        if !self.is_flush_requested.swap(true, Ordering::AcqRel) {
            self.context.chores.flush(self.info.encoded_name());
        }
    }

    /// Waits while memory is full, and a little if compactions have fallen behind.
    ///
    /// # Errors
    /// `RegionTooBusy` if no flush frees memory within `busy_wait_ms`: nothing was written.
    #[inline]
    pub(super) fn wait_for_room(&self) -> Result<()> {
        if self.excess_files() > 0 {
            self.write_pace.wait();
        }
        if is_memory_full(self) { wait_for_flush(self) } else { Ok(()) }
    }

    /// How many files a store has too many because compactions have fallen behind.
    #[inline]
    pub(super) fn excess_files(&self) -> usize {
        match self.settings.is_compaction_enabled {
            true => self.stores.iter().map(|store| store.excess_files()).max().unwrap_or(0),
            false => 0,
        }
    }

    /// Whether a write might have to wait: for memory, compactions, the disk, or the clock.
    pub(crate) fn may_have_to_wait(&self) -> bool {
        is_memory_full(self)
            || self.may_wait_for_clock()
            || self.excess_files() > 0
            || self.settings.durability == Durability::FsyncWal
    }
}

/// The memory charged for cells that are not frozen. Every write reads it, so no lock of the
/// memstores is taken.
fn active_size_bytes(region: &Region) -> usize {
    region.stores.iter().map(|store| store.charged_active_bytes()).sum()
}

#[cold]
fn wait_for_flush(region: &Region) -> Result<()> {
    let limit = Duration::from_millis(region.context.options.busy_wait_ms);
    // A flush by a caller resets the request; the next check repeats it.
    let has_room = region.context.memory.freed().wait_until(Instant::now() + limit, || {
        let is_over = !is_memory_full(region) || region.is_closing();
        if !is_over {
            region.request_flush();
        }
        is_over
    });
    if has_room { Ok(()) } else { Err(too_busy(region)) }
}

fn is_memory_full(region: &Region) -> bool {
    let charged = region.stores.iter().map(|store| store.charged_bytes());
    charged.sum::<usize>() > region.settings.blocking_size_bytes || region.context.is_memory_full()
}

fn too_busy(region: &Region) -> Error {
    Error::new(
        Exception::RegionTooBusy,
        format!(
            "Over memstore limit={}, regionName={}; writes come in faster than they can be \
             flushed, try again",
            region.settings.blocking_size_bytes,
            region.info.encoded_name()
        ),
    )
}
