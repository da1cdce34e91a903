//! The registry: which server has hbase:meta, and which one is the master.

mod servers;
mod zookeeper;

use std::fmt;

use hblite_wire::pb;
use tokio::time::Instant;

use crate::error::CallError;
use crate::rpc::Rpc;
use crate::settings::ClientSettings;
use crate::url::{ClusterAddress, ServerAddress};

/// A cluster's registry.
#[derive(Debug)]
pub(crate) struct Registry {
    address: ClusterAddress,
}

impl Registry {
    pub(crate) fn new(address: ClusterAddress) -> Self {
        Self { address }
    }

    /// The server of hbase:meta.
    pub(crate) async fn meta(
        &self,
        rpc: &Rpc,
        settings: &ClientSettings,
        deadline: Instant,
    ) -> Result<ServerAddress, CallError> {
        match &self.address {
            ClusterAddress::Rpc { servers } => {
                servers::meta(rpc, servers, settings, deadline).await
            }
            ClusterAddress::ZooKeeper { quorum, parent } => {
                zookeeper::meta(quorum, parent, settings, deadline).await
            }
        }
    }

    /// The active master.
    pub(crate) async fn master(
        &self,
        rpc: &Rpc,
        settings: &ClientSettings,
        deadline: Instant,
    ) -> Result<ServerAddress, CallError> {
        match &self.address {
            ClusterAddress::Rpc { servers } => {
                servers::master(rpc, servers, settings, deadline).await
            }
            ClusterAddress::ZooKeeper { quorum, parent } => {
                zookeeper::master(quorum, parent, settings, deadline).await
            }
        }
    }
}

impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |servers: &[ServerAddress]| {
            servers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        };
        match &self.address {
            ClusterAddress::Rpc { servers } => write!(f, "hbase+rpc://{}", list(servers)),
            ClusterAddress::ZooKeeper { quorum, parent } => {
                write!(f, "hbase://{}{parent}", list(quorum))
            }
        }
    }
}

/// The address in a message; `None` if it is not complete.
fn address(name: Option<pb::ServerName>) -> Option<ServerAddress> {
    let name = name?;
    let port = u16::try_from(name.port?).ok().filter(|port| *port > 0)?;
    (!name.host_name.is_empty()).then_some(ServerAddress { host: name.host_name, port })
}

/// The servers in random order, so that clients spread over them.
fn shuffled(servers: &[ServerAddress]) -> Vec<&ServerAddress> {
    let mut servers: Vec<&ServerAddress> = servers.iter().collect();
    fastrand::shuffle(&mut servers);
    servers
}

/// The error when no server answered: what was tried, and the results.
fn none_answered(what: &str, tried: Vec<(&ServerAddress, CallError)>) -> CallError {
    let why = |(server, error): (&ServerAddress, CallError)| {
        let error = hblite_model::Error::from(error);
        let text = error.message();
        let server = server.to_string();
        if text.contains(&server) { text.to_owned() } else { format!("{server}: {text}") }
    };
    let tried: Vec<String> = tried.into_iter().map(why).collect();
    CallError::Nowhere(format!("no server says where {what} is: {}", tried.join("; ")))
}
