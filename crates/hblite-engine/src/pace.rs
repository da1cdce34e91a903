//! How fast a job in the background reads or writes.
//!
//! Without a limit, a compaction or the scrubber would occupy the disk and the processor's caches,
//! and current reads and writes would wait for it. A job records what it has done and sleeps for as
//! long as [`Pace::left`] says, in its own way: it also watches for what ends or hurries it.
//!
//! Source: HBase's `PressureAwareCompactionThroughputController`.

use hblite_env::time::{Duration, Instant};

/// A limit of bytes per second, since the pace was made.
#[derive(Debug)]
pub(crate) struct Pace {
    /// `None` for no limit.
    bytes_per_second: Option<u64>,
    began: Instant,
    bytes: u64,
}

impl Pace {
    pub(crate) fn new(bytes_per_second: Option<u64>) -> Self {
        Self { bytes_per_second, began: Instant::now(), bytes: 0 }
    }

    /// Records bytes that were read or written.
    pub(crate) fn record(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// How long to sleep to keep the limit; zero if the job may continue.
    pub(crate) fn left(&self) -> Duration {
        let Some(rate) = self.bytes_per_second else { return Duration::ZERO };
        let seconds = self.bytes as f64 / rate as f64;
        // A rate of zero, and more seconds than a duration holds: without end.
        let due = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        due.saturating_sub(self.began.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_their_time_unless_there_is_no_limit() {
        let mut limited = Pace::new(Some(1_000_000));
        assert_eq!(limited.left(), Duration::ZERO);
        for _ in 0..4 {
            limited.record(500_000_000);
        }
        let left = limited.left();
        assert!(left > Duration::from_secs(1000) && left <= Duration::from_secs(2000), "{left:?}");

        let mut unlimited = Pace::new(None);
        unlimited.record(u64::MAX);
        unlimited.record(u64::MAX);
        assert_eq!(unlimited.left(), Duration::ZERO);
    }

    #[test]
    fn no_count_of_bytes_overflows() {
        let mut pace = Pace::new(Some(0));
        pace.record(1);
        assert!(pace.left() > Duration::from_secs(1 << 40));
    }
}
