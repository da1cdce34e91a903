//! The nodes that clients create, next to those of HBase.
//!
//! Order:     paths.
//! Invariant: the parent of a node is the root or such a node, and not ephemeral; an ephemeral node
//!            disappears with its session; count and bytes are limited.
//! Lifetime:  that of the server; they are not in the store.

use std::collections::BTreeMap;

use super::operations::{ErrorCode, Write, is_valid};
use super::znodes::{MadeNode, Tree, parent};

/// More nodes, or more bytes of paths and data, are refused.
pub(super) const NODES_MAX: usize = 1_000;
const BYTES_MAX: usize = 4 << 20;

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Done {
    /// Created the node of this path.
    Created(String),
    Deleted,
    Set,
    Checked,
}

/// The nodes by path.
#[derive(Debug, Clone, Default)]
pub(super) struct MadeNodes {
    nodes: BTreeMap<String, MadeNode>,
    bytes: usize,
    /// How many were created, at all and below each parent.
    created: u64,
    created_below: BTreeMap<String, u32>,
}

impl MadeNodes {
    /// The nodes, by path.
    pub(super) fn nodes(&self) -> &BTreeMap<String, MadeNode> {
        &self.nodes
    }

    /// Whether a session has nodes.
    pub(super) fn has_ephemeral(&self) -> bool {
        self.nodes.values().any(|node| node.owner != 0)
    }

    /// Applies a write of `session`. `hbase` has HBase's nodes, which no client may change, and
    /// `version` is that of the node if it is one of them.
    ///
    /// # Errors
    /// ZooKeeper's code; nothing has changed then.
    pub(super) fn apply(
        &mut self,
        write: &Write<'_>,
        session: i64,
        hbase: &Tree,
        version: i32,
    ) -> Result<Done, ErrorCode> {
        match *write {
            Write::Create { path, data, is_ephemeral, is_sequential } => {
                let owner = if is_ephemeral { session } else { 0 };
                self.create(path, data, owner, is_sequential, hbase).map(Done::Created)
            }
            Write::Delete { path, version } => {
                self.check(path, version, hbase)?;
                if self.has_children(path) {
                    return Err(ErrorCode::NotEmpty);
                }
                self.remove(path);
                Ok(Done::Deleted)
            }
            Write::Set { path, data, version } => {
                self.check(path, version, hbase)?;
                let old = self.nodes.get(path).map_or(0, |node| node.data.len());
                self.charge(0, data.len(), old)?;
                if let Some(node) = self.nodes.get_mut(path) {
                    node.data = data.into();
                    node.version = node.version.wrapping_add(1);
                }
                Ok(Done::Set)
            }
            Write::SetAccess { path } => self.check(path, -1, hbase).map(|()| Done::Set),
            Write::Check { path, version: wanted } => match self.nodes.contains_key(path) {
                true => self.check(path, wanted, hbase).map(|()| Done::Checked),
                false if !hbase.contains(path) => Err(ErrorCode::NoNode),
                false if wanted != -1 && wanted != version => Err(ErrorCode::BadVersion),
                false => Ok(Done::Checked),
            },
            Write::Reconfigure => Err(ErrorCode::NoAuth),
            Write::Unsupported => Err(ErrorCode::Unimplemented),
        }
    }

    /// Removes the nodes of a session; `false` if it has none.
    pub(super) fn end_session(&mut self, session: i64) -> bool {
        let of_session = |(_, node): &(&String, &MadeNode)| node.owner == session;
        let paths: Vec<String> =
            self.nodes.iter().filter(of_session).map(|(path, _)| path.clone()).collect();
        paths.iter().for_each(|path| self.remove(path));
        !paths.is_empty()
    }

    fn create(
        &mut self,
        path: &str,
        data: &[u8],
        owner: i64,
        is_sequential: bool,
        hbase: &Tree,
    ) -> Result<String, ErrorCode> {
        // The number may be the whole name.
        let shown = if is_sequential { &format!("{path}0") } else { path };
        let above = parent(shown).filter(|_| is_valid(shown)).ok_or(ErrorCode::BadArguments)?;
        match self.nodes.get(above) {
            Some(node) if node.owner != 0 => return Err(ErrorCode::NoChildrenForEphemerals),
            Some(_) => {}
            None if !hbase.contains(above) => return Err(ErrorCode::NoNode),
            None if !is_sequential && hbase.contains(path) => return Err(ErrorCode::NodeExists),
            None if above != "/" => return Err(ErrorCode::NoAuth),
            None => {}
        }
        let count = self.created_below.get(above).copied().unwrap_or(0);
        let path = if is_sequential { format!("{path}{count:010}") } else { path.to_owned() };
        if self.nodes.contains_key(&path) {
            return Err(ErrorCode::NodeExists);
        }
        self.charge(1, path.len() + data.len(), 0)?;
        self.created += 1;
        self.created_below.insert(above.to_owned(), count.wrapping_add(1));
        let node = MadeNode { data: data.into(), number: self.created, version: 0, owner };
        self.nodes.insert(path.clone(), node);
        Ok(path)
    }

    /// Whether the node is there, may be changed, and has this version; -1 is any.
    fn check(&self, path: &str, version: i32, hbase: &Tree) -> Result<(), ErrorCode> {
        match self.nodes.get(path) {
            Some(node) if version == -1 || version == node.version => Ok(()),
            Some(_) => Err(ErrorCode::BadVersion),
            None if hbase.contains(path) => Err(ErrorCode::NoAuth),
            None if is_valid(path) => Err(ErrorCode::NoNode),
            None => Err(ErrorCode::BadArguments),
        }
    }

    fn has_children(&self, path: &str) -> bool {
        let prefix = format!("{path}/");
        self.nodes.range(prefix.clone()..).next().is_some_and(|(each, _)| each.starts_with(&prefix))
    }

    fn charge(&mut self, nodes: usize, more: usize, less: usize) -> Result<(), ErrorCode> {
        let bytes = self.bytes.saturating_sub(less) + more;
        if self.nodes.len() + nodes > NODES_MAX || bytes > BYTES_MAX {
            return Err(ErrorCode::QuotaExceeded);
        }
        self.bytes = bytes;
        Ok(())
    }

    fn remove(&mut self, path: &str) {
        debug_assert!(!self.has_children(path), "{path} has children");
        self.created_below.remove(path);
        if let Some(node) = self.nodes.remove(path) {
            let bytes = path.len() + node.data.len();
            assert!(self.bytes >= bytes, "the bytes of {path} were never counted");
            self.bytes -= bytes;
        }
    }
}
