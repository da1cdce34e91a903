//! The region servers, and which of them are alive.
//!
//! A server that has crashed keeps its number and port, and comes back with another start code:
//! clients treat it as another server at the same address, as with HBase.
//!
//! Threads: any.

use parking_lot::RwLock;

use super::{ServerIdentity, ServerIndex};

/// The region servers.
#[derive(Debug)]
pub(crate) struct RegionServers {
    servers: RwLock<Vec<RegionServer>>,
}

#[derive(Debug, Clone, Copy)]
struct RegionServer {
    identity: ServerIdentity,
    is_alive: bool,
    crashes: u64,
}

impl RegionServers {
    pub(crate) fn new(identities: impl Iterator<Item = ServerIdentity>) -> Self {
        let server = |identity| RegionServer { identity, is_alive: true, crashes: 0 };
        Self { servers: RwLock::new(identities.map(server).collect()) }
    }

    /// The number of servers, including dead ones.
    pub(crate) fn len(&self) -> usize {
        self.servers.read().len()
    }

    /// The identity of the server, or its identity before it crashed.
    pub(crate) fn identity(&self, server: ServerIndex) -> Option<ServerIdentity> {
        self.servers.read().get(server).map(|server| server.identity)
    }

    /// The identity of the server, unless it is dead.
    pub(crate) fn live_identity(&self, server: ServerIndex) -> Option<ServerIdentity> {
        let servers = self.servers.read();
        servers.get(server).filter(|server| server.is_alive).map(|server| server.identity)
    }

    pub(crate) fn is_alive(&self, server: ServerIndex) -> bool {
        self.servers.read().get(server).is_some_and(|server| server.is_alive)
    }

    /// The live servers.
    pub(crate) fn alive(&self) -> Vec<ServerIndex> {
        self.numbers_of(true)
    }

    /// The servers that have crashed and are not back.
    pub(crate) fn dead(&self) -> Vec<ServerIndex> {
        self.numbers_of(false)
    }

    fn numbers_of(&self, is_alive: bool) -> Vec<ServerIndex> {
        let servers = self.servers.read();
        let them = servers.iter().enumerate().filter(|(_, server)| server.is_alive == is_alive);
        them.map(|(number, _)| number).collect()
    }

    /// The identities of the live servers.
    pub(crate) fn identities(&self) -> Vec<ServerIdentity> {
        let servers = self.servers.read();
        servers.iter().filter(|server| server.is_alive).map(|server| server.identity).collect()
    }

    /// The number of this crash; `None` if the server is already dead or does not exist.
    pub(crate) fn crash(&self, server: ServerIndex) -> Option<u64> {
        let mut servers = self.servers.write();
        let server = servers.get_mut(server).filter(|server| server.is_alive)?;
        server.is_alive = false;
        server.crashes += 1;
        Some(server.crashes)
    }

    /// Whether the server is dead since this crash.
    pub(crate) fn is_dead_since(&self, server: ServerIndex, crash: u64) -> bool {
        let servers = self.servers.read();
        servers.get(server).is_some_and(|server| !server.is_alive && server.crashes == crash)
    }

    /// Brings a dead server back. Its start code is later than before, whatever the clock says.
    pub(crate) fn restart(&self, server: ServerIndex, now_ms: i64) -> Option<ServerIdentity> {
        let mut servers = self.servers.write();
        let server = servers.get_mut(server).filter(|server| !server.is_alive)?;
        server.is_alive = true;
        let now = u64::try_from(now_ms).unwrap_or(0);
        server.identity.start_code = now.max(server.identity.start_code + 1);
        Some(server.identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_comes_back_is_another_one() {
        let identity = |port| ServerIdentity { port, start_code: 10 };
        let servers = RegionServers::new([1, 2].into_iter().map(identity));
        let first = servers.crash(0).unwrap();
        assert_eq!((servers.crash(0), servers.crash(2)), (None, None));
        assert_eq!((servers.alive(), servers.dead()), (vec![1], vec![0]));
        assert_eq!(servers.identities(), [identity(2)]);
        assert!(servers.is_dead_since(0, first));
        // The clock is stopped.
        assert_eq!(servers.restart(0, 10), Some(ServerIdentity { port: 1, start_code: 11 }));
        assert_eq!(servers.restart(0, 10), None);
        let second = servers.crash(0).unwrap();
        assert!(!servers.is_dead_since(0, first) && servers.is_dead_since(0, second));
        assert_eq!(servers.restart(0, 500).unwrap().start_code, 500);
    }
}
