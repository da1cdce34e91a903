//! Replication peers: other clusters to which a cluster sends its writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Error, TableName};

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

impl PeerConfig {
    /// Whether something of a table is sent.
    pub fn sends(&self, table: &TableName) -> bool {
        let has = |names: &Option<BTreeSet<String>>| {
            names.as_ref().is_some_and(|names| names.contains(table.namespace()))
        };
        let families = |tables: &Option<PeerTables>| {
            tables.as_ref().and_then(|tables| tables.get(table)).cloned()
        };
        match self.sends_all {
            true => {
                let excluded = families(&self.excluded_tables);
                !has(&self.excluded_namespaces)
                    && excluded.is_none_or(|families| !families.is_empty())
            }
            false => has(&self.namespaces) || families(&self.tables).is_some(),
        }
    }
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

/// The error for a new peer of a store, which does not replicate: that of an HBase that can neither
/// reach the peer nor load a class.
pub fn unreachable_peer(id: &str, cluster_key: Option<&str>, endpoint: Option<&str>) -> Error {
    let key = cluster_key.unwrap_or_default();
    let path = key.rsplit_once(':').filter(|(start, _)| start.contains(':')).map(|(_, path)| path);
    let is_path = |path: &str| path.len() > 1 && path.starts_with('/') && !path.ends_with('/');
    let endpoint = endpoint.filter(|class| !class.trim().is_empty());
    Error::do_not_retry(match endpoint {
        _ if id.contains('-') => format!("Found invalid peer name: {id}"),
        Some(class) => format!("Can not instantiate configured replication endpoint class={class}"),
        None if path.is_some_and(is_path) => {
            format!("Can't get peerClusterId for clusterKey={key}")
        }
        None => format!("Invalid cluster key: {key}"),
    })
}

#[cfg(test)]
mod tests {
    use super::unreachable_peer;

    #[test]
    fn a_new_peer_is_refused_as_by_an_hbase_that_cannot_reach_it() {
        for (id, key, endpoint, message) in [
            (
                "1",
                Some("h:2181:/hbase"),
                None,
                "Can't get peerClusterId for clusterKey=h:2181:/hbase",
            ),
            (
                "1",
                Some("a:1,b:2:3:/x"),
                None,
                "Can't get peerClusterId for clusterKey=a:1,b:2:3:/x",
            ),
            ("1", Some("h:2181"), None, "Invalid cluster key: h:2181"),
            ("1", Some("h:2181:/hbase/"), None, "Invalid cluster key: h:2181:/hbase/"),
            ("1", Some("h:/hbase"), None, "Invalid cluster key: h:/hbase"),
            ("1", None, None, "Invalid cluster key: "),
            (
                "1",
                Some("h"),
                Some("C"),
                "Can not instantiate configured replication endpoint class=C",
            ),
            ("a-b", Some("h"), Some("C"), "Found invalid peer name: a-b"),
        ] {
            assert_eq!(unreachable_peer(id, key, endpoint).message(), message);
        }
    }
}
