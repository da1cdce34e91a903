//! The state of the cluster that the shim needs. The rest of the server implements [`Cluster`].

use std::net::SocketAddr;

use tokio::sync::watch;

/// A server of the cluster, with the address for clients (`ServerName`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerName {
    /// Name or address, as the client can resolve it.
    pub host: String,
    /// Port of its RPC.
    pub port: u16,
    /// When it started, in milliseconds: a different value means that the server was restarted.
    pub start_code: u64,
}

/// The state of a table, with HBase's numbers (`TableState.State`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableState {
    /// Accepts requests.
    Enabled = 0,
    /// Refuses requests.
    Disabled = 1,
    /// Changing to [`TableState::Disabled`].
    Disabling = 2,
    /// Changing to [`TableState::Enabled`].
    Enabling = 3,
}

/// The cluster at one moment, as one client sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterState {
    /// The UUID of the cluster as text.
    pub cluster_id: String,
    /// When the cluster started, as text for people.
    pub start_date: String,
    /// The active master; `None` while there is none.
    pub master: Option<ServerName>,
    /// The server of hbase:meta; `None` while it is being moved or its server is dead.
    pub meta: Option<ServerName>,
    /// The region servers that are alive.
    pub region_servers: Vec<ServerName>,
    /// Names of the namespaces.
    pub namespaces: Vec<String>,
    /// The tables with their namespaces (`ns:table`, or `table` in the default one).
    pub tables: Vec<(String, TableState)>,
    /// Switches of the master.
    pub switches: Switches,
}

/// Switches of the master that older clients look up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is named after what it switches")]
pub struct Switches {
    pub balancer: bool,
    pub normalizer: bool,
    pub split: bool,
    pub merge: bool,
    pub snapshot_cleanup: bool,
}

impl Default for Switches {
    /// The defaults of a fresh HBase 2.6.
    fn default() -> Self {
        Self { balancer: true, normalizer: true, split: true, merge: true, snapshot_cleanup: true }
    }
}

/// The cluster behind the shim. Called from tasks of the runtime, so it must not block.
pub trait Cluster: Send + Sync + 'static {
    /// The cluster as seen by a client that connected to `reached`, one of our addresses.
    fn state(&self, reached: SocketAddr) -> ClusterState;

    /// A number that changes with each change of [`Cluster::state`].
    fn changes(&self) -> watch::Receiver<u64>;
}
