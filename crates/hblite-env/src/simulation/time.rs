//! Instants of virtual time inside a simulation, and of real time outside.

use std::ops::{Add, AddAssign, Sub};
use std::sync::OnceLock;
use std::time::Duration;

use super::scheduler::World;

/// See `std::time::Instant`. Instants of a simulation and of the real clock do not compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

impl Instant {
    /// The moment of the call.
    pub fn now() -> Self {
        static FIRST: OnceLock<std::time::Instant> = OnceLock::new();
        match World::current() {
            Some(world) => Self(Duration::from_nanos(world.now())),
            None => Self(FIRST.get_or_init(std::time::Instant::now).elapsed()),
        }
    }

    /// Time since this instant.
    pub fn elapsed(&self) -> Duration {
        Self::now().saturating_duration_since(*self)
    }

    /// Time from `earlier` to this; zero if that is later.
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// Time from `earlier` to this; zero if that is later.
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// Time from `earlier` to this, unless that is later.
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    /// This much later, if that can be represented.
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(duration))
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }
}
