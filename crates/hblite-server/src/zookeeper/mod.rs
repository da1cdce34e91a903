//! A read-only ZooKeeper for HBase's clients: it answers their lookups, and refuses changes.
//!
//! ```text
//! listener      sockets, frames, time-outs                     one task a connection
//!   conversation  a request in, an answer out; watches
//!     operations    operations that are refused, and the errors
//!     znodes        the tree of nodes, made from the state     messages: bytes
//!   sessions      reconnecting clients
//!   history       transaction ids and versions
//! state         the cluster's state, from the rest of the server
//! ```
//!
//! It has no store: the tree is built from [`Cluster::state`], and a watch fires where two trees
//! differ. Each client gets the address at which it connected.

mod conversation;
mod history;
mod listener;
mod messages;
mod operations;
mod sessions;
mod state;
#[cfg(test)]
mod tests;
mod watches;
mod words;
mod znodes;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hblite_env::Env;
use hblite_wire::jute::Encoder;
use parking_lot::Mutex;
use tokio::sync::watch;

use history::History;
use sessions::Sessions;
pub use state::{Cluster, ClusterState, ServerName, Switches, TableState};
use words::Figures;
use znodes::Tree;

/// Maximum size of a frame in either direction (`jute.maxbuffer`).
const FRAME_BYTES_MAX: usize = 0xf_ffff;

/// The shim: state shared by its connections. `serve` answers clients.
pub struct Shim {
    cluster: Box<dyn Cluster>,
    changes: watch::Receiver<u64>,
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

/// The history up to a number of [`Cluster::changes`].
#[derive(Debug)]
struct Noted {
    change_number: Option<u64>,
    history: History,
}

impl Shim {
    /// A shim for `cluster`; clock and randomness are those of `env`.
    pub fn new(cluster: impl Cluster, env: Env) -> Arc<Self> {
        let history = History::new(env.clock.now_millis());
        Arc::new(Self {
            changes: cluster.changes(),
            cluster: Box::new(cluster),
            env,
            history: Mutex::new(Noted { change_number: None, history }),
            sessions: Mutex::default(),
            connection_count: AtomicUsize::new(0),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
        })
    }

    fn change_number(&self) -> u64 {
        *self.changes.borrow()
    }

    /// The tree for a client that connected to `reached`, and the number of the change that it
    /// shows.
    fn look(&self, reached: SocketAddr) -> (u64, Tree) {
        // A change between the two steps is already in the tree, and is checked once more.
        let number = self.change_number();
        self.note_changes(number);
        (number, Tree::of(&self.cluster.state(reached)))
    }

    /// Versions follow a tree without any client's address, so they are the same for all clients.
    fn note_changes(&self, number: u64) {
        let mut noted = self.history.lock();
        if noted.change_number != Some(number) {
            let nobody = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
            let tree = Tree::of(&self.cluster.state(nobody));
            noted.history.note(tree, self.env.clock.now_millis());
            noted.change_number = Some(number);
        }
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
