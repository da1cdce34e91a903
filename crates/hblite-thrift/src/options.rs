//! Settings of the gateways.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use hblite_model::{Error, RegionLocator, Result, setters};
use hblite_wire::callers::CallerCounting;
use hblite_wire::complaints::Complaints;
use hblite_wire::memory::MemoryBudget;
use hblite_wire::read_only::ReadOnly;
use hblite_wire::site::Site;

const MIB: usize = 1024 * 1024;

/// Where the gateways listen, and what clients may do.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ThriftOptions {
    /// The address to listen on. Default 127.0.0.1: there is no authentication.
    pub bind: IpAddr,
    /// Port of Thrift 1 (`hbase.regionserver.thrift.port`); 0 for any free port. By default,
    /// `None`, there is no such gateway.
    pub thrift_port: Option<u16>,
    /// Port of Thrift 2; like [`ThriftOptions::thrift_port`].
    pub thrift2_port: Option<u16>,
    /// The id of the cluster that clients see.
    pub cluster_id: String,
    /// The host name that clients of HTTP may use besides addresses and `localhost`, if the
    /// gateways listen on a loopback address. Requests for other names are refused, as a protection
    /// against web pages that direct their own name to this machine (DNS rebinding).
    pub advertise: Option<String>,
    /// How to find the server of a region. Default: the one that [`hblite::Admin::locate_region`]
    /// names.
    pub locate: Option<RegionLocator>,
    /// Whether clients of Thrift 2 may only read and change tables; can change while the gateway
    /// serves. Default off (`hbase.thrift.readonly`, which HBase's Thrift 1 does not know).
    pub read_only: ReadOnly,
    /// What clients may do.
    pub limits: ThriftLimits,
    /// The budget for requests, answers and scanners, if it is shared with another server or
    /// gateway. Default: one of [`ThriftLimits::memory_max_bytes`].
    pub memory: Option<Arc<MemoryBudget>>,
    /// Counts who sends requests, if a server does. Default: nothing does.
    pub callers: Option<Arc<CallerCounting>>,
    /// Where lines about malformed input go. Default: nowhere.
    pub complaints: Option<Complaints>,
}

impl Default for ThriftOptions {
    fn default() -> Self {
        Self {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            thrift_port: None,
            thrift2_port: None,
            cluster_id: String::new(),
            advertise: None,
            locate: None,
            read_only: ReadOnly::default(),
            limits: ThriftLimits::default(),
            memory: None,
            callers: None,
            complaints: None,
        }
    }
}

/// What the connections of a gateway have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'t> {
    pub(crate) limits: &'t ThriftLimits,
    pub(crate) site: &'t Site,
}

/// Limits that keep one client from exhausting the resources of others. Each gateway has its own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ThriftLimits {
    /// The maximum number of connections; each has a thread. Further ones are closed immediately.
    /// Default 1,000 (`hbase.thrift.maxWorkerThreads`).
    pub connections_max: usize,
    /// Largest message from a client, with or without a frame. Default 64 MiB.
    pub message_size_max_bytes: usize,
    /// Bytes of cells in one answer of a scanner. An answer that reaches it has fewer rows than
    /// the client asked for; the next call continues. Default 64 MiB.
    pub result_size_max_bytes: usize,
    /// Bytes of memory for requests, answers and scanners of all connections, of both gateways
    /// together. One connection may take half of it. A request beyond that is refused with
    /// `CallQueueTooBigException`, or ends the connection if the request has not arrived
    /// completely. Default: an eighth of the machine's memory, at least 64 MiB.
    pub memory_max_bytes: usize,
    /// Scanners that one connection may have open. Default 1,000.
    pub connection_scanners_max: usize,
    /// Scanners of all connections. Default 10,000.
    pub scanners_max: usize,
    /// A scanner is closed after this time without a call. Default 60 s, by the store's clock
    /// (`hbase.client.scanner.timeout.period`).
    pub scanner_lease: Duration,
    /// A connection that sends and receives nothing for this time is closed. Default 60 s
    /// (`hbase.thrift.server.socket.read.timeout`).
    pub idle_timeout: Duration,
    /// A connection is closed if a message has not arrived completely, or an answer has not been
    /// received completely, after this time. Default 120 s.
    pub message_timeout: Duration,
}

impl Default for ThriftLimits {
    fn default() -> Self {
        Self {
            connections_max: 1_000,
            message_size_max_bytes: 64 * MIB,
            result_size_max_bytes: 64 * MIB,
            memory_max_bytes: MemoryBudget::default_size_bytes(),
            connection_scanners_max: 1_000,
            scanners_max: 10_000,
            scanner_lease: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(60),
            message_timeout: Duration::from_secs(120),
        }
    }
}

impl ThriftLimits {
    /// Checks that every limit is usable.
    ///
    /// # Errors
    /// `IllegalArgument`, which names the one that is not.
    pub(crate) fn check(&self) -> Result<()> {
        let size_max = i32::MAX as usize / 2;
        let rules = [
            (self.connections_max > 0, "connections_max > 0"),
            (self.message_size_max_bytes <= size_max, "message_size_max_bytes below 1 GiB"),
            (self.result_size_max_bytes <= size_max, "result_size_max_bytes below 1 GiB"),
            (self.result_size_max_bytes > 0, "result_size_max_bytes > 0"),
            (self.memory_max_bytes >= MIB, "memory_max_bytes of at least 1 MiB"),
            (!self.scanner_lease.is_zero(), "scanner_lease > 0"),
            (!self.idle_timeout.is_zero(), "idle_timeout > 0"),
            (!self.message_timeout.is_zero(), "message_timeout > 0"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(Error::illegal_argument(format!(
                "a limit of the Thrift gateways is out of range: {rule} does not hold"
            ))),
            None => Ok(()),
        }
    }
}

setters! { ThriftOptions:
    with_bind sets bind: impl Into<IpAddr>;
    with_thrift_port sets thrift_port: impl Into<Option<u16>>;
    with_thrift2_port sets thrift2_port: impl Into<Option<u16>>;
    with_cluster_id sets cluster_id: impl Into<String>;
    with_advertise sets advertise: impl Into<Option<String>>;
    with_locate sets locate: impl Into<Option<RegionLocator>>;
    with_read_only sets read_only: impl Into<ReadOnly>;
    with_limits sets limits: ThriftLimits;
    with_memory sets memory: impl Into<Option<Arc<MemoryBudget>>>;
    with_callers sets callers: impl Into<Option<Arc<CallerCounting>>>;
    with_complaints sets complaints: impl Into<Option<Complaints>>;
}

setters! { ThriftLimits:
    with_connections_max sets connections_max: usize;
    with_message_size_max_bytes sets message_size_max_bytes: usize;
    with_result_size_max_bytes sets result_size_max_bytes: usize;
    with_memory_max_bytes sets memory_max_bytes: usize;
    with_connection_scanners_max sets connection_scanners_max: usize;
    with_scanners_max sets scanners_max: usize;
    with_scanner_lease sets scanner_lease: Duration;
    with_idle_timeout sets idle_timeout: Duration;
    with_message_timeout sets message_timeout: Duration;
}
