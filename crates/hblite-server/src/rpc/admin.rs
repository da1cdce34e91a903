//! AdminService: what a region server does to its regions.

use hblite_engine::RegionHandle;
use hblite_model::bytes::to_string_binary;
use hblite_model::{Error, Exception, FlushRequest, RegionInfo, Switch};
use hblite_wire::RemoteException;
use hblite_wire::convert;
use hblite_wire::pb;

use super::call::{Answer, Call};
use super::master::region_load;
use super::no_such_method;
use crate::cluster::{Cluster, Job, Pending, Role};

/// `GetRegionInfoResponse.CompactionState`.
fn compaction_state(pending: Pending) -> i32 {
    match (pending.minor > 0, pending.major > 0) {
        (false, false) => 0,
        (true, false) => 1,
        (false, true) => 2,
        (true, true) => 3,
    }
}

/// The Java class of an empty list of slow calls.
const SLOW_LOG: &str =
    "org.apache.hadoop.hbase.shaded.protobuf.generated.AdminProtos$SlowLogResponses";

pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Answer {
    match call.request.method() {
        "GetRegionInfo" => region_info(cluster, call),
        "GetOnlineRegion" => online_regions(cluster, call),
        "GetRegionLoad" => region_loads(cluster, call),
        "FlushRegion" => flush(cluster, call),
        "CompactRegion" => compact(cluster, call),
        "CompactionSwitch" => {
            let request: pb::CompactionSwitchRequest = call.parameter()?;
            let prev_state = cluster.engine.switches().set(Switch::Compaction, request.enabled);
            call.answer(&pb::CompactionSwitchResponse { prev_state })
        }
        "GetServerInfo" => {
            let server_name = cluster.identity(call.client.role).message(&call.client.host);
            let server_info = pb::ServerInfo { server_name, webui_port: Some(0) };
            call.answer(&pb::GetServerInfoResponse { server_info })
        }
        "StopServer" => call.stop_server(cluster.options.stop_handler.as_ref()),
        "GetStoreFile" => store_files(cluster, call),
        "ClearRegionBlockCache" => clear_block_cache(cluster, call),
        "RollWALWriter" => {
            cluster.engine.roll_log()?;
            call.answer_empty()
        }
        // Nothing to report or to do: compactions do not queue, slow calls are not kept.
        "ClearCompactionQueues"
        | "UpdateConfiguration"
        | "GetSpaceQuotaSnapshots"
        | "GetCachedFilesList"
        | "GetSlowLogResponses"
        | "GetLargeLogResponses" => call.answer_empty(),
        "ClearSlowLogsResponses" => call.answer(&pb::ClearSlowLogResponses { is_cleaned: false }),
        "GetLogEntries" => call.answer(&pb::LogEntry {
            log_class_name: SLOW_LOG.to_owned(),
            log_message: bytes::Bytes::new(),
        }),
        _ => Err(no_such_method(call)),
    }
}

fn named(
    cluster: &Cluster,
    call: &Call<'_>,
    specifier: &pb::RegionSpecifier,
) -> Result<RegionHandle, RemoteException> {
    // Unlike data calls, these may use an encoded name.
    let full = match cluster.find_region(&specifier.value)? {
        Some(info) => info.region_name().into(),
        None => specifier.value.clone(),
    };
    let specifier = pb::RegionSpecifier { value: full, ..specifier.clone() };
    cluster.region(call.client.role, &call.client.host, &specifier)
}

fn clear_block_cache(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::ClearRegionBlockCacheRequest = call.parameter()?;
    let mut evicted = 0;
    for specifier in &request.region {
        evicted += named(cluster, call, specifier)?.evict_blocks();
    }
    let size = cluster.engine.options().block_cache_size_bytes;
    call.answer(&pb::ClearRegionBlockCacheResponse {
        stats: pb::CacheEvictionStats {
            evicted_blocks: i64::try_from(evicted).ok(),
            bytes_evicted: None,
            max_cache_size: i64::try_from(size).ok(),
        },
    })
}

fn region_info(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::GetRegionInfoRequest = call.parameter()?;
    if call.client.role == Role::Master {
        return region_info_of_master(cluster, call, &request);
    }
    let region = named(cluster, call, &request.region)?;
    let shown = cluster.find_region(&request.region.value)?;
    let state = compaction_state(cluster.compactor.pending(region.info().encoded_name()));
    let is_whole = !region.has_references();
    let wants_split_row = request.best_split_row == Some(true);
    if wants_split_row {
        cluster.flush_for_split_point(region.info())?;
    }
    let best_split_row = wants_split_row.then(|| region.split_point()).flatten();
    call.answer(&pb::GetRegionInfoResponse {
        region_info: convert::region_info(shown.as_ref().unwrap_or(region.info())),
        compaction_state: (request.compaction_state == Some(true)).then_some(state),
        splittable: Some(is_whole && !region.info().table().is_meta()),
        mergeable: Some(is_whole && !region.info().table().is_meta()),
        best_split_row: best_split_row.map(Into::into),
    })
}

/// The master has no regions. It knows their names, and that no medium objects are compacted.
fn region_info_of_master(
    cluster: &Cluster,
    call: &Call<'_>,
    request: &pb::GetRegionInfoRequest,
) -> Answer {
    let name = request.region.value.as_ref();
    let mut response = pb::GetRegionInfoResponse::default();
    if let Some(region) = cluster.find_region(name)? {
        response.region_info = convert::region_info(&region);
    } else if let Some(region) = RegionInfo::mob_named(name) {
        response.region_info = convert::region_info(&region);
        let none = compaction_state(Pending::default());
        response.compaction_state = (request.compaction_state == Some(true)).then_some(none);
    } else {
        return Err(Error::new(Exception::UnknownRegion, to_string_binary(name)).into());
    }
    call.answer(&response)
}

fn regions_here(
    cluster: &Cluster,
    call: &Call<'_>,
    table: Option<&hblite_model::TableName>,
) -> Vec<(RegionInfo, RegionHandle)> {
    match call.client.role {
        Role::Master => Vec::new(),
        Role::RegionServer(server) => cluster.regions_seen_on(server, table),
    }
}

fn online_regions(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let regions = regions_here(cluster, call, None);
    let region_info = regions.iter().map(|(info, _)| convert::region_info(info)).collect();
    call.answer(&pb::GetOnlineRegionResponse { region_info })
}

fn region_loads(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::GetRegionLoadRequest = call.parameter()?;
    let table = request.table_name.as_ref().map(convert::table_name_from).transpose()?;
    let regions = regions_here(cluster, call, table.as_ref());
    let region_loads = regions.iter().map(|(info, region)| region_load(info, region)).collect();
    call.answer(&pb::GetRegionLoadResponse { region_loads })
}

fn flush(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::FlushRegionRequest = call.parameter()?;
    let region = named(cluster, call, &request.region)?;
    let had_cells = region.memstore_size_bytes() > 0;
    let name = region.info().encoded_name();
    let mut flush = FlushRequest::region(name);
    // One that is named must exist, also if its name is empty.
    if let Some(family) = request.family.as_deref() {
        region.check_flushed_family(family)?;
        flush = flush.with_family(family);
    }
    cluster.engine.flush(flush)?;
    call.answer(&pb::FlushRegionResponse {
        last_flush_time: u64::try_from(cluster.engine.now_millis()).unwrap_or(0),
        flushed: Some(had_cells),
        wrote_flush_wal_marker: Some(false),
    })
}

fn compact(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::CompactRegionRequest = call.parameter()?;
    let region = named(cluster, call, &request.region)?;
    let family = request.family.map(|family| family.to_vec());
    if let Some(family) = &family {
        region.check_compacted_family(family)?;
    }
    let (name, is_major) = (region.info().encoded_name(), request.major.unwrap_or(false));
    let job = Job { region: name.to_owned(), family, is_major };
    cluster.compactor.request(&cluster.engine, job)?;
    call.answer_empty()
}

fn store_files(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::GetStoreFileRequest = call.parameter()?;
    let region = named(cluster, call, &request.region)?;
    for family in &request.family {
        region.check_family(family)?;
    }
    let files = region.store_files().into_iter();
    let wanted =
        files.filter(|store| request.family.iter().any(|family| **family == *store.family));
    let paths = wanted.flat_map(|store| store.paths);
    let store_file = paths.map(|path| path.to_string_lossy().into_owned()).collect();
    call.answer(&pb::GetStoreFileResponse { store_file })
}
