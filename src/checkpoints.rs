//! Checkpoints of a store, rewinds to them, forks of them, and the clock.

use std::path::Path;

use hblite_engine::Timeline;
use hblite_env::{ClockMode, Env};
use hblite_model::Result;

use crate::backend::unsupported;
use crate::connection::Connection;

/// Checkpoints, forks and the clock of a store that this process has open.
///
/// # Errors
/// All methods return `Unsupported` on a connection to a cluster.
impl Connection {
    /// Gives the current state a name: tables, namespaces, data, snapshots, sequence ids. It
    /// includes every write that was acknowledged before the call. A checkpoint of the same name is
    /// replaced. Checkpoints are lost when the process ends.
    ///
    /// ```
    /// # use hblite::*;
    /// # let connection = open_in_memory()?;
    /// # let family = ColumnFamilyDescriptor::new("f");
    /// # connection.admin().create_table(&TableDescriptor::new("t".parse()?).with_family(family))?;
    /// let table = connection.table("t")?;
    /// connection.checkpoint("empty")?;
    /// table.put(&Put::new("row").add("f", "q", "v"))?;
    /// connection.rewind("empty")?;
    /// assert!(table.get(&Get::new("row"))?.is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// `IllegalArgument` for a name that is empty, longer than 255 bytes, or has characters other
    /// than letters, digits and `_-.`; `Io` if memory cannot be flushed; an error if the store is
    /// read-only or closed.
    pub fn checkpoint(&self, name: &str) -> Result<()> {
        self.state_of("checkpoint")?.checkpoint(name)
    }

    /// Returns to the state of a checkpoint, which remains. Handles stay valid and see that state
    /// from their next operation on. Operations in progress finish on the previous state. A
    /// scanner that is open then returns `UnknownScanner` (`ErrorKind::NotFound`): open a new one.
    ///
    /// In a store in a directory, files that hblite did not write are set aside if they are in what
    /// the rewind replaces; [`Connection::file_notes`] has them.
    ///
    /// # Errors
    /// `NotFound` if there is no checkpoint of this name. `Io` for a store in a directory: it is
    /// unchanged, or closed; the next open finds the state before the rewind or after it.
    pub fn rewind(&self, name: &str) -> Result<()> {
        self.state_of("rewind")?.rewind(name)
    }

    /// An independent store in memory that begins as a copy of the checkpoint. The two share the
    /// files that neither changes. Its clock starts at this store's time, and is set separately.
    ///
    /// # Errors
    /// `NotFound` if there is no checkpoint of this name.
    pub fn fork(&self, name: &str) -> Result<Self> {
        Ok(Self::from_backend(self.state_of("fork")?.fork(name)?))
    }

    /// Removes a checkpoint; false if there is none of this name. Its forks are not affected.
    ///
    /// # Errors
    /// `Unsupported` on a connection to a cluster.
    pub fn delete_checkpoint(&self, name: &str) -> Result<bool> {
        Ok(self.state_of("checkpoint")?.delete_checkpoint(name))
    }

    /// Names of the checkpoints, sorted.
    ///
    /// # Errors
    /// `Unsupported` on a connection to a cluster.
    pub fn checkpoints(&self) -> Result<Vec<String>> {
        Ok(self.state_of("checkpoint")?.checkpoints())
    }

    /// Writes a copy of the store, in memory or in a directory, to the directory `to`, which must
    /// be empty or missing: completely and durably, or not at all.
    ///
    /// # Errors
    /// `AlreadyExists` if `to` is neither empty nor missing; `Io` if it cannot be written.
    pub fn export(&self, to: impl AsRef<Path>) -> Result<()> {
        let disk = Env::system().fs;
        self.state_of("export")?.export(disk.as_ref(), to.as_ref())
    }

    /// The mode of the store's clock.
    ///
    /// # Errors
    /// `Unsupported` on a connection to a cluster.
    pub fn clock(&self) -> Result<ClockMode> {
        Ok(self.state_of("clock")?.clock_mode())
    }

    /// Sets the store's clock. Timestamps, times to live, snapshots and compactions follow it.
    ///
    /// ```
    /// use hblite::ClockMode;
    /// let connection = hblite::open_in_memory()?;
    /// connection.set_clock(ClockMode::Manual(1_000))?;
    /// assert_eq!(connection.now_millis(), 1_000);
    /// # Ok::<(), hblite::Error>(())
    /// ```
    ///
    /// # Errors
    /// `WrongState` if that sets the time back while clients of a server or gateway of this store
    /// have scanners open: their leases would never end. `Unsupported` on a connection to a
    /// cluster.
    pub fn set_clock(&self, mode: ClockMode) -> Result<()> {
        self.state_of("clock")?.set_clock(mode)
    }

    fn state_of(&self, operation: &str) -> Result<&Timeline> {
        self.timeline().ok_or_else(|| unsupported(operation, "a connection to a cluster"))
    }
}
