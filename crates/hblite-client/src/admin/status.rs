//! The state of the cluster. The master lists the servers, and each server is asked for its own
//! regions, because its reports to the master are a few seconds old. For a server that does not
//! answer, its last report to the master is used.

use std::collections::HashMap;
use std::time::Duration;

use hblite_model::{
    Error, Exception, RegionInfo, RegionLoad, RegionStatus, ReplicationLoad, ReplicationSource,
    Result, Scan, ServerStatus, ServerTask, StoreStatus, ZooKeeperReport,
};
use hblite_wire::pb;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Admin;
use super::operations::text;
use crate::rpc::{Limit, Method, Service};
use crate::url::ServerAddress;

/// `Option.LIVE_SERVERS`.
const LIVE_SERVERS: i32 = 2;
const MIB: u64 = 1 << 20;
const REGION_LOAD: Method = Method::new(Service::Admin, "GetRegionLoad");
/// Maximum number of servers that are asked at the same time.
const ASKED_AT_ONCE: usize = 16;
/// The time limit for the answer of one server.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

impl Admin {
    /// Regions in service, their requests, memory and files. Requests are counted up to this
    /// moment. Sizes are multiples of a mebibyte; counters that servers do not report are 0.
    pub async fn status(&self) -> Result<StoreStatus> {
        let mut status = StoreStatus::default();
        for server in self.server_statuses().await? {
            let started = server.name.rsplit(',').next().and_then(|code| code.parse().ok());
            status.opened_at_ms = status.opened_at_ms.max(started.unwrap_or(0));
            status.memory_max_bytes += server.memory_max_bytes;
            let memory = server.regions.iter().map(|region| region.memstore_size_bytes);
            status.memstore_size_bytes += memory.sum::<u64>();
            status.regions.extend(server.regions);
        }
        let key =
            |one: &RegionStatus| (one.region.table().clone(), one.region.start_key().to_vec());
        status.regions.sort_by_key(key);
        Ok(status)
    }

    /// The region servers at work, and their regions, in the order of their names.
    pub async fn server_statuses(&self) -> Result<Vec<ServerStatus>> {
        let request = pb::GetClusterStatusRequest { options: vec![LIVE_SERVERS] };
        let answer: pb::GetClusterStatusResponse = self.call("GetClusterStatus", &request).await?;
        let regions = self.read_meta(&Scan::new().with_family("info")).await?;
        let mut known: HashMap<Vec<u8>, RegionInfo> =
            regions.into_iter().map(|region| (region.region_name(), region)).collect();
        let meta = RegionInfo::meta();
        known.insert(meta.region_name(), meta);
        let mut statuses = Vec::new();
        for (server, loads) in self.current_loads(answer.cluster_status.live_servers).await {
            let mib = |size: Option<u32>| u64::from(size.unwrap_or(0)) * MIB;
            let mut status = ServerStatus::default();
            status.name = text(&server.server);
            status.requests_per_second = server.server_load.number_of_requests.unwrap_or(0);
            status.replication = replication(&server.server_load);
            status.tasks = server.server_load.tasks.into_iter().map(task).collect();
            status.memory_used_bytes = mib(server.server_load.used_heap_mb);
            status.memory_max_bytes = mib(server.server_load.max_heap_mb);
            for load in loads {
                if let Some(region) = known.remove(load.region_specifier.value.as_ref()) {
                    status.regions.push(region_status(region, &load));
                }
            }
            status.regions.sort_by_cached_key(|region| region.region.region_name());
            statuses.push(status);
        }
        statuses.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(statuses)
    }

    /// What ZooKeeper knows of the cluster.
    ///
    /// # Errors
    /// `UnsupportedOperation` for a connection that does not use ZooKeeper.
    pub async fn zookeeper(&self) -> Result<ZooKeeperReport> {
        self.shared.registry.zookeeper().await.ok_or_else(|| {
            let message =
                format!("{} does not use ZooKeeper: connect with hbase://", self.shared.registry);
            Error::new(Exception::UnsupportedOperation, message)
        })
    }

    /// The regions of each server, as reported by the server itself.
    async fn current_loads(
        &self,
        servers: Vec<pb::LiveServerInfo>,
    ) -> Vec<(pb::LiveServerInfo, Vec<pb::RegionLoad>)> {
        let mut loads = Vec::with_capacity(servers.len());
        let mut asked = JoinSet::new();
        for mut server in servers {
            if asked.len() >= ASKED_AT_ONCE {
                loads.extend(asked.join_next().await.and_then(std::result::Result::ok));
            }
            let this = self.clone();
            asked.spawn(async move {
                let last = std::mem::take(&mut server.server_load.region_loads);
                let current = this.current_load(&server.server).await;
                (server, current.unwrap_or(last))
            });
        }
        while let Some(load) = asked.join_next().await {
            loads.extend(load.ok());
        }
        loads
    }

    /// One attempt; `None` if the server does not answer.
    async fn current_load(&self, server: &pb::ServerName) -> Option<Vec<pb::RegionLoad>> {
        let port = u16::try_from(server.port?).ok()?;
        let address = ServerAddress { host: server.host_name.clone(), port };
        let rpc = self.shared.settings.rpc_timeout.min(ANSWER_WITHIN);
        let limit = Limit { rpc, deadline: Instant::now() + rpc, server: None };
        let request = pb::GetRegionLoadRequest::default();
        let answer = self.shared.rpc.call(&address, REGION_LOAD, &request, b"", limit).await;
        let answer: pb::GetRegionLoadResponse = answer.ok()?.message;
        Some(answer.region_loads)
    }
}

/// HBase's names of the states of a task, in the order of their numbers.
const TASK_STATES: [&str; 4] = ["RUNNING", "WAITING", "COMPLETE", "ABORTED"];

pub(super) fn task(message: pb::ServerTask) -> ServerTask {
    let state = usize::try_from(message.state).ok().and_then(|at| TASK_STATES.get(at));
    let millis = |time: Option<u64>| time.and_then(|time| i64::try_from(time).ok());
    let started_ms = millis(message.start_time).unwrap_or(0);
    ServerTask {
        description: message.description,
        status: message.status,
        state: state.map_or_else(|| message.state.to_string(), |name| (*name).to_owned()),
        started_ms,
        since_ms: millis(message.completion_time).unwrap_or(started_ms),
        completed_ms: message.completion_time.map_or(-1, u64::cast_signed),
    }
}

/// What a server says that it gets from other clusters and sends to peers.
fn replication(load: &pb::ServerLoad) -> Option<ReplicationLoad> {
    let sink = load.repl_load_sink.as_ref()?;
    let millis = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    let mut replication = ReplicationLoad::default();
    replication.started_ms = millis(sink.timestamp_started.unwrap_or(0));
    replication.applied_ms = millis(sink.time_stamps_of_last_applied_op);
    replication.applied_age_ms = millis(sink.age_of_last_applied_op);
    for one in &load.repl_load_source {
        let mut source = ReplicationSource::default();
        source.peer.clone_from(&one.peer_id);
        source.queue = one.queue_id.clone().unwrap_or_default();
        source.is_recovered = one.recovered.unwrap_or(false);
        source.is_running = one.running.unwrap_or(false);
        source.shipped_ms = millis(one.time_stamp_of_last_shipped_op);
        source.shipped_age_ms = millis(one.age_of_last_shipped_op);
        source.lag_ms = millis(one.replication_lag);
        source.logs = one.size_of_log_queue;
        source.writes_read = one.edits_read.unwrap_or(0);
        source.writes_shipped = one.ops_shipped.unwrap_or(0);
        source.has_writes = one.edits_since_restart.unwrap_or(false);
        source.next_ms = millis(one.time_stamp_of_next_to_replicate.unwrap_or(0));
        replication.sources.push(source);
    }
    Some(replication)
}

fn region_status(region: RegionInfo, load: &pb::RegionLoad) -> RegionStatus {
    let count = |count: Option<u32>| u64::from(count.unwrap_or(0));
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
        memstore_size_bytes: count(load.mem_store_size_mb) * MIB,
    }
}
