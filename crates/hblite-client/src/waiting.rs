//! What waits for the system: names of hosts, files, libraries.
//!
//! Each runs on a thread of its own, and not on one of the runtime, which may be the caller's:
//! `spawn_blocking` panics if the system refuses it the first thread.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::{io, thread};

use hblite_model::{Error, Exception, Result};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::url::ServerAddress;

/// Does work that waits.
///
/// # Errors
/// `Io` if no thread can be started, or the work panics.
pub(crate) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = oneshot::channel();
    let run = move || {
        // The caller may have given up.
        let _ = sender.send(work());
    };
    let thread = thread::Builder::new().name("hblite-wait".to_owned());
    thread.spawn(run).map_err(Error::no_thread)?;
    let ended = "a thread that waited for the system ended early";
    receiver.await.map_err(|_| Error::new(Exception::Io, ended))
}

/// Connects to a server, at any address that its host has.
///
/// # Errors
/// `NotFound` if its host is not known.
pub(crate) async fn connect(server: &ServerAddress) -> io::Result<TcpStream> {
    if let Ok(ip) = server.host.parse::<IpAddr>() {
        return TcpStream::connect((ip, server.port)).await;
    }
    let (host, port) = (server.host.clone(), server.port);
    let look_up = move || (host, port).to_socket_addrs().map(Iterator::collect::<Vec<SocketAddr>>);
    let found = on_thread(look_up).await.map_err(io::Error::other)?;
    let addresses = found.map_err(|error| io::Error::new(io::ErrorKind::NotFound, error))?;
    TcpStream::connect(addresses.as_slice()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_and_a_panic_is_an_error() {
        assert_eq!(on_thread(|| 7).await.unwrap(), 7);
        let failed = on_thread(|| -> u8 { panic!("as the test wants it") }).await;
        assert!(failed.unwrap_err().message().contains("ended early"));
    }

    #[tokio::test]
    async fn a_host_is_found_by_its_name_and_its_address() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        for host in ["localhost", "127.0.0.1"] {
            connect(&ServerAddress { host: host.to_owned(), port }).await.unwrap();
        }
        let unknown = ServerAddress { host: "no-such-host.invalid".to_owned(), port };
        let error = connect(&unknown).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
