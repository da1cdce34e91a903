//! Bytes to a port of a running server. Whatever they are, the server ends the connection and
//! answers the next client.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::LazyLock;
use std::time::Duration;

use hblite_server::TestServer;

pub(crate) static SERVER: LazyLock<TestServer> =
    LazyLock::new(|| TestServer::start().expect("a server"));

/// Sends the bytes and nothing more; returns what the server sends until it ends the connection.
pub(crate) fn exchange(port: u16, sent: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server is there");
    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
    let _ = stream.write_all(sent);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer) {
        assert_ne!(error.kind(), ErrorKind::WouldBlock, "the connection stays open");
    }
    answer
}
