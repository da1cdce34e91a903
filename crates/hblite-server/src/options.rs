//! Every setting of a server, with its default and HBase's name for it. Each field is read under
//! its name and set with a method `with_<name>`, so that a new setting does not break callers.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use hblite_model::{Error, Result, setters};
use hblite_wire::memory::MemoryBudget;

use crate::log::Log;
use crate::recorder::Recorder;
use crate::stop_handler::StopHandler;

const MIB: usize = 1024 * 1024;
/// With less memory than this, no call could be answered.
const MEMORY_LEAST: usize = MIB;
/// More threads than this are a mistake.
const HANDLERS_MAX: usize = 10_000;

/// A server's addresses, its advertised name, and the limits of clients.
///
/// ```
/// use hblite_server::{Limits, ServerOptions};
/// let limits = Limits::default().with_connections_max(100);
/// let options = ServerOptions::on_free_ports().with_region_servers(3).with_limits(limits);
/// assert_eq!(options.limits.connections_max, 100);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The address on which all ports are opened. Default 127.0.0.1. Clients need no password, so
    /// another address opens the store to everyone who can reach it.
    pub bind: IpAddr,
    /// The master's RPC port; 0 for any free port. Default 16000 (`hbase.master.port`).
    pub master_port: u16,
    /// RPC port of the first region server, the others follow; 0 for any free ports. Default 16020
    /// (`hbase.regionserver.port`).
    pub region_server_port: u16,
    /// Number of region servers that clients see. Default 1, at most 100.
    pub region_servers: usize,
    /// ZooKeeper port; 0 for any free port, `None` for no shim. Default 2181
    /// (`hbase.zookeeper.property.clientPort`).
    pub zookeeper_port: Option<u16>,
    /// Port of the admin endpoint, plain HTTP; 0 for any free port, `None` for no such endpoint.
    /// Default 16010 (`hbase.master.info.port`).
    pub http_port: Option<u16>,
    /// The host name in the addresses that clients receive. Default: the address by which the
    /// client reached this server.
    pub advertise: Option<String>,
    /// Threads that read from connections and answer short calls; `None`, the default, for one per
    /// processor.
    pub worker_threads: Option<usize>,
    /// Where calls are logged; `None`, the default, logs none.
    pub log: Option<Log>,
    /// Versions that a new family keeps if its request names no number. Default 1
    /// (`hbase.column.max.version`).
    pub family_versions: u32,
    /// Whether answers to batches report the load of the regions, so that clients can wait before
    /// they send more. Default false (`hbase.client.backpressure.enabled`).
    pub client_backpressure: bool,
    /// Records all calls of HBase's protocol, but not those of forks; `None` by default.
    pub recorder: Option<Recorder>,
    /// What ends the server at a client's request; with `None`, the default, and for forks, such
    /// requests are refused.
    pub stop_handler: Option<StopHandler>,
    /// The limits of clients.
    pub limits: Limits,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            master_port: 16000,
            region_server_port: 16020,
            region_servers: 1,
            zookeeper_port: Some(2181),
            http_port: Some(16010),
            advertise: None,
            worker_threads: None,
            log: None,
            family_versions: 1,
            client_backpressure: false,
            recorder: None,
            stop_handler: None,
            limits: Limits::default(),
        }
    }
}

impl ServerOptions {
    /// The defaults, on free ports.
    pub fn on_free_ports() -> Self {
        Self {
            master_port: 0,
            region_server_port: 0,
            zookeeper_port: Some(0),
            http_port: Some(0),
            ..Self::default()
        }
    }
}

setters! { ServerOptions:
    with_bind sets bind: impl Into<IpAddr>;
    with_master_port sets master_port: u16;
    with_region_server_port sets region_server_port: u16;
    with_region_servers sets region_servers: usize;
    with_zookeeper_port sets zookeeper_port: impl Into<Option<u16>>;
    with_http_port sets http_port: impl Into<Option<u16>>;
    with_advertise sets advertise: impl Into<Option<String>>;
    with_worker_threads sets worker_threads: impl Into<Option<usize>>;
    with_log sets log: impl Into<Option<Log>>;
    with_client_backpressure sets client_backpressure: bool;
    with_recorder sets recorder: impl Into<Option<Recorder>>;
    with_stop_handler sets stop_handler: impl Into<Option<StopHandler>>;
    with_limits sets limits: Limits;
}

/// Limits that prevent a client from starving others.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of connections, over all ports; further ones are closed immediately. Default
    /// 10,000.
    pub connections_max: usize,
    /// Maximum size of a frame. Default 256 MiB (`hbase.ipc.max.request.size`).
    pub frame_size_max_bytes: usize,
    /// Maximum number of calls of all clients that wait for a thread; further ones get
    /// `CallQueueTooBig`. Default 1,000 (`hbase.ipc.server.max.callqueue.length`, 10 for each
    /// handler).
    pub queued_calls_max: usize,
    /// Bytes of memory for requests, plain cell blocks, answers and open scanners, over all ports;
    /// a call that needs more gets `CallQueueTooBig`, and nothing is read from its connection. One
    /// connection may use at most half of it, and all scanners together may use half. Default an
    /// eighth of the machine's memory, at least 64 MiB (`hbase.ipc.server.max.callqueue.size`).
    pub memory_max_bytes: usize,
    /// Maximum number of unanswered calls of one connection; further ones are not read until one is
    /// answered. Default 1,000.
    pub connection_calls_max: usize,
    /// Maximum bytes of answers that one connection has not read; beyond that, nothing is read from
    /// it. Default 64 MiB; at most half of a connection's share of the memory.
    pub connection_unsent_max_bytes: usize,
    /// Threads for calls that may take long. Default 30, at most 10,000
    /// (`hbase.regionserver.handler.count`).
    pub handlers: usize,
    /// How many of these threads serve calls that examine many cells. Such calls take turns; the
    /// other threads are for everything else. Default twice the processors, at most half of the
    /// handlers.
    pub long_calls_max: usize,
    /// Maximum number of open scanners. Default 100,000.
    pub scanners_max: usize,
    /// Time without a call after which a scanner is closed. Default 60 s, by the store's clock
    /// (`hbase.client.scanner.timeout.period`).
    pub scanner_lease: Duration,
    /// Bytes of cells in one answer. Default 100 MiB (`hbase.server.scanner.max.result.size`).
    pub result_size_max_bytes: usize,
    /// A connection that has not sent its header within this time is closed. Default 20 s.
    pub hello_timeout: Duration,
    /// A connection that stops in the middle of a frame, or reads no byte of an answer, for this
    /// time is closed. Default 60 s.
    pub stall_timeout: Duration,
    /// A frame that is not complete after this time ends its connection. Default 120 s, twice the
    /// time that an HBase client waits for an answer (`hbase.rpc.timeout`).
    pub frame_timeout: Duration,
}

impl Limits {
    /// Memory that one connection may use.
    pub(crate) fn connection_memory_bytes(&self) -> usize {
        self.memory_max_bytes / 2
    }

    /// Bytes of answers that one connection may leave unread before its calls wait: together with
    /// what the next one may need, they fit its share.
    pub(crate) fn connection_unsent_bytes(&self) -> usize {
        self.connection_unsent_max_bytes.min(self.connection_memory_bytes() / 2)
    }

    /// How many long reads run concurrently.
    pub(crate) fn long_calls(&self) -> usize {
        self.long_calls_max.min(self.handlers / 2).max(1)
    }

    /// Checks that every limit is usable.
    ///
    /// # Errors
    /// `IllegalArgument` that names the one that is not.
    pub(crate) fn check(&self) -> Result<()> {
        let rules = [
            (self.connections_max > 0, "connections_max > 0"),
            (self.frame_size_max_bytes > 0, "frame_size_max_bytes > 0"),
            (self.memory_max_bytes >= MEMORY_LEAST, "memory_max_bytes of at least 1 MiB"),
            (self.long_calls_max > 0, "long_calls_max > 0"),
            (self.connection_calls_max > 0, "connection_calls_max > 0"),
            (self.connection_unsent_max_bytes > 0, "connection_unsent_max_bytes > 0"),
            ((1..=HANDLERS_MAX).contains(&self.handlers), "handlers from 1 to 10,000"),
            (!self.scanner_lease.is_zero(), "scanner_lease > 0"),
            (self.result_size_max_bytes > 0, "result_size_max_bytes > 0"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(Error::illegal_argument(format!(
                "a limit of the server is out of range: {rule} does not hold"
            ))),
            None => Ok(()),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            frame_size_max_bytes: 256 * MIB,
            queued_calls_max: 1_000,
            memory_max_bytes: MemoryBudget::default_size_bytes(),
            connection_calls_max: 1_000,
            connection_unsent_max_bytes: 64 * MIB,
            handlers: 30,
            long_calls_max: 2 * std::thread::available_parallelism().map_or(1, usize::from),
            scanners_max: 100_000,
            scanner_lease: Duration::from_secs(60),
            result_size_max_bytes: 100 * MIB,
            hello_timeout: Duration::from_secs(20),
            stall_timeout: Duration::from_secs(60),
            frame_timeout: Duration::from_secs(120),
        }
    }
}

setters! { Limits:
    with_connections_max sets connections_max: usize;
    with_frame_size_max_bytes sets frame_size_max_bytes: usize;
    with_queued_calls_max sets queued_calls_max: usize;
    with_memory_max_bytes sets memory_max_bytes: usize;
    with_connection_calls_max sets connection_calls_max: usize;
    with_connection_unsent_max_bytes sets connection_unsent_max_bytes: usize;
    with_handlers sets handlers: usize;
    with_long_calls_max sets long_calls_max: usize;
    with_scanners_max sets scanners_max: usize;
    with_scanner_lease sets scanner_lease: Duration;
    with_result_size_max_bytes sets result_size_max_bytes: usize;
    with_hello_timeout sets hello_timeout: Duration;
    with_stall_timeout sets stall_timeout: Duration;
    with_frame_timeout sets frame_timeout: Duration;
}
