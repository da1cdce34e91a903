//! How often an operation is attempted, and how long it pauses between attempts.
//!
//! The pauses are HBase's: a table of factors with one percent of jitter. An error is final if the
//! server says so, if all attempts are used, or if the deadline would pass during the pause.

use std::sync::Arc;
use std::time::Duration;

use hblite_model::{Error, counted};
use tokio::time::{Instant, sleep};

use crate::error::CallError;
use crate::rpc::{Limit, Rpc};

/// Factors of the pause (`HConstants.RETRY_BACKOFF`).
const BACKOFF: [u32; 13] = [1, 2, 3, 5, 10, 20, 40, 100, 100, 100, 100, 200, 200];
/// The random part of a pause.
const JITTER: f64 = 0.01;

/// The pause after this many failures.
pub(crate) fn pause(base: Duration, failures: u32) -> Duration {
    let index = (failures.saturating_sub(1) as usize).min(BACKOFF.len() - 1);
    let pause = base * BACKOFF[index];
    pause + pause.mul_f64(JITTER * fastrand::f64())
}

/// The attempts of one operation.
#[derive(Debug)]
pub(crate) struct Retries {
    rpc: Arc<Rpc>,
    began: Instant,
    deadline: Instant,
    failures: u32,
}

impl Retries {
    /// An operation that begins now.
    pub(crate) fn new(rpc: &Arc<Rpc>) -> Self {
        Self::within(rpc, rpc.settings().operation_timeout)
    }

    /// Like [`Retries::new`], with this time limit instead of the one in the settings.
    pub(crate) fn within(rpc: &Arc<Rpc>, limit: Duration) -> Self {
        let began = Instant::now();
        Self { rpc: Arc::clone(rpc), began, deadline: began + limit, failures: 0 }
    }

    /// When the operation must be done.
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The time limit of the next call.
    pub(crate) fn limit(&self) -> Limit {
        Limit { rpc: self.rpc.settings().rpc_timeout, deadline: self.deadline, server: None }
    }

    /// Waits before the next attempt.
    ///
    /// # Errors
    /// `error`, if there is no further attempt.
    pub(crate) async fn after(&mut self, error: CallError) -> Result<(), Error> {
        sleep(self.pause_after(error)?).await;
        Ok(())
    }

    /// The pause before the next attempt.
    ///
    /// # Errors
    /// `error`, if there is no further attempt.
    pub(crate) fn pause_after(&mut self, error: CallError) -> Result<Duration, Error> {
        if !error.is_retryable() {
            return Err(error.into());
        }
        self.failures += 1;
        let base = match &error {
            error if error.is_immediate() => Duration::ZERO,
            error if error.is_overload() => self.rpc.settings().pause_overloaded,
            _ => self.rpc.settings().pause,
        };
        let pause = pause(base, self.failures);
        if self.failures > self.rpc.settings().retries || Instant::now() + pause >= self.deadline {
            return Err(self.give_up(error));
        }
        if error.is_overload() {
            self.rpc.counters().retries_after_overload.increment();
        }
        self.count(&error, pause);
        Ok(pause)
    }

    /// Like [`Retries::after`], for an error that ended a scanner. Another scanner can be opened
    /// whatever the error is, the first time without a pause.
    ///
    /// # Errors
    /// `error`, if there is no further attempt.
    pub(crate) async fn after_lost(&mut self, error: CallError) -> Result<(), Error> {
        self.failures += 1;
        let pause = match self.failures {
            1 => Duration::ZERO,
            failures => pause(self.rpc.settings().pause, failures - 1),
        };
        if self.failures > self.rpc.settings().retries.max(1)
            || Instant::now() + pause >= self.deadline
        {
            return Err(self.give_up(error));
        }
        self.count(&error, pause);
        sleep(pause).await;
        Ok(())
    }

    /// Starts over for another operation.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
        self.renew();
    }

    /// Restarts the time limit, and keeps the number of failures.
    pub(crate) fn renew(&mut self) {
        let limit = self.deadline.saturating_duration_since(self.began);
        self.began = Instant::now();
        self.deadline = self.began + limit;
    }

    fn count(&self, error: &CallError, pause: Duration) {
        self.rpc.counters().retries.increment();
        tracing::debug!(failures = self.failures, ?pause, %error, "another attempt");
    }

    /// The error for the caller after the last attempt.
    pub(crate) fn give_up(&self, error: CallError) -> Error {
        let error = Error::from(error);
        if self.rpc.settings().retries == 0 {
            return error;
        }
        let (attempts, millis) = (self.failures, self.began.elapsed().as_millis());
        let attempts = counted(u64::from(attempts), "attempt");
        let message = format!("{} (gave up after {attempts} in {millis} ms)", error.message());
        Error::new(error.exception(), message).with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ClientSettings;

    #[test]
    fn pauses_grow_as_hbases_do() {
        let base = Duration::from_millis(100);
        for (failures, factor) in [(1, 1), (2, 2), (4, 5), (8, 100), (13, 200), (1_000, 200)] {
            let (pause, least) = (pause(base, failures), base * factor);
            assert!(
                pause >= least && pause <= least.mul_f64(1.0 + JITTER),
                "{failures}: {pause:?}"
            );
        }
    }

    #[test]
    fn attempts_and_deadlines_end_an_operation() {
        let settings = ClientSettings { retries: 2, ..ClientSettings::default() };
        let rpc = Arc::new(Rpc::new(Arc::new(settings)));
        let error = || CallError::Nowhere("nowhere".to_owned());
        let mut retries = Retries::new(&rpc);
        assert!(retries.pause_after(error()).is_ok() && retries.pause_after(error()).is_ok());
        let given_up = retries.pause_after(error()).unwrap_err();
        assert!(given_up.message().starts_with("nowhere (gave up after 3 attempts"), "{given_up}");
        let mut retries = Retries::within(&rpc, Duration::from_millis(50));
        assert!(retries.pause_after(error()).is_err(), "the pause would be too long");
        let refused = Error::illegal_argument("no");
        let mut retries = Retries::new(&rpc);
        assert_eq!(retries.pause_after(refused.into()).unwrap_err().message(), "no");
    }
}
