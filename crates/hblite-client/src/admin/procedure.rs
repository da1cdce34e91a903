//! Waits for procedures of the master.

use std::time::Duration;

use bytes::Bytes;
use hblite_model::{Error, Exception, Result};
use hblite_wire::pb;
use tokio::time::{Instant, sleep};

use super::Admin;
use crate::error::{CallError, Thrown};

/// `GetProcedureResultResponse.State`.
const RUNNING: i32 = 1;
/// The pauses between polls.
const PAUSE_MIN: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Polls with increasing pauses.
pub(super) struct Polling {
    pause: Duration,
    deadline: Instant,
}

impl Polling {
    pub(super) fn new(limit: Duration) -> Self {
        Self { pause: PAUSE_MIN, deadline: Instant::now() + limit }
    }

    /// Waits until the next poll.
    ///
    /// # Errors
    /// `Io` if the time is over before `what` has happened.
    pub(super) async fn next(&mut self, what: &str) -> Result<()> {
        if Instant::now() + self.pause >= self.deadline {
            return Err(Error::new(
                Exception::Io,
                format!("{what} is not done in time; it continues"),
            ));
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        Ok(())
    }
}

impl Admin {
    /// Waits until a procedure has ended. Returns its result.
    ///
    /// # Errors
    /// Its failure; `Io` if it was not done in time.
    pub(super) async fn wait_for_procedure(&self, name: &str, id: u64) -> Result<Bytes> {
        let mut polling = Polling::new(self.shared.settings.operation_timeout);
        let request = pb::GetProcedureResultRequest { proc_id: id };
        loop {
            let answer: pb::GetProcedureResultResponse =
                self.call("getProcedureResult", &request).await?;
            if answer.state != RUNNING {
                // An id that the master no longer knows belongs to a procedure that ended long ago.
                return match answer.exception {
                    Some(exception) => Err(CallError::from(Thrown::from_foreign(exception)).into()),
                    None => Ok(answer.result.unwrap_or_default()),
                };
            }
            polling.next(&format!("{name} (procedure {id})")).await?;
        }
    }
}
