//! Decommissioned region servers, which must not get regions, and the end of all servers.

use hblite_model::{Error, Exception};
use hblite_wire::pb;

use super::Method;
use super::regions::{named, server_named};
use crate::cluster::{Cluster, Role, ServerIndex};
use crate::rpc::call::{Answer, Call};

pub(super) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "DecommissionRegionServers" => decommission,
        "RecommissionRegionServer" => recommission,
        "ListDecommissionedRegionServers" => list,
        // All of them are this process.
        "Shutdown" | "StopMaster" => {
            |cluster, call| call.stop_server(cluster.options.stop_handler.as_ref())
        }
        _ => return None,
    })
}

/// New regions go elsewhere; existing ones too, if requested.
fn decommission(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::DecommissionRegionServersRequest = call.parameter()?;
    for name in &request.server_name {
        let server = server_named(cluster, name)?;
        cluster.assignments.set_decommissioned(server, true);
        if !request.offload {
            continue;
        }
        for region in cluster.regions_on(server, None) {
            let Some(other) = cluster.assignments.next_server() else {
                cluster.note_change();
                let message = format!("Unable to determine a plan to move {}", region.info());
                return Err(Error::new(Exception::HBaseIo, message).into());
            };
            cluster.assignments.move_to(region.info().encoded_name(), other);
        }
    }
    cluster.note_change();
    call.answer_empty()
}

fn recommission(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::RecommissionRegionServerRequest = call.parameter()?;
    let server = server_named(cluster, &request.server_name)?;
    cluster.assignments.set_decommissioned(server, false);
    for specifier in &request.region {
        let region = named(cluster, specifier)?;
        if cluster.place_of(&region).server != server {
            cluster.assignments.move_to(region.encoded_name(), server);
        }
    }
    cluster.note_change();
    call.answer_empty()
}

fn list(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let name = |server: ServerIndex| {
        cluster.identity(Role::RegionServer(server)).message(&call.client.host)
    };
    let server_name = cluster.assignments.decommissioned().into_iter().map(name).collect();
    call.answer(&pb::ServerNames { server_name })
}
