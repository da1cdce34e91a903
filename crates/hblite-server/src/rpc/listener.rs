//! Accepts connections on one port.
//!
//! A [`Port`] can be closed and opened again. While closed, it refuses connections like an unused
//! port, but no other process can take it.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use socket2::{Domain, SockRef, Socket, TcpKeepalive, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::connection;
use super::dispatch::Dispatcher;
use crate::cluster::Role;
use crate::place::Place;

/// How long to wait after `accept` has failed, for example for lack of file descriptors.
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(50);
/// Idle time after which the system probes whether the client is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
/// The backlog of connections that are not accepted yet.
const BACKLOG: i32 = 1024;
/// How long a close waits for the tasks of connections, which end at their next step.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A port that is open.
#[derive(Debug)]
pub(crate) struct Listener {
    listener: TcpListener,
}

impl Listener {
    /// Opens a port.
    ///
    /// # Errors
    /// Those of the socket, such as a port in use.
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::listen(&reserve(address)?)
    }

    fn listen(reserved: &Socket) -> io::Result<Self> {
        reserved.listen(BACKLOG)?;
        let listener = std::net::TcpListener::from(reserved.try_clone()?);
        listener.set_nonblocking(true)?;
        Ok(Self { listener: TcpListener::from_std(listener)? })
    }

    /// The socket.
    pub(crate) fn into_inner(self) -> TcpListener {
        self.listener
    }

    /// Where it listens.
    ///
    /// # Errors
    /// Those of the socket.
    pub(crate) fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }
}

/// A socket that holds the address without listening.
fn reserve(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

/// A port of a server of this cluster.
#[derive(Debug)]
pub(crate) struct Port {
    address: SocketAddr,
    role: Role,
    dispatcher: Arc<Dispatcher>,
    state: State,
}

#[derive(Debug)]
enum State {
    Open {
        stop: oneshot::Sender<()>,
        has_ended: mpsc::Receiver<()>,
    },
    Closed {
        reserved: Socket,
    },
    /// The port could not be closed or opened as requested.
    Failed,
}

impl Port {
    /// Serves the connections to `listener`, as the server of this role.
    ///
    /// # Errors
    /// Those of the socket.
    pub(crate) fn open(
        runtime: &Handle,
        listener: Listener,
        dispatcher: &Arc<Dispatcher>,
        role: Role,
    ) -> io::Result<Self> {
        let address = listener.listener.local_addr()?;
        let dispatcher = Arc::clone(dispatcher);
        let state = start(runtime, listener, &dispatcher, role);
        Ok(Self { address, role, dispatcher, state })
    }

    /// Ends every connection, whatever it is doing, and accepts no more.
    ///
    /// # Errors
    /// `TimedOut` if connections do not end; those of the socket.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        if let State::Open { stop, has_ended } = std::mem::replace(&mut self.state, State::Failed) {
            let _ = stop.send(());
            let timed_out = |_| io::Error::from(io::ErrorKind::TimedOut);
            match has_ended.recv_timeout(CLOSE_TIMEOUT) {
                Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {}
                Err(error) => return Err(timed_out(error)),
            }
        }
        self.state = State::Closed { reserved: reserve(self.address)? };
        Ok(())
    }

    /// Accepts connections again.
    ///
    /// # Errors
    /// Those of the socket.
    pub(crate) fn reopen(&mut self, runtime: &Handle) -> io::Result<()> {
        let guard = runtime.enter();
        let listener = match &self.state {
            State::Open { .. } => return Ok(()),
            State::Closed { reserved } => Listener::listen(reserved)?,
            State::Failed => Listener::bind(self.address)?,
        };
        drop(guard);
        self.state = start(runtime, listener, &self.dispatcher, self.role);
        Ok(())
    }
}

fn start(runtime: &Handle, listener: Listener, dispatcher: &Arc<Dispatcher>, role: Role) -> State {
    let (stop, stopped) = oneshot::channel();
    let (ended, has_ended) = mpsc::channel();
    let dispatcher = Arc::clone(dispatcher);
    runtime.spawn(async move {
        accept(listener, dispatcher, role, stopped).await;
        let _ = ended.send(());
    });
    State::Open { stop, has_ended }
}

/// Serves the port until it must stop, which also ends its connections.
async fn accept(
    listener: Listener,
    dispatcher: Arc<Dispatcher>,
    role: Role,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.listener.accept() => match accepted {
                Ok((stream, client)) => {
                    let place = Place::enter(dispatcher.connections(), client.ip()).await;
                    let Some(place) = place else { continue };
                    let dispatcher = Arc::clone(&dispatcher);
                    connections.spawn(async move {
                        // An error only ends the client's connection.
                        if prepare(&stream).is_ok() {
                            let _ = connection::serve(stream, dispatcher, role, place).await;
                        }
                    });
                }
                Err(_) => {
                    // Perhaps the process has reached its limit of descriptors.
                    dispatcher.connections().evict();
                    tokio::time::sleep(PAUSE_AFTER_ERROR).await;
                }
            },
            Some(_) = connections.join_next() => {}
            _ = &mut stopped => break,
        }
    }
    drop(listener);
    connections.shutdown().await;
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}
