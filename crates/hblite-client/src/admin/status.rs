//! The state of the cluster, from what its servers report to the master.

use std::collections::HashMap;

use hblite_model::{RegionInfo, RegionLoad, RegionStatus, Result, Scan, StoreStatus};
use hblite_wire::pb;

use super::Admin;

/// `Option.LIVE_SERVERS`.
const LIVE_SERVERS: i32 = 2;
const MIB: u64 = 1 << 20;

impl Admin {
    /// Regions in service, their requests, memory and files, as their servers last reported.
    /// Sizes are multiples of a mebibyte; counters that servers do not report are 0.
    pub async fn status(&self) -> Result<StoreStatus> {
        let request = pb::GetClusterStatusRequest { options: vec![LIVE_SERVERS] };
        let answer: pb::GetClusterStatusResponse = self.call("GetClusterStatus", &request).await?;
        let regions = self.read_meta(&Scan::new().with_family("info")).await?;
        let mut known: HashMap<Vec<u8>, RegionInfo> =
            regions.into_iter().map(|region| (region.region_name(), region)).collect();
        let meta = RegionInfo::meta();
        known.insert(meta.region_name(), meta);
        let mut status = StoreStatus::default();
        for server in answer.cluster_status.live_servers {
            let started = server.server.start_code.unwrap_or(0);
            status.opened_at_ms = status.opened_at_ms.max(i64::try_from(started).unwrap_or(0));
            for load in server.server_load.region_loads {
                let memory = u64::from(load.mem_store_size_mb.unwrap_or(0)) * MIB;
                status.memstore_size_bytes += memory as usize;
                if let Some(region) = known.remove(load.region_specifier.value.as_ref()) {
                    status.regions.push(region_status(region, &load));
                }
            }
        }
        let key =
            |one: &RegionStatus| (one.region.table().clone(), one.region.start_key().to_vec());
        status.regions.sort_by_key(key);
        Ok(status)
    }
}

fn region_status(region: RegionInfo, load: &pb::RegionLoad) -> RegionStatus {
    let count = |count: Option<u32>| count.unwrap_or(0) as usize;
    RegionStatus {
        region,
        load: RegionLoad {
            read_requests: load.read_requests_count.unwrap_or(0),
            write_requests: load.write_requests_count.unwrap_or(0),
            ..RegionLoad::default()
        },
        store_count: count(load.stores),
        store_file_count: count(load.storefiles),
        store_file_size_bytes: u64::from(load.storefile_size_mb.unwrap_or(0)) * MIB,
        memstore_size_bytes: count(load.mem_store_size_mb) * MIB as usize,
    }
}
