//! Features that hblite does not have: replication peers, quotas, permissions, and the endpoints of
//! coprocessors. Calls get the exceptions of an HBase in which they are off.

use hblite_model::Switch;
use hblite_wire::exception::class;
use hblite_wire::{RemoteException, pb};

use super::Method;
use crate::cluster::Cluster;
use crate::rpc::call::{Answer, Call};

pub(super) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "AddReplicationPeer" => |cluster, _| {
            check_peers(cluster)?;
            let message = "hblite does not replicate, so a peer would get nothing";
            Err(RemoteException::do_not_retry(message))
        },
        "RemoveReplicationPeer"
        | "EnableReplicationPeer"
        | "DisableReplicationPeer"
        | "UpdateReplicationPeerConfig" => |cluster, call| {
            check_peers(cluster)?;
            unknown_peer(call)
        },
        "GetReplicationPeerConfig" => |_, call| unknown_peer(call),
        "SetQuota" => |_, _| Err(off("quota support disabled")),
        "Grant" | "Revoke" | "GetUserPermissions" | "HasUserPermissions" => |_, _| {
            let controller = "org.apache.hadoop.hbase.security.access.AccessController";
            Err(off(&format!("{controller} is not loaded")))
        },
        "ExecMasterService" => |_, call| {
            let request: pb::CoprocessorServiceRequest = call.parameter()?;
            let message = format!(
                "No registered Master Coprocessor Endpoint found for {}. Has it been enabled?",
                request.call.service_name
            );
            Err(RemoteException::new(class::UNKNOWN_PROTOCOL, message))
        },
        _ => return None,
    })
}

fn off(message: &str) -> RemoteException {
    RemoteException::do_not_retry(format!("java.lang.UnsupportedOperationException: {message}"))
}

fn check_peers(cluster: &Cluster) -> Result<(), RemoteException> {
    match cluster.engine.switches().is_on(Switch::PeerModification) {
        true => Ok(()),
        false => Err(RemoteException::do_not_retry("Replication peer modification disabled")),
    }
}

/// There is no peer of any id.
fn unknown_peer(call: &Call<'_>) -> Answer {
    let request: pb::ReplicationPeerRequest = call.parameter()?;
    Err(RemoteException::new(class::REPLICATION_PEER_NOT_FOUND, request.peer_id))
}
