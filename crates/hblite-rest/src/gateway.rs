//! The state that all requests share: the store and the open scanners.

use std::sync::{Arc, Weak};

use hblite::{Admin, Connection, Operation, RegionInfo, Table};
use hblite_wire::memory::MemoryBudget;
use hblite_wire::site::Site;
use hyper::{HeaderMap, StatusCode};

use crate::failure::Failure;
use crate::options::RestOptions;
use crate::request::Request;
use crate::scanners::Scanners;

/// The store behind the gateway, and the scanners that clients have open.
#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) connection: Connection,
    pub(crate) options: RestOptions,
    pub(crate) scanners: Arc<Scanners>,
    /// The memory of all requests and scanners.
    pub(crate) memory: Arc<MemoryBudget>,
    /// The names by which clients may call it.
    pub(crate) site: Site,
    /// Headers of every response.
    pub(crate) headers: HeaderMap,
}

impl Gateway {
    /// # Errors
    /// `IllegalArgument` for a header that cannot be sent.
    pub(crate) fn new(connection: Connection, options: RestOptions) -> hblite::Result<Self> {
        let limits = &options.limits;
        let own = || Arc::new(MemoryBudget::new(limits.memory_max_bytes));
        let memory = options.memory.clone().unwrap_or_else(own);
        let scanners = Scanners::new(limits.scanners_max, limits.scanner_expiry, &memory);
        let scanners = Arc::new(scanners);
        let of_clients: Weak<Scanners> = Arc::downgrade(&scanners);
        connection.add_client_scanners(of_clients);
        let headers = options.security_headers.to_map()?;
        let site = Site::listening_on(options.bind, options.advertise.clone());
        Ok(Self { connection, options, scanners, memory, site, headers })
    }

    pub(crate) fn admin(&self) -> Admin {
        self.connection.admin()
    }

    /// A table by its name in a path.
    pub(crate) fn table(&self, name: &str) -> hblite::Result<Table> {
        self.connection.table(name)
    }

    /// A table for one operation of a request.
    pub(crate) fn requested(
        &self,
        request: &Request,
        operation: Operation,
        name: &str,
    ) -> hblite::Result<Table> {
        let table = self.table(name)?;
        request.note(operation, table.name(), 1);
        Ok(table)
    }

    /// `host:port` of the server of a region.
    pub(crate) fn location_of(&self, region: &RegionInfo) -> hblite::Result<String> {
        if let Some(locate) = &self.options.locate {
            let (host, port) = locate.server_of(region);
            return Ok(format!("{host}:{port}"));
        }
        Ok(self.admin().locate_region(region.table(), region.start_key())?.server)
    }

    /// Refuses changes if the gateway is read-only.
    pub(crate) fn check_writable(&self) -> Result<(), Failure> {
        match self.options.read_only.is_on() {
            true => Err(Failure::text(StatusCode::FORBIDDEN, "Forbidden\r\n")),
            false => Ok(()),
        }
    }
}
