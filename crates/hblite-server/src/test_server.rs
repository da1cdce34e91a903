//! A server for one test: in memory, on free ports, ended with its scope.

use hblite::{Connection, Options};
use hblite_model::Result;

use crate::fault_control::Faults;
use crate::options::ServerOptions;
use crate::ports::ServerPorts;
use crate::server::Server;
use crate::state_control::StateControl;

/// A cluster for one test.
///
/// ```
/// let server = hblite_server::TestServer::start()?;
/// let bootstrap = format!("localhost:{}", server.ports().master);
/// // What the test's HBase client writes can be read here, and vice versa.
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
        Self::over(store.open_in_memory()?, options)
    }

    /// A server of this store.
    fn over(connection: Connection, options: ServerOptions) -> Result<Self> {
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

    /// Faults on demand.
    pub fn faults(&self) -> &Faults {
        self.server.faults()
    }

    /// Its checkpoints, its forks and its clock.
    pub fn state(&self) -> &StateControl {
        self.server.state()
    }

    /// Starts an independent server, on free ports, on a copy-on-write view of a checkpoint. It
    /// ends when it is dropped.
    ///
    /// ```
    /// let server = hblite_server::TestServer::start()?;
    /// server.state().checkpoint("empty")?;
    /// let fork = server.fork("empty")?;
    /// assert_ne!(fork.ports().master, server.ports().master);
    /// # Ok::<(), hblite::Error>(())
    /// ```
    ///
    /// # Errors
    /// `NotFound` if there is no checkpoint of this name; `Io` if no port can be opened.
    pub fn fork(&self, checkpoint: &str) -> Result<Self> {
        let (store, options) = self.state().fork_store(checkpoint)?;
        Self::over(store, options)
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
