//! The gateways: listening ports, a thread for each connection, and shutdown.
//!
//! Invariant: a connection is in `connections` as long as its thread runs. Stopping the gateway
//! closes the connection, which wakes the thread.
//!
//! Threads: one that accepts, for each port; one for each connection; one that closes scanners
//! whose lease has expired.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hblite::{ClientScanners as _, Connection};
use hblite_model::{Error, Protocol, Result};
use hblite_wire::complaints::Complaints;
use hblite_wire::memory::MemoryBudget;
use hblite_wire::permits::{End, Permits};
use hblite_wire::site::Site;
use parking_lot::{Condvar, Mutex};

use crate::memory::Allowance;
use crate::options::{Terms, ThriftLimits, ThriftOptions};
use crate::protocol::error::ProtocolError;
use crate::requests::Requests;
use crate::service::Service;
use crate::store::Store;
use crate::transport;
use crate::{v1, v2};

/// How long calls in progress may take when the gateways are stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// How often scanners whose lease has expired are closed.
const EXPIRE_PERIOD: Duration = Duration::from_secs(1);
/// How long to wait before the next `accept` if one failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// The ports that the gateways have open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThriftPorts {
    /// Of Thrift 1, if it is served.
    pub thrift: Option<u16>,
    /// Of Thrift 2, if it is served.
    pub thrift2: Option<u16>,
}

/// Which of HBase's two services a port provides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThriftVersion {
    /// Thrift 1.
    One,
    /// Thrift 2.
    Two,
}

impl ThriftVersion {
    pub(crate) fn protocol(self) -> Protocol {
        match self {
            Self::One => Protocol::Thrift1,
            Self::Two => Protocol::Thrift2,
        }
    }

    fn port_name(self) -> &'static str {
        match self {
            Self::One => "Thrift 1",
            Self::Two => "Thrift 2",
        }
    }
}

/// Answers Thrift clients of HBase from a store or a cluster, until it is dropped.
///
/// ```no_run
/// use hblite_thrift::{ThriftGateway, ThriftOptions};
/// let connection = hblite::open_in_memory()?;
/// let options = ThriftOptions::default().with_thrift_port(9090);
/// let gateway = ThriftGateway::start(&connection, options)?;
/// gateway.stop();
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Debug)]
pub struct ThriftGateway {
    shared: Arc<Shared>,
    ports: ThriftPorts,
    addresses: Vec<SocketAddr>,
    threads: Vec<JoinHandle<()>>,
}

/// What the threads share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    limits: ThriftLimits,
    /// Of the connections of all ports.
    permits: Arc<Permits>,
    /// The names by which clients of HTTP may call the gateway.
    site: Site,
    complaints: Option<Complaints>,
    /// Each service has its own scanners.
    one: Arc<Store>,
    two: Arc<Store>,
}

#[derive(Debug, Default)]
struct State {
    is_stopped: bool,
    /// By number, in order of arrival.
    connections: HashMap<u64, Arc<TcpStream>>,
    last: u64,
}

impl ThriftGateway {
    /// Opens the ports and serves them with its own threads. Closing the store remains the caller's
    /// task.
    ///
    /// # Errors
    /// `Io` if a port cannot be opened (the message names it), `IllegalArgument` for limits out of
    /// range.
    pub fn start(connection: &Connection, options: ThriftOptions) -> Result<Self> {
        options.limits.check()?;
        let wanted =
            [(options.thrift_port, ThriftVersion::One), (options.thrift2_port, ThriftVersion::Two)];
        let mut listeners = Vec::new();
        let mut ports = ThriftPorts::default();
        for (port, version) in wanted {
            let Some(port) = port else { continue };
            let (listener, address) = bind(SocketAddr::new(options.bind, port))?;
            match version {
                ThriftVersion::One => ports.thrift = Some(address.port()),
                ThriftVersion::Two => ports.thrift2 = Some(address.port()),
            }
            listeners.push((listener, address, version));
        }
        let memory = options.memory.clone();
        let memory =
            memory.unwrap_or_else(|| Arc::new(MemoryBudget::new(options.limits.memory_max_bytes)));
        let store =
            || Arc::new(Store::new(connection.clone(), options.clone(), Arc::clone(&memory)));
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            limits: options.limits.clone(),
            permits: Permits::new(options.limits.connections_max),
            site: Site::listening_on(options.bind, options.advertise.clone()),
            complaints: options.complaints.clone(),
            one: store(),
            two: store(),
        });
        let mut gateway = Self { shared, ports, addresses: Vec::new(), threads: Vec::new() };
        for (listener, address, version) in listeners {
            gateway.addresses.push(address);
            let shared = Arc::clone(&gateway.shared);
            gateway.spawn(move || accept(&shared, &listener, version))?;
        }
        let shared = Arc::clone(&gateway.shared);
        gateway.spawn(move || expire_scanners(&shared))?;
        Ok(gateway)
    }

    fn spawn(&mut self, run: impl FnOnce() + Send + 'static) -> Result<()> {
        let thread = thread::Builder::new().name("hblite-thrift".to_owned()).spawn(run);
        let thread = thread.map_err(Error::no_thread)?;
        self.threads.push(thread);
        Ok(())
    }

    /// The ports that are open.
    pub fn ports(&self) -> ThriftPorts {
        self.ports
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.shared.state.lock().connections.len()
    }

    /// How many scanners clients have open.
    pub fn open_scanners(&self) -> usize {
        self.shared.one.scanners.open_count() + self.shared.two.scanners.open_count()
    }

    /// Bytes of memory that requests, answers and scanners take.
    pub fn memory_used_bytes(&self) -> usize {
        self.shared.one.memory().used_bytes()
    }

    /// Closes the ports and connections, and waits a few seconds for calls in progress.
    pub fn stop(self) {
        drop(self);
    }

    fn end(&mut self) {
        let mut state = self.shared.state.lock();
        state.is_stopped = true;
        for stream in state.connections.values() {
            // The client may have closed it already.
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.shared.changed.notify_all();
        drop(state);
        for address in &self.addresses {
            // Wakes the accepting thread; if the connection fails, the thread has already ended.
            let _ = TcpStream::connect(reachable(*address));
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        let mut state = self.shared.state.lock();
        let is_open = |state: &mut State| !state.connections.is_empty();
        let _ = self.shared.changed.wait_while_for(&mut state, is_open, STOP_TIMEOUT);
    }
}

impl Drop for ThriftGateway {
    fn drop(&mut self) {
        self.end();
    }
}

fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let failed = |error: io::Error| Error::io_of(&format!("cannot listen on {address}"), error);
    let listener = TcpListener::bind(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// The address at which this process reaches its own port.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Accepts connections until the gateway is stopped.
fn accept(shared: &Arc<Shared>, listener: &TcpListener, version: ThriftVersion) {
    loop {
        let accepted = listener.accept();
        if shared.state.lock().is_stopped {
            return;
        }
        match accepted {
            Ok((stream, client)) => start_connection(shared, stream, client.ip(), version),
            // Out of file descriptors, or the client has disconnected: the next one may succeed.
            Err(_) => {
                shared.permits.evict();
                wait(shared, ACCEPT_PAUSE);
            }
        }
    }
}

/// Waits until the gateway is stopped or the time has passed.
fn wait(shared: &Shared, time: Duration) {
    let mut state = shared.state.lock();
    if !state.is_stopped {
        let _ = shared.changed.wait_for(&mut state, time);
    }
}

fn expire_scanners(shared: &Shared) {
    while !shared.state.lock().is_stopped {
        shared.one.scanners.expire();
        shared.two.scanners.expire();
        wait(shared, EXPIRE_PERIOD);
    }
}

/// Serves a connection in a new thread, or closes it if there are too many that are busy.
fn start_connection(
    shared: &Arc<Shared>,
    stream: TcpStream,
    client: IpAddr,
    version: ThriftVersion,
) {
    let stream = Arc::new(stream);
    let ended = Arc::clone(&stream);
    let end: End = Arc::new(move || {
        // The client may have closed it already.
        let _ = ended.shutdown(Shutdown::Both);
    });
    let Some(permit) = shared.permits.enter(client, &end) else { return };
    let mut state = shared.state.lock();
    if state.is_stopped {
        return;
    }
    state.last += 1;
    let number = state.last;
    let other = state.connections.insert(number, Arc::clone(&stream));
    assert!(other.is_none(), "two connections with the number {number}");
    drop(state);
    let entry = Entry { shared: Arc::clone(shared), number };
    let peer = stream.peer_addr().ok();
    let run = move || {
        let store = match version {
            ThriftVersion::One => &entry.shared.one,
            ThriftVersion::Two => &entry.shared.two,
        };
        let allowance = Rc::new(Allowance::of(store.memory()));
        let (store, number) = (Arc::clone(store), entry.number);
        let protocol = version.protocol();
        let requests = Requests::new(store, protocol, Some(client), number, &allowance);
        let service = new_service(requests, version);
        let shared = &entry.shared;
        let terms = Terms { limits: &shared.limits, site: &shared.site };
        let served = transport::serve(&stream, permit, service.as_ref(), terms, allowance);
        if let (Err(error), Some(complaints)) = (served, &entry.shared.complaints)
            && !matches!(error, ProtocolError::Io(_))
        {
            complaints.note(version.port_name(), stream.peer_addr().ok(), &error);
        }
    };
    let thread = thread::Builder::new().name("hblite-thrift".to_owned());
    // If none can be started, the closure is dropped, and with it the connection.
    if let (Err(error), Some(complaints)) = (thread.spawn(run), &shared.complaints) {
        complaints.note(version.port_name(), peer, &Error::no_thread(error).message());
    }
}

pub(crate) fn new_service(requests: Requests, version: ThriftVersion) -> Box<dyn Service> {
    match version {
        ThriftVersion::One => Box::new(v1::Handler(requests)),
        ThriftVersion::Two => Box::new(v2::Handler(requests)),
    }
}

/// Keeps a connection registered until its thread ends, even by a panic.
struct Entry {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let stream = self.shared.state.lock().connections.remove(&self.number);
        if let Some(stream) = stream {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.shared.changed.notify_all();
    }
}
