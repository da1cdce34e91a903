//! The registry: which server has hbase:meta, and which one is the master.

mod endpoints;
mod refresher;
mod zookeeper;

use std::fmt;
use std::sync::Arc;

use hblite_model::{Exception, ZooKeeperReport};
use hblite_wire::pb;
use tokio::time::Instant;

use self::endpoints::Endpoints;
use self::refresher::Refresher;
use crate::Compiled;
use crate::error::CallError;
use crate::rpc::Rpc;
use crate::url::{ClusterAddress, ServerAddress};

/// The server that is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The one that has hbase:meta.
    Meta,
    /// The active master.
    Master,
}

impl Wanted {
    /// The error when the registry answered, but knows no such server.
    fn absent(self, why: String) -> CallError {
        let exception = match self {
            Self::Meta => Exception::Io,
            Self::Master => Exception::MasterNotRunning,
        };
        CallError::NotRegistered { exception, why }
    }

    /// The error when the registry did not answer.
    fn unanswered(why: String) -> CallError {
        CallError::NotRegistered { exception: Exception::Io, why }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Meta => "hbase:meta",
            Self::Master => "the master",
        })
    }
}

/// A cluster's registry.
#[derive(Debug)]
pub(crate) struct Registry {
    rpc: Arc<Rpc>,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Servers { endpoints: Arc<Endpoints>, refresher: Refresher },
    ZooKeeper { quorum: Vec<ServerAddress>, parent: String },
}

impl Registry {
    pub(crate) fn new(address: ClusterAddress, rpc: Arc<Rpc>) -> Self {
        let place = match address {
            ClusterAddress::Rpc { servers } => {
                let endpoints = Arc::new(Endpoints::new(servers, Arc::clone(&rpc)));
                Place::Servers { endpoints, refresher: Refresher::default() }
            }
            ClusterAddress::ZooKeeper { quorum, parent } => Place::ZooKeeper { quorum, parent },
        };
        Self { rpc, place }
    }

    /// Where the cluster is, as the configuration of a replication peer says it; `None` if its
    /// ZooKeeper is not known.
    pub(crate) fn cluster_key(&self) -> Option<String> {
        let Place::ZooKeeper { quorum, parent } = &self.place else { return None };
        let port = quorum.last()?.port;
        let has_one_port = quorum.iter().all(|server| server.port == port);
        let host = |server: &ServerAddress| match has_one_port {
            true => server.host.clone(),
            false => format!("{}:{}", server.host, server.port),
        };
        let hosts: Vec<String> = quorum.iter().map(host).collect();
        Some(format!("{}:{port}:{parent}", hosts.join(",")))
    }

    /// The address of a server.
    ///
    /// # Errors
    /// [`CallError::NotRegistered`], with what was tried.
    pub(crate) fn find(
        &self,
        wanted: Wanted,
        deadline: Instant,
    ) -> Compiled<'_, Result<ServerAddress, CallError>> {
        match &self.place {
            Place::Servers { endpoints, refresher } => {
                refresher.start(endpoints, &self.rpc.settings().registry);
                Box::pin(endpoints.find(wanted, deadline))
            }
            Place::ZooKeeper { quorum, parent } => {
                let settings = self.rpc.settings();
                Box::pin(zookeeper::find(quorum, parent, wanted, settings, deadline))
            }
        }
    }
}

impl Registry {
    /// The path below which HBase keeps everything in ZooKeeper, and what each server of ZooKeeper
    /// says of itself; `None` for a registry that is not in ZooKeeper.
    pub(crate) async fn zookeeper(&self) -> Option<ZooKeeperReport> {
        let Place::ZooKeeper { quorum, parent } = &self.place else { return None };
        let mut report = ZooKeeperReport::default();
        report.root.clone_from(parent);
        for server in quorum {
            let text = zookeeper::statistics(server, self.rpc.settings()).await;
            report.quorum.push((server.to_string(), text));
        }
        Some(report)
    }
}

impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |servers: &[ServerAddress]| {
            servers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        };
        match &self.place {
            Place::Servers { endpoints, .. } => {
                write!(f, "hbase+rpc://{}", list(endpoints.configured()))
            }
            Place::ZooKeeper { quorum, parent } => write!(f, "hbase://{}{parent}", list(quorum)),
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
fn shuffled(servers: &[ServerAddress]) -> Vec<ServerAddress> {
    let mut servers = servers.to_vec();
    fastrand::shuffle(&mut servers);
    servers
}

/// The error when no server had the answer: what was tried, and the results. `place` names where
/// the answer should be.
fn none_answered(wanted: Wanted, place: &str, tried: Vec<(ServerAddress, CallError)>) -> CallError {
    let is_known_absent = tried.iter().any(|(_, error)| match error {
        CallError::NotRegistered { exception, .. } => *exception != Exception::Io,
        _ => false,
    });
    let why = |(server, error): (ServerAddress, CallError)| {
        let error = hblite_model::Error::from(error);
        let text = error.message();
        let server = server.to_string();
        if text.contains(&server) { text.to_owned() } else { format!("{server}: {text}") }
    };
    let tried: Vec<String> = tried.into_iter().map(why).collect();
    let why = format!("no server says where {place} is: {}", tried.join("; "));
    if is_known_absent { wanted.absent(why) } else { Wanted::unanswered(why) }
}
