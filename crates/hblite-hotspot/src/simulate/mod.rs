//! A discrete-event simulation: a stream of requests on a number of region servers.
//!
//! The model follows HBase. A server has handlers and a queue of calls, served in order of arrival.
//! A call that finds the queue full, or its region moving, is retried after HBase's growing pauses,
//! and fails after as many attempts as HBase's client makes. Each of a number of clients sends one
//! call at a time. A request waits if no client is free, and its latency counts from its arrival,
//! so waiting clients do not hide a slow server. A [`Balancer`] assigns regions, and moves them at
//! window boundaries.
//!
//! Because a queue is served in order, the end of a call is known when it enters the queue. So
//! sending calls is the only kind of event. Events are processed in time order. What servers share
//! is a queue in front of theirs, which keeps that order.

mod balancer;
mod events;
mod outcome;
mod service;
#[cfg(test)]
mod tests;
mod timeline;

pub use balancer::Balancer;
pub use events::run;
pub(crate) use outcome::Latencies;
pub use outcome::{Latency, Outcome, ServerLoad};
pub use service::{Service, ServiceTime};
pub use timeline::Timeline;

use serde::{Deserialize, Serialize};

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A put.
    Write,
    /// A get, or one scan.
    Read,
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// When it arrives, in nanoseconds from the start.
    pub arrival_ns: u64,
    /// The target region, an index into [`Traffic::parents`].
    pub region: u32,
    /// What it does.
    pub kind: Kind,
}

/// A part of the stream in which the regions do not change.
#[derive(Debug, Clone)]
pub struct Window {
    /// Index of its first request.
    pub first_request: usize,
    /// The regions, in key order.
    pub regions: Vec<u32>,
}

/// The stream, with the regions it goes to.
#[derive(Debug, Clone, Copy)]
pub struct Traffic<'t> {
    /// In order of arrival.
    pub requests: &'t [Request],
    /// In order of time; the first begins at request 0.
    pub windows: &'t [Window],
    /// For every region that ever exists, the one it was split from.
    pub parents: &'t [Option<u32>],
}

/// The servers, clients and their settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// Region servers.
    pub servers: usize,
    /// Calls that a server handles concurrently (`hbase.regionserver.handler.count`).
    pub handlers: usize,
    /// Calls that may wait at a server (`hbase.ipc.server.max.callqueue.length`, by default ten per
    /// handler).
    pub queue_max: usize,
    /// Concurrent calls; `None` for no limit.
    pub clients: Option<usize>,
    /// Pause before the first retry of a call (`hbase.client.pause`), in nanoseconds.
    pub retry_pause_ns: u64,
    /// Retries (`hbase.client.retries.number`).
    pub retries_max: usize,
    /// How regions are assigned.
    pub balancer: Balancer,
    /// How long a moved region accepts no calls, in nanoseconds.
    pub move_ns: u64,
    /// How long a call takes in addition, while it occupies nothing: on the network, in the client.
    #[serde(default)]
    pub outside: CallTimes,
    /// How long a call occupies what all servers share, such as the processors of one machine. It
    /// does so before it reaches its server, one call at a time.
    #[serde(default)]
    pub shared: CallTimes,
    /// Seed of service times.
    pub seed: u64,
}

impl Default for Cluster {
    /// One server with one handler, open arrivals, HBase's pauses.
    fn default() -> Self {
        Self {
            servers: 1,
            handlers: 1,
            queue_max: usize::MAX,
            clients: None,
            retry_pause_ns: 100_000_000,
            retries_max: 15,
            balancer: Balancer::RegionCount,
            move_ns: 0,
            outside: CallTimes::default(),
            shared: CallTimes::default(),
            seed: 0,
        }
    }
}

/// A constant time for each kind of call, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallTimes {
    /// Of a put.
    pub write_ns: u64,
    /// Of a get or scan.
    pub read_ns: u64,
}

impl CallTimes {
    fn of(self, kind: Kind) -> u64 {
        match kind {
            Kind::Write => self.write_ns,
            Kind::Read => self.read_ns,
        }
    }
}

/// When the requests of a stream arrive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// As in the stream.
    Arrivals,
    /// This many times as fast as in the stream.
    Faster(f64),
    /// All at once: the clients send as fast as they are answered, so the throughput is what the
    /// servers can sustain. Needs a number of clients.
    Saturating,
}

/// What is wrong with a simulation's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadCluster {
    /// No server, handler or client.
    Nobody,
    /// Saturating without a number of clients.
    Endless,
    /// A window or request refers to an unknown region.
    NoSuchRegion,
}

impl std::fmt::Display for BadCluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nobody => "a simulation needs at least one server, one handler and one client",
            Self::Endless => "a saturated simulation needs a number of clients",
            Self::NoSuchRegion => "a request refers to a region that is not in its window",
        })
    }
}

impl std::error::Error for BadCluster {}
