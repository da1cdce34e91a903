//! Counts which rows are read and written, for heat maps and for what is hot.
//!
//! Off until [`RowCounting::after`] is called for the first time. Each region keeps a list of its
//! heaviest rows ([`SpaceSaving`]), and a sample of its requests, from which every second one is
//! dropped, by chance, whenever it is full.
//!
//! **Cost.** While it is on, a request costs a random number of its thread. The first
//! [`LEVEL_REQUESTS`] requests of a region are all counted, as many of the following by chance one
//! in two, each as two, and so on. So a count of the share p has a standard error of at most √(p (1
//! − p) / 2,048), and with each level a smaller part of the requests is counted. A thread that
//! finds the list of a region locked does not count its request and continues: no request waits.
//!
//! **Bounded.** A region has up to 64 rows and 1,024 requests of each kind, fewer when many regions
//! have requests. A call of `after` ends the counts until then, of which the last [`PARTS_MAX`] are
//! kept, so that several observers see the same requests.
//!
//! Threads: any.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use hblite_env::sync::Mutex;
use hblite_env::time::Duration;
use hblite_model::SampledRow;
use hblite_model::{
    HEAVY_ROWS_MAX, HeavyRows, ROW_MAX, RegionInfo, RegionRows, RowCounts, RowWaits, SpaceSaving,
    WAITED_ROWS_MAX, WaitedRow,
};

use crate::row_hash::row_hash;

/// Requests of a region that are counted before half as many of the following are.
const LEVEL_REQUESTS: u32 = 2_048;
/// Requests of which one is counted at the last level.
const EVERY_MAX: u32 = 1 << 16;
/// The sample of a region.
const SAMPLE_MAX: usize = 1_024;
/// Rows, and sampled requests, that all regions together have before each may have fewer.
const ROWS_OF_ALL: usize = 1 << 16;
const SAMPLE_OF_ALL: usize = 1 << 16;
/// What a region may have in any case.
const LEAST: usize = 16;
/// Parts, and rows in all of them, that are kept for other observers.
const PARTS_MAX: usize = 64;
const PARTS_ROWS_MAX: usize = 1 << 18;

/// What all regions share.
#[derive(Debug, Default)]
pub(crate) struct RowCounting {
    is_on: AtomicBool,
    /// Regions that have counts now.
    active: AtomicU32,
    /// The number of the next sampled request.
    next: AtomicU64,
    ended: Mutex<Ended>,
}

/// Counts of earlier times, the last one last.
#[derive(Debug, Default)]
struct Ended {
    parts: VecDeque<Arc<RowCounts>>,
    rows: usize,
    last: u64,
}

/// The counts of a region.
#[derive(Debug, Default)]
pub(crate) struct RegionRowCounts {
    reads: Counts,
    writes: Counts,
    waits: Mutex<Waited>,
}

/// Waits for locks of rows; a row that is not known is empty.
#[derive(Debug, Default)]
struct Waited {
    micros: SpaceSaving<Vec<u8>>,
    times: SpaceSaving<Vec<u8>>,
}

#[derive(Debug, Default)]
struct Counts {
    /// A request is counted if these bits of a random number are zero.
    mask: AtomicU32,
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    /// Requests that were counted since the mask was changed.
    at_level: u32,
    rows: SpaceSaving<Vec<u8>>,
    /// One in so many requests is in the sample.
    step: u64,
    sample: Vec<(u64, Vec<u8>)>,
}

thread_local! {
    /// The state of the thread's random numbers; 0 before the first.
    static RANDOM: Cell<u64> = const { Cell::new(0) };
}

/// The random seed of the next thread.
static SEED: AtomicU64 = AtomicU64::new(0x9e37_79b9_7f4a_7c15);

/// A random number, by xorshift64*.
#[inline]
fn random() -> u64 {
    let mut state = RANDOM.get();
    if state == 0 {
        state = SEED.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed) | 1;
    }
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    RANDOM.set(state);
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

impl RowCounting {
    /// Counts requests for rows of a region.
    #[inline]
    pub(crate) fn note<'r>(
        &self,
        region: &RegionRowCounts,
        rows: impl IntoIterator<Item = &'r [u8]>,
        is_write: bool,
    ) {
        if !self.is_on() {
            return;
        }
        let counts = if is_write { &region.writes } else { &region.reads };
        for row in rows {
            let (mask, random) = (counts.mask.load(Ordering::Relaxed), random());
            if (random >> 32) as u32 & mask == 0 {
                self.count(counts, row, random as u32);
            }
        }
    }

    /// Whether requests are counted.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Counts a wait for the lock of a row, which is empty if it is not known. Who has waited may
    /// wait for this list, too.
    pub(crate) fn note_wait(&self, region: &RegionRowCounts, row: &[u8], waited: Duration) {
        let micros = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX);
        let hash = row_hash(row);
        let mut waits = region.waits.lock();
        let Waited { micros: by_time, times } = &mut *waits;
        for (list, weight) in [(by_time, micros), (times, 1)] {
            let is_it = |known: &Vec<u8>| known == row;
            list.add((hash, weight), WAITED_ROWS_MAX, is_it, |known| row.clone_into(known));
        }
    }

    #[cold]
    fn count(&self, counts: &Counts, row: &[u8], random: u32) {
        let Some(mut list) = counts.list.try_lock() else { return };
        if list.rows.requests() == 0 {
            self.active.fetch_add(1, Ordering::Relaxed);
        }
        let active = self.active.load(Ordering::Relaxed).max(1) as usize;
        let share = |of_all: usize, max| (of_all / active).clamp(LEAST, max);
        let weight = counts.mask.load(Ordering::Relaxed).saturating_add(1);
        let row = &row[..row.len().min(ROW_MAX)];
        list.add(row, u64::from(weight), share(ROWS_OF_ALL, HEAVY_ROWS_MAX));
        list.step = list.step.max(1);
        while list.step < u64::from(weight) || list.sample.len() >= share(SAMPLE_OF_ALL, SAMPLE_MAX)
        {
            list.drop_half_of_sample();
        }
        if u64::from(random) & (list.step / u64::from(weight) - 1) == 0 {
            let order = self.next.fetch_add(1, Ordering::Relaxed);
            list.sample.push((order, row.to_vec()));
        }
        list.at_level += 1;
        if list.at_level >= LEVEL_REQUESTS && weight < EVERY_MAX {
            list.at_level = 0;
            counts.mask.store(2 * weight - 1, Ordering::Relaxed);
        }
    }

    /// The counts after the one that ended `after`, until now. Of a later moment than the last
    /// there are none.
    pub(crate) fn after<'r>(
        &self,
        after: u64,
        regions: impl IntoIterator<Item = (&'r RegionInfo, &'r RegionRowCounts)>,
    ) -> RowCounts {
        let mut ended = self.ended.lock();
        self.is_on.store(true, Ordering::Relaxed);
        self.active.store(0, Ordering::Relaxed);
        ended.last += 1;
        let part = part_of(ended.last, regions);
        let after = if after >= ended.last { ended.last } else { after };
        if !part.regions.is_empty() {
            ended.rows += rows_of(&part);
            ended.parts.push_back(Arc::new(part));
        }
        let mut counts = RowCounts { until: ended.last, ..RowCounts::default() };
        for part in ended.parts.iter().filter(|part| part.until > after) {
            counts.add(part);
        }
        counts.until = ended.last;
        while ended.parts.len() > PARTS_MAX
            || (ended.rows > PARTS_ROWS_MAX && ended.parts.len() > 1)
        {
            let gone = ended.parts.pop_front();
            ended.rows -= gone.map_or(0, |part| rows_of(&part));
        }
        counts
    }
}

fn rows_of(part: &RowCounts) -> usize {
    let of_region = |region: &RegionRows| {
        region.reads.rows.len() + region.writes.rows.len() + region.waits.rows.len()
    };
    part.regions.iter().map(of_region).sum::<usize>() + part.sample.len()
}

/// Takes what the regions have counted.
fn part_of<'r>(
    until: u64,
    regions: impl IntoIterator<Item = (&'r RegionInfo, &'r RegionRowCounts)>,
) -> RowCounts {
    let mut part = RowCounts { until, ..RowCounts::default() };
    let mut sample: Vec<(u64, SampledRow)> = Vec::new();
    for (info, counts) in regions {
        let place = part.regions.len() as u32;
        let mut take = |counts: &Counts, is_write| {
            let list = {
                let mut list = counts.list.lock();
                counts.mask.store(0, Ordering::Relaxed);
                std::mem::take(&mut *list)
            };
            let sampled = |(order, row)| (order, SampledRow { region: place, is_write, row });
            let (heavy, taken) = list.ended();
            sample.extend(taken.into_iter().map(sampled));
            heavy
        };
        let (reads, writes) = (take(&counts.reads, false), take(&counts.writes, true));
        let waits = std::mem::take(&mut *counts.waits.lock()).ended();
        if reads.requests > 0 || writes.requests > 0 || waits.waits > 0 {
            let (table, region) = (info.table().clone(), info.encoded_name().to_owned());
            part.regions.push(RegionRows { table, region, reads, writes, waits });
        }
    }
    sample.sort_unstable_by_key(|(order, _)| *order);
    part.sample = sample.into_iter().map(|(_, sampled)| sampled).collect();
    part
}

impl Waited {
    fn ended(self) -> RowWaits {
        let (waits, _, times) = self.times.into_counts();
        let (micros, error_micros, rows) = self.micros.into_counts();
        let times: HashMap<Vec<u8>, u64> = times.into_iter().collect();
        let row = |(row, micros): (Vec<u8>, u64)| {
            let waits = times.get(&row).copied().unwrap_or_default();
            WaitedRow { row, micros, waits }
        };
        let rows = rows.into_iter().map(row).collect();
        let mut waits = RowWaits { waits, micros, error_micros, rows };
        waits.keep_the_longest();
        waits
    }
}

impl List {
    fn add(&mut self, row: &[u8], weight: u64, rows_max: usize) {
        let is_it = |known: &Vec<u8>| known == row;
        self.rows.add((row_hash(row), weight), rows_max, is_it, |known| {
            known.clear();
            known.extend_from_slice(row);
        });
    }

    fn drop_half_of_sample(&mut self) {
        self.sample.retain(|_| random() >> 63 == 0);
        self.step *= 2;
    }

    fn ended(self) -> (HeavyRows, Vec<(u64, Vec<u8>)>) {
        let (requests, error, rows) = self.rows.into_counts();
        let mut heavy = HeavyRows { requests, error, rows };
        heavy.keep_the_heaviest();
        (heavy, self.sample)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// A region under counting.
    struct Counted {
        counting: RowCounting,
        region: RegionInfo,
        counts: RegionRowCounts,
    }

    impl Counted {
        fn new() -> Self {
            let region = RegionInfo::new("t".parse().unwrap(), b"", b"", 1);
            let counted =
                Self { counting: RowCounting::default(), region, counts: Default::default() };
            counted.after(u64::MAX);
            counted
        }

        fn note(&self, row: &[u8], is_write: bool) {
            self.counting.note(&self.counts, [row], is_write);
        }

        fn after(&self, after: u64) -> RowCounts {
            self.counting.after(after, [(&self.region, &self.counts)])
        }

        fn writes(&self, after: u64) -> HeavyRows {
            self.after(after).regions.pop().unwrap().writes
        }
    }

    #[test]
    fn nothing_is_counted_until_it_is_asked_for() {
        let counted = Counted { counting: RowCounting::default(), ..Counted::new() };
        counted.note(b"early", true);
        let start = counted.after(u64::MAX).until;
        counted.note(b"a", true);
        counted.note(&[b'b'; 1000], true);
        counted.note(b"c", false);
        let counts = counted.after(start);
        let region = &counts.regions[0];
        assert_eq!((region.reads.requests, region.writes.requests), (1, 2));
        assert_eq!(region.writes.rows[1], (vec![b'b'; ROW_MAX], 1));
        let sample: Vec<(bool, u8)> =
            counts.sample.iter().map(|sampled| (sampled.is_write, sampled.row[0])).collect();
        assert_eq!(sample, [(true, b'a'), (true, b'b'), (false, b'c')], "in this order");
        assert_eq!(counted.after(counts.until).regions, []);
    }

    /// Observers see the same requests, each from its own moment on. A moment that another store
    /// gave is now.
    #[test]
    fn observers_take_nothing_from_each_other() {
        let counted = Counted::new();
        let start = counted.after(u64::MAX).until;
        counted.note(b"a", true);
        let one = counted.after(start);
        counted.note(b"a", true);
        let other = counted.writes(start);
        assert_eq!((other.requests, other.rows), (2, vec![(b"a".to_vec(), 2)]));
        assert_eq!(counted.writes(one.until).requests, 1);
        let other_store = counted.after(1_000_000);
        assert!(other_store.regions.is_empty() && other_store.until < 1_000);
    }

    /// Heavy rows among many others, under a load of which a small part is counted: within the
    /// stated error, five times the standard error, whatever the order of the requests.
    #[test]
    fn shares_of_heavy_rows_are_within_the_stated_error() {
        for requests in [1_000_u64, 30_000, 3_000_000] {
            let counted = Counted::new();
            let start = counted.after(u64::MAX).until;
            let mut truth: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            for request in 0..requests {
                let row = match request % 10 {
                    0..5 => b"hot".to_vec(),
                    5 | 6 => b"warm".to_vec(),
                    _ => format!("row{}", request * 7_919 % 100_003).into_bytes(),
                };
                counted.note(&row, true);
                *truth.entry(row).or_default() += 1;
            }
            let heavy = counted.writes(start);
            let sum = heavy.requests as f64;
            assert!((sum / requests as f64 - 1.0).abs() < 0.1, "{sum} of {requests}");
            assert!(heavy.rows.len() <= HEAVY_ROWS_MAX);
            let bound = heavy.error as f64 / sum;
            assert!(bound <= 1.0 / HEAVY_ROWS_MAX as f64, "{bound}");
            for (row, count) in &heavy.rows {
                let (share, truth) = (*count as f64 / sum, truth[row] as f64 / requests as f64);
                let chance = match requests {
                    1_000 => 0.0,
                    _ => 5.0 * (truth * (1.0 - truth) / f64::from(LEVEL_REQUESTS)).sqrt() + 0.001,
                };
                assert!(share <= truth + chance && share >= truth - bound - chance, "{row:?}");
            }
            let named: Vec<&[u8]> = heavy.rows.iter().take(2).map(|(row, _)| &row[..]).collect();
            assert_eq!(named, [&b"hot"[..], b"warm"]);
        }
    }

    /// Rows that are requested cyclically, with a period of a power of two, are sampled evenly.
    #[test]
    fn a_pattern_does_not_fall_in_step_with_the_sample() {
        let mut counts = [0; 16];
        for _ in 0..100 {
            let counted = Counted::new();
            let start = counted.after(u64::MAX).until;
            (0..16_000_u32).for_each(|request| counted.note(&[request as u8 % 16], true));
            counted
                .after(start)
                .sample
                .iter()
                .for_each(|sampled| counts[sampled.row[0] as usize] += 1);
        }
        let mean = counts.iter().sum::<usize>() as f64 / 16.0;
        let is_even = |count: &usize| (*count as f64 / mean - 1.0).abs() < 0.2;
        assert!(counts.iter().all(is_even), "{counts:?}");
    }

    #[test]
    fn memory_is_bounded_and_the_sample_is_in_order_and_even() {
        let counted = Counted::new();
        let start = counted.after(u64::MAX).until;
        let rows: u32 = 300_000;
        (0..rows).for_each(|row| counted.note(&row.to_be_bytes(), true));
        let counts = counted.after(start);
        assert!((SAMPLE_MAX / 4..=SAMPLE_MAX).contains(&counts.sample.len()));
        let number = |row: &[u8]| u32::from_be_bytes(row.try_into().unwrap());
        let numbers: Vec<u32> = counts.sample.iter().map(|one| number(&one.row)).collect();
        assert!(numbers.is_sorted());
        let mean = numbers.iter().map(|number| f64::from(*number)).sum::<f64>();
        let mean = mean / numbers.len() as f64 / f64::from(rows);
        assert!((mean - 0.5).abs() < 0.1, "{mean}");
        for _ in 0..2 * PARTS_MAX {
            counted.note(b"a", true);
            counted.after(0);
        }
        let ended = counted.counting.ended.lock();
        assert_eq!(ended.parts.len(), PARTS_MAX);
        assert_eq!(ended.rows, ended.parts.iter().map(|part| rows_of(part)).sum::<usize>());
    }

    /// A thread that finds the list locked does not count, and the one that has the lock may not be
    /// running: so each round may miss some threads, but not all rounds the same ones.
    #[test]
    fn threads_count_side_by_side() {
        const ROUNDS_MAX: u64 = 1_000;
        let counted = Counted::new();
        let mut start = counted.after(u64::MAX).until;
        let mut rows = BTreeSet::new();
        for round in 1.. {
            assert!(round <= ROUNDS_MAX, "{rows:?} after {round} rounds");
            std::thread::scope(|scope| {
                for thread in 0..4_u8 {
                    let counted = &counted;
                    scope.spawn(move || (0..1_000).for_each(|_| counted.note(&[thread], true)));
                }
            });
            let counts = counted.after(start);
            start = counts.until;
            let writes = counts.regions.iter().map(|region| &region.writes);
            rows.extend(writes.flat_map(|writes| writes.rows.iter().map(|(row, _)| row.clone())));
            if rows.len() == 4 {
                break;
            }
        }
    }
}
