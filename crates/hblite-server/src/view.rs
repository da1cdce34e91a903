//! The state of a running server, for pages that display it.
//!
//! Threads: any.

use std::sync::Arc;

use hblite_model::RowCounts;

use crate::cluster::{CurrentCluster, Role};
use crate::rpc::Dispatcher;
use crate::statistics::{MethodCalls, SlowCall};

/// A view of a running server; cheap to clone.
#[derive(Debug, Clone)]
pub struct ServerView {
    cluster: CurrentCluster,
    dispatcher: Arc<Dispatcher>,
}

/// A region server that clients see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionServerState {
    /// Its port.
    pub port: u16,
    /// Whether it is alive, or was crashed on demand.
    pub is_alive: bool,
}

/// Calls and the memory that they use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFigures {
    /// When the server started, in milliseconds since 1970-01-01 UTC.
    pub started_at_ms: i64,
    /// Open connections.
    pub connections: usize,
    /// Calls waiting for a thread.
    pub queued_calls: usize,
    /// Open scanners.
    pub scanners: usize,
    /// Bytes that calls and scanners use.
    pub memory_used_bytes: usize,
    /// Bytes that they may use.
    pub memory_max_bytes: usize,
    /// Calls by method since the start.
    pub methods: Vec<MethodCalls>,
    /// Calls that were answered with an exception.
    pub exceptions: u64,
    /// The last calls of at least 100 ms, the newest first, at most 100.
    pub slow_calls: Vec<SlowCall>,
}

impl ServerView {
    pub(crate) fn new(cluster: CurrentCluster, dispatcher: Arc<Dispatcher>) -> Self {
        Self { cluster, dispatcher }
    }

    /// The region servers.
    pub fn servers(&self) -> Vec<RegionServerState> {
        let servers = 0..self.cluster.shared().region_servers.len();
        let state = |server| RegionServerState {
            port: self.cluster.shared().identity(Role::RegionServer(server)).port,
            is_alive: self.cluster.shared().region_servers.is_alive(server),
        };
        servers.map(state).collect()
    }

    /// The index of the server that a region is on, by the region's encoded name.
    pub fn server_of(&self, encoded_name: &str) -> usize {
        self.cluster.shared().assignments.place_of(encoded_name).server
    }

    /// The host name that is given to clients, if one is configured.
    pub fn advertised_host(&self) -> Option<&str> {
        self.cluster.shared().options.advertise.as_deref()
    }

    /// Which rows were requested since an earlier call, and who requested them; as
    /// [`hblite::Admin::row_counts`].
    pub fn row_counts(&self, after: u64) -> RowCounts {
        self.cluster.get().row_counts(after)
    }

    /// Calls and memory.
    pub fn figures(&self) -> ServerFigures {
        let calls = &self.cluster.shared().calls;
        ServerFigures {
            started_at_ms: self.cluster.shared().started_at_ms,
            connections: self.dispatcher.connections().taken(),
            queued_calls: self.dispatcher.queued_calls(),
            scanners: self.cluster.get().scanners.len(),
            memory_used_bytes: self.cluster.shared().memory.used_bytes(),
            memory_max_bytes: self.cluster.shared().memory.size_bytes(),
            methods: calls.methods(),
            exceptions: calls.exceptions(),
            slow_calls: calls.slow(),
        }
    }
}
