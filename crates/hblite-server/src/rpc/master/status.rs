//! The status of the master, of servers and of regions.

use hblite_engine::RegionHandle;
use hblite_model::{HBASE_VERSION, RegionInfo, Result, Switch, SystemTables, TableState};
use hblite_wire::convert;
use hblite_wire::pb;

use super::Method;
use crate::cluster::{Cluster, Role, ServerIndex};
use crate::rpc::call::{Answer, Call};

/// `RegionSpecifierType.REGION_NAME`.
const REGION_NAME: i32 = 1;
/// `SecurityCapabilitiesResponse.Capability.SIMPLE_AUTHENTICATION`.
const SIMPLE_AUTHENTICATION: i32 = 0;
/// "No web page".
const NO_INFO_PORT: i32 = -1;
const MIB: u64 = 1024 * 1024;

pub(super) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "IsMasterRunning" => {
            |_, call| call.answer(&pb::IsMasterRunningResponse { is_master_running: true })
        }
        "GetClusterStatus" => cluster_status,
        "getSecurityCapabilities" => |_, call| {
            let capabilities = vec![SIMPLE_AUTHENTICATION];
            call.answer(&pb::SecurityCapabilitiesResponse { capabilities })
        },
        "IsMasterInMaintenanceMode" => {
            |_, call| call.answer(&pb::SwitchResponse { value: Some(false) })
        }
        // None of them is dead, or it cannot be forgotten.
        "ClearDeadServers" => |_, call| {
            let request: pb::ServerNames = call.parameter()?;
            call.answer(&request)
        },
        // Empty lists, and messages without a field that must be there.
        "ListReplicationPeers"
        | "GetReplicationPeerModificationProcedures"
        | "FlushMasterStore"
        | "GetQuotaStates"
        | "GetSpaceQuotaRegionSizes" => |_, call| call.answer_empty(),
        _ => return None,
    })
}

/// The parts of the answer (`ClusterStatus.Option`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Version = 0,
    ClusterId = 1,
    LiveServers = 2,
    DeadServers = 3,
    Master = 4,
    BalancerOn = 8,
    MasterInfoPort = 9,
    ServersName = 10,
    TableRegions = 11,
}

fn cluster_status(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::GetClusterStatusRequest = call.parameter()?;
    let wants = |part: Part| request.options.is_empty() || request.options.contains(&(part as i32));
    let host = call.client.host.as_str();
    let servers = || cluster.region_servers.alive().into_iter();
    let name = |server: ServerIndex| cluster.identity(Role::RegionServer(server)).message(host);
    let mut status = pb::ClusterStatus::default();
    if wants(Part::Version) {
        let version = HBASE_VERSION.to_owned();
        status.hbase_version = Some(pb::HBaseVersionFileContent { version });
    }
    if wants(Part::ClusterId) {
        status.cluster_id = Some(pb::ClusterId { cluster_id: cluster.id.clone() });
    }
    if wants(Part::LiveServers) {
        let live = |server| pb::LiveServerInfo {
            server: name(server),
            server_load: server_load(cluster, server),
        };
        status.live_servers = servers().map(live).collect();
    }
    if wants(Part::DeadServers) {
        status.dead_servers = cluster.region_servers.dead().into_iter().map(name).collect();
    }
    if wants(Part::Master) {
        status.master = Some(cluster.master.message(host));
    }
    if wants(Part::BalancerOn) {
        status.balancer_on = Some(cluster.engine.switches().is_on(Switch::Balancer));
    }
    if wants(Part::MasterInfoPort) {
        status.master_info_port = Some(NO_INFO_PORT);
    }
    if wants(Part::ServersName) {
        status.servers_name = servers().map(name).collect();
    }
    if wants(Part::TableRegions) {
        status.table_region_states_count = table_regions(cluster)?;
    }
    call.answer(&pb::GetClusterStatusResponse { cluster_status: status })
}

fn server_load(cluster: &Cluster, server: ServerIndex) -> pb::ServerLoad {
    let regions = cluster.regions_seen_on(server, None);
    let requests = |(info, region): &(RegionInfo, RegionHandle)| {
        let load = region.load();
        if info.replica_id() == 0 { load.read_requests + load.write_requests } else { 0 }
    };
    let now = u64::try_from(cluster.engine.now_millis()).unwrap_or(0);
    let memory_used: usize = regions.iter().map(|(_, region)| region.memstore_size_bytes()).sum();
    let started = u64::try_from(cluster.started_at_ms).unwrap_or(0);
    pb::ServerLoad {
        number_of_requests: Some(0),
        total_number_of_requests: Some(regions.iter().map(requests).sum()),
        used_heap_mb: Some(mib(memory_used as u64)),
        max_heap_mb: Some(mib(cluster.engine.options().memory_max_bytes() as u64)),
        region_loads: regions.iter().map(|(info, region)| region_load(info, region)).collect(),
        report_start_time: Some(started),
        report_end_time: Some(now),
        info_server_port: Some(0),
        repl_load_source: Vec::new(),
        repl_load_sink: Some(pb::ReplicationLoadSink {
            age_of_last_applied_op: 0,
            time_stamps_of_last_applied_op: started,
            timestamp_started: Some(started),
            total_ops_processed: Some(0),
        }),
        tasks: Vec::new(),
    }
}

fn mib(bytes: u64) -> u32 {
    u32::try_from(bytes / MIB).unwrap_or(u32::MAX)
}

/// The figures of one region, also for its replicas.
pub(in crate::rpc) fn region_load(info: &RegionInfo, region: &RegionHandle) -> pb::RegionLoad {
    let files = region.store_files();
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let file_bytes: u64 = files.iter().map(|store| store.size_bytes).sum();
    let load = region.load();
    pb::RegionLoad {
        region_specifier: pb::RegionSpecifier {
            r#type: REGION_NAME,
            value: info.region_name().into(),
        },
        stores: Some(count(files.len())),
        storefiles: Some(count(files.iter().map(|store| store.paths.len()).sum())),
        store_uncompressed_size_mb: Some(mib(file_bytes)),
        storefile_size_mb: Some(mib(file_bytes)),
        mem_store_size_mb: Some(mib(region.memstore_size_bytes() as u64)),
        storefile_index_size_kb: Some(0),
        read_requests_count: Some(load.read_requests),
        write_requests_count: Some(load.write_requests),
        total_compacting_kvs: Some(0),
        current_compacted_kvs: Some(0),
        complete_sequence_id: Some(region.last_sequence_id()),
        data_locality: Some(1.0),
        last_major_compaction_ts: Some(major_compacted_at(region)),
        filtered_read_requests_count: Some(0),
    }
}

/// 0 if there was none.
pub(super) fn major_compacted_at(region: &RegionHandle) -> u64 {
    region.major_compacted_at_ms().and_then(|time| u64::try_from(time).ok()).unwrap_or(0)
}

/// How many regions of each table are in which state. As in HBase, a disabled table counts as
/// having none, so that an `alter` of it does not wait.
fn table_regions(cluster: &Cluster) -> Result<Vec<pb::TableRegionStatesCount>> {
    let mut counts = Vec::new();
    for table in cluster.engine.catalog().list_tables(SystemTables::Include) {
        let mut regions = cluster.engine.catalog().region_infos(table.name());
        if cluster.engine.catalog().table_state(table.name())? != TableState::Enabled {
            regions.clear();
        }
        let closed = |region: &&RegionInfo| cluster.place_of(region).is_closed;
        let replicas = usize::from(table.region_replication());
        let count = |regions: usize| u32::try_from(regions * replicas).unwrap_or(u32::MAX);
        let closed = regions.iter().filter(closed).count();
        counts.push(pb::TableRegionStatesCount {
            table_name: convert::table_name(table.name()),
            region_states_count: pb::RegionStatesCount {
                open_regions: count(regions.len() - closed),
                split_regions: 0,
                closed_regions: count(closed),
                regions_in_transition: 0,
                total_regions: count(regions.len()),
            },
        });
    }
    Ok(counts)
}
