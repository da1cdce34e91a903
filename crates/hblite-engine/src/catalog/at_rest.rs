//! A moment at which the files say everything.
//!
//! Threads: any. Writers go on; what they write during the moment is in the log.

use hblite_model::Result;

use super::Procedures;

impl Procedures<'_> {
    /// Does `work` while no procedure is under way, after everything that was in memory has been
    /// flushed and the log of it is gone.
    ///
    /// # Errors
    /// `Io` if a flush fails, `RegionServerStopped` if the store is closed, `DoNotRetryIo` if it is
    /// read-only; those of `work`.
    pub(crate) fn at_rest<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        // Most of the memory is flushed before procedures have to wait.
        self.flush_all()?;
        let _procedure = self.begin_procedure()?;
        self.context.wal.roll()?;
        self.flush_all()?;
        work()
    }

    fn flush_all(&self) -> Result<()> {
        self.context.check_not_read_only()?;
        self.all_regions().iter().try_for_each(|region| region.flush().map(drop))
    }
}
