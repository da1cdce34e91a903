//! HBase's servers as a registry: masters since 2.3, region servers since 2.5.

use prost::Message;
use tokio::time::Instant;

use hblite_wire::pb;

use super::{address, none_answered, shuffled};
use crate::error::CallError;
use crate::rpc::{Limit, Method, Rpc, Service};
use crate::settings::ClientSettings;
use crate::url::ServerAddress;

const META: Method = Method::new(Service::Registry, "GetMetaRegionLocations");
const MASTER: Method = Method::new(Service::Registry, "GetActiveMaster");

/// The server of hbase:meta.
pub(super) async fn meta(
    rpc: &Rpc,
    servers: &[ServerAddress],
    settings: &ClientSettings,
    deadline: Instant,
) -> Result<ServerAddress, CallError> {
    ask(rpc, servers, META, "hbase:meta", settings, deadline, |answer| {
        let answer: pb::GetMetaRegionLocationsResponse = answer;
        let mut locations = answer.meta_locations.into_iter();
        let first = locations.find(|one| one.region_info.replica_id.unwrap_or(0) == 0);
        address(first.and_then(|location| location.server_name))
    })
    .await
}

/// The active master.
pub(super) async fn master(
    rpc: &Rpc,
    servers: &[ServerAddress],
    settings: &ClientSettings,
    deadline: Instant,
) -> Result<ServerAddress, CallError> {
    ask(rpc, servers, MASTER, "the master", settings, deadline, |answer| {
        let answer: pb::GetActiveMasterResponse = answer;
        address(answer.server_name)
    })
    .await
}

/// Asks one server after another until one returns the address.
async fn ask<M: Message + Default>(
    rpc: &Rpc,
    servers: &[ServerAddress],
    method: Method,
    what: &str,
    settings: &ClientSettings,
    deadline: Instant,
    find: impl Fn(M) -> Option<ServerAddress>,
) -> Result<ServerAddress, CallError> {
    let mut tried = Vec::new();
    let servers = shuffled(servers);
    let count = servers.len();
    for (index, server) in servers.into_iter().enumerate() {
        // A silent server must leave time for the others.
        let share = (deadline - Instant::now()) / (count - index) as u32;
        let limit = Limit {
            rpc: settings.rpc_timeout,
            deadline: Instant::now() + share.min(settings.rpc_timeout),
            server: None,
        };
        let answer = rpc.call::<M>(server, method, &pb::Empty {}, b"", limit).await;
        match answer.map(|answer| find(answer.message)) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {
                let why = format!("it does not know where {what} is at the moment");
                tried.push((server, CallError::Nowhere(why)));
            }
            Err(error) => tried.push((server, error)),
        }
    }
    // A peer that is not an HBase server will not become one.
    if tried.iter().all(|(_, error)| !error.is_retryable())
        && let Some((_, error)) = tried.pop()
    {
        return Err(error);
    }
    Err(none_answered(what, tried))
}
