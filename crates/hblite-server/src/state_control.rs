//! The state of a running server on demand: checkpoints, forks, the clock.
//!
//! `http` does the same for other processes. The store does the work; this module adds the effects
//! on clients: scanners end, and forks have ports.
//!
//! Threads: any.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hblite::{ClockMode, Connection, Error, Exception, Result};
use parking_lot::Mutex;

use crate::cluster::CurrentCluster;
use crate::options::ServerOptions;
use crate::ports::ServerPorts;

/// Threads that serve the connections of a fork.
const FORK_WORKER_THREADS: usize = 1;

/// Checkpoints, forks and the clock of a running server. Cheap to clone; it works as long as its
/// server runs.
///
/// ```
/// use hblite_server::TestServer;
/// let server = TestServer::start()?;
/// let state = server.state();
/// state.checkpoint("empty")?;
/// let fork = state.open_fork("empty")?; // A server on its own ports.
/// assert_ne!(fork.ports.master, server.ports().master);
/// state.rewind("empty")?; // Connected clients stay connected.
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StateControl {
    cluster: CurrentCluster,
    connection: Connection,
    forks: Arc<Forks>,
    start: Start,
}

/// Starts a server for a store.
type Start = fn(&Connection, ServerOptions) -> Result<KeptServer>;

/// A server that runs until this is dropped.
#[derive(Debug)]
pub(crate) struct KeptServer {
    pub(crate) ports: ServerPorts,
    pub(crate) _server: Box<dyn Debug + Send + Sync>,
}

/// The forks, which live as long as their parent.
#[derive(Debug, Default)]
struct Forks {
    last_id: AtomicU64,
    open: Mutex<BTreeMap<u64, (String, KeptServer)>>,
}

/// A fork that its parent keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkStatus {
    /// Its number.
    pub id: u64,
    /// The checkpoint from which it was created.
    pub checkpoint: String,
    /// Its ports.
    pub ports: ServerPorts,
}

impl StateControl {
    pub(crate) fn new(cluster: CurrentCluster, connection: &Connection, start: Start) -> Self {
        Self { cluster, connection: connection.clone(), forks: Arc::default(), start }
    }
}

/// Checkpoints.
impl StateControl {
    /// See [`Connection::checkpoint`].
    ///
    /// As for [`Connection`]'s method of the same name.
    pub fn checkpoint(&self, name: &str) -> Result<()> {
        self.connection.checkpoint(name)
    }

    /// Returns to a checkpoint. Clients stay connected: every call that begins after this one has
    /// returned sees the restored state, and every call sees only one state. Open scanners become
    /// unknown (`UnknownScannerException`), and clients then open new ones. Servers, the assignment
    /// of regions, faults and the clock stay as they are.
    ///
    /// # Errors
    /// As [`Connection::rewind`].
    pub fn rewind(&self, name: &str) -> Result<()> {
        self.connection.rewind(name)
    }

    /// Removes a checkpoint; false if there is none of this name. Its forks are not affected.
    ///
    /// # Errors
    /// As [`Connection::delete_checkpoint`].
    pub fn delete_checkpoint(&self, name: &str) -> Result<bool> {
        self.connection.delete_checkpoint(name)
    }

    /// Names of the checkpoints, sorted.
    ///
    /// # Errors
    /// As [`Connection::checkpoints`].
    pub fn checkpoints(&self) -> Result<Vec<String>> {
        self.connection.checkpoints()
    }
}

/// Forks.
impl StateControl {
    /// A copy-on-write view of a checkpoint, and the options for serving it on free ports.
    ///
    /// # Errors
    /// As [`Connection::fork`].
    pub(crate) fn fork_store(&self, checkpoint: &str) -> Result<(Connection, ServerOptions)> {
        let store = self.connection.fork(checkpoint)?;
        let parent = &self.cluster.shared().options;
        let options = ServerOptions {
            master_port: 0,
            region_server_port: 0,
            zookeeper_port: parent.zookeeper_port.map(|_| 0),
            http_port: parent.http_port.map(|_| 0),
            worker_threads: Some(FORK_WORKER_THREADS),
            recorder: None,
            stop_handler: None,
            ..parent.clone()
        };
        Ok((store, options))
    }

    /// Starts an independent server, on free ports, on a copy-on-write view of a checkpoint. This
    /// server keeps it until it is closed, or until this server ends. [`crate::TestServer::fork`]
    /// returns one that ends with its handle.
    ///
    /// # Errors
    /// `NotFound` if there is no checkpoint of this name; `Io` if no port can be opened.
    pub fn open_fork(&self, checkpoint: &str) -> Result<ForkStatus> {
        let (store, options) = self.fork_store(checkpoint)?;
        let fork = (self.start)(&store, options)?;
        let id = self.forks.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (checkpoint, ports) = (checkpoint.to_owned(), fork.ports.clone());
        self.forks.open.lock().insert(id, (checkpoint.clone(), fork));
        Ok(ForkStatus { id, checkpoint, ports })
    }

    /// Ends a fork that this server keeps; false if there is none with this number.
    pub fn close_fork(&self, id: u64) -> bool {
        let closed = self.forks.open.lock().remove(&id);
        closed.is_some()
    }

    /// Ends all forks that this server keeps.
    pub fn close_forks(&self) {
        let closed = std::mem::take(&mut *self.forks.open.lock());
        drop(closed);
    }

    /// The forks that this server keeps.
    pub fn forks(&self) -> Vec<ForkStatus> {
        let open = self.forks.open.lock();
        let status = |(id, (checkpoint, fork)): (&u64, &(String, KeptServer))| ForkStatus {
            id: *id,
            checkpoint: checkpoint.clone(),
            ports: fork.ports.clone(),
        };
        open.iter().map(status).collect()
    }
}

/// The clock. Timestamps, times to live, leases of scanners, expired snapshots and the ages of
/// files follow it; timeouts of connections and sessions do not.
impl StateControl {
    /// The state of the clock.
    ///
    /// # Errors
    /// As [`Connection::clock`].
    pub fn clock(&self) -> Result<ClockMode> {
        self.connection.clock()
    }

    /// The time of the clock, in milliseconds since 1970-01-01 UTC.
    pub fn now_millis(&self) -> i64 {
        self.connection.now_millis()
    }

    /// Sets the clock. Scanners whose lease has expired by then end immediately.
    ///
    /// # Errors
    /// As [`Connection::set_clock`].
    pub fn set_clock(&self, mode: ClockMode) -> Result<()> {
        self.connection.set_clock(mode)
    }

    /// Sets the time, in milliseconds since 1970-01-01 UTC; unless it is a manual clock, it keeps
    /// running from there.
    ///
    /// # Errors
    /// `WrongState` if the clock follows the system's, and as [`StateControl::set_clock`].
    pub fn set_time(&self, millis: i64) -> Result<()> {
        let mode = match self.clock()? {
            ClockMode::Manual(_) => ClockMode::Manual(millis),
            ClockMode::Offset(_) => ClockMode::Offset(millis.saturating_sub(self.base_millis()?)),
            ClockMode::Real => return Err(clock_is_real()),
        };
        self.set_clock(mode)
    }

    /// Moves the clock by this many milliseconds; a negative number sets it back.
    ///
    /// # Errors
    /// As [`StateControl::set_time`].
    pub fn advance_clock(&self, millis: i64) -> Result<()> {
        let mode = match self.clock()? {
            ClockMode::Manual(now) => ClockMode::Manual(now.saturating_add(millis)),
            ClockMode::Offset(offset) => ClockMode::Offset(offset.saturating_add(millis)),
            ClockMode::Real => return Err(clock_is_real()),
        };
        self.set_clock(mode)
    }

    /// Stops the clock at the current time.
    ///
    /// # Errors
    /// As [`Connection::set_clock`].
    pub fn stop_clock(&self) -> Result<()> {
        self.cluster.timeline().stop_clock();
        Ok(())
    }

    /// Restarts the clock at the current time.
    ///
    /// # Errors
    /// As [`Connection::set_clock`].
    pub fn start_clock(&self) -> Result<()> {
        let offset = self.now_millis().saturating_sub(self.base_millis()?);
        self.set_clock(ClockMode::Offset(offset))
    }

    /// The time of the underlying clock.
    fn base_millis(&self) -> Result<i64> {
        Ok(self.cluster.timeline().base_millis())
    }
}

fn clock_is_real() -> Error {
    let message = "the clock follows the system's; make it manual or offset first, as with \
                   `serve --clock manual`";
    Error::new(Exception::IllegalState, message)
}
