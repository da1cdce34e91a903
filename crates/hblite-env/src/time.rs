//! Elapsed time as the engine measures it. For the time of cells, see [`crate::Clock`].
//!
//! This is the standard library's clock under one name. With the feature `simulation` it is
//! virtual time.

pub use std::time::Duration;

#[cfg(not(feature = "simulation"))]
pub use std::time::Instant;

#[cfg(feature = "simulation")]
pub use crate::simulation::time::Instant;

#[cfg(not(all(target_os = "linux", not(miri), not(feature = "simulation"))))]
pub use self::Instant as CoarseInstant;
#[cfg(all(target_os = "linux", not(miri), not(feature = "simulation")))]
pub use coarse::CoarseInstant;

#[cfg(all(target_os = "linux", not(miri), not(feature = "simulation")))]
mod coarse {
    use rustix::time::{ClockId, clock_gettime};

    use super::Duration;

    /// A moment up to a tick of the system's timer ago, which is at most 10 ms. It takes 2 ns to
    /// read where an [`Instant`](super::Instant) takes 25.
    #[derive(Debug, Clone, Copy)]
    pub struct CoarseInstant(Duration);

    impl CoarseInstant {
        /// The last tick of the timer.
        #[inline]
        pub fn now() -> Self {
            let time = clock_gettime(ClockId::MonotonicCoarse);
            Self(Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32))
        }

        /// Time since this moment.
        #[inline]
        pub fn elapsed(&self) -> Duration {
            Self::now().0.saturating_sub(self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarse_instant_follows_the_time() {
        let (fine, coarse) = (Instant::now(), CoarseInstant::now());
        crate::thread::sleep(Duration::from_millis(30));
        let slept = coarse.elapsed();
        let tick = Duration::from_millis(10);
        assert!(slept + tick >= Duration::from_millis(30), "{slept:?}");
        assert!(slept <= fine.elapsed() + tick, "{slept:?}");
    }
}
