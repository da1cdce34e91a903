//! The servers behind the ports.

/// The number of a region server, from 0.
pub(crate) type ServerIndex = usize;

/// The server that answers on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Master,
    RegionServer(ServerIndex),
}
