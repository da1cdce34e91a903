//! The gateways: listening ports, a thread for each connection, and their end.
//!
//! Invariant: a connection is in `connections` as long as its thread runs, so that the end of the
//! gateway wakes the thread by closing the connection.
//!
//! Threads: one that accepts, for each port; one for each connection; one that closes scanners
//! whose lease is over.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hblite::Connection;
use hblite_model::{Error, Result};
use parking_lot::{Condvar, Mutex};

use crate::options::{ThriftLimits, ThriftOptions};
use crate::store::Store;
use crate::transport;
use crate::v1;

/// How long calls under way may take when the gateways are stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// How often scanners are looked through for those whose lease is over.
const EXPIRE_PERIOD: Duration = Duration::from_secs(1);
/// How long the next connection waits if one could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// The ports that the gateways have open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThriftPorts {
    /// Of Thrift 1, if it is served.
    pub thrift: Option<u16>,
}

/// Answers Thrift clients of HBase from a store or a cluster, until it is dropped.
///
/// ```no_run
/// use hblite_thrift::{ThriftGateway, ThriftOptions};
/// let connection = hblite::open_in_memory()?;
/// let options = ThriftOptions { thrift_port: Some(9090), ..ThriftOptions::default() };
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
    one: Arc<Store>,
}

#[derive(Debug, Default)]
struct State {
    is_stopped: bool,
    /// By number, in the order of their arrival.
    connections: HashMap<u64, TcpStream>,
    last: u64,
}

impl ThriftGateway {
    /// Opens the ports and answers on them, from threads of its own. The store stays the caller's
    /// to close.
    ///
    /// # Errors
    /// `Io` if a port cannot be opened (the message names it), `IllegalArgument` for limits out of
    /// range.
    pub fn start(connection: &Connection, options: ThriftOptions) -> Result<Self> {
        options.limits.check()?;
        let mut listeners = Vec::new();
        let mut ports = ThriftPorts::default();
        if let Some(port) = options.thrift_port {
            let (listener, address) = bind(SocketAddr::new(options.bind, port))?;
            ports.thrift = Some(address.port());
            listeners.push((listener, address));
        }
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            limits: options.limits.clone(),
            one: Arc::new(Store::new(connection.clone(), options)),
        });
        let mut gateway = Self { shared, ports, addresses: Vec::new(), threads: Vec::new() };
        for (listener, address) in listeners {
            gateway.addresses.push(address);
            let shared = Arc::clone(&gateway.shared);
            gateway.spawn(move || accept(&shared, &listener))?;
        }
        let shared = Arc::clone(&gateway.shared);
        gateway.spawn(move || expire_scanners(&shared))?;
        Ok(gateway)
    }

    fn spawn(&mut self, run: impl FnOnce() + Send + 'static) -> Result<()> {
        let thread = thread::Builder::new().name("hblite-thrift".to_owned()).spawn(run);
        let thread = thread.map_err(|error| Error::io_of("cannot start a thread", error))?;
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
        self.shared.one.scanners.len()
    }

    /// Closes the ports and connections, and waits some seconds for calls under way.
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
            // Wakes the thread that accepts; it is over if nobody answers.
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

/// The address by which this process reaches a port of its own.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Accepts connections until the gateway is stopped.
fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    loop {
        let accepted = listener.accept();
        if shared.state.lock().is_stopped {
            return;
        }
        match accepted {
            Ok((stream, _)) => start_connection(shared, stream),
            // Out of file descriptors, or a client that left: the next one may have more luck.
            Err(_) => wait(shared, ACCEPT_PAUSE),
        }
    }
}

/// Waits until the gateway is stopped, or for a time.
fn wait(shared: &Shared, time: Duration) {
    let mut state = shared.state.lock();
    if !state.is_stopped {
        let _ = shared.changed.wait_for(&mut state, time);
    }
}

fn expire_scanners(shared: &Shared) {
    while !shared.state.lock().is_stopped {
        shared.one.scanners.expire();
        wait(shared, EXPIRE_PERIOD);
    }
}

/// Serves a connection in a thread of its own, or closes it if there are too many.
fn start_connection(shared: &Arc<Shared>, stream: TcpStream) {
    let Ok(registered) = stream.try_clone() else { return };
    let mut state = shared.state.lock();
    if state.is_stopped || state.connections.len() >= shared.limits.connections_max {
        return;
    }
    state.last += 1;
    let number = state.last;
    state.connections.insert(number, registered);
    drop(state);
    let entry = Entry { shared: Arc::clone(shared), number };
    let run = move || {
        let service = v1::Handler::new(Arc::clone(&entry.shared.one), entry.number);
        transport::serve(&stream, &service, &entry.shared.limits);
    };
    // If no thread can be started, the closure is dropped, and with it the connection.
    let _ = thread::Builder::new().name("hblite-thrift".to_owned()).spawn(run);
}

/// Keeps a connection registered until its thread ends, also by a panic.
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
