//! Accepts connections on one port.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};

use super::connection;
use super::dispatch::Dispatcher;
use crate::cluster::Role;

/// How long nothing is accepted after the system has refused to, as when files run out.
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(50);
/// After this silence the system asks whether the client is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);

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
        let listener = std::net::TcpListener::bind(address)?;
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

/// Serves the port as the server of this role, until the task is dropped.
pub(crate) async fn accept(listener: Listener, dispatcher: Arc<Dispatcher>, role: Role) {
    loop {
        match listener.listener.accept().await {
            Ok((stream, _)) => {
                let Some(permit) = dispatcher.admit_connection() else {
                    continue;
                };
                let dispatcher = Arc::clone(&dispatcher);
                tokio::spawn(async move {
                    // What fails is the client's connection, and only that.
                    if prepare(&stream).is_ok() {
                        let _ = connection::serve(stream, dispatcher, role).await;
                    }
                    drop(permit);
                });
            }
            Err(_) => tokio::time::sleep(PAUSE_AFTER_ERROR).await,
        }
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}
