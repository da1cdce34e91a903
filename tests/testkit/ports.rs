//! A port on which nothing listens.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpSocket;

/// A port that is bound and on which nothing listens, so that connections are refused. While this
/// exists, no other test gets the port: one that was only free a moment ago may be another server's
/// by the time that it is called.
pub(crate) struct ClosedPort {
    socket: TcpSocket,
}

impl ClosedPort {
    pub(crate) fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port is free");
        Self { socket }
    }

    pub(crate) fn port(&self) -> u16 {
        self.socket.local_addr().expect("it is bound").port()
    }
}
