//! Unassigns and assigns a region. An unassigned one refuses operations until it is assigned, its
//! table is enabled or altered, or the store is opened again; hbase:meta does not mention it.

use hblite_model::{Error, RegionInfo, Result, TableName};

use super::{Catalog, Procedures};

impl Catalog {
    /// Whether the region is in service.
    pub fn is_in_service(&self, region: &RegionInfo) -> bool {
        self.region(region.encoded_name()).is_some_and(|known| !known.is_unassigned())
    }
}

impl Procedures<'_> {
    /// Puts a region that was unassigned back in service.
    ///
    /// # Errors
    /// `UnknownRegion`.
    pub fn assign(&self, region: &RegionInfo) -> Result<()> {
        let _procedure = self.begin_procedure()?;
        self.known_region(region.encoded_name())?.set_unassigned(false);
        Ok(())
    }

    /// Takes a region out of service until it is assigned.
    ///
    /// # Errors
    /// `UnknownRegion`; `DoNotRetryIo` for a table that the store itself needs.
    pub fn unassign(&self, region: &RegionInfo) -> Result<()> {
        let table = region.table();
        if table.is_meta() || *table == TableName::namespace_table() {
            let message = format!("hblite does not take {table} out of service");
            return Err(Error::do_not_retry(message));
        }
        let _procedure = self.begin_procedure()?;
        self.known_region(region.encoded_name())?.set_unassigned(true);
        Ok(())
    }
}
