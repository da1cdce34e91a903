//! ClientMetaService: the first calls of a client.

use hblite_model::RegionInfo;
use hblite_wire::convert::region_info;
use hblite_wire::pb;

use super::call::{Answer, Call};
use super::no_such_method;
use crate::cluster::{Cluster, Role};

/// "Unknown", as in HBase's registry.
const NO_SEQUENCE_NUMBER: i64 = -1;

pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let host = call.client.host.as_str();
    match call.request.method() {
        "GetClusterId" => {
            call.answer(&pb::GetClusterIdResponse { cluster_id: Some(cluster.id.clone()) })
        }
        "GetActiveMaster" => {
            let server_name = Some(cluster.master.message(host));
            call.answer(&pb::GetActiveMasterResponse { server_name })
        }
        "GetMasters" => {
            let server_name = cluster.master.message(host);
            let master = pb::GetMastersResponseEntry { server_name, is_active: true };
            call.answer(&pb::GetMastersResponse { master_servers: vec![master] })
        }
        "GetMetaRegionLocations" => {
            let meta = RegionInfo::meta();
            let place = cluster.place_of(&meta);
            let server = cluster.identity(Role::RegionServer(place.server));
            let location = pb::RegionLocation {
                region_info: region_info(&meta),
                server_name: Some(server.message(host)),
                seq_num: NO_SEQUENCE_NUMBER,
            };
            call.answer(&pb::GetMetaRegionLocationsResponse { meta_locations: vec![location] })
        }
        "GetBootstrapNodes" | "GetAllBootstrapNodes" => {
            let servers = cluster.region_servers.identities().into_iter();
            let server_name = servers.map(|server| server.message(host)).collect();
            call.answer(&pb::GetBootstrapNodesResponse { server_name })
        }
        _ => Err(no_such_method(call)),
    }
}
