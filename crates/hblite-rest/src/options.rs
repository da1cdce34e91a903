//! Every setting of the REST gateway, with its default and HBase's name for it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use hblite::{Error, RegionInfo, Result};

const MIB: usize = 1024 * 1024;
/// More threads than this are a mistake.
const THREADS_MAX: usize = 10_000;

/// Gives host and port of the server of a region.
pub type Locator = dyn Fn(&RegionInfo) -> (String, u16) + Send + Sync;

/// Which server a region is on.
#[derive(Clone)]
pub struct Locate(pub Arc<Locator>);

impl fmt::Debug for Locate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Locate")
    }
}

/// Where the gateway listens and what it lets clients do.
#[derive(Debug, Clone)]
pub struct RestOptions {
    /// The address of the port. Default 127.0.0.1: clients are not asked for a password
    /// (`hbase.rest.host`).
    pub bind: IpAddr,
    /// The port; 0 for any free port. Default 8080 (`hbase.rest.port`).
    pub port: u16,
    /// The host name that clients may use besides addresses and `localhost`, if the gateway
    /// listens on a loopback address. Requests for other names are refused: they come from web
    /// pages that had their name point to this machine.
    pub advertise: Option<String>,
    /// Which server a region is on. By default what the store says.
    pub locate: Option<Locate>,
    /// Whether clients may only read. Default false (`hbase.rest.readonly`).
    pub is_read_only: bool,
    /// What one client may take.
    pub limits: RestLimits,
}

impl Default for RestOptions {
    fn default() -> Self {
        Self {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8080,
            advertise: None,
            locate: None,
            is_read_only: false,
            limits: RestLimits::default(),
        }
    }
}

/// Limits that keep one client from taking what others need.
#[derive(Debug, Clone)]
pub struct RestLimits {
    /// Connections at once; more are closed at once. Default 1,000.
    pub connections_max: usize,
    /// Requests at work at once. Default 100 (`hbase.rest.threads.max`).
    pub threads_max: usize,
    /// Longest head of a request, in bytes; one that arrives in few pieces may have twice as many.
    /// Default 64 KiB, as in HBase.
    pub head_size_max_bytes: usize,
    /// Longest body of a request, in bytes, as it is sent and unpacked. Default 64 MiB.
    pub body_size_max_bytes: usize,
    /// Bytes that all bodies of requests may take at once; a request beyond them waits. Default
    /// 512 MiB.
    pub bodies_size_max_bytes: usize,
    /// Bytes of cells in an answer that is made as a whole. Default 64 MiB. A range of rows with
    /// more is refused, a scanner gives the rest in its next answer, and the answer to a scan
    /// without a scanner is sent as it is read.
    pub answer_size_max_bytes: usize,
    /// Scanners at once; the one that was used longest ago makes room. Default 10,000
    /// (`hbase.rest.scannercache.size`).
    pub scanners_max: usize,
    /// After this time without a request a scanner is closed. Default one hour, by the store's
    /// clock (`hbase.rest.scannercache.expire.time`).
    pub scanner_expiry: Duration,
    /// A body that is not whole after this time is refused. Default 120 s.
    pub request_timeout: Duration,
    /// A connection without a whole head, or on which no byte moves while no request is at work,
    /// is closed after this time to twice that. Default 60 s.
    pub idle_timeout: Duration,
}

impl RestLimits {
    /// Says whether all of them leave something to do.
    ///
    /// # Errors
    /// `IllegalArgument` with the one that does not.
    pub(crate) fn check(&self) -> Result<()> {
        let rules = [
            (self.connections_max > 0, "connections_max > 0"),
            ((1..=THREADS_MAX).contains(&self.threads_max), "threads_max from 1 to 10,000"),
            (self.head_size_max_bytes >= 8192, "head_size_max_bytes of at least 8 KiB"),
            (self.body_size_max_bytes > 0, "body_size_max_bytes > 0"),
            (
                self.bodies_size_max_bytes >= self.body_size_max_bytes,
                "bodies_size_max_bytes >= body_size_max_bytes",
            ),
            (self.answer_size_max_bytes > 0, "answer_size_max_bytes > 0"),
            (self.scanners_max > 0, "scanners_max > 0"),
            (!self.scanner_expiry.is_zero(), "scanner_expiry > 0"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(Error::illegal_argument(format!(
                "a limit of the REST gateway is out of range: {rule} does not hold"
            ))),
            None => Ok(()),
        }
    }
}

impl Default for RestLimits {
    fn default() -> Self {
        Self {
            connections_max: 1_000,
            threads_max: 100,
            head_size_max_bytes: 64 * 1024,
            body_size_max_bytes: 64 * MIB,
            bodies_size_max_bytes: 512 * MIB,
            answer_size_max_bytes: 64 * MIB,
            scanners_max: 10_000,
            scanner_expiry: Duration::from_secs(60 * 60),
            request_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(60),
        }
    }
}
