//! Where regions are, which servers may have them, and what the master says about them.

use std::collections::BTreeMap;

use hblite_model::{
    CacheEviction, Error, MasterReport, MasterWork, RegionInTransition, Result, TableName,
};
use hblite_wire::{convert, pb};

use super::operations::text;
use super::{Admin, not_found};
use crate::url::ServerAddress;

/// `RegionSpecifierType.REGION_NAME` and `ENCODED_REGION_NAME`.
const REGION_NAME: i32 = 1;
const ENCODED_NAME: i32 = 2;
/// The length of an encoded name, which is hexadecimal.
const ENCODED_LENGTH: usize = 32;
/// `Option.MASTER_COPROCESSORS`, `REGIONS_IN_TRANSITION` and `TASKS`.
const MASTER: [i32; 3] = [6, 7, 12];
/// HBase's names of the security features and of the states of a region, in the order of their
/// numbers.
const CAPABILITIES: [&str; 5] = [
    "SIMPLE_AUTHENTICATION",
    "SECURE_AUTHENTICATION",
    "AUTHORIZATION",
    "CELL_AUTHORIZATION",
    "CELL_VISIBILITY",
];
const STATES: [&str; 16] = [
    "OFFLINE",
    "PENDING_OPEN",
    "OPENING",
    "OPEN",
    "PENDING_CLOSE",
    "CLOSING",
    "CLOSED",
    "SPLITTING",
    "SPLIT",
    "FAILED_OPEN",
    "FAILED_CLOSE",
    "MERGING",
    "MERGED",
    "SPLITTING_NEW",
    "MERGING_NEW",
    "ABNORMALLY_CLOSED",
];

impl Admin {
    /// Work of the master that says nothing when it is done.
    pub(super) async fn place(&self, work: &MasterWork) -> Result<()> {
        match work {
            MasterWork::Assign(region) => {
                let request = pb::RegionRequest { region: named(region), force: None };
                let _: pb::Empty = self.call("AssignRegion", &request).await?;
            }
            MasterWork::Unassign(region) => {
                let request = pb::RegionRequest { region: named(region), force: None };
                let _: pb::Empty = self.call("UnassignRegion", &request).await?;
            }
            MasterWork::Move { region, server } => {
                let request = pb::MoveRegionRequest {
                    region: specifier(ENCODED_NAME, region),
                    dest_server_name: server.as_deref().map(server_name).transpose()?,
                };
                let _: pb::Empty = self.call("MoveRegion", &request).await?;
            }
            MasterWork::Decommission { servers, offload } => {
                let request = pb::DecommissionRegionServersRequest {
                    server_name: servers
                        .iter()
                        .map(|name| server_name(name))
                        .collect::<Result<_>>()?,
                    offload: *offload,
                };
                let _: pb::Empty = self.call("DecommissionRegionServers", &request).await?;
            }
            MasterWork::Recommission { server, regions } => {
                let region = regions.iter().map(|name| specifier(ENCODED_NAME, name)).collect();
                let request = pb::RecommissionRegionServerRequest {
                    server_name: server_name(server)?,
                    region,
                };
                let _: pb::Empty = self.call("RecommissionRegionServer", &request).await?;
            }
            MasterWork::FlushStore => {
                let _: pb::Empty = self.call("FlushMasterStore", &pb::Empty {}).await?;
            }
            MasterWork::Stop => {
                let _: pb::Empty = self.call("StopMaster", &pb::Empty {}).await?;
            }
            // They return something, and are called where that is read.
            MasterWork::Normalize { .. } | MasterWork::CleanerChore | MasterWork::HbckChore => {}
        }
        Ok(())
    }

    /// What the master says about itself and about regions.
    pub async fn master_report(&self) -> Result<MasterReport> {
        let maintenance: pb::SwitchResponse =
            self.call("IsMasterInMaintenanceMode", &pb::Empty {}).await?;
        let security: pb::SecurityCapabilitiesResponse =
            self.call("getSecurityCapabilities", &pb::Empty {}).await?;
        let request = pb::GetClusterStatusRequest { options: MASTER.to_vec() };
        let answer: pb::GetClusterStatusResponse = self.call("GetClusterStatus", &request).await?;
        let mut report = MasterReport::default();
        report.is_in_maintenance_mode = maintenance.value.unwrap_or(false);
        report.security_capabilities =
            security.capabilities.iter().map(|number| nth(&CAPABILITIES, *number)).collect();
        report.tasks =
            answer.cluster_status.master_tasks.into_iter().map(super::status::task).collect();
        let coprocessors = answer.cluster_status.master_coprocessors;
        report.coprocessors = coprocessors.into_iter().map(|one| one.name).collect();
        for one in &answer.cluster_status.regions_in_transition {
            let region = convert::region_info_from(&one.region_state.region_info)?;
            report.regions_in_transition.push(RegionInTransition {
                region: region.region_name_as_string(),
                state: nth(&STATES, one.region_state.state),
                since_ms: one.region_state.stamp.and_then(|ms| ms.try_into().ok()).unwrap_or(0),
            });
        }
        Ok(report)
    }

    /// Forgets servers that are gone. Returns those that it could not forget.
    ///
    /// # Errors
    /// `IllegalArgument` for a name that is not `host,port,start code`.
    pub async fn clear_dead_servers(&self, servers: &[String]) -> Result<Vec<String>> {
        let names = servers.iter().map(|name| server_name(name)).collect::<Result<_>>()?;
        let request = pb::ServerNames { server_name: names };
        let left: pb::ServerNames = self.call("ClearDeadServers", &request).await?;
        Ok(left.server_name.iter().map(text).collect())
    }

    /// Removes the blocks of a table from the block caches of its servers.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn clear_block_cache(&self, table: &TableName) -> Result<CacheEviction> {
        if !self.table_exists(table).await? {
            return Err(not_found(table));
        }
        let mut by_server: BTreeMap<String, (ServerAddress, Vec<pb::RegionSpecifier>)> =
            BTreeMap::new();
        for region in self.regions(table).await? {
            let server = self.locate(table, region.start_key()).await?.server.clone();
            let regions = by_server.entry(server.to_string()).or_insert((server, Vec::new()));
            regions.1.push(convert::region_specifier(&region.region_name()));
        }
        let mut eviction = CacheEviction::default();
        for (server, region) in by_server.into_values() {
            let count = region.len() as u64;
            let request = pb::ClearRegionBlockCacheRequest { region };
            let answer: Result<pb::ClearRegionBlockCacheResponse> =
                self.call_region_server(&server, "ClearRegionBlockCache", &request).await;
            let Ok(answer) = answer else {
                eviction.failed_regions += count;
                continue;
            };
            let number = |number: Option<i64>| number.and_then(|n| n.try_into().ok()).unwrap_or(0);
            eviction.evicted_blocks += number(answer.stats.evicted_blocks);
            eviction.size_max_bytes += number(answer.stats.max_cache_size);
        }
        Ok(eviction)
    }
}

fn nth(names: &[&str], number: i32) -> String {
    let name = usize::try_from(number).ok().and_then(|at| names.get(at));
    name.map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

/// The region with this full or encoded name.
fn named(name: &str) -> pb::RegionSpecifier {
    let is_hex = name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_encoded = name.len() == ENCODED_LENGTH && is_hex;
    specifier(if is_encoded { ENCODED_NAME } else { REGION_NAME }, name)
}

fn specifier(kind: i32, name: &str) -> pb::RegionSpecifier {
    pb::RegionSpecifier { r#type: kind, value: name.as_bytes().to_vec().into() }
}

/// The server of the name `host,port,start code`.
fn server_name(name: &str) -> Result<pb::ServerName> {
    let mut parts = name.split(',');
    let (host, port, start) = (parts.next(), parts.next(), parts.next());
    let numbers = port.and_then(|port| port.parse().ok()).zip(start.and_then(|n| n.parse().ok()));
    match (host, numbers, parts.next()) {
        (Some(host), Some((port, start)), None) => Ok(pb::ServerName {
            host_name: host.to_owned(),
            port: Some(port),
            start_code: Some(start),
        }),
        _ => Err(Error::illegal_argument(format!("Invalid ServerName format: {name}"))),
    }
}
