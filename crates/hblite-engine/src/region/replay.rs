//! Replays the log into a region before the region is in service.
//!
//! The log has cells in write order. Searching the memstore for the place of each would constantly
//! miss the processor's caches. Cells are therefore collected and inserted in row order, so that
//! each search starts near the last one, in cached memory. Several threads insert a large batch,
//! each its own rows.
//!
//! Invariant: a flush claims sequence ids only of cells that are in the memstore.
//! Threads:   one, and those of a batch, which end with it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hblite_env::thread;
use hblite_model::{CellBuffer, CellRef, ErrorKind, Result};

use super::Region;
use super::flush::flush_replayed;
use crate::invariants::ARE_CHECKED;
use crate::row_rank::row_rank;
use crate::wal::WalEntry;

/// Bytes of cells to collect. Smaller memstores collect a fraction of their capacity.
const BATCH_BYTES_MAX: usize = 4 << 20;
/// That fraction of a memstore.
const MEMSTORE_DIVISOR: usize = 8;
/// Fewer cells are not worth a thread.
const CELLS_PER_THREAD_MIN: usize = 2_000;
/// Maximum number of threads that insert.
const THREADS_MAX: usize = 4;

/// Cells of a batch in the order of their rows: the rank of the row, and the place in the batch.
type Part<'a> = &'a [(u128, usize)];

/// A replay of log entries into regions.
#[derive(Default)]
pub(crate) struct Replay {
    region: Option<Arc<Region>>,
    /// With sequence ids, in the order of the log.
    cells: CellBuffer,
    /// The sequence id of the last entry.
    last_id: u64,
    /// Whether a flush failed, perhaps for lack of space.
    stays_in_memory: bool,
}

impl Replay {
    /// Adds an entry to the region that `find` returns for its name; drops an entry without a
    /// region. The cells are in the region's memstore after [`Replay::finish`].
    ///
    /// # Errors
    /// `RegionServerStopped` if the log failed.
    pub(crate) fn add(
        &mut self,
        entry: &WalEntry<'_>,
        find: impl FnOnce(&str) -> Option<Arc<Region>>,
    ) -> Result<()> {
        let is_same =
            self.region.as_ref().is_some_and(|region| region.info.encoded_name() == entry.region);
        if !is_same {
            self.finish()?;
            self.region = find(entry.region);
        }
        let Some(region) = &self.region else { return Ok(()) };
        let sequence_id = entry.sequence_id;
        if let Some(nonce) = entry.nonce {
            region.context.nonces.note(nonce, sequence_id, entry.write_time);
        }
        if sequence_id <= region.log_skipped_to.load(Ordering::Relaxed) {
            return Ok(());
        }
        // The time of a counter that ran ahead of the clock.
        region.given.include(entry.write_time);
        region.given_at_open.include(entry.write_time);
        region.dead_rows.iter().for_each(|rows| rows.note_revivable());
        for cell in entry.cells() {
            self.cells.push(&cell.with_sequence_id(sequence_id));
        }
        self.last_id = self.last_id.max(sequence_id);
        let share = region.settings.flush_size_bytes / MEMSTORE_DIVISOR;
        if self.cells.size_bytes() >= share.min(BATCH_BYTES_MAX) { self.insert() } else { Ok(()) }
    }

    /// Ends the replay of the current region.
    ///
    /// # Errors
    /// As [`Replay::add`].
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.insert()?;
        self.region = None;
        Ok(())
    }

    /// Inserts what was collected.
    fn insert(&mut self) -> Result<()> {
        let last_id = std::mem::take(&mut self.last_id);
        let Some(region) = self.region.as_ref().filter(|_| last_id > 0) else { return Ok(()) };
        if ARE_CHECKED {
            let is_covered = |cell: CellRef<'_>| cell.sequence_id() <= last_id;
            assert!(self.cells.iter().all(is_covered), "a flush up to {last_id} has these cells");
        }
        // The position in the log decides last: of equal cells, the later one sorts first.
        let mut order: Vec<(u128, usize)> =
            self.cells.iter().map(|cell| row_rank(cell.row())).zip(0..).collect();
        order.sort_unstable();
        let cells = &self.cells;
        let insert_part = |part: &[(u128, usize)]| {
            for store in &region.stores {
                // The cells of a family that was deleted since then are dropped.
                let (family, in_files) = (store.family().name(), store.sequence_id_max());
                let is_wanted =
                    |cell: &CellRef<'_>| cell.family() == family && cell.sequence_id() > in_files;
                store.add_to_memstore(
                    part.iter().filter_map(|(_, at)| cells.get(*at)).filter(is_wanted),
                );
            }
        };
        let insert_part = &insert_part;
        let entered = region.enter()?;
        let (last, others) = split_at_rows(&order, thread_count(order.len()));
        thread::scope(|scope| {
            for part in others {
                let work = move || insert_part(part);
                // If no thread can be started, this one does the work.
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    insert_part(part);
                }
            }
            insert_part(last);
        });
        drop(entered);
        self.cells.clear();
        region.mvcc.advance_to(last_id);
        if region.memstore_size_bytes() <= region.settings.flush_size_bytes || self.stays_in_memory
        {
            return Ok(());
        }
        match flush_replayed(region, last_id) {
            // The log and memory have the cells, as in the process that wrote the log.
            Err(error) if error.kind() == ErrorKind::Io => {
                self.stays_in_memory = true;
                Ok(())
            }
            flushed => flushed,
        }
    }
}

/// How many threads insert this many cells.
fn thread_count(cells: usize) -> usize {
    if cells < 2 * CELLS_PER_THREAD_MIN {
        return 1;
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    cores.min(THREADS_MAX).min(cells / CELLS_PER_THREAD_MIN)
}

/// Cuts a sorted batch into at most `count` parts: the last, and those before it. A row is in one
/// part, because the order in which equal cells are inserted matters.
fn split_at_rows(order: &[(u128, usize)], count: usize) -> (Part<'_>, Vec<Part<'_>>) {
    let mut parts = Vec::with_capacity(count);
    let mut rest = order;
    for left in (2..=count).rev() {
        let cut = rest.len() / left;
        let Some((rank, _)) = rest.get(cut) else { break };
        let start = rest.partition_point(|(other, _)| other < rank);
        let (part, others) = rest.split_at(start);
        if !part.is_empty() {
            parts.push(part);
        }
        rest = others;
    }
    (rest, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_cut_between_rows_only() {
        let of = |ranks: &[u128]| ranks.iter().copied().zip(0..).collect::<Vec<_>>();
        for (ranks, count) in [
            (&[][..], 4),
            (&[1], 2),
            (&[1, 1, 1, 1], 2),
            (&[1, 2, 2, 2, 2, 3], 3),
            (&[1, 2, 3, 4, 5, 6, 7, 8], 3),
            (&[1, 1, 1, 1, 1, 1, 2, 3], 4),
        ] {
            let order = of(ranks);
            let (last, others) = split_at_rows(&order, count);
            assert!(others.len() < count, "{ranks:?}");
            let parts: Vec<Part<'_>> = others.into_iter().chain([last]).collect();
            assert_eq!(parts.concat(), order, "{ranks:?}");
            for (left, right) in parts.iter().zip(&parts[1..]) {
                assert!(left[left.len() - 1].0 < right[0].0, "{ranks:?}");
            }
        }
        let even = of(&(0..100).collect::<Vec<u128>>());
        let (last, others) = split_at_rows(&even, 4);
        assert!(others.iter().chain([&last]).all(|part| part.len() == 25));
    }
}
