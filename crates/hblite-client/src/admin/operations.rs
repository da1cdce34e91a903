//! Servers, and work that the master or region servers do on request.

use hblite_model::{
    ClusterServers, CompactionKind, CompactionState, Error, MasterWork, Result, ServerWork,
    TableName, TableState,
};
use hblite_wire::client_frame::Body;
use hblite_wire::{convert, pb};
use prost::Message;

use super::Admin;
use crate::retry::Retries;
use crate::rpc::{Method, Service};
use crate::url::ServerAddress;

/// `Option.HBASE_VERSION`, `LIVE_SERVERS`, `DEAD_SERVERS`, `MASTER`, `BACKUP_MASTERS` and
/// `UNKNOWN_SERVERS`.
const SERVERS: [i32; 6] = [0, 2, 3, 4, 5, 13];

impl Admin {
    /// The region servers.
    pub async fn servers(&self) -> Result<ClusterServers> {
        let request = pb::GetClusterStatusRequest { options: SERVERS.to_vec() };
        let answer: pb::GetClusterStatusResponse = self.call("GetClusterStatus", &request).await?;
        let decommissioned: pb::ServerNames =
            self.call("ListDecommissionedRegionServers", &pb::Empty {}).await?;
        let status = answer.cluster_status;
        let names = |names: &[pb::ServerName]| {
            let mut names: Vec<String> = names.iter().map(text).collect();
            names.sort();
            names
        };
        let live = status.live_servers.iter();
        let mut servers = ClusterServers::default();
        servers.hbase_version = status.hbase_version.map(|one| one.version).unwrap_or_default();
        servers.master = status.master.as_ref().map(text).unwrap_or_default();
        servers.backup_masters = names(&status.backup_masters);
        let regions = live.clone().map(|server| server.server_load.region_loads.len() as u64);
        servers.region_count = regions.sum();
        servers.live = names(&live.map(|server| server.server.clone()).collect::<Vec<_>>());
        servers.dead = names(&status.dead_servers);
        servers.decommissioned = names(&decommissioned.server_name);
        servers.unknown = names(&status.unknown_servers);
        Ok(servers)
    }

    /// Has the master do some work. Returns whether it did.
    pub async fn run_on_master(&self, work: &MasterWork) -> Result<bool> {
        match work {
            MasterWork::Normalize { tables, pattern, namespace } => {
                let request = pb::NormalizeRequest {
                    table_names: tables.iter().map(convert::table_name).collect(),
                    regex: pattern.clone(),
                    namespace: namespace.clone(),
                };
                let answer: pb::SwitchResponse = self.call("Normalize", &request).await?;
                Ok(answer.value.unwrap_or(false))
            }
            MasterWork::CleanerChore => {
                let answer: pb::SwitchResponse =
                    self.call("RunCleanerChore", &pb::Empty {}).await?;
                Ok(answer.value.unwrap_or(false))
            }
            MasterWork::HbckChore => {
                let method = Method::new(Service::Hbck, "RunHbckChore");
                let answer: pb::SwitchResponse = self.call_method(method, &pb::Empty {}).await?;
                Ok(answer.value.unwrap_or(false))
            }
            work => self.place(work).await.map(|()| true),
        }
    }

    /// Removes what splits and merges leave in hbase:meta. Returns how many regions that were.
    pub async fn run_catalog_janitor(&self) -> Result<u32> {
        let answer: pb::CountResponse = self.call("RunCatalogScan", &pb::Empty {}).await?;
        Ok(answer.count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0))
    }

    /// Has region servers do some work, all of them if none is named. Returns the result of each.
    ///
    /// # Errors
    /// `IllegalArgument` for a name that is not `host,port,start code`.
    pub async fn run_on_servers(
        &self,
        servers: &[&str],
        work: &ServerWork,
    ) -> Result<Vec<(String, bool)>> {
        let names = match servers {
            [] => self.servers().await?.live,
            servers => servers.iter().map(|name| (*name).to_owned()).collect(),
        };
        let mut results = Vec::with_capacity(names.len());
        for name in names {
            let result = self.run_on_server(&address(&name)?, work).await?;
            results.push((name, result));
        }
        Ok(results)
    }

    async fn run_on_server(&self, server: &ServerAddress, work: &ServerWork) -> Result<bool> {
        match work {
            ServerWork::SwitchCompaction(enabled) => {
                let request = pb::CompactionSwitchRequest { enabled: *enabled };
                let answer: pb::CompactionSwitchResponse =
                    self.call_region_server(server, "CompactionSwitch", &request).await?;
                Ok(answer.prev_state)
            }
            ServerWork::Compact(kind) => {
                let online: pb::GetOnlineRegionResponse =
                    self.call_region_server(server, "GetOnlineRegion", &pb::Empty {}).await?;
                for region in &online.region_info {
                    let region = convert::region_info_from(region)?;
                    let request = pb::CompactRegionRequest {
                        region: convert::region_specifier(&region.region_name()),
                        major: Some(*kind == CompactionKind::Major),
                        family: None,
                    };
                    let _: pb::Empty =
                        self.call_region_server(server, "CompactRegion", &request).await?;
                }
                Ok(true)
            }
            ServerWork::RollWal => self.done(server, "RollWALWriter", &pb::Empty {}).await,
            ServerWork::ClearCompactionQueues(queues) => {
                let request = pb::ClearCompactionQueuesRequest { queue_name: queues.clone() };
                self.done(server, "ClearCompactionQueues", &request).await
            }
            ServerWork::Stop(reason) => {
                let request = pb::StopServerRequest { reason: reason.clone() };
                self.done(server, "StopServer", &request).await
            }
            ServerWork::UpdateConfiguration => {
                self.done(server, "UpdateConfiguration", &pb::Empty {}).await
            }
            ServerWork::ClearSlowLog => {
                let answer: pb::ClearSlowLogResponses = self
                    .call_region_server(server, "ClearSlowLogsResponses", &pb::Empty {})
                    .await?;
                Ok(answer.is_cleaned)
            }
        }
    }

    /// Calls a method whose answer says nothing.
    async fn done(
        &self,
        server: &ServerAddress,
        name: &'static str,
        request: &dyn Body,
    ) -> Result<bool> {
        let _: pb::Empty = self.call_region_server(server, name, request).await?;
        Ok(true)
    }

    pub(super) async fn call_region_server<M: Message + Default>(
        &self,
        server: &ServerAddress,
        name: &'static str,
        request: &dyn Body,
    ) -> Result<M> {
        let method = Method::new(Service::Admin, name);
        let limit = Retries::new(&self.shared.rpc).limit();
        Ok(self.shared.rpc.call(server, method, request, b"", limit).await?.message)
    }

    /// Whether files of the table are being merged.
    pub async fn compaction_state(&self, table: &TableName) -> Result<CompactionState> {
        let mut state = CompactionState::None;
        if self.table_state(table).await? == TableState::Disabled {
            return Ok(state);
        }
        for region in self.regions(table).await? {
            let request = pb::GetRegionInfoRequest {
                region: convert::region_specifier(&region.region_name()),
                compaction_state: Some(true),
                best_split_row: None,
            };
            let answer: pb::GetRegionInfoResponse =
                self.call_region("GetRegionInfo", &region, &request).await?;
            state = state.and(match answer.compaction_state {
                Some(1) => CompactionState::Minor,
                Some(2) => CompactionState::Major,
                Some(3) => CompactionState::MajorAndMinor,
                _ => CompactionState::None,
            });
        }
        Ok(state)
    }
}

pub(super) fn text(name: &pb::ServerName) -> String {
    let (port, start) = (name.port.unwrap_or(0), name.start_code.unwrap_or(0));
    format!("{},{port},{start}", name.host_name)
}

/// The address in a server's name.
pub(super) fn address(name: &str) -> Result<ServerAddress> {
    let mut parts = name.split(',');
    let (host, port) = (parts.next(), parts.next().and_then(|port| port.parse().ok()));
    match (host, port) {
        (Some(host), Some(port)) => Ok(ServerAddress { host: host.to_owned(), port }),
        _ => Err(Error::illegal_argument(format!("Invalid ServerName format: {name}"))),
    }
}
