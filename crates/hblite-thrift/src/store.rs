//! What both services use of the store.

use hblite::{Admin, Connection, Table};
use hblite_model::{Error, RegionInfo, Result, TableName};

use crate::options::{ThriftLimits, ThriftOptions};
use crate::scanners::Scanners;

/// The store or cluster behind the gateways.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    options: ThriftOptions,
    pub(crate) scanners: Scanners,
}

impl Store {
    pub(crate) fn new(connection: Connection, options: ThriftOptions) -> Self {
        let scanners = Scanners::new(connection.clone(), options.limits.clone());
        Self { connection, options, scanners }
    }

    pub(crate) fn admin(&self) -> Admin {
        self.connection.admin()
    }

    pub(crate) fn limits(&self) -> &ThriftLimits {
        &self.options.limits
    }

    pub(crate) fn cluster_id(&self) -> &str {
        &self.options.cluster_id
    }

    pub(crate) fn table(&self, name: &[u8]) -> Result<Table> {
        self.connection.table(table_name(name)?)
    }

    /// Host and port of the server of a region.
    pub(crate) fn server_of(&self, region: &RegionInfo) -> Result<(String, u16)> {
        if let Some(locate) = &self.options.locate {
            return Ok(locate.0(region));
        }
        let location = self.admin().locate_region(region.table(), region.start_key())?;
        let (host, port) = location.server.split_once([':', ',']).unwrap_or((&location.server, ""));
        let port = port.split(',').next().and_then(|port| port.parse().ok());
        Ok((host.to_owned(), port.unwrap_or(0)))
    }
}

/// The name of a table.
///
/// # Errors
/// `IllegalArgument` if this cannot be one.
pub(crate) fn table_name(name: &[u8]) -> Result<TableName> {
    match std::str::from_utf8(name) {
        Ok(name) => name.parse(),
        Err(_) => Err(Error::illegal_argument("the name of the table is not UTF-8")),
    }
}

/// Family, and qualifier if there is a colon (`CellUtil.parseColumn`).
pub(crate) fn parse_column(column: &[u8]) -> (&[u8], Option<&[u8]>) {
    match column.iter().position(|byte| *byte == b':') {
        Some(colon) => (&column[..colon], Some(&column[colon + 1..])),
        None => (column, None),
    }
}
