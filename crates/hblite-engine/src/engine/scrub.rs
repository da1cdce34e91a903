//! Verifies the files of an open store on request.
//!
//! Threads: any.

use hblite_model::{Error, Exception, Result, ScrubStatus};

use super::Engine;

/// Verification.
impl Engine {
    /// Reads every file of every region in service and verifies every block, without a limit on the
    /// rate. Reads and writes continue.
    ///
    /// # Errors
    /// `RegionServerStopped` if the store is closed. Damage is not an error: it is in the result.
    pub fn scrub(&self) -> Result<ScrubStatus> {
        let scrubber = self.running.lock().as_ref().map(|open| open.chores.scrubber().clone());
        match scrubber {
            Some(scrubber) => scrubber.scrub(),
            None => Err(Error::new(Exception::RegionServerStopped, "the store is closed")),
        }
    }

    /// What the scrubber has verified and found; nothing once the store is closed.
    pub fn scrub_status(&self) -> ScrubStatus {
        let running = self.running.lock();
        running.as_ref().map(|open| open.chores.scrubber().status()).unwrap_or_default()
    }
}
