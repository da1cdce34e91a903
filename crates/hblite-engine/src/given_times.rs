//! The time from which writes get their timestamps, and the latest timestamp that a region gave.
//!
//! Threads: any.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use hblite_env::Clock;

/// A clock that is set back by at most this stands still for writes until it has caught up.
const SET_BACK_MAX_MS: i64 = 10_000;

/// The time of a write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteTime {
    /// Milliseconds since 1970-01-01 UTC.
    pub(crate) now: i64,
    /// Whether the clock advances by itself.
    pub(crate) is_running: bool,
    /// How often the clock has jumped back so far that timestamps follow it.
    pub(crate) jumps: u64,
}

/// The time of a store's writes: that of its clock, without small steps back.
#[derive(Debug)]
pub(crate) struct WriteClock {
    latest: AtomicI64,
    jumps: AtomicU64,
}

impl Default for WriteClock {
    fn default() -> Self {
        Self { latest: AtomicI64::new(i64::MIN), jumps: AtomicU64::new(0) }
    }
}

impl WriteClock {
    /// How often the clock has jumped back by more than that.
    pub(crate) fn jumps(&self) -> u64 {
        self.jumps.load(Ordering::Acquire)
    }

    /// The time by `clock`, or the latest time returned if the clock was set back by up to 10 s.
    pub(crate) fn read(&self, clock: &dyn Clock) -> WriteTime {
        let mut now = clock.now_millis();
        let latest = self.latest.load(Ordering::Acquire);
        if now > latest {
            self.latest.fetch_max(now, Ordering::AcqRel);
        } else if latest.saturating_sub(now) <= SET_BACK_MAX_MS {
            now = latest;
        } else if self
            .latest
            .compare_exchange(latest, now, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
        {
            self.jumps.fetch_add(1, Ordering::AcqRel);
        }
        WriteTime { now, is_running: clock.is_running(), jumps: self.jumps() }
    }
}

/// The latest timestamp that a region gave to a cell: in files or in memory.
///
/// It tells the timestamps of counters, which run ahead of the clock, from later ones that users
/// chose. Shared by a region and its stores, which record it in their files.
#[derive(Debug, Clone)]
pub(crate) struct GivenUntil(Arc<CachePadded<AtomicI64>>);

impl GivenUntil {
    /// `i64::MIN` if none is known.
    pub(crate) fn get(&self) -> i64 {
        self.0.load(Ordering::Acquire)
    }

    /// Includes a timestamp. Writes only if it is the latest: all writers share the memory.
    #[inline]
    pub(crate) fn include(&self, timestamp: i64) {
        if timestamp > self.0.load(Ordering::Relaxed) {
            self.0.fetch_max(timestamp, Ordering::AcqRel);
        }
    }

    /// Forgets it, because the clock has jumped back.
    pub(crate) fn forget(&self) {
        self.0.store(i64::MIN, Ordering::Release);
    }

    /// A copy that changes on its own.
    pub(crate) fn detached(&self) -> Self {
        Self(Arc::new(CachePadded::new(AtomicI64::new(self.get()))))
    }
}

impl Default for GivenUntil {
    fn default() -> Self {
        Self(Arc::new(CachePadded::new(AtomicI64::new(i64::MIN))))
    }
}

#[cfg(test)]
mod tests {
    use hblite_env::ManualClock;

    use super::*;

    #[test]
    fn a_small_step_back_stops_the_time_and_a_large_one_is_followed() {
        let (clock, times) = (ManualClock::new(100_000), WriteClock::default());
        let read = || {
            let time = times.read(&clock);
            (time.now, time.jumps)
        };
        assert_eq!(read(), (100_000, 0));
        clock.set(90_000);
        assert_eq!(read(), (100_000, 0));
        clock.set(100_001);
        assert_eq!(read(), (100_001, 0));
        clock.set(90_000);
        assert_eq!(read(), (90_000, 1));
        clock.set(90_005);
        assert_eq!(read(), (90_005, 1));
    }
}
