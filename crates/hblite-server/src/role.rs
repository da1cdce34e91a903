//! The servers behind the ports.

use std::fmt;

/// The number of a region server, from 0.
pub(crate) type ServerIndex = usize;

/// The server that answers on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Master,
    RegionServer(ServerIndex),
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Master => write!(f, "master"),
            Self::RegionServer(index) => write!(f, "region server {}", index + 1),
        }
    }
}
