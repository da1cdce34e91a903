//! A server for one test: in memory, on free ports, gone at the end of the scope.

use hblite::{Connection, Options};
use hblite_model::Result;

use crate::fault_control::Faults;
use crate::options::ServerOptions;
use crate::server::{Server, ServerPorts};

/// A cluster for one test.
///
/// ```
/// let server = hblite_server::TestServer::start()?;
/// let bootstrap = format!("localhost:{}", server.ports().master);
/// // What the test's HBase client writes can be looked at here, and the other way round.
/// let connection = server.connection();
/// # let _ = (bootstrap, connection);
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Debug)]
pub struct TestServer {
    server: Server,
    connection: Connection,
}

impl TestServer {
    /// An empty store in memory, served on free ports.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start() -> Result<Self> {
        Self::start_with(Options::new(), ServerOptions::on_free_ports())
    }

    /// The same with other settings, such as a clock that the test moves.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start_with(store: Options, options: ServerOptions) -> Result<Self> {
        let connection = store.open_in_memory()?;
        let server = Server::start(&connection, options)?;
        Ok(Self { server, connection })
    }

    /// The ports that are open.
    pub fn ports(&self) -> &ServerPorts {
        self.server.ports()
    }

    /// The store, without the network.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// What goes wrong on demand.
    pub fn faults(&self) -> &Faults {
        self.server.faults()
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_may_serve_tests_on_many_threads() {
        fn shared<T: Send + Sync>(_: &T) {}
        let server = TestServer::start().unwrap();
        shared(&server);
        shared(server.faults());
    }
}
