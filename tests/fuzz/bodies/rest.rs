//! What a client of the REST gateway sends: a path, a filter, a body, or a whole request.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::LazyLock;
use std::time::Duration;

use hblite_rest::{RestOptions, RestServer, parsers};

static SERVER: LazyLock<RestServer> = LazyLock::new(|| {
    let connection = hblite::open_in_memory().expect("a store in memory");
    let options = RestOptions::default().with_port(0);
    RestServer::start(&connection, options).expect("a gateway")
});

/// The first byte selects what the others are.
pub(crate) fn run(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    if *choice < 200 {
        return parsers::parse(*choice, bytes);
    }
    let mut stream = TcpStream::connect(("127.0.0.1", SERVER.port())).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    // The gateway may end the connection at any byte.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
}
