//! A server: the ports of a cluster over one store, until it is stopped.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use hblite::{Clock, Connection, Env};
use hblite_engine::Timeline;
use hblite_env::runtime;
use hblite_env::thread::check_startable;
use hblite_model::{Error, RegionLocator, Result};
use hblite_wire::callers::CallerCounting;
use hblite_wire::memory::MemoryBudget;
use hblite_wire::read_only::ReadOnly;
use parking_lot::Mutex;
use tokio::runtime::Runtime;

use crate::cluster::{Cluster, CurrentCluster, Role, ZooKeeperView};
use crate::fault_control::Faults;
use crate::heap::Heap;
use crate::http::{self, Admin, Attached, Gateways, Pages};
use crate::log::Log;
use crate::options::ServerOptions;
use crate::ports::ServerPorts;
use crate::rpc::{Dispatcher, Listener, Port};
use crate::state_control::{KeptServer, StateControl};
use crate::view::ServerView;
use crate::zookeeper::Shim;

/// Maximum number of region servers of one process.
const REGION_SERVERS_MAX: usize = 100;
/// How often scanners are checked for expired leases.
const EXPIRE_PERIOD: Duration = Duration::from_secs(1);
/// How long calls in progress may take when the server is stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Answers HBase's clients over the network, for a store of this process.
///
/// ```no_run
/// use hblite_server::{Server, ServerOptions};
/// let connection = hblite::open_in_memory()?;
/// let server = Server::start(&connection, ServerOptions::on_free_ports())?;
/// println!("hbase.client.bootstrap.servers=localhost:{}", server.ports().master);
/// server.stop();
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Debug)]
pub struct Server {
    runtime: Option<Runtime>,
    ports: ServerPorts,
    cluster: CurrentCluster,
    faults: Faults,
    state: StateControl,
    view: ServerView,
    pages: Attached,
    gateways: Gateways,
    /// Open as long as the server runs.
    _master: Mutex<Port>,
}

impl Server {
    /// Opens the ports and serves them, on its own threads. The caller still has to close the
    /// store.
    ///
    /// # Errors
    /// `Io` if a port cannot be opened (the message names it), `IllegalArgument` for settings out
    /// of range.
    pub fn start(connection: &Connection, options: ServerOptions) -> Result<Self> {
        check(&options)?;
        let runtime = runtime_of(&options)?;
        let guard = runtime.enter();
        let master = bind(&options, options.master_port)?;
        let mut region_servers = Vec::with_capacity(options.region_servers);
        for index in 0..options.region_servers {
            region_servers.push(bind(&options, port_of(&options, index)?)?);
        }
        let zookeeper = options.zookeeper_port.map(|port| bind(&options, port)).transpose()?;
        let http = options.http_port.map(|port| bind(&options, port)).transpose()?;
        let ports = ServerPorts {
            zookeeper: zookeeper.as_ref().map(|(_, port)| *port),
            master: master.1,
            region_servers: region_servers.iter().map(|(_, port)| *port).collect(),
            http: http.as_ref().map(|(_, port)| *port),
        };
        let timeline = connection.backend_as::<Timeline>().ok_or_else(|| {
            Error::illegal_argument("a server needs a store that this process has open")
        })?;
        let log = options.log.clone();
        let cluster = Cluster::new(&timeline, options, ports.master, &ports.region_servers)?;
        let cluster = CurrentCluster::new(Arc::clone(&timeline), cluster);
        let dispatcher = Arc::new(Dispatcher::new(cluster.clone()));
        if let Some((listener, _)) = zookeeper {
            let env = Env::in_memory().with_clock(timeline as Arc<dyn Clock>);
            let shim = Shim::new(ZooKeeperView(cluster.clone()), env);
            let memory = Arc::clone(&cluster.shared().memory);
            runtime.spawn(shim.serve(listener.into_inner(), memory, log.clone()));
        }
        let open = |listener, role| {
            Port::open(runtime.handle(), listener, &dispatcher, role)
                .map_err(|error| Error::io_of("cannot listen", error))
        };
        let master = open(master.0, Role::Master)?;
        let mut open_ports = Vec::with_capacity(region_servers.len());
        for (index, (listener, _)) in region_servers.into_iter().enumerate() {
            open_ports.push(open(listener, Role::RegionServer(index))?);
        }
        let faults = Faults::new(cluster.clone(), runtime.handle().clone(), open_ports);
        let state = StateControl::new(cluster.clone(), connection, start_fork);
        let view = ServerView::new(cluster.clone(), Arc::clone(&dispatcher));
        let (pages, gateways) = (Attached::default(), Gateways::default());
        if let Some((listener, _)) = http {
            let (cluster, faults, state) = (cluster.clone(), faults.clone(), state.clone());
            let (pages, gateways) = (Arc::clone(&pages), Gateways::clone(&gateways));
            let admin = Admin { cluster, dispatcher, faults, state, pages, gateways };
            runtime.spawn(http::serve(listener.into_inner(), admin));
        }
        runtime.spawn(tidy(cluster.clone(), log));
        drop(guard);
        let (runtime, _master) = (Some(runtime), Mutex::new(master));
        Ok(Self { runtime, ports, cluster, faults, state, view, pages, gateways, _master })
    }

    /// The ports that are open.
    pub fn ports(&self) -> &ServerPorts {
        &self.ports
    }

    /// The cluster id that clients see.
    pub fn cluster_id(&self) -> &str {
        &self.cluster.shared().id
    }

    /// Returns the host and port of the region server on which clients find a region.
    pub fn locator(&self) -> RegionLocator {
        let cluster = Arc::clone(self.cluster.shared());
        RegionLocator::new(move |region| {
            let place = cluster.assignments.place_of(region.encoded_name());
            let port = cluster.identity(Role::RegionServer(place.server)).port;
            let reached = SocketAddr::new(cluster.options.bind, port);
            (cluster.host_for(reached), port)
        })
    }

    /// The number of open scanners.
    pub fn open_scanners(&self) -> usize {
        self.cluster.get().scanners.len()
    }

    /// Bytes of the calls' memory budget in use: by requests, answers and open scanners.
    pub fn memory_used_bytes(&self) -> usize {
        self.cluster.shared().memory.used_bytes()
    }

    /// Counts who sends requests, for gateways whose requests count too.
    pub fn callers(&self) -> &Arc<CallerCounting> {
        &self.cluster.shared().callers
    }

    /// The memory budget of calls, for gateways that share it.
    pub fn memory(&self) -> &Arc<MemoryBudget> {
        &self.cluster.shared().memory
    }

    /// A view of the server, for pages that show it.
    pub fn view(&self) -> &ServerView {
        &self.view
    }

    /// Serves pages below `/console` of the HTTP port from now on. Only the first call has an
    /// effect.
    pub fn attach_pages(&self, pages: Arc<dyn Pages>) {
        // Pages that are already attached stay.
        let _ = self.pages.set(pages);
    }

    /// Lets the admin endpoint make a gateway read-only that serves the same store.
    pub fn attach_gateway(&self, name: &'static str, read_only: ReadOnly) {
        self.gateways.attach(name, read_only);
    }

    /// Its faults on demand.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Its checkpoints, its forks and its clock.
    pub fn state(&self) -> &StateControl {
        &self.state
    }

    /// Closes the ports and waits a few seconds for calls in progress.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.state.close_forks();
        if let Some(runtime) = self.runtime.take() {
            shut_down(runtime);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts a fork, which its parent keeps.
fn start_fork(store: &Connection, options: ServerOptions) -> Result<KeptServer> {
    let server = Server::start(store, options)?;
    Ok(KeptServer { ports: server.ports().clone(), _server: Box::new(server) })
}

/// Checks settings that do not depend on the system.
///
/// # Errors
/// `IllegalArgument`.
pub(crate) fn check(options: &ServerOptions) -> Result<()> {
    if !(1..=REGION_SERVERS_MAX).contains(&options.region_servers) {
        return Err(Error::illegal_argument(format!(
            "there can be 1 to {REGION_SERVERS_MAX} region servers, not {}",
            options.region_servers
        )));
    }
    options.limits.check()
}

/// The threads of a server.
///
/// # Errors
/// `Io` if they cannot be started.
pub(crate) fn runtime_of(options: &ServerOptions) -> Result<Runtime> {
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let workers = options.worker_threads.unwrap_or_else(cores).max(1);
    // One more answers calls.
    check_startable(workers + 1).map_err(Error::no_thread)?;
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(workers).thread_name("hblite-rpc");
    builder.max_blocking_threads(options.limits.handlers);
    runtime::build(builder).map_err(|error| Error::io_of("cannot start threads", error))
}

/// Waits a few seconds for calls in progress.
pub(crate) fn shut_down(runtime: Runtime) {
    // On a separate thread: a task of another runtime, such as a test, must not wait for a runtime.
    let runtime = Arc::new(Mutex::new(Some(runtime)));
    let taken = Arc::clone(&runtime);
    let end = std::thread::Builder::new().name("hblite-end".to_owned()).spawn(move || {
        let runtime = taken.lock().take();
        runtime.into_iter().for_each(|runtime| runtime.shutdown_timeout(STOP_TIMEOUT));
    });
    match end {
        // What panicked there has ended.
        Ok(end) => drop(end.join()),
        // No thread can be started: what is in progress is not waited for.
        Err(_) => runtime.lock().take().into_iter().for_each(Runtime::shutdown_background),
    }
}

fn port_of(options: &ServerOptions, index: usize) -> Result<u16> {
    if options.region_server_port == 0 {
        return Ok(0);
    }
    let offset = u16::try_from(index).unwrap_or(u16::MAX);
    options.region_server_port.checked_add(offset).ok_or_else(|| {
        Error::illegal_argument(format!("no port is left for region server {}", index + 1))
    })
}

fn bind(options: &ServerOptions, port: u16) -> Result<(Listener, u16)> {
    let address = SocketAddr::new(options.bind, port);
    let failed = |error: io::Error| Error::io_of(&format!("cannot listen on {address}"), error);
    let listener = Listener::bind(address).map_err(failed)?;
    let port = listener.port().map_err(failed)?;
    Ok((listener, port))
}

/// Ends what has expired, and returns free memory, until the server ends.
pub(crate) async fn tidy(current: CurrentCluster, log: Option<Log>) {
    let mut period = tokio::time::interval(EXPIRE_PERIOD);
    let mut reported = BTreeSet::new();
    let mut heap = Heap::default();
    loop {
        period.tick().await;
        let cluster = current.get();
        cluster.scanners.expire(cluster.engine.now_millis());
        cluster.tidy_assignments();
        cluster.memory.release_unused();
        heap.tidy().await;
        if let Some(log) = &log {
            report_damage(&cluster, log, &mut reported);
        }
    }
}

/// Logs each damaged file that the scrubber found, once.
fn report_damage(cluster: &Cluster, log: &Log, reported: &mut BTreeSet<String>) {
    for file in cluster.engine.scrub_status().damaged {
        let line = format!(
            "damaged store file of table {}, region {}: {}",
            file.table, file.region, file.message
        );
        if !reported.contains(&line) {
            log.report(&line);
            reported.insert(line);
        }
    }
}
