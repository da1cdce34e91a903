//! `/status`: servers, regions and counters.

use hblite_engine::RegionHandle;
use hblite_model::bytes::to_string_binary;
use serde_json::{Value, json};

use super::{Admin, control, rows};
use crate::cluster::{Cluster, Role};

pub(super) fn status(admin: &Admin) -> Value {
    let cluster = &*admin.cluster.get();
    let regions = cluster.engine.online_regions();
    let faults = admin.faults.list();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "cluster_id": cluster.id,
        "started_at_ms": cluster.started_at_ms,
        "connections": admin.dispatcher.connections().taken(),
        "memory_used_bytes": cluster.memory.used_bytes(),
        "memory_max_bytes": cluster.memory.size_bytes(),
        "memory_refusals": cluster.memory.refusals(),
        "queued_calls": admin.dispatcher.queued_calls(),
        "scanners": cluster.scanners.len(),
        "master": { "port": cluster.master.port, "start_code": cluster.master.start_code },
        "servers": servers(cluster),
        "regions": regions.iter().map(|region| region_json(cluster, region)).collect::<Value>(),
        "damaged_files": damaged_files(cluster),
        "large": cluster.engine.large().iter().map(rows::large_json).collect::<Value>(),
        "faults": faults.iter().map(control::fault_json).collect::<Value>(),
    })
}

/// What the scrubber found.
fn damaged_files(cluster: &Cluster) -> Value {
    let scrub = cluster.engine.scrub_status();
    let files = scrub.damaged.iter().map(|file| {
        json!({
            "table": file.table.to_string(),
            "region": file.region,
            "family": to_string_binary(&file.family),
            "file": file.file.display().to_string(),
            "offset": file.offset,
            "message": file.message,
        })
    });
    files.collect()
}

fn servers(cluster: &Cluster) -> Value {
    let servers = 0..cluster.region_servers.len();
    servers
        .map(|server| {
            let identity = cluster.identity(Role::RegionServer(server));
            json!({
                "server": server,
                "port": identity.port,
                "start_code": identity.start_code,
                "is_alive": cluster.region_servers.is_alive(server),
                "regions": cluster.regions_on(server, None).len(),
            })
        })
        .collect()
}

fn region_json(cluster: &Cluster, region: &RegionHandle) -> Value {
    let (info, load, files) = (region.info(), region.load(), Files::of(region));
    let place = cluster.place_of(info);
    json!({
        "table": info.table().to_string(),
        "encoded_name": info.encoded_name(),
        "start_key": to_string_binary(info.start_key()),
        "end_key": to_string_binary(info.end_key()),
        "server": place.server,
        "is_in_service": !place.is_closed,
        "read_requests": load.read_requests,
        "write_requests": load.write_requests,
        "bytes_read": load.bytes_read,
        "bytes_written": load.bytes_written,
        "memstore_bytes": region.memstore_size_bytes(),
        "store_files": files.count,
        "store_file_bytes": files.size_bytes,
    })
}

/// The files of a region.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) count: usize,
    pub(super) size_bytes: u64,
}

impl Files {
    pub(super) fn of(region: &RegionHandle) -> Self {
        region.store_files().iter().fold(Self::default(), |all, family| Self {
            count: all.count + family.paths.len(),
            size_bytes: all.size_bytes + family.size_bytes,
        })
    }
}
