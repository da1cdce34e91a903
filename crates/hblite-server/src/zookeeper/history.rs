//! Transaction ids and versions of the nodes: the contents of a `Stat`.
//!
//! Invariant: ids only grow, also from one run of the server to the next, because they start at the
//! time of the clock, in seconds. Different trees have different ids.

use std::collections::HashMap;

use super::znodes::{Tree, is_ephemeral, parent};
use hblite_wire::jute::Encoder;

/// When and how often a node was changed.
#[derive(Debug, Clone, Copy, Default)]
struct NodeHistory {
    created_zxid: i64,
    modified_zxid: i64,
    children_zxid: i64,
    created_ms: i64,
    modified_ms: i64,
    version: i32,
    children_version: i32,
}

/// The changes of all nodes since the server started.
#[derive(Debug)]
pub(super) struct History {
    zxid: i64,
    tree: Option<Tree>,
    nodes: HashMap<String, NodeHistory>,
}

impl History {
    /// An empty one that starts at `now_ms`.
    pub(super) fn new(now_ms: i64) -> Self {
        // As in ZooKeeper: the upper half is an epoch, the lower half counts.
        Self { zxid: (now_ms / 1000) << 32, tree: None, nodes: HashMap::new() }
    }

    /// The id of the newest change.
    pub(super) fn zxid(&self) -> i64 {
        self.zxid
    }

    /// Records how `tree` differs from the previous one.
    pub(super) fn note(&mut self, tree: Tree, now_ms: i64) {
        if self.tree.as_ref() == Some(&tree) {
            return;
        }
        self.zxid += 1;
        let before = self.tree.take();
        for change in changes(before.as_ref(), &tree) {
            self.note_change(change, now_ms);
        }
        let nodes = tree.nodes().count();
        assert_eq!(self.nodes.len(), nodes, "each node of the tree has a history");
        self.tree = Some(tree);
    }

    fn note_change(&mut self, change: Change<'_>, now_ms: i64) {
        let zxid = self.zxid;
        match change {
            Change::Created(path) => {
                let created = NodeHistory {
                    created_zxid: zxid,
                    modified_zxid: zxid,
                    children_zxid: zxid,
                    created_ms: now_ms,
                    modified_ms: now_ms,
                    ..NodeHistory::default()
                };
                self.nodes.insert(path.to_owned(), created);
            }
            Change::Modified(path) => {
                if let Some(node) = self.nodes.get_mut(path) {
                    node.modified_zxid = zxid;
                    node.modified_ms = now_ms;
                    node.version += 1;
                }
            }
            Change::Deleted(path) => {
                self.nodes.remove(path);
            }
        }
        let changes_children = !matches!(change, Change::Modified(_));
        if changes_children
            && let Some(above) = parent(change.path()).and_then(|path| self.nodes.get_mut(path))
        {
            above.children_zxid = zxid;
            above.children_version += 1;
        }
    }

    /// How often the data of a node changed; 0 for a missing node.
    pub(super) fn version(&self, path: &str) -> i32 {
        self.nodes.get(path).map_or(0, |node| node.version)
    }

    /// When the data of a node last changed; 0 for a missing node.
    pub(super) fn modified_zxid(&self, path: &str) -> i64 {
        self.nodes.get(path).map_or(0, |node| node.modified_zxid)
    }

    /// When the children of a node last changed; 0 for a missing node.
    pub(super) fn children_zxid(&self, path: &str) -> i64 {
        self.nodes.get(path).map_or(0, |node| node.children_zxid)
    }

    /// Writes the 68 bytes of the `Stat` of a node of `tree`.
    pub(super) fn write_stat(&self, path: &str, tree: &Tree, to: &mut Encoder) {
        let node = self.nodes.get(path).copied().unwrap_or_default();
        let count = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        to.long(node.created_zxid)
            .long(node.modified_zxid)
            .long(node.created_ms)
            .long(node.modified_ms)
            .int(tree.made(path).map_or(node.version, |made| made.version))
            .int(node.children_version)
            .int(0)
            // Some session, since the server itself holds the ephemeral nodes.
            .long(tree.made(path).map_or(i64::from(is_ephemeral(path)), |made| made.owner))
            .int(count(tree.data(path).map_or(0, <[u8]>::len)))
            .int(count(tree.children(path).len()))
            .long(node.children_zxid);
    }
}

/// How one tree differs from the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change<'a> {
    Created(&'a str),
    Modified(&'a str),
    Deleted(&'a str),
}

impl<'a> Change<'a> {
    pub(super) fn path(self) -> &'a str {
        match self {
            Self::Created(path) | Self::Modified(path) | Self::Deleted(path) => path,
        }
    }
}

/// All changes, parents before their children.
pub(super) fn changes<'a>(before: Option<&'a Tree>, after: &'a Tree) -> Vec<Change<'a>> {
    let mut changes = Vec::new();
    if let Some(before) = before {
        let gone = before.nodes().filter(|(path, _)| !after.contains(path));
        changes.extend(gone.map(|(path, _)| Change::Deleted(path)));
    }
    for (path, node) in after.nodes() {
        match before.and_then(|before| before.node(path)) {
            None => changes.push(Change::Created(path)),
            Some(old) if !old.is_same(node) => {
                changes.extend([Change::Deleted(path), Change::Created(path)]);
            }
            Some(old) if old != node => changes.push(Change::Modified(path)),
            Some(_) => {}
        }
    }
    changes
}
