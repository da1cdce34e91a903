//! How writes are slowed down while compactions fall behind.
//!
//! Once a store has so many files that compactions are urgent, each further file reduces the rate
//! to a quarter. So only a few more files are added, whatever writers do. Every write adds its
//! bytes, at that rate, to the time at which the next write may begin. All writers of the region
//! wait for the same time, so more of them are not faster.
//!
//! HBase delays the flush instead (`hbase.hstore.blockingStoreFiles`), up to 90 seconds, and its
//! writers then wait for memory.
//!
//! Threads: any. A write waits before it takes locks.

use std::sync::atomic::{AtomicU64, Ordering};

use hblite_env::time::{Duration, Instant};

/// Bytes a second with the first file too many.
const FIRST_RATE: u64 = 32 << 20;
/// The slowest rate is this many quarters of quarters below.
const STEPS_MAX: usize = 5;
/// Shorter waits are saved up: sleeping takes longer than that.
const WAIT_MIN: Duration = Duration::from_millis(1);
/// The longest wait of one write.
const WAIT_MAX: Duration = Duration::from_millis(50);
/// How far ahead of the clock the next write may be.
const DEBT_MAX: Duration = Duration::from_secs(1);

/// When the next write of a region may begin.
#[derive(Debug)]
pub(super) struct WritePace {
    began: Instant,
    /// In nanoseconds after `began`.
    next_at: AtomicU64,
}

impl Default for WritePace {
    fn default() -> Self {
        Self { began: Instant::now(), next_at: AtomicU64::new(0) }
    }
}

impl WritePace {
    /// Records that `bytes` were written to a store with `excess_files` files too many, at least
    /// one.
    #[cold]
    pub(super) fn charge(&self, bytes: usize, excess_files: usize) {
        let (now, cost) = (self.now(), nanos(cost(bytes as u64, excess_files)));
        let latest = now + nanos(DEBT_MAX);
        let postponed = |at: u64| Some(at.max(now).saturating_add(cost).min(latest));
        let _ = self.next_at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, postponed);
    }

    /// Waits until the next write may begin, but not longer than 50 ms.
    #[cold]
    pub(super) fn wait(&self) {
        let left = self.next_at.load(Ordering::Relaxed).saturating_sub(self.now());
        let left = Duration::from_nanos(left);
        if left >= WAIT_MIN {
            hblite_env::thread::sleep(left.min(WAIT_MAX));
        }
    }

    fn now(&self) -> u64 {
        nanos(self.began.elapsed())
    }
}

/// How long writing this much may take.
fn cost(bytes: u64, excess_files: usize) -> Duration {
    let steps = excess_files.saturating_sub(1).min(STEPS_MAX);
    let rate = FIRST_RATE >> (2 * steps);
    Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / rate)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_more_leaves_a_quarter_of_the_rate() {
        let mebibyte = |files| cost(1 << 20, files);
        assert_eq!(mebibyte(1), Duration::from_nanos(31_250_000));
        assert_eq!(mebibyte(2), 4 * mebibyte(1));
        assert_eq!(mebibyte(5), 256 * mebibyte(1));
        assert_eq!(mebibyte(60), mebibyte(6));
        assert!(cost(u64::MAX, 60) > Duration::from_secs(1));
    }

    #[test]
    fn writes_wait_for_what_was_written_before_but_not_long() {
        let pace = WritePace::default();
        let waited = || {
            let began = Instant::now();
            pace.wait();
            began.elapsed()
        };
        pace.charge(1 << 20, 1);
        assert!(waited() >= Duration::from_millis(20));
        pace.charge(1 << 30, 5);
        let debt = pace.next_at.load(Ordering::Relaxed);
        assert!(debt <= pace.now() + nanos(DEBT_MAX), "an hour is not owed");
        assert!(waited() >= WAIT_MAX);
    }
}
