//! Which log files are still needed, and by which regions.
//!
//! A log file is needed as long as some region has an entry in it that is in no HFile. For each
//! closed log file and region the highest sequence id is kept; a flush up to that id releases it.
//! Log files are removed only in the order of their numbers, so that the rest of the log has no
//! gap. (HBase's `SequenceIdAccounting` keeps the lowest unflushed ids for the same purpose.)
//!
//! Threads: [`Accounting`] has its own lock, which is taken after the log's lock if both are
//! needed; the numbers in [`WalRegion`] are written under the log's lock.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A region as the log knows it; each append belongs to one. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WalRegion(Arc<RegionState>);

#[derive(Debug)]
struct RegionState {
    name: Box<str>,
    /// The log file of the last append.
    log_file: AtomicU64,
    /// The sequence id of the last append.
    highest: AtomicU64,
    /// The same, since the region was last requested; ids ascend from then on.
    last: AtomicU64,
    /// Sequence ids up to this are in HFiles.
    flushed: AtomicU64,
}

impl WalRegion {
    fn new(name: &str) -> Self {
        Self(Arc::new(RegionState {
            name: name.into(),
            log_file: AtomicU64::new(0),
            highest: AtomicU64::new(0),
            last: AtomicU64::new(0),
            flushed: AtomicU64::new(0),
        }))
    }

    /// The encoded name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Records an append to `log_file`. True if it is the region's first one there.
    #[inline]
    pub(super) fn appended(&self, log_file: u64, sequence_id: u64) -> bool {
        // The lock of the tail is held, so that nothing needs to be swapped.
        let state = &*self.0;
        let last = state.last.load(Ordering::Relaxed);
        assert!(last < sequence_id, "log order is id order: {sequence_id} after {last}");
        state.last.store(sequence_id, Ordering::Relaxed);
        state.highest.store(sequence_id, Ordering::Relaxed);
        let is_first = state.log_file.load(Ordering::Relaxed) != log_file;
        if is_first {
            state.log_file.store(log_file, Ordering::Relaxed);
        }
        is_first
    }

    /// Records an append to `log_file` of an entry that was undone before. True if it is the
    /// region's first one there.
    pub(super) fn appended_again(&self, log_file: u64) -> bool {
        self.0.log_file.swap(log_file, Ordering::Relaxed) != log_file
    }

    /// Whether it has an entry that is in no HFile.
    pub(super) fn is_needed(&self) -> bool {
        self.highest() > self.0.flushed.load(Ordering::Relaxed)
    }

    fn highest(&self) -> u64 {
        self.0.highest.load(Ordering::Relaxed)
    }
}

/// A log file that gets no more records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ClosedLogFile {
    pub(super) number: u64,
    /// Highest sequence id of each region that is not known to be flushed that far.
    pub(super) regions: BTreeMap<Box<str>, u64>,
}

impl ClosedLogFile {
    /// Records an entry.
    pub(super) fn note(&mut self, region: &str, sequence_id: u64) {
        match self.regions.get_mut(region) {
            Some(highest) => *highest = sequence_id.max(*highest),
            None => drop(self.regions.insert(region.into(), sequence_id)),
        }
    }
}

/// The closed log files and the regions of a log.
#[derive(Debug, Default)]
pub(super) struct Accounting {
    closed: VecDeque<ClosedLogFile>,
    regions: HashMap<Box<str>, WalRegion>,
}

impl Accounting {
    /// The accounting of an existing log with these log files, in order.
    pub(super) fn with_log_files(closed: impl IntoIterator<Item = ClosedLogFile>) -> Self {
        let closed: VecDeque<ClosedLogFile> = closed.into_iter().collect();
        assert!(closed.iter().is_sorted_by(|left, right| left.number < right.number));
        Self { closed, regions: HashMap::new() }
    }

    /// The region of this name.
    pub(super) fn region(&mut self, name: &str) -> WalRegion {
        if let Some(region) = self.regions.get(name) {
            // A region that is opened again may reuse ids whose records were undone.
            region.0.last.store(0, Ordering::Relaxed);
            return region.clone();
        }
        let region = WalRegion::new(name);
        self.regions.insert(name.into(), region.clone());
        region
    }

    /// Adds a log file that gets no more records, with the regions that appended to it.
    pub(super) fn close_log_file(&mut self, number: u64, regions: &[WalRegion]) {
        let mut closed = ClosedLogFile { number, regions: BTreeMap::new() };
        assert!(self.closed.back().is_none_or(|last| last.number < number), "log files ascend");
        for region in regions {
            if region.is_needed() {
                closed.note(region.name(), region.highest());
            }
        }
        self.closed.push_back(closed);
    }

    /// Forgets the log files after this one: they were never created.
    pub(super) fn forget_after(&mut self, number: u64) {
        self.closed.retain(|log_file| log_file.number <= number);
    }

    /// Records that the region's entries up to this sequence id are in HFiles.
    pub(super) fn flushed(&mut self, name: &str, up_to_sequence_id: u64) {
        if let Some(region) = self.regions.get(name) {
            region.0.flushed.fetch_max(up_to_sequence_id, Ordering::Relaxed);
        }
        for log_file in &mut self.closed {
            if log_file.regions.get(name).is_some_and(|highest| *highest <= up_to_sequence_id) {
                log_file.regions.remove(name);
            }
        }
    }

    /// Removes a region: none of its entries is needed any longer.
    pub(super) fn removed(&mut self, name: &str) {
        self.flushed(name, u64::MAX);
        self.regions.remove(name);
    }

    /// Takes out the oldest log files, up to the first that is needed, and returns their numbers.
    pub(super) fn take_removable(&mut self) -> Vec<u64> {
        let needed = self.closed.iter().position(|log_file| !log_file.regions.is_empty());
        let count = needed.unwrap_or(self.closed.len());
        assert!(self.closed.iter().take(count).all(|log_file| log_file.regions.is_empty()));
        self.closed.drain(..count).map(|log_file| log_file.number).collect()
    }

    /// Adds back log files that could not be removed.
    pub(super) fn put_back(&mut self, numbers: &[u64]) {
        for number in numbers.iter().rev() {
            assert!(self.closed.front().is_none_or(|first| number < &first.number));
            self.closed.push_front(ClosedLogFile { number: *number, regions: BTreeMap::new() });
        }
    }

    /// The number of the oldest closed log file that was not taken out.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.closed.front().map(|log_file| log_file.number)
    }

    /// The numbers of the closed log files, oldest first.
    pub(super) fn closed_numbers(&self) -> Vec<u64> {
        self.closed.iter().map(|log_file| log_file.number).collect()
    }

    /// Number of closed log files.
    pub(super) fn closed_count(&self) -> usize {
        self.closed.len()
    }

    /// The regions that hold one of the `count` oldest log files, sorted by name.
    pub(super) fn regions_of_oldest(&self, count: usize) -> Vec<String> {
        let oldest = self.closed.iter().take(count);
        let mut names: Vec<String> =
            oldest.flat_map(|log_file| log_file.regions.keys()).map(ToString::to_string).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(accounting: &mut Accounting, log_file: u64, name: &str, id: u64) -> WalRegion {
        let region = accounting.region(name);
        region.appended(log_file, id);
        region
    }

    #[test]
    fn a_log_file_goes_when_all_its_regions_have_flushed_and_never_before_an_older_one() {
        let mut accounting = Accounting::default();
        let a = append(&mut accounting, 1, "a", 5);
        let b = append(&mut accounting, 1, "b", 7);
        accounting.close_log_file(1, &[a, b]);
        let a = append(&mut accounting, 2, "a", 9);
        accounting.close_log_file(2, &[a]);
        accounting.flushed("a", 9);
        assert_eq!(accounting.take_removable(), []);
        assert_eq!(accounting.regions_of_oldest(1), ["b"]);
        accounting.flushed("b", 6);
        assert_eq!(accounting.take_removable(), []);
        accounting.flushed("b", 7);
        assert_eq!(accounting.take_removable(), [1, 2]);
        assert_eq!(accounting.oldest(), None);
    }

    #[test]
    fn a_flush_before_the_log_file_closes_counts() {
        let mut accounting = Accounting::default();
        let a = append(&mut accounting, 1, "a", 5);
        accounting.flushed("a", 5);
        accounting.close_log_file(1, &[a]);
        assert_eq!(accounting.take_removable(), [1]);
    }

    #[test]
    fn a_removed_region_needs_nothing_and_may_come_back() {
        let mut accounting = Accounting::default();
        let old = append(&mut accounting, 1, "a", 5);
        accounting.removed("a");
        let new = append(&mut accounting, 1, "a", 6);
        accounting.close_log_file(1, &[old, new]);
        assert_eq!(accounting.take_removable(), []);
        accounting.flushed("a", 6);
        assert_eq!(accounting.take_removable(), [1]);
    }
}
