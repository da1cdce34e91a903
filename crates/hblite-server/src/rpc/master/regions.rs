//! Regions: split, merge, truncate, move, balance, assign.

use hblite_model::{Error, Exception, MergeKind, RegionInfo, Result, Switch, TableState};
use hblite_wire::convert;
use hblite_wire::exception::class;
use hblite_wire::{RemoteException, pb};

use super::status::major_compacted_at;
use super::{Method, nonce, procedure};
use crate::cluster::{Cluster, Role, ServerIndex};
use crate::rpc::call::{Answer, Call};

pub(super) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "SplitRegion" => split,
        "MergeTableRegions" => merge,
        "TruncateRegion" => truncate,
        "MoveRegion" => move_region,
        "AssignRegion" => |c, call| set_closed(c, call, false),
        "UnassignRegion" | "OfflineRegion" => |c, call| set_closed(c, call, true),
        "Balance" => balance,
        "getLastMajorCompactionTimestamp" => last_compaction_of_table,
        "getLastMajorCompactionTimestampForRegion" => last_compaction_of_region,
        _ => return None,
    })
}

/// The region that a client names by its full or encoded name.
pub(super) fn named(cluster: &Cluster, specifier: &pb::RegionSpecifier) -> Result<RegionInfo> {
    let name = || hblite_model::bytes::to_string_binary(&specifier.value);
    let region = cluster.find_region(&specifier.value)?;
    let region = region.ok_or_else(|| Error::new(Exception::UnknownRegion, name()))?;
    if region.replica_id() > 0 {
        let message = format!("{} is a replica: name its region instead", name());
        return Err(Error::do_not_retry(message));
    }
    Ok(region)
}

fn split(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::SplitTableRegionRequest = call.parameter()?;
    let parent = convert::region_info_from(&request.region_info)?;
    let key = request.split_row.as_deref().filter(|key| !key.is_empty());
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        cluster.split(&parent, key)
    })
}

fn merge(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::MergeTableRegionsRequest = call.parameter()?;
    let names: Vec<String> = request
        .region
        .iter()
        .map(|region| String::from_utf8_lossy(&region.value).into_owned())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let kind = match request.forcible {
        Some(true) => MergeKind::Forced,
        _ => MergeKind::Adjacent,
    };
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        cluster.engine.procedures().merge_regions(&names, kind)
    })
}

fn truncate(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::TruncateRegionRequest = call.parameter()?;
    if request.region_info.replica_id.is_some_and(|id| id != 0) {
        return Err(RemoteException::do_not_retry(
            "Can't truncate replicas directly. Replicas are auto-truncated when their primary is \
             truncated.",
        ));
    }
    let region = convert::region_info_from(&request.region_info)?;
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        cluster.engine.procedures().truncate_region(region.encoded_name())
    })
}

/// Moves a region to the named server, or to the next one.
fn move_region(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::MoveRegionRequest = call.parameter()?;
    let region = named(cluster, &request.region)?;
    check_state(cluster, call, &region, false)?;
    let place = cluster.place_of(&region);
    // As in HBase, the region goes to another server if there is none of this name.
    let wanted = request.dest_server_name.as_ref();
    let server = wanted
        .and_then(|name| server_named(cluster, name).ok())
        .unwrap_or_else(|| cluster.next_server_after(place.server));
    if server != place.server {
        cluster.assignments.move_to(region.encoded_name(), server);
        cluster.note_change();
    }
    call.answer_empty()
}

/// The server of this name. Its port is enough: no two have the same, and hosts have many names.
pub(super) fn server_named(
    cluster: &Cluster,
    name: &pb::ServerName,
) -> std::result::Result<ServerIndex, RemoteException> {
    let is_it = |server: &ServerIndex| {
        let identity = cluster.identity(Role::RegionServer(*server));
        name.port == Some(u32::from(identity.port))
            && name.start_code.is_none_or(|code| code == identity.start_code)
    };
    cluster.region_servers.alive().into_iter().find(is_it).ok_or_else(|| {
        let (host, port) = (&name.host_name, name.port.unwrap_or(0));
        let message = format!("{host}:{port} is not the name of a server of this cluster");
        RemoteException::new(class::DO_NOT_RETRY_IO, message)
    })
}

fn set_closed(cluster: &Cluster, call: &Call<'_>, is_closed: bool) -> Answer {
    let request: pb::RegionRequest = call.parameter()?;
    let region = named(cluster, &request.region)?;
    check_state(cluster, call, &region, !is_closed)?;
    if region.table().is_meta() && is_closed {
        let message = "hblite does not take hbase:meta out of service";
        return Err(RemoteException::do_not_retry(message));
    }
    cluster.assignments.set_closed(region.encoded_name(), is_closed);
    cluster.note_change();
    call.answer_empty()
}

/// Refuses what is already closed, or in service with `is_to_open`, and a region of a disabled
/// table.
fn check_state(
    cluster: &Cluster,
    call: &Call<'_>,
    region: &RegionInfo,
    is_to_open: bool,
) -> std::result::Result<(), RemoteException> {
    let (table, encoded) = (region.table(), region.encoded_name());
    let place = cluster.place_of(region);
    let is_enabled = cluster.engine.catalog().table_state(table)? == TableState::Enabled;
    let is_open = is_enabled && !place.is_closed;
    let node = if is_open {
        let identity = cluster.identity(Role::RegionServer(place.server));
        let server = identity.message(&call.client.host);
        let (host, port) = (server.host_name, identity.port);
        let start = identity.start_code;
        format!("state=OPEN, location={host},{port},{start}, table={table}, region={encoded}")
    } else {
        format!("state=CLOSED, location=null, table={table}, region={encoded}")
    };
    if is_open == is_to_open {
        let message = format!("Unexpected state for {node}");
        return Err(Error::new(Exception::DoNotRetryRegion, message).into());
    }
    if !is_enabled {
        return Err(RemoteException::do_not_retry(format!("{table} is disabled for {node}")));
    }
    Ok(())
}

/// Moves regions from servers with many to servers with few, until no two differ by more than one.
fn balance(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::BalanceRequest = call.parameter()?;
    let is_dry_run = request.dry_run.unwrap_or(false);
    if !cluster.engine.switches().is_on(Switch::Balancer) && !is_dry_run {
        return call.answer(&balance_response(false, 0, 0));
    }
    let mut loads: Vec<Vec<RegionInfo>> = (0..cluster.region_servers.len())
        .map(|server| {
            let regions = cluster.regions_on(server, None);
            let movable = regions.iter().filter(|region| !region.info().table().is_meta());
            movable.map(|region| region.info().clone()).collect()
        })
        .collect();
    let mut shunned = cluster.assignments.decommissioned();
    shunned.extend(cluster.region_servers.dead());
    let mut moves = 0;
    loop {
        let by_load = |server: &usize| loads[*server].len();
        let servers = (0..loads.len()).filter(|server| !shunned.contains(server));
        let (Some(most), Some(least)) =
            (servers.clone().max_by_key(by_load), servers.min_by_key(by_load))
        else {
            break;
        };
        if loads[most].len() <= loads[least].len() + 1 {
            break;
        }
        let Some(region) = loads[most].pop() else { break };
        if !is_dry_run {
            cluster.assignments.move_to(region.encoded_name(), least);
        }
        loads[least].push(region);
        moves += 1;
    }
    call.answer(&balance_response(true, moves, if is_dry_run { 0 } else { moves }))
}

fn balance_response(has_run: bool, calculated: u32, executed: u32) -> pb::BalanceResponse {
    pb::BalanceResponse {
        balancer_ran: has_run,
        moves_calculated: Some(calculated),
        moves_executed: Some(executed),
    }
}

fn last_compaction_of_table(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::MajorCompactionTimestampRequest = call.parameter()?;
    let table = convert::table_name_from(&request.table_name)?;
    let regions = cluster.engine.catalog().region_infos(&table);
    let handles = regions.iter().filter_map(|info| cluster.engine.region(&info.region_name()));
    answer_time(call, handles.map(|region| major_compacted_at(&region)).min())
}

fn last_compaction_of_region(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::MajorCompactionTimestampForRegionRequest = call.parameter()?;
    let region = cluster.engine.region(&request.region.value);
    answer_time(call, region.map(|region| major_compacted_at(&region)))
}

fn answer_time(call: &Call<'_>, time: Option<u64>) -> Answer {
    let compaction_timestamp = time.and_then(|time| i64::try_from(time).ok()).unwrap_or(0);
    call.answer(&pb::MajorCompactionTimestampResponse { compaction_timestamp })
}
