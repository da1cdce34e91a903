//! Runs work at a moment when the files contain the whole store.
//!
//! Threads: any. Writers continue; what they write meanwhile is in the log.

use hblite_model::Result;

use super::Procedures;

impl Procedures<'_> {
    /// Runs `work` while no procedure is in progress, after all memory has been flushed and its log
    /// has been removed.
    ///
    /// # Errors
    /// `Io` if a flush fails, `RegionServerStopped` if the store is closed, `DoNotRetryIo` if it is
    /// read-only; those of `work`.
    pub(crate) fn at_rest<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        // Most memory is flushed before procedures have to wait.
        self.flush_all()?;
        let _procedure = self.begin_procedure()?;
        self.settle_all()?;
        self.context.wal.roll()?;
        self.flush_all()?;
        work()
    }

    fn flush_all(&self) -> Result<()> {
        self.context.check_not_read_only()?;
        self.all_regions().iter().try_for_each(|region| region.flush().map(drop))
    }
}
