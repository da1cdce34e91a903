//! Replication peers: other clusters to which a cluster sends its writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::TableName;

/// Families by table; none of a table means all.
pub type PeerTables = BTreeMap<TableName, BTreeSet<String>>;

/// A replication peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicationPeer {
    /// Its name.
    pub id: String,
    /// Whether writes are sent; otherwise they are kept for it.
    pub is_enabled: bool,
    /// What is sent, and where.
    pub config: PeerConfig,
}

/// What a peer gets, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PeerConfig {
    /// The address of the other cluster, in HBase's form: `host:port:/path`.
    pub cluster_key: Option<String>,
    /// The class that sends, if not HBase's own.
    pub endpoint: Option<String>,
    /// Settings of that class.
    pub data: Vec<(Vec<u8>, Vec<u8>)>,
    /// Settings of the peer.
    pub configuration: BTreeMap<String, String>,
    /// Whether all tables are sent, except the excluded ones; otherwise those that are named.
    pub sends_all: bool,
    /// Tables that are sent.
    pub tables: Option<PeerTables>,
    /// Namespaces that are sent.
    pub namespaces: Option<BTreeSet<String>>,
    /// Tables that are not sent.
    pub excluded_tables: Option<PeerTables>,
    /// Namespaces that are not sent.
    pub excluded_namespaces: Option<BTreeSet<String>>,
    /// The greatest number of bytes per second; 0 for no limit.
    pub bandwidth: i64,
    /// Whether the writes of a region arrive in their order.
    pub is_serial: bool,
}

/// A change of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerWork {
    /// Adds a peer.
    Add(ReplicationPeer),
    /// Forgets a peer.
    Remove(String),
    /// Sends again.
    Enable(String),
    /// Keeps what is to be sent.
    Disable(String),
    /// Replaces what a peer gets.
    Update(String, PeerConfig),
}
