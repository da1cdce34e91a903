//! A server without ports: the cluster over one store, for clients in this process.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};

use hblite::Connection;
use hblite_engine::Timeline;
use hblite_model::{Error, Result};
use hblite_wire::frame::decode_connection_header;
use parking_lot::Mutex;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::watch;

use crate::cluster::{Cluster, CurrentCluster, Role};
use crate::fault_control::Faults;
use crate::http::{self, Admin};
use crate::options::ServerOptions;
use crate::rpc::{Channel, Dispatcher};
use crate::server::{check, runtime_of, shut_down, tidy};
use crate::state_control::{KeptServer, StateControl};

/// The ports in the names of servers: HBase's defaults.
const MASTER_PORT: u16 = 16000;
const REGION_SERVER_PORT: u16 = 16020;
/// Threads for waiting; calls have their own.
const WORKER_THREADS: usize = 1;

/// The number of servers of this process so far.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// Answers HBase's protocol in this process, without a socket: the same calls, exceptions, limits
/// and faults as those of a [`crate::Server`].
///
/// Clients identify a server by its name, so each instance has a host of its own: an address from
/// 127.1.0.0 on. Nothing listens there.
///
/// ```
/// use hblite_server::{InProcess, ServerOptions};
/// let store = hblite::open_in_memory()?;
/// let server = InProcess::start(&store, ServerOptions::default())?;
/// // A client's `ConnectionHeader`: the service MasterService.
/// let channel = server.connect(server.master_port(), b"\x12\x0dMasterService")?;
/// // A call that names no method is answered with an exception.
/// assert!(channel.call(b"\x02\x20\x01\0").unwrap().size_bytes() > 0);
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Debug)]
pub struct InProcess {
    /// `None` once it is closed.
    runtime: Mutex<Option<Runtime>>,
    dispatcher: Arc<Dispatcher>,
    cluster: CurrentCluster,
    faults: Faults,
    state: StateControl,
    host: String,
    closed: watch::Sender<bool>,
}

impl InProcess {
    /// Starts the server. The caller still has to close the store. Addresses and ports of the
    /// options are not used.
    ///
    /// # Errors
    /// `IllegalArgument` for settings out of range, `Io` if no thread can be started.
    pub fn start(connection: &Connection, mut options: ServerOptions) -> Result<Self> {
        check(&options)?;
        let timeline = connection.backend_as::<Timeline>().ok_or_else(|| {
            Error::illegal_argument("a server needs a store that this process has open")
        })?;
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        // 127.1.0.0 to 127.254.255.255, then from the beginning.
        let host = Ipv4Addr::from((127 << 24) + (1 << 16) + number % (254 << 16)).to_string();
        options.advertise = Some(host.clone());
        options.worker_threads.get_or_insert(WORKER_THREADS);
        // It ends with its process.
        options.stop_handler = None;
        let runtime = runtime_of(&options)?;
        let ports: Vec<u16> =
            (0..options.region_servers).map(|index| REGION_SERVER_PORT + index as u16).collect();
        let log = options.log.clone();
        let cluster = Cluster::new(&timeline, options, MASTER_PORT, &ports)?;
        let cluster = CurrentCluster::new(timeline, cluster);
        let dispatcher = Arc::new(Dispatcher::new(cluster.clone()));
        let faults = Faults::new(cluster.clone(), runtime.handle().clone(), Vec::new());
        let state = StateControl::new(cluster.clone(), connection, refuse_fork);
        runtime.spawn(tidy(cluster.clone(), log));
        let (runtime, closed) = (Mutex::new(Some(runtime)), watch::Sender::new(false));
        Ok(Self { runtime, dispatcher, cluster, faults, state, host, closed })
    }

    /// The host in the names of its servers.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port in the name of the master. `hbase.masters` is `host:port`.
    pub fn master_port(&self) -> u16 {
        MASTER_PORT
    }

    /// Its faults on demand.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Its checkpoints and its clock.
    pub fn state(&self) -> &StateControl {
        &self.state
    }

    /// Starts an independent server on a copy-on-write view of a checkpoint, which is returned with
    /// it. Close both.
    ///
    /// # Errors
    /// `NotFound` if there is no checkpoint of this name, and as [`InProcess::start`].
    pub fn fork(&self, checkpoint: &str) -> Result<(Connection, Self)> {
        let (store, options) = self.state.fork_store(checkpoint)?;
        let server = Self::start(&store, options)?;
        Ok((store, server))
    }

    /// Answers a request as the admin endpoint of a [`crate::Server`] does: state, faults,
    /// checkpoints and the clock. `body` is JSON, or empty. Returns the body of the answer.
    ///
    /// ```
    /// use hblite_server::{InProcess, ServerOptions};
    /// let store = hblite::open_in_memory()?;
    /// let server = InProcess::start(&store, ServerOptions::default())?;
    /// server.admin("POST", "/checkpoints", r#"{"name":"empty"}"#)?;
    /// assert_eq!(server.admin("GET", "/checkpoints", "")?, r#"{"checkpoints":["empty"]}"#);
    /// # Ok::<(), hblite::Error>(())
    /// ```
    ///
    /// # Errors
    /// `IllegalArgument` for a request that is refused, with the reason, or if the server is
    /// closed; `Io` if the store failed.
    pub fn admin(&self, method: &str, path: &str, body: &str) -> Result<String> {
        let admin = Admin {
            cluster: self.cluster.clone(),
            dispatcher: Arc::clone(&self.dispatcher),
            faults: self.faults.clone(),
            state: self.state.clone(),
            pages: Arc::default(),
            gateways: Default::default(),
        };
        let request = http::request(method, path, body)?;
        let (sender, answer) = mpsc::sync_channel(1);
        self.handle()?.spawn(async move {
            // A caller that is gone needs no answer.
            let _ = sender.send(http::answer(admin, request).await);
        });
        answer.recv().map_err(|_| closed())?
    }

    fn handle(&self) -> Result<Handle> {
        self.runtime.lock().as_ref().map(|runtime| runtime.handle().clone()).ok_or_else(closed)
    }

    /// The number of open scanners.
    pub fn open_scanners(&self) -> usize {
        self.cluster.get().scanners.len()
    }

    /// Bytes of the calls' memory budget in use: by requests, answers and open scanners.
    pub fn memory_used_bytes(&self) -> usize {
        self.cluster.shared().memory.used_bytes()
    }

    /// Connects to the server whose name has this port. `header` is HBase's `ConnectionHeader`:
    /// user, service, codec, compression and version.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the header cannot be read; `IllegalArgument` if there is no such server,
    /// or it does not have the service, codec or compression.
    pub fn connect(&self, port: u16, header: &[u8]) -> Result<Channel> {
        let role = self.role_of(port).ok_or_else(|| {
            Error::illegal_argument(format!("no server of this store has the port {port}"))
        })?;
        let header = decode_connection_header(header)?;
        let (runtime, closed) = (self.handle()?, self.closed.subscribe());
        Channel::open(&self.dispatcher, runtime, closed, role, header)
            .map_err(Error::illegal_argument)
    }

    /// Ends it: waiting callers and later calls get [`CallFailure::Closed`], and the threads get a
    /// few seconds to end the calls that they run.
    ///
    /// [`CallFailure::Closed`]: crate::CallFailure::Closed
    pub fn close(&self) {
        self.closed.send_replace(true);
        let runtime = self.runtime.lock().take();
        if let Some(runtime) = runtime {
            shut_down(runtime);
        }
    }

    fn role_of(&self, port: u16) -> Option<Role> {
        if port == MASTER_PORT {
            return Some(Role::Master);
        }
        let index = usize::from(port.checked_sub(REGION_SERVER_PORT)?);
        (index < self.cluster.shared().region_servers.len()).then_some(Role::RegionServer(index))
    }
}

fn closed() -> Error {
    Error::illegal_argument("the server is closed")
}

fn refuse_fork(_: &Connection, _: ServerOptions) -> Result<KeptServer> {
    Err(Error::illegal_argument("this server has no ports: its forks are `InProcess::fork`'s"))
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.close();
    }
}
