//! The state that all requests share: the store and the open scanners.

use std::sync::{Arc, Weak};

use hblite::{Admin, Connection, RegionInfo, Table};
use hblite_wire::memory::MemoryBudget;
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
        hblite::add_client_scanners(&connection, of_clients);
        let headers = options.security_headers.to_map()?;
        Ok(Self { connection, options, scanners, memory, headers })
    }

    pub(crate) fn admin(&self) -> Admin {
        self.connection.admin()
    }

    /// A table by its name in a path.
    pub(crate) fn table(&self, name: &str) -> hblite::Result<Table> {
        self.connection.table(name)
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

    /// Whether a request names this gateway, and not a host name that a web page has directed to
    /// this machine (DNS rebinding).
    pub(crate) fn is_host_ours(&self, request: &Request) -> bool {
        let Some(host) = request.header("host") else { return true };
        if !self.options.bind.is_loopback() {
            return true;
        }
        let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => host.split_once(':').map_or(host, |(name, _)| name),
        };
        let is_advertised = self.options.advertise.as_deref() == Some(name);
        name == "localhost" || is_advertised || name.parse::<std::net::IpAddr>().is_ok()
    }
}
