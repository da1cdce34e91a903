//! Limits the bytes per second of several threads together.

use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Longest sleep between two checks whether to continue.
const TURN: Duration = Duration::from_millis(100);

/// A limit that all threads of a job share.
#[derive(Debug)]
pub(crate) struct Pace {
    bytes_per_second_max: Option<u64>,
    /// When the limit allows the next bytes.
    paid_until: Mutex<Instant>,
}

impl Pace {
    /// A limit of this many bytes per second; `None` for no limit.
    pub(crate) fn new(bytes_per_second_max: Option<u64>) -> Self {
        Self { bytes_per_second_max, paid_until: Mutex::new(Instant::now()) }
    }

    /// Takes this many bytes, and waits until the limit allows more. `Break` if `go_on` ends the
    /// wait.
    pub(crate) fn take(&self, bytes: u64, go_on: impl Fn() -> ControlFlow<()>) -> ControlFlow<()> {
        let Some(rate) = self.bytes_per_second_max else { return ControlFlow::Continue(()) };
        let cost = Duration::from_secs_f64(bytes as f64 / rate.max(1) as f64);
        let until = {
            let mut paid_until = self.paid_until.lock();
            // Idle time does not allow a burst later.
            *paid_until = (*paid_until).max(Instant::now()) + cost;
            *paid_until
        };
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return ControlFlow::Continue(());
            }
            thread::sleep(left.min(TURN));
            go_on()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_take_their_time() {
        let pace = Pace::new(Some(1_000_000));
        let begun = Instant::now();
        for _ in 0..5 {
            assert!(pace.take(10_000, || ControlFlow::Continue(())).is_continue());
        }
        assert!(begun.elapsed() >= Duration::from_millis(49), "{:?}", begun.elapsed());
    }

    #[test]
    fn a_wait_can_be_ended() {
        let pace = Pace::new(Some(1));
        assert!(pace.take(1 << 40, || ControlFlow::Break(())).is_break());
    }
}
