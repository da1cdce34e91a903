//! How fast a compaction writes.
//!
//! Without a limit, a background compaction would occupy the disk and the processor's caches, and
//! current reads and writes would wait for it.
//!
//! Source: HBase's `PressureAwareCompactionThroughputController`.

use hblite_env::time::{Duration, Instant};

/// The longest sleep between two checks whether to stop or to speed up.
const NAP_MAX: Duration = Duration::from_millis(5);

/// Limits a writer to a number of bytes per second.
#[derive(Debug)]
pub(super) struct Pace {
    /// `None` for no limit.
    bytes_per_second: Option<u64>,
    began: Instant,
    bytes: u64,
}

impl Pace {
    pub(super) fn new(bytes_per_second: Option<u64>) -> Self {
        Self { bytes_per_second, began: Instant::now(), bytes: 0 }
    }

    /// Records bytes that were written, and waits as long as they should have taken, or until
    /// `is_hurried`; false if `is_stopped` meanwhile.
    pub(super) fn wait_after(
        &mut self,
        bytes: u64,
        is_stopped: impl Fn() -> bool,
        is_hurried: impl Fn() -> bool,
    ) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        while let Some(left) = self.left() {
            if is_stopped() {
                return false;
            }
            if is_hurried() {
                break;
            }
            hblite_env::thread::sleep(left.min(NAP_MAX));
        }
        true
    }

    /// How long to sleep to keep the rate.
    fn left(&self) -> Option<Duration> {
        let seconds = self.bytes as f64 / self.bytes_per_second? as f64;
        // At most a year; the writer calls again anyway.
        let due = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        due.checked_sub(self.began.elapsed()).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_their_time_unless_there_is_no_limit() {
        let mut pace = Pace::new(Some(1_000_000));
        let began = Instant::now();
        assert!((0..4).all(|_| pace.wait_after(5_000, || false, || false)));
        assert!(began.elapsed() >= Duration::from_millis(20));
        assert!(Pace::new(None).wait_after(u64::MAX, || panic!("nobody waits"), || false));
        assert!(Pace::new(Some(1)).wait_after(u64::MAX, || false, || true));
    }

    #[test]
    fn a_wait_ends_when_it_is_stopped() {
        let mut pace = Pace::new(Some(1));
        assert!(!pace.wait_after(u64::MAX, || true, || false));
    }
}
