//! Features that hblite does not have: replication peers, quotas, permissions, and the endpoints of
//! coprocessors. Calls get the exceptions of an HBase in which they are off.

use hblite_model::{Switch, unreachable_peer};
use hblite_wire::exception::class;
use hblite_wire::{RemoteException, convert, pb};
use prost::Message as _;

use super::{Method, failed_procedure};
use crate::cluster::Cluster;
use crate::rpc::call::{Answer, Call};

pub(super) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "AddReplicationPeer" => |cluster, call| {
            check_peers(cluster)?;
            let request: pb::AddReplicationPeerRequest = call.parameter()?;
            let config = &request.peer_config;
            let endpoint = config.replication_endpoint_impl.as_deref();
            let key = config.clusterkey.as_deref();
            failed_procedure(cluster, call, unreachable_peer(&request.peer_id, key, endpoint))
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
        "ExecMasterService" => exec_master_service,
        _ => return None,
    })
}

/// Calls an endpoint of the master. There is one, which HBase does not have.
fn exec_master_service(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::CoprocessorServiceRequest = call.parameter()?;
    let pb::CoprocessorServiceCall { service_name, method_name, request: given, .. } = request.call;
    if service_name != convert::ROW_COUNTS_SERVICE || method_name != convert::ROW_COUNTS_METHOD {
        let message = format!(
            "No registered Master Coprocessor Endpoint found for {service_name}. Has it been \
             enabled?"
        );
        return Err(RemoteException::new(class::UNKNOWN_PROTOCOL, message));
    }
    let given: pb::RowCountsRequest = call.decode(&given)?;
    let counts = convert::row_counts_message(cluster.row_counts(given.after));
    let value =
        pb::NameBytesPair { name: service_name, value: Some(counts.encode_to_vec().into()) };
    call.answer(&pb::CoprocessorServiceResponse { region: request.region, value })
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
