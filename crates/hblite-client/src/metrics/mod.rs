//! What a client has done so far: calls, latencies, retries, lookups, bytes.
//!
//! Invariant: counting takes no lock and allocates nothing. A snapshot reads the counters one after
//! another, so calls that end meanwhile may be in one of its figures and not in another.
//!
//! Threads: any.

mod counters;
mod latencies;

pub(crate) use self::counters::{CallKind, Counters, Outcome};
pub use self::latencies::Latencies;

/// What a client has done since it was created; see [`Client::metrics`](crate::Client::metrics).
///
/// Figures only grow. For those of a period, subtract two snapshots.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ClientMetrics {
    /// `Get`: single reads.
    pub get: CallMetrics,
    /// `Mutate`: single writes, with or without a condition.
    pub mutate: CallMetrics,
    /// `Multi`: batches, and several writes to one row. Exceptions of single actions are part of an
    /// answer.
    pub multi: CallMetrics,
    /// `Scan`: opening, reading and closing scanners.
    pub scan: CallMetrics,
    /// `ExecService`: calls of coprocessor endpoints.
    pub endpoint: CallMetrics,
    /// Reads of hbase:meta, which find regions.
    pub meta: CallMetrics,
    /// Calls to the master, and calls about regions to region servers.
    pub admin: CallMetrics,
    /// Calls that ask servers for the location of hbase:meta or of the master.
    pub registry: CallMetrics,
    /// Attempts after the first one. A batch counts once for each round.
    pub retries: u64,
    /// Retries because a server said that it was overloaded.
    pub retries_after_overload: u64,
    /// Reads, writes and scans that ended with an error. Each action of a batch is one.
    pub operations_failed: u64,
    /// Regions that were found among the cached locations.
    pub location_hits: u64,
    /// Regions that were not. Callers that wait for the same lookup count once each.
    pub location_misses: u64,
    /// Cached locations that an answer contradicted.
    pub locations_cleared: u64,
    /// Calls to replicas of regions, because the region itself had not answered a timeline read in
    /// time.
    pub hedged_reads: u64,
    /// Timeline reads that such a call answered.
    pub hedged_read_wins: u64,
    /// Requests of batches that waited because their server or region reported a high load.
    pub delayed_requests: u64,
    /// Connections to servers that were opened.
    pub connections_opened: u64,
    /// Connections that could not be opened.
    pub connections_failed: u64,
    /// Bytes written to servers, before TLS.
    pub bytes_sent: u64,
    /// Bytes read from servers, after TLS.
    pub bytes_received: u64,
}

impl ClientMetrics {
    /// The calls by name: HBase's name of the method, or `meta`, `admin` and `registry`.
    ///
    /// ```
    /// let metrics = hblite_client::ClientMetrics::default();
    /// let names: Vec<&str> = metrics.by_method().map(|(name, _)| name).collect();
    /// assert_eq!(names[..5], ["Get", "Mutate", "Multi", "Scan", "ExecService"]);
    /// assert_eq!(names[5..], ["meta", "admin", "registry"]);
    /// ```
    pub fn by_method(&self) -> impl Iterator<Item = (&'static str, &CallMetrics)> {
        [
            ("Get", &self.get),
            ("Mutate", &self.mutate),
            ("Multi", &self.multi),
            ("Scan", &self.scan),
            ("ExecService", &self.endpoint),
            ("meta", &self.meta),
            ("admin", &self.admin),
            ("registry", &self.registry),
        ]
        .into_iter()
    }

    /// Calls that ended, of all methods.
    pub fn calls(&self) -> u64 {
        self.by_method().map(|(_, calls)| calls.ended()).sum()
    }
}

/// The calls of one method.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CallMetrics {
    /// Calls that the server answered.
    pub answered: u64,
    /// Calls that the server answered with an exception.
    pub refused: u64,
    /// Calls without a valid answer: no connection, a lost one, or a time limit that passed.
    pub unanswered: u64,
    /// Calls whose caller did not wait for the end.
    pub canceled: u64,
    /// How long answered and refused calls took, including the wait for a connection.
    pub latencies: Latencies,
}

impl CallMetrics {
    /// Calls that ended.
    pub fn ended(&self) -> u64 {
        self.answered + self.refused + self.unanswered + self.canceled
    }
}
