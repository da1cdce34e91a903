//! A crash of some regions of an open store, for tests of what clients do then.

use hblite_model::Result;

use super::Engine;
use crate::status::CrashReport;

impl Engine {
    /// Loses what the regions with these encoded names hold in memory, as if the server that they
    /// were on had been killed, and takes them in service again from their files and the log.
    /// Writes that were acknowledged are there again, but for those with `Durability::SkipWal`; a
    /// write that was under way is there whole or not at all. Names of no region are passed over,
    /// hbase:meta and hbase:namespace stay as they are.
    ///
    /// # Errors
    /// `Io` and `Corrupt`: regions whose files or log could not be read are out of service until
    /// the store is opened again. `RegionServerStopped` if the store is closed or its log failed.
    pub fn crash_regions(&self, encoded_names: &[&str]) -> Result<CrashReport> {
        self.catalog.crash_regions(encoded_names)
    }
}
