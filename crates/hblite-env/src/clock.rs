//! Time: the wall clock for timestamps of cells, real or set by a test.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// A source of time. TTLs, timestamps and timeouts of a store all follow its clock.
pub trait Clock: Send + Sync + Debug {
    /// Milliseconds since 1970-01-01 UTC.
    fn now_millis(&self) -> i64;

    /// Whether the time advances by itself, so that waiting for a later one ends.
    fn is_running(&self) -> bool {
        true
    }
}

/// The clock of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[inline]
    fn now_millis(&self) -> i64 {
        system_millis()
    }
}

/// Every write asks for the time. The standard library takes a third longer to convert it.
#[cfg(all(target_os = "linux", not(miri)))]
fn system_millis() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    time.tv_sec.saturating_mul(1_000).saturating_add(time.tv_nsec / 1_000_000).max(0)
}

#[cfg(not(all(target_os = "linux", not(miri))))]
#[expect(clippy::disallowed_methods, reason = "this is the clock that the others ask")]
fn system_millis() -> i64 {
    match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(_) => 0,
    }
}

/// A clock that stands still until it is set or advanced.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows `millis`.
    pub fn new(millis: i64) -> Self {
        Self(AtomicI64::new(millis))
    }

    /// Shows `millis` from now on.
    pub fn set(&self, millis: i64) {
        self.0.store(millis, Ordering::SeqCst);
    }

    /// Advances by `millis`.
    pub fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn is_running(&self) -> bool {
        false
    }
}

/// The mode of an [`AdjustableClock`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockMode {
    /// The time of the underlying clock.
    Real,
    /// The time of the underlying clock plus this many milliseconds.
    Offset(i64),
    /// Exactly this time, in milliseconds since 1970-01-01 UTC, until it is set or advanced.
    Manual(i64),
}

/// A clock that can be set while a store uses it.
///
/// It starts with the time of the underlying clock. Threads: any; a reader sees the time before or
/// after a change.
#[derive(Debug)]
pub struct AdjustableClock {
    base: Arc<dyn Clock>,
    offset: AtomicI64,
    /// Whether it has an offset, which may be 0.
    has_offset: AtomicBool,
    /// The time of a manual clock; [`NOT_MANUAL`] for other modes.
    manual: AtomicI64,
}

/// Not a time: `i64::MIN` milliseconds is 292 million years in the past.
const NOT_MANUAL: i64 = i64::MIN;

impl AdjustableClock {
    /// A clock that shows the time of `base`.
    pub fn new(base: Arc<dyn Clock>) -> Self {
        let (offset, has_offset) = (AtomicI64::new(0), AtomicBool::new(false));
        Self { base, offset, has_offset, manual: AtomicI64::new(NOT_MANUAL) }
    }

    /// What it shows.
    pub fn mode(&self) -> ClockMode {
        match self.manual.load(Ordering::SeqCst) {
            NOT_MANUAL if self.has_offset.load(Ordering::SeqCst) => {
                ClockMode::Offset(self.offset.load(Ordering::SeqCst))
            }
            NOT_MANUAL => ClockMode::Real,
            millis => ClockMode::Manual(millis),
        }
    }

    /// Shows this from now on. A manual time of `i64::MIN` counts as the millisecond after it.
    pub fn set_mode(&self, mode: ClockMode) {
        // A manual time overrides the offset, so it is set first and removed last.
        match mode {
            ClockMode::Manual(millis) => {
                self.manual.store(millis.max(NOT_MANUAL + 1), Ordering::SeqCst);
            }
            ClockMode::Real => self.set_offset(false, 0),
            ClockMode::Offset(offset) => self.set_offset(true, offset),
        }
    }

    fn set_offset(&self, has_offset: bool, offset: i64) {
        self.has_offset.store(has_offset, Ordering::SeqCst);
        self.offset.store(offset, Ordering::SeqCst);
        self.manual.store(NOT_MANUAL, Ordering::SeqCst);
    }

    /// The time of the underlying clock.
    pub fn base_millis(&self) -> i64 {
        self.base.now_millis()
    }
}

impl Clock for AdjustableClock {
    fn now_millis(&self) -> i64 {
        match self.manual.load(Ordering::SeqCst) {
            NOT_MANUAL => {
                let offset = self.offset.load(Ordering::SeqCst);
                self.base.now_millis().saturating_add(offset)
            }
            millis => millis,
        }
    }

    fn is_running(&self) -> bool {
        self.manual.load(Ordering::SeqCst) == NOT_MANUAL && self.base.is_running()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adjustable_clock_shows_what_it_was_set_to() {
        let base = Arc::new(ManualClock::new(1_000));
        let clock = AdjustableClock::new(base.clone());
        assert_eq!((clock.mode(), clock.now_millis()), (ClockMode::Real, 1_000));
        assert!(!clock.is_running() && AdjustableClock::new(Arc::new(SystemClock)).is_running());
        clock.set_mode(ClockMode::Offset(-300));
        base.advance(50);
        assert_eq!(clock.now_millis(), 750);
        clock.set_mode(ClockMode::Manual(5));
        base.advance(50);
        assert_eq!((clock.mode(), clock.now_millis()), (ClockMode::Manual(5), 5));
        clock.set_mode(ClockMode::Manual(i64::MIN));
        assert_eq!(clock.now_millis(), i64::MIN + 1);
        clock.set_mode(ClockMode::Real);
        assert_eq!((clock.mode(), clock.now_millis()), (ClockMode::Real, 1_100));
        clock.set_mode(ClockMode::Offset(0));
        assert_eq!(clock.mode(), ClockMode::Offset(0));
        clock.set_mode(ClockMode::Offset(i64::MAX));
        assert_eq!(clock.now_millis(), i64::MAX);
    }
}
