//! HBase's servers as a registry: masters since 2.3, region servers since 2.5.
//!
//! The client begins with the servers of its URL. From time to time it asks them which servers
//! should be asked instead, and remembers the answer. The servers of the URL are still asked when
//! none of the others has the answer.
//!
//! Threads: any.

use std::sync::Arc;
use std::time::Duration;

use hblite_wire::pb;
use parking_lot::RwLock;
use prost::Message;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Wanted, address, none_answered, shuffled};
use crate::error::CallError;
use crate::rpc::{Limit, Method, Rpc, Service};
use crate::url::ServerAddress;

const META: Method = Method::new(Service::Registry, "GetMetaRegionLocations");
const MASTER: Method = Method::new(Service::Registry, "GetActiveMaster");
const BOOTSTRAP_NODES: Method = Method::new(Service::Registry, "GetBootstrapNodes");
const MASTERS: Method = Method::new(Service::Registry, "GetMasters");

/// What was tried without success.
type Tried = Vec<(ServerAddress, CallError)>;

/// The servers that are asked.
#[derive(Debug)]
pub(super) struct Endpoints {
    rpc: Arc<Rpc>,
    configured: Vec<ServerAddress>,
    /// The servers that the cluster named last.
    named: RwLock<Vec<ServerAddress>>,
    /// A server did not answer: the list may be out of date.
    outdated: Notify,
}

impl Endpoints {
    pub(super) fn new(configured: Vec<ServerAddress>, rpc: Arc<Rpc>) -> Self {
        Self { rpc, configured, named: RwLock::default(), outdated: Notify::new() }
    }

    /// The servers of the URL.
    pub(super) fn configured(&self) -> &[ServerAddress] {
        &self.configured
    }

    /// Waits until a server did not answer.
    pub(super) async fn outdated(&self) {
        self.outdated.notified().await;
    }

    /// Asks for the address of a server.
    pub(super) async fn find(
        &self,
        wanted: Wanted,
        deadline: Instant,
    ) -> Result<ServerAddress, CallError> {
        let found = match wanted {
            Wanted::Meta => self.ask(META, deadline, meta_of).await,
            Wanted::Master => {
                let of = |answer: pb::GetActiveMasterResponse| address(answer.server_name);
                self.ask(MASTER, deadline, of).await
            }
        };
        let absent = |error: Option<CallError>| {
            error.unwrap_or_else(|| {
                wanted.absent(format!("it does not know where {wanted} is at the moment"))
            })
        };
        found.map_err(|tried| {
            let tried: Tried =
                tried.into_iter().map(|(server, error)| (server, absent(error))).collect();
            // A peer that is not an HBase server will not become one.
            match tried.last() {
                Some((_, last)) if tried.iter().all(|(_, error)| !error.is_retryable()) => {
                    last.clone()
                }
                _ => none_answered(wanted, &wanted.to_string(), tried),
            }
        })
    }

    /// Asks which servers should be asked from now on. Without an answer, nothing changes.
    pub(super) async fn refresh(&self) {
        let deadline = || Instant::now() + self.rpc.settings().rpc_timeout;
        let list = |names: Vec<pb::ServerName>| {
            let names: Vec<_> = names.into_iter().filter_map(|name| address(Some(name))).collect();
            (!names.is_empty()).then_some(names)
        };
        let nodes = |answer: pb::GetBootstrapNodesResponse| list(answer.server_name);
        let masters = |answer: pb::GetMastersResponse| {
            list(answer.master_servers.into_iter().map(|entry| entry.server_name).collect())
        };
        let named = match self.ask(BOOTSTRAP_NODES, deadline(), nodes).await {
            Ok(named) => Ok(named),
            // Servers before 2.5 have only this method.
            Err(_) => self.ask(MASTERS, deadline(), masters).await,
        };
        if let Ok(named) = named {
            tracing::debug!(servers = named.len(), "registry refreshed");
            *self.named.write() = named;
        }
    }

    /// The servers in the order in which they are asked.
    fn order(&self) -> Vec<ServerAddress> {
        let mut servers = shuffled(&self.named.read());
        let configured = shuffled(&self.configured);
        let others = configured.into_iter().filter(|server| !servers.contains(server));
        let others: Vec<_> = others.collect();
        servers.extend(others);
        servers
    }

    /// Asks a few servers at a time until one has the answer. Otherwise returns the error of each;
    /// `None` for a server that answered without it.
    async fn ask<M: Message + Default + 'static, T>(
        &self,
        method: Method,
        deadline: Instant,
        read: impl Fn(M) -> Option<T>,
    ) -> Result<T, Vec<(ServerAddress, Option<CallError>)>> {
        let (servers, mut tried) = (self.order(), Vec::new());
        let at_once = self.rpc.settings().registry.hedged_fanout.max(1);
        let groups = servers.chunks(at_once);
        let mut left = groups.len() as u32;
        for group in groups {
            // Silent servers must leave time for the others.
            let share = deadline.saturating_duration_since(Instant::now()) / left;
            left -= 1;
            let mut calls = JoinSet::new();
            for server in group {
                calls.spawn(call::<M>(Arc::clone(&self.rpc), server.clone(), method, share));
            }
            while let Some(done) = calls.join_next().await {
                // A call that panicked has no answer.
                let Ok((server, answer)) = done else { continue };
                match answer.map(&read) {
                    Ok(Some(found)) => return Ok(found),
                    Ok(None) => tried.push((server, None)),
                    Err(error) => {
                        if error.is_of_connection() {
                            self.outdated.notify_one();
                        }
                        tried.push((server, Some(error)));
                    }
                }
            }
        }
        Err(tried)
    }
}

async fn call<M: Message + Default>(
    rpc: Arc<Rpc>,
    server: ServerAddress,
    method: Method,
    share: Duration,
) -> (ServerAddress, Result<M, CallError>) {
    let time = rpc.settings().rpc_timeout;
    let limit = Limit { rpc: time, deadline: Instant::now() + share.min(time), server: None };
    let answer = rpc.call::<M>(&server, method, &pb::Empty {}, b"", limit).await;
    (server, answer.map(|answer| answer.message))
}

/// The server of hbase:meta itself, not of a replica.
fn meta_of(answer: pb::GetMetaRegionLocationsResponse) -> Option<ServerAddress> {
    let mut locations = answer.meta_locations.into_iter();
    let first = locations.find(|one| one.region_info.replica_id.unwrap_or(0) == 0);
    address(first.and_then(|location| location.server_name))
}
