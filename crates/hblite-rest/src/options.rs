//! Every setting of the REST gateway, with its default and HBase's name for it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use hblite_model::{Error, RegionLocator, Result, setters};
use hblite_wire::callers::CallerCounting;
use hblite_wire::complaints::Complaints;
use hblite_wire::memory::MemoryBudget;
use hblite_wire::read_only::ReadOnly;

use crate::csrf::CsrfProtection;
use crate::security_headers::SecurityHeaders;

const MIB: usize = 1024 * 1024;
/// More threads than this are a mistake.
const THREADS_MAX: usize = 10_000;

/// Where the gateway listens and what it lets clients do.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RestOptions {
    /// The address of the port. Default 127.0.0.1: there is no authentication (`hbase.rest.host`).
    pub bind: IpAddr,
    /// The port; 0 for any free port. Default 8080 (`hbase.rest.port`).
    pub port: u16,
    /// The host name that clients may use besides addresses and `localhost`, if the gateway listens
    /// on a loopback address. Requests for other names are refused, as a protection against web
    /// pages that direct their own name to this machine (DNS rebinding).
    pub advertise: Option<String>,
    /// How to find the server of a region. Default: the one that [`hblite::Admin::locate_region`]
    /// names.
    pub locate: Option<RegionLocator>,
    /// Whether clients may only read; can change while the gateway serves. Default off
    /// (`hbase.rest.readonly`).
    pub read_only: ReadOnly,
    /// Whether browsers need a header of their own for changes. Default no.
    pub csrf: CsrfProtection,
    /// Headers of every response that limit what browsers do with it.
    pub security_headers: SecurityHeaders,
    /// The memory for requests, answers and scanners, which may be shared with other servers of the
    /// process. Default: one of [`RestLimits::memory_max_bytes`].
    pub memory: Option<Arc<MemoryBudget>>,
    /// Counts who sends requests, if a server does. Default: nothing does.
    pub callers: Option<Arc<CallerCounting>>,
    /// Where lines about malformed requests go. Default: nowhere.
    pub complaints: Option<Complaints>,
    /// The resources that one client may use.
    pub limits: RestLimits,
}

impl Default for RestOptions {
    fn default() -> Self {
        Self {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8080,
            advertise: None,
            locate: None,
            read_only: ReadOnly::default(),
            csrf: CsrfProtection::default(),
            security_headers: SecurityHeaders::default(),
            memory: None,
            callers: None,
            complaints: None,
            limits: RestLimits::default(),
        }
    }
}

/// Limits that keep one client from exhausting the resources of others.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RestLimits {
    /// The maximum number of connections; further ones are closed immediately. Default 1,000.
    pub connections_max: usize,
    /// The maximum number of requests in progress. Default 100 (`hbase.rest.threads.max`).
    pub threads_max: usize,
    /// Longest head of a request, in bytes; one that arrives in few pieces may have twice as many.
    /// Default 64 KiB, as in HBase.
    pub head_size_max_bytes: usize,
    /// Longest body of a request, in bytes, both as sent and decompressed. Default 64 MiB.
    pub body_size_max_bytes: usize,
    /// Bytes of memory for requests, answers and scanners of all connections, unless
    /// [`RestOptions::memory`] is given; a connection may use half of it. A request that needs more
    /// is answered with 503 and `Retry-After`. Default an eighth of the machine's memory, at least
    /// 64 MiB.
    pub memory_max_bytes: usize,
    /// Bytes of cells in an answer that is built in memory. Default 64 MiB. A range of rows with
    /// more is refused, a scanner returns the rest in its next answer, and the answer to a scan
    /// without a scanner is sent as it is read.
    pub answer_size_max_bytes: usize,
    /// The maximum number of open scanners; the least recently used one is closed to make room.
    /// Default 10,000 (`hbase.rest.scannercache.size`).
    pub scanners_max: usize,
    /// A scanner is closed after this time without a request. Default one hour, by the store's
    /// clock (`hbase.rest.scannercache.expire.time`).
    pub scanner_expiry: Duration,
    /// A body that is not complete after this time is refused. Default 120 s.
    pub request_timeout: Duration,
    /// A connection without a complete head, or on which no byte moves while no request is in
    /// progress, is closed after once to twice this time. Default 60 s.
    pub idle_timeout: Duration,
}

impl RestLimits {
    /// Checks that every limit is usable.
    ///
    /// # Errors
    /// `IllegalArgument`, which names the one that is not.
    pub(crate) fn check(&self) -> Result<()> {
        let rules = [
            (self.connections_max > 0, "connections_max > 0"),
            ((1..=THREADS_MAX).contains(&self.threads_max), "threads_max from 1 to 10,000"),
            (self.head_size_max_bytes >= 8192, "head_size_max_bytes of at least 8 KiB"),
            (self.body_size_max_bytes > 0, "body_size_max_bytes > 0"),
            (self.memory_max_bytes >= MIB, "memory_max_bytes of at least 1 MiB"),
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
            memory_max_bytes: MemoryBudget::default_size_bytes(),
            answer_size_max_bytes: 64 * MIB,
            scanners_max: 10_000,
            scanner_expiry: Duration::from_secs(60 * 60),
            request_timeout: Duration::from_secs(120),
            idle_timeout: Duration::from_secs(60),
        }
    }
}

setters! { RestOptions:
    with_bind sets bind: impl Into<IpAddr>;
    with_port sets port: u16;
    with_advertise sets advertise: impl Into<Option<String>>;
    with_locate sets locate: impl Into<Option<RegionLocator>>;
    with_read_only sets read_only: impl Into<ReadOnly>;
    with_csrf sets csrf: CsrfProtection;
    with_security_headers sets security_headers: SecurityHeaders;
    with_memory sets memory: impl Into<Option<Arc<MemoryBudget>>>;
    with_callers sets callers: impl Into<Option<Arc<CallerCounting>>>;
    with_complaints sets complaints: impl Into<Option<Complaints>>;
    with_limits sets limits: RestLimits;
}

setters! { RestLimits:
    with_connections_max sets connections_max: usize;
    with_threads_max sets threads_max: usize;
    with_head_size_max_bytes sets head_size_max_bytes: usize;
    with_body_size_max_bytes sets body_size_max_bytes: usize;
    with_memory_max_bytes sets memory_max_bytes: usize;
    with_answer_size_max_bytes sets answer_size_max_bytes: usize;
    with_scanners_max sets scanners_max: usize;
    with_scanner_expiry sets scanner_expiry: Duration;
    with_request_timeout sets request_timeout: Duration;
    with_idle_timeout sets idle_timeout: Duration;
}
