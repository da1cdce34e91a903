//! A ZooKeeper for HBase's clients: it answers their lookups, and refuses changes of HBase's nodes.
//! Programs can create nodes of their own next to them.
//!
//! ```text
//! listener      sockets, frames, time-outs                     one task a connection
//!   conversation  a request in, an answer out; watches
//!     operations    operations that write, and the errors
//!     znodes        the tree of nodes, made from the state     messages: bytes
//!     made          the nodes that clients create
//!   sessions      reconnecting clients
//!   history       transaction ids and versions
//! state         the cluster's state, from the rest of the server
//! ```
//!
//! It has no store: HBase's part of the tree is built from [`Cluster::state`], and a watch fires
//! where two trees differ. Each client gets the address at which it connected.

mod conversation;
mod history;
mod listener;
mod made;
mod messages;
mod operations;
mod sessions;
mod state;
#[cfg(test)]
mod tests;
mod watches;
mod words;
mod znodes;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hblite_env::Env;
use hblite_wire::jute::Encoder;
use parking_lot::Mutex;
use tokio::sync::watch;

use history::History;
use made::{Done, MadeNodes};
use operations::{ErrorCode, Write};
use sessions::Sessions;
pub use state::{Cluster, ClusterState, ServerName, Switches, TableState};
use words::Figures;
use znodes::Tree;

/// Maximum size of a frame in either direction (`jute.maxbuffer`).
const FRAME_BYTES_MAX: usize = 0xf_ffff;

/// The address of no client.
const NOBODY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// The shim: state shared by its connections. `serve` answers clients.
pub struct Shim {
    cluster: Box<dyn Cluster>,
    changes: watch::Receiver<u64>,
    /// Taken after the lock of the history, never before it.
    made: Mutex<MadeNodes>,
    made_changes: watch::Sender<u64>,
    env: Env,
    history: Mutex<Noted>,
    sessions: Mutex<Sessions>,
    connection_count: AtomicUsize,
    received: AtomicU64,
    sent: AtomicU64,
}

impl std::fmt::Debug for Shim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shim").field("connections", &self.connection_count).finish_non_exhaustive()
    }
}

/// How often the cluster, and the nodes that clients created, have changed.
type ChangeNumber = (u64, u64);

/// The history up to a number of [`Cluster::changes`].
#[derive(Debug)]
struct Noted {
    change_number: Option<ChangeNumber>,
    history: History,
}

impl Shim {
    /// A shim for `cluster`; clock and randomness are those of `env`.
    pub fn new(cluster: impl Cluster, env: Env) -> Arc<Self> {
        let history = History::new(env.clock.now_millis());
        Arc::new(Self {
            changes: cluster.changes(),
            cluster: Box::new(cluster),
            made: Mutex::default(),
            made_changes: watch::channel(0).0,
            env,
            history: Mutex::new(Noted { change_number: None, history }),
            sessions: Mutex::default(),
            connection_count: AtomicUsize::new(0),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
        })
    }

    fn change_number(&self) -> ChangeNumber {
        (*self.changes.borrow(), *self.made_changes.borrow())
    }

    /// The tree for a client that connected to `reached`, and the number of the change that it
    /// shows.
    fn look(&self, reached: SocketAddr) -> (ChangeNumber, Tree) {
        // A change between the two steps is already in the tree, and is checked once more.
        let number = self.change_number();
        self.note_changes(number);
        (number, self.tree(reached))
    }

    fn tree(&self, reached: SocketAddr) -> Tree {
        Tree::of(&self.cluster.state(reached)).with_made(self.made.lock().nodes())
    }

    /// Versions follow a tree without any client's address, so they are the same for all clients.
    fn note_changes(&self, number: ChangeNumber) {
        let mut noted = self.history.lock();
        if noted.change_number != Some(number) {
            let tree = self.tree(NOBODY);
            noted.history.note(tree, self.env.clock.now_millis());
            noted.change_number = Some(number);
        }
    }

    /// Applies the writes of a session, all or none.
    ///
    /// # Errors
    /// The index of the first write that is refused, and why.
    fn write(
        &self,
        writes: &[Write<'_>],
        session: i64,
    ) -> std::result::Result<Vec<Done>, (usize, ErrorCode)> {
        let hbase = Tree::of(&self.cluster.state(NOBODY));
        let versions: Vec<i32> = writes.iter().map(|write| self.version(write.path())).collect();
        let mut made = self.made.lock();
        let mut changed = made.clone();
        let mut done = Vec::with_capacity(writes.len());
        for (index, (write, version)) in writes.iter().zip(versions).enumerate() {
            let result = changed.apply(write, session, &hbase, version);
            done.push(result.map_err(|error| (index, error))?);
        }
        if done.iter().any(|done| *done != Done::Checked) {
            *made = changed;
            drop(made);
            self.note_made();
        }
        Ok(done)
    }

    /// Ends a session, and removes its nodes.
    fn end_session(&self, session: i64) {
        self.sessions.lock().close(session);
        if self.made.lock().end_session(session) {
            self.note_made();
        }
    }

    /// Removes the nodes of sessions that expired.
    fn end_expired_sessions(&self) {
        let alive = self.sessions.lock().alive();
        let mut made = self.made.lock();
        let owners: Vec<i64> = made.nodes().values().map(|node| node.owner).collect();
        let gone = owners.into_iter().filter(|owner| *owner != 0 && !alive.contains(owner));
        if gone.fold(false, |any, session| made.end_session(session) | any) {
            drop(made);
            self.note_made();
        }
    }

    fn note_made(&self) {
        self.made_changes.send_modify(|number| *number += 1);
        self.note_changes(self.change_number());
    }

    fn zxid(&self) -> i64 {
        self.history.lock().history.zxid()
    }

    fn version(&self, path: &str) -> i32 {
        self.history.lock().history.version(path)
    }

    fn modified_zxid(&self, path: &str) -> i64 {
        self.history.lock().history.modified_zxid(path)
    }

    fn children_zxid(&self, path: &str) -> i64 {
        self.history.lock().history.children_zxid(path)
    }

    fn write_stat(&self, path: &str, tree: &Tree, to: &mut Encoder) {
        self.history.lock().history.write_stat(path, tree, to);
    }

    fn figures(&self, reached: SocketAddr) -> Figures {
        let (_, tree) = self.look(reached);
        Figures {
            zxid: self.zxid(),
            node_count: tree.len(),
            session_count: self.sessions.lock().len(),
            connection_count: self.connection_count.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
            sent: self.sent.load(Ordering::Relaxed),
        }
    }
}
