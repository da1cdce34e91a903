//! A sample of the rows that are read and written, for heat maps of the load.
//!
//! Off by default. When it is on, about one request in `every` records its row: each thread counts
//! down a gap of random length, so that sampling does not fall into step with a pattern in the
//! requests. A request costs one atomic load while sampling is off, and one decrement in
//! thread-local memory while it is on.
//!
//! Bounded: [`STRIPES`] lists of [`STRIPE_SAMPLES_MAX`] rows of at most [`ROW_MAX`] bytes. A full
//! list keeps a uniform selection of the samples it received. Threads write to different lists; a
//! thread that finds its list locked drops its sample and continues. No request ever waits.
//!
//! Threads: any.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hblite_env::sync::Mutex;
use hblite_model::RegionInfo;

/// Lists; threads are assigned to them in turn.
const STRIPES: usize = 16;
/// Rows of a list.
const STRIPE_SAMPLES_MAX: usize = 512;
/// Bytes of a row that are kept.
pub(crate) const ROW_MAX: usize = 64;

/// A row that was read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySample {
    /// The encoded name of its region.
    pub region: Box<str>,
    /// The row, or its first 64 bytes. For a scan, its start row.
    pub row: Box<[u8]>,
    /// Whether it was written.
    pub is_write: bool,
}

/// The rows of some requests.
#[derive(Debug, Default)]
pub struct KeySamples {
    /// Requests per sample on average; 0 for none.
    every: AtomicU32,
    stripes: [Mutex<Stripe>; STRIPES],
}

#[derive(Debug, Default)]
struct Stripe {
    samples: Vec<KeySample>,
    /// Samples since the list was last drained, kept or not.
    given: u64,
}

/// The sampling state of a thread.
#[derive(Debug, Clone, Copy)]
struct Turn {
    /// Requests until the next sample.
    left: u32,
    /// The state of the thread's random numbers; 0 before its first request.
    random: u64,
}

thread_local! {
    static TURN: Cell<Turn> = const { Cell::new(Turn { left: 0, random: 0 }) };
}

/// The random seed of the next thread.
static SEED: AtomicU64 = AtomicU64::new(0x9e37_79b9_7f4a_7c15);

impl KeySamples {
    /// Sets the rate: about one request in `every` records its row; 0 turns sampling off.
    pub fn set_every(&self, every: u32) {
        self.every.store(every, Ordering::Relaxed);
    }

    /// Takes the samples recorded since the last call, in no particular order.
    pub fn take(&self) -> Vec<KeySample> {
        let mut all = Vec::new();
        for stripe in &self.stripes {
            let mut stripe = stripe.lock();
            all.append(&mut stripe.samples);
            stripe.given = 0;
        }
        all
    }

    /// Records requests for rows of a region.
    #[inline]
    pub(crate) fn note<'r>(
        &self,
        region: &RegionInfo,
        rows: impl IntoIterator<Item = &'r [u8]>,
        is_write: bool,
    ) {
        let every = self.every.load(Ordering::Relaxed);
        if every == 0 {
            return;
        }
        for row in rows {
            if let Some(random) = is_turn(every) {
                self.keep(region, row, is_write, random);
            }
        }
    }

    #[cold]
    fn keep(&self, region: &RegionInfo, row: &[u8], is_write: bool, random: u64) {
        // Threads have different seeds, and begin with different lists.
        let Some(mut stripe) = self.stripes[random as usize % STRIPES].try_lock() else { return };
        stripe.given += 1;
        let region = region.encoded_name().into();
        let row = row[..row.len().min(ROW_MAX)].into();
        let sample = KeySample { region, row, is_write };
        if stripe.samples.len() < STRIPE_SAMPLES_MAX {
            stripe.samples.push(sample);
            return;
        }
        let place = (random >> 8) % stripe.given;
        if let Some(kept) = stripe.samples.get_mut(place as usize) {
            *kept = sample;
        }
    }
}

/// Counts a request of this thread; returns a random number if it is to be sampled.
fn is_turn(every: u32) -> Option<u64> {
    let mut turn = TURN.get();
    let is_first = turn.random == 0;
    if is_first {
        turn.random = SEED.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed) | 1;
    } else if turn.left > 0 {
        TURN.set(Turn { left: turn.left - 1, ..turn });
        return None;
    }
    // Xorshift64*.
    turn.random ^= turn.random >> 12;
    turn.random ^= turn.random << 25;
    turn.random ^= turn.random >> 27;
    let random = turn.random.wrapping_mul(0x2545_f491_4f6c_dd1d);
    // Gaps of 0 to 2 (every - 1) requests: one in `every` on average.
    let gaps = 2 * u64::from(every) - 1;
    turn.left = ((u64::from(random as u32) * gaps) >> 32) as u32;
    TURN.set(turn);
    // The first request of a thread begins its first gap.
    (!is_first || turn.left == 0).then_some(random >> 32)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hblite_model::TableName;

    use super::*;

    fn region() -> RegionInfo {
        let table: TableName = "t".parse().unwrap();
        RegionInfo::new(table, b"", b"", 1)
    }

    #[test]
    fn nothing_is_kept_until_it_is_asked_for() {
        let (samples, region) = (KeySamples::default(), region());
        samples.note(&region, [&b"row"[..]], true);
        assert_eq!(samples.take(), []);
        samples.set_every(1);
        samples.note(&region, [&b"a"[..], &[b'b'; 1000]], true);
        samples.note(&region, [&b"c"[..]], false);
        let mut taken = samples.take();
        taken.sort_by(|left, right| left.row.cmp(&right.row));
        let rows: Vec<(usize, bool)> =
            taken.iter().map(|sample| (sample.row.len(), sample.is_write)).collect();
        assert_eq!(rows, [(1, true), (ROW_MAX, true), (1, false)]);
        assert!(taken.iter().all(|sample| *sample.region == *region.encoded_name()));
        assert_eq!(samples.take(), []);
    }

    /// Rows that are requested cyclically, with a period equal to the sampling rate, are all
    /// sampled equally often.
    #[test]
    fn a_pattern_does_not_fall_in_step_with_the_sample() {
        const EVERY: u32 = 16;
        let (samples, region) = (KeySamples::default(), region());
        samples.set_every(EVERY);
        let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
        for _ in 0..1_000 {
            for row in 0..EVERY as u8 {
                samples.note(&region, [&[row][..]; 4], true);
            }
            for sample in samples.take() {
                *counts.entry(sample.row[0]).or_default() += 1;
            }
        }
        let total: usize = counts.values().sum();
        assert!((3_600..4_400).contains(&total), "{total} of 64,000 requests");
        let within = |count: &usize| (170..330).contains(count);
        assert!(counts.len() == 16 && counts.values().all(within), "{counts:?}");
    }

    #[test]
    fn memory_is_bounded_and_a_full_list_keeps_an_even_selection() {
        let (samples, region) = (KeySamples::default(), region());
        samples.set_every(1);
        let rows: u32 = 200_000;
        for row in 0..rows {
            samples.note(&region, [&row.to_be_bytes()[..]], true);
        }
        let taken = samples.take();
        assert_eq!(taken.len(), STRIPES * STRIPE_SAMPLES_MAX);
        let number =
            |sample: &KeySample| u32::from_be_bytes(sample.row.as_ref().try_into().unwrap()) as f64;
        let mean = taken.iter().map(number).sum::<f64>() / taken.len() as f64;
        assert!((mean / f64::from(rows) - 0.5).abs() < 0.03, "{mean}");
    }

    #[test]
    fn threads_sample_side_by_side() {
        let (samples, region) = (KeySamples::default(), region());
        samples.set_every(4);
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                let (samples, region) = (&samples, &region);
                scope.spawn(move || {
                    for _ in 0..2_000 {
                        samples.note(region, [&[thread][..]], false);
                    }
                });
            }
        });
        let taken = samples.take();
        for thread in 0..4 {
            let count = taken.iter().filter(|sample| sample.row[0] == thread).count();
            assert!((350..=650).contains(&count), "thread {thread}: {count}");
        }
    }
}
