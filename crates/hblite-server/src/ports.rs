//! The ports of a server.

/// The ports that a server has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPorts {
    /// The ZooKeeper shim's, if there is one.
    pub zookeeper: Option<u16>,
    /// The master's.
    pub master: u16,
    /// The region servers'.
    pub region_servers: Vec<u16>,
    /// The admin endpoint's, if there is one.
    pub http: Option<u16>,
}
