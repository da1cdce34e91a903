//! The store as the region server that it counts as: its name, its log and its switches.

use hblite_model::{Result, TableName};

use super::Engine;
use crate::switches::Switches;

impl Engine {
    /// The name of this store as a region server: `host,port,start code`.
    ///
    /// # Errors
    /// `RegionServerStopped` if the store is closed.
    pub fn server_name(&self) -> Result<String> {
        let location = self.catalog.locate_region(&TableName::meta(), b"")?;
        Ok(format!("{},{}", location.server.replace(':', ","), self.opened_at_ms))
    }

    /// Begins a new log file, unless the active one has no entries.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the store is read-only, `RegionServerStopped` if the log failed.
    pub fn roll_log(&self) -> Result<()> {
        self.context.check_not_read_only()?;
        self.context.wal.roll()
    }

    /// The switches of background work.
    pub fn switches(&self) -> &Switches {
        &self.context.switches
    }
}
