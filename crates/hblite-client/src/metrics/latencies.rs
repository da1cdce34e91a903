//! How long calls took: counts by time, at a fixed cost in memory.
//!
//! The buckets are those of a logarithmic histogram: each power of two of microseconds has eight,
//! so a bucket's width is at most an eighth of its times.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Buckets for each power of two, as a power of two.
const PARTS_BITS: u32 = 3;
const PARTS: u64 = 1 << PARTS_BITS;
/// Times of 2^36 µs, 19 hours, and more are in the last bucket.
const BITS_MAX: u32 = 36;
const BUCKETS: usize = ((BITS_MAX - PARTS_BITS + 1) as usize) << PARTS_BITS;

/// Counts that calls add to.
#[derive(Debug)]
pub(super) struct LatencyCounters {
    buckets: [AtomicU64; BUCKETS],
    sum_micros: AtomicU64,
}

impl Default for LatencyCounters {
    fn default() -> Self {
        Self { buckets: [const { AtomicU64::new(0) }; BUCKETS], sum_micros: AtomicU64::new(0) }
    }
}

impl LatencyCounters {
    pub(super) fn add(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.buckets[bucket_of(micros)].fetch_add(1, Ordering::Relaxed);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(super) fn snapshot(&self) -> Latencies {
        let count = |bucket: &AtomicU64| bucket.load(Ordering::Relaxed);
        let buckets = self.buckets.iter().map(count).collect();
        Latencies { buckets, sum: Duration::from_micros(count(&self.sum_micros)) }
    }
}

fn bucket_of(micros: u64) -> usize {
    if micros < PARTS {
        return micros as usize;
    }
    let shift = micros.ilog2() - PARTS_BITS;
    let index = (u64::from(shift) << PARTS_BITS) + (micros >> shift);
    (index as usize).min(BUCKETS - 1)
}

/// The least time in microseconds that is beyond a bucket.
fn end_of(bucket: usize) -> u64 {
    let next = bucket as u64 + 1;
    match next.checked_sub(PARTS) {
        None => next,
        Some(beyond) => (PARTS + beyond % PARTS) << (beyond / PARTS),
    }
}

/// How long calls took.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    buckets: Vec<u64>,
    sum: Duration,
}

impl Latencies {
    /// Number of calls.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Total time of the calls.
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// Mean time of the calls; zero without calls.
    pub fn mean(&self) -> Duration {
        let nanos = self.sum.as_nanos().checked_div(u128::from(self.count())).unwrap_or(0);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// A time that the given share of the calls did not exceed, too high by at most an eighth; zero
    /// without calls.
    ///
    /// ```
    /// let latencies = hblite_client::Latencies::default();
    /// assert_eq!(latencies.quantile(0.99), std::time::Duration::ZERO);
    /// ```
    pub fn quantile(&self, share: f64) -> Duration {
        let rank = (self.count() as f64 * share.clamp(0.0, 1.0)).ceil().max(1.0) as u64;
        let mut passed = 0;
        let found = self.buckets().find(|(_, count)| {
            passed += count;
            passed >= rank
        });
        found.map_or(Duration::ZERO, |(end, _)| end)
    }

    /// The buckets that have calls, in ascending order: an upper bound of their times, and the
    /// number of calls between the bound before and this one.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> {
        let used = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        used.map(|(bucket, count)| (Duration::from_micros(end_of(bucket)), *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_has_a_bucket_that_is_narrow_enough() {
        let mut times: Vec<u64> = (0..5_000).collect();
        times.extend((12..BITS_MAX).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1]));
        for micros in times {
            let bucket = bucket_of(micros);
            let end = end_of(bucket);
            let begin = if bucket == 0 { 0 } else { end_of(bucket - 1) };
            assert!(begin <= micros && micros < end, "{begin} {micros} {end}");
            assert!(end - begin <= (begin / PARTS).max(1), "{begin} {end}");
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_upper_bounds() {
        let counters = LatencyCounters::default();
        assert_eq!(counters.snapshot().mean(), Duration::ZERO);
        for millis in 1..=100 {
            counters.add(Duration::from_millis(millis));
        }
        let latencies = counters.snapshot();
        assert_eq!((latencies.count(), latencies.sum()), (100, Duration::from_millis(5_050)));
        assert_eq!(latencies.mean(), Duration::from_micros(50_500));
        for (share, millis) in [(0.0, 1), (0.5, 50), (0.99, 99), (1.0, 100)] {
            let (least, found) = (Duration::from_millis(millis), latencies.quantile(share));
            assert!(found >= least && found <= least.mul_f64(1.125), "{share}: {found:?}");
        }
        assert_eq!(latencies.buckets().map(|(_, count)| count).sum::<u64>(), 100);
    }
}
