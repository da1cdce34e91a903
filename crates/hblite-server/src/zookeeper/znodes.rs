//! The tree of znodes: what an HBase 2.6 without security keeps in ZooKeeper, made from the state.
//!
//! The tree has every path of `ZNodePaths` that a client, the shell or a tool reads. Nodes without
//! a meaning in one process (replication, draining) exist and are empty.
//! `/hbase/root-region-server` is absent, from which asynchbase concludes that this is not HBase
//! 0.94.

use std::collections::BTreeMap;
use std::sync::Arc;

use prost::Message;

use super::messages::{
    Master, MetaRegionServer, OneState, OneSwitch, OneText, RegionServerInfo, ServerNameMessage,
};
use super::state::{ClusterState, ServerName};

/// `RegionState.State.OPEN`.
const REGION_IS_OPEN: i32 = 3;
/// The port that means "no web page" (-1 in HBase).
const NO_INFO_PORT: u32 = u32::MAX;
/// The writer of a node, after the magic of HBase's data: any bytes, preceded by their length.
const WRITER: &[u8] = b"master:hblite";

/// The nodes that exist and are empty.
const EMPTY_NODES: &[&str] = &[
    "/",
    "/zookeeper",
    "/zookeeper/config",
    "/zookeeper/quota",
    "/hbase",
    "/hbase/backup-masters",
    "/hbase/draining",
    "/hbase/flush-table-proc",
    "/hbase/flush-table-proc/abort",
    "/hbase/flush-table-proc/acquired",
    "/hbase/flush-table-proc/reached",
    "/hbase/master-maintenance",
    "/hbase/namespace",
    "/hbase/online-snapshot",
    "/hbase/online-snapshot/abort",
    "/hbase/online-snapshot/acquired",
    "/hbase/online-snapshot/reached",
    "/hbase/replication",
    "/hbase/replication/hfile-refs",
    "/hbase/replication/peers",
    "/hbase/replication/rs",
    "/hbase/rs",
    "/hbase/splitWAL",
    "/hbase/switch",
    "/hbase/table",
];

/// All nodes, by path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tree {
    nodes: BTreeMap<String, Node>,
}

/// A node that a client created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MadeNode {
    pub(super) data: Arc<[u8]>,
    /// Differs between two nodes that have the same path one after the other.
    pub(super) number: u64,
    /// How often its data was set.
    pub(super) version: i32,
    /// The session with which it disappears; 0 for none.
    pub(super) owner: i64,
}

/// A node of HBase, or one that a client created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Hbase(Arc<[u8]>),
    Made(MadeNode),
}

impl Node {
    pub(super) fn data(&self) -> &[u8] {
        match self {
            Self::Hbase(data) => data,
            Self::Made(made) => &made.data,
        }
    }

    /// Whether `other` is the same node with other contents, not another node in its place.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Hbase(_), Self::Hbase(_)) => true,
            (Self::Made(made), Self::Made(other)) => made.number == other.number,
            _ => false,
        }
    }
}

impl Tree {
    /// The tree for `state`.
    pub(super) fn of(state: &ClusterState) -> Self {
        let mut tree =
            Self { nodes: EMPTY_NODES.iter().map(|path| ((*path).to_owned(), empty())).collect() };
        tree.add("/hbase/hbaseid", &OneText { text: state.cluster_id.clone() });
        tree.add("/hbase/running", &OneText { text: state.start_date.clone() });
        if let Some(meta) = &state.meta {
            let message = MetaRegionServer {
                server: ServerNameMessage::from(meta),
                rpc_version: Some(0),
                state: Some(REGION_IS_OPEN),
            };
            tree.add("/hbase/meta-region-server", &message);
        }
        if let Some(master) = &state.master {
            let message = Master {
                master: ServerNameMessage::from(master),
                rpc_version: Some(0),
                info_port: Some(NO_INFO_PORT),
            };
            tree.add("/hbase/master", &message);
        }
        for server in &state.region_servers {
            let path = format!("/hbase/rs/{}", text_of(server));
            tree.add(&path, &RegionServerInfo { info_port: Some(-1) });
        }
        for namespace in &state.namespaces {
            let message = OneText { text: namespace.clone() };
            tree.add(&format!("/hbase/namespace/{namespace}"), &message);
        }
        for (table, table_state) in &state.tables {
            let message = OneState { state: *table_state as i32 };
            tree.add(&format!("/hbase/table/{table}"), &message);
        }
        let switches = &state.switches;
        for (path, is_on) in [
            ("/hbase/balancer", switches.balancer),
            ("/hbase/normalizer", switches.normalizer),
            ("/hbase/snapshot-cleanup", switches.snapshot_cleanup),
            ("/hbase/switch/merge", switches.merge),
            ("/hbase/switch/split", switches.split),
        ] {
            tree.add(path, &OneSwitch { is_on: Some(is_on) });
        }
        tree
    }

    fn add(&mut self, path: &str, message: &impl Message) {
        let mut data = Vec::with_capacity(5 + WRITER.len() + 4 + message.encoded_len());
        data.push(0xff);
        data.extend_from_slice(&(WRITER.len() as u32).to_be_bytes());
        data.extend_from_slice(WRITER);
        data.extend_from_slice(b"PBUF");
        data.extend_from_slice(&message.encode_to_vec());
        self.nodes.insert(path.to_owned(), Node::Hbase(data.into()));
    }

    /// With the nodes that clients created.
    pub(super) fn with_made(mut self, made: &BTreeMap<String, MadeNode>) -> Self {
        let made = made.iter();
        self.nodes.extend(made.map(|(path, node)| (path.clone(), Node::Made(node.clone()))));
        self
    }

    /// A node that a client created.
    pub(super) fn made(&self, path: &str) -> Option<&MadeNode> {
        match self.nodes.get(path)? {
            Node::Made(made) => Some(made),
            Node::Hbase(_) => None,
        }
    }

    /// A node.
    pub(super) fn node(&self, path: &str) -> Option<&Node> {
        self.nodes.get(path)
    }

    /// The data of a node, `None` without one.
    pub(super) fn data(&self, path: &str) -> Option<&[u8]> {
        self.nodes.get(path).map(Node::data)
    }

    /// Whether there is such a node.
    pub(super) fn contains(&self, path: &str) -> bool {
        self.nodes.contains_key(path)
    }

    /// All nodes with their paths.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.nodes.iter().map(|(path, node)| (path.as_str(), node))
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The names of the nodes directly below `path`, in order.
    pub(super) fn children(&self, path: &str) -> Vec<&str> {
        self.below(path).filter(|name| !name.contains('/')).collect()
    }

    /// How many nodes are below `path`, at any depth.
    pub(super) fn descendant_count(&self, path: &str) -> usize {
        self.below(path).count()
    }

    /// The paths below `path`, relative to it.
    fn below<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let prefix = if path == "/" { path.to_owned() } else { format!("{path}/") };
        let from = prefix.clone();
        self.nodes.range(from..).map_while(move |(each, _)| each.strip_prefix(&prefix)).filter(
            // The root begins with its own prefix.
            |name| !name.is_empty(),
        )
    }
}

fn empty() -> Node {
    Node::Hbase(Arc::default())
}

/// Whether the node would disappear with a session in a real HBase.
pub(super) fn is_ephemeral(path: &str) -> bool {
    path == "/hbase/master" || path.starts_with("/hbase/rs/")
}

/// The parent path, `None` for the root.
pub(super) fn parent(path: &str) -> Option<&str> {
    match path.rsplit_once('/')? {
        ("", "") => None,
        ("", _) => Some("/"),
        (parent, _) => Some(parent),
    }
}

/// `host,port,start code`, which is how HBase writes a server's name.
fn text_of(server: &ServerName) -> String {
    format!("{},{},{}", server.host, server.port, server.start_code)
}

#[cfg(test)]
mod tests {
    use super::super::tests::cluster_state;
    use super::*;

    #[test]
    fn nodes_hold_what_clients_of_hbase_decode() {
        let tree = Tree::of(&cluster_state());
        let data = tree.data("/hbase/meta-region-server").expect("meta is somewhere");
        assert_eq!(&data[..5], &[0xff, 0, 0, 0, 13]);
        assert_eq!(&data[18..22], b"PBUF");
        // server { "localhost", 16020, start code }, rpc_version 0, state OPEN: bytes of HBase.
        let expected =
            b"\x0a\x15\x0a\x09localhost\x10\x94\x7d\x18\xcb\xa1\xdc\xed\x9f\x34\x10\0\x18\x03";
        assert_eq!(&data[22..], expected);
        assert!(tree.data("/hbase/table/t1").expect("a table").ends_with(b"PBUF\x08\0"));
        assert!(tree.data("/hbase/table/n:t2").expect("a table").ends_with(b"PBUF\x08\x01"));
        assert!(!tree.contains("/hbase/root-region-server"));
    }

    #[test]
    fn children_are_the_names_directly_below() {
        let tree = Tree::of(&cluster_state());
        assert_eq!(tree.children("/"), ["hbase", "zookeeper"]);
        assert_eq!(tree.children("/hbase/switch"), ["merge", "split"]);
        assert_eq!(tree.children("/hbase/rs"), ["localhost,16020,1795257995467"]);
        assert!(tree.children("/hbase/hbaseid").is_empty());
        assert_eq!(tree.descendant_count("/"), tree.len() - 1);
        assert_eq!(parent("/hbase/rs/x"), Some("/hbase/rs"));
        assert_eq!(parent("/hbase"), Some("/"));
        assert_eq!(parent("/"), None);
    }
}
