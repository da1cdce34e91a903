//! The cluster that clients see: a master and region servers over one store.
//!
//! The store knows regions but not servers. This module decides which region server a region
//! appears to be on (`assignment`), and puts it into what clients read from hbase:meta
//! (`meta_view`).
//!
//! Threads: any.

mod assignment;
mod compactor;
mod current;
pub(crate) mod meta_view;
mod procedures;
pub(crate) mod scanners;
mod servers;
mod target;
mod zookeeper_view;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;

use hblite_engine::{Engine, RegionHandle, Timeline};
use hblite_model::bytes::to_string_binary;
use hblite_model::{FlushRequest, META_ENCODED_NAME, RegionInfo, Result, RowCounts};
use hblite_model::{SystemTables, TableName};
use hblite_wire::RemoteException;
use hblite_wire::callers::CallerCounting;
use hblite_wire::exception::class;
use hblite_wire::memory::MemoryBudget;
use hblite_wire::pb;
use tokio::sync::watch;

use self::assignment::Assignments;
pub(crate) use self::assignment::Place;
use self::compactor::Compactor;
pub(crate) use self::compactor::{Job, Pending};
pub(crate) use self::current::CurrentCluster;
pub(crate) use self::procedures::Procedures;
use self::scanners::Scanners;
use self::servers::RegionServers;
pub(crate) use self::zookeeper_view::ZooKeeperView;
use crate::faults::ActiveFaults;
use crate::options::ServerOptions;
pub(crate) use crate::role::{Role, ServerIndex};
use crate::statistics::CallStatistics;

/// The identity of a server, without its host, which depends on the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerIdentity {
    pub(crate) port: u16,
    /// When it started, in milliseconds.
    pub(crate) start_code: u64,
}

impl ServerIdentity {
    pub(crate) fn message(self, host: &str) -> pb::ServerName {
        pb::ServerName {
            host_name: host.to_owned(),
            port: Some(u32::from(self.port)),
            start_code: Some(self.start_code),
        }
    }

    /// `host,port,start code`, as HBase writes it.
    pub(crate) fn text(self, host: &str) -> String {
        format!("{host},{},{}", self.port, self.start_code)
    }
}

/// The store since the last rewind, and its cluster state.
///
/// A call uses the same one until it ends, so it never sees two states.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) engine: Arc<Engine>,
    /// The generation of the timeline when `engine` came into service.
    generation: u64,
    pub(crate) scanners: Scanners,
    pub(crate) compactor: Compactor,
    shared: Arc<Shared>,
}

/// State that survives a rewind.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) id: String,
    pub(crate) options: ServerOptions,
    pub(crate) started_at_ms: i64,
    pub(crate) master: ServerIdentity,
    pub(crate) region_servers: RegionServers,
    pub(crate) assignments: Assignments,
    pub(crate) procedures: Procedures,
    /// The memory that calls and scanners may use.
    pub(crate) memory: Arc<MemoryBudget>,
    pub(crate) faults: ActiveFaults,
    pub(crate) calls: CallStatistics,
    pub(crate) callers: Arc<CallerCounting>,
    /// Counts changes of tables, namespaces, locations and switches.
    pub(crate) changes: watch::Sender<u64>,
}

impl Deref for Cluster {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Cluster {
    /// A cluster whose servers listen on these ports.
    ///
    /// # Errors
    /// `Io` if the store's id cannot be read.
    pub(crate) fn new(
        timeline: &Timeline,
        options: ServerOptions,
        master_port: u16,
        region_server_ports: &[u16],
    ) -> Result<Self> {
        let (generation, engine) = timeline.present();
        let started_at_ms = engine.now_millis();
        let start_code = u64::try_from(started_at_ms).unwrap_or(0);
        let identity = |port| ServerIdentity { port, start_code };
        let memory = Arc::new(MemoryBudget::new(options.limits.memory_max_bytes));
        let shared = Shared {
            id: engine.store_id().to_string(),
            started_at_ms,
            master: identity(master_port),
            region_servers: RegionServers::new(region_server_ports.iter().copied().map(identity)),
            assignments: Assignments::new(region_server_ports.len()),
            procedures: Procedures::default(),
            memory: Arc::clone(&memory),
            faults: ActiveFaults::default(),
            calls: CallStatistics::default(),
            callers: Arc::default(),
            changes: watch::Sender::new(0),
            options,
        };
        let shared = Arc::new(shared);
        let scanners = Scanners::new(&shared.options.limits, &memory);
        Ok(Self { engine, generation, scanners, compactor: Compactor::default(), shared })
    }

    /// Which rows were requested since an earlier call, and who requested them.
    pub(crate) fn row_counts(&self, after: u64) -> RowCounts {
        self.callers.after(after, |after| self.engine.row_counts(after))
    }

    /// The same cluster over the store after a rewind, without the previous scanners.
    fn after_rewind(&self, timeline: &Timeline) -> Self {
        let (generation, engine) = timeline.present();
        let (scanners, compactor) = (self.scanners.after_rewind(), Compactor::default());
        Self { engine, generation, scanners, compactor, shared: Arc::clone(&self.shared) }
    }
}

impl Shared {
    /// Records a change that clients may look up.
    pub(crate) fn note_change(&self) {
        self.changes.send_modify(|number| *number += 1);
    }

    /// The host that is given to a client that reached the server at this address.
    pub(crate) fn host_for(&self, reached: SocketAddr) -> String {
        match &self.options.advertise {
            Some(host) => host.clone(),
            None => reached.ip().to_canonical().to_string(),
        }
    }

    /// The identity of a server, unless it is dead.
    pub(crate) fn live_identity(&self, role: Role) -> Option<ServerIdentity> {
        match role {
            Role::Master => Some(self.master),
            Role::RegionServer(index) => self.region_servers.live_identity(index),
        }
    }

    pub(crate) fn identity(&self, role: Role) -> ServerIdentity {
        match role {
            Role::Master => self.master,
            Role::RegionServer(index) => self.region_servers.identity(index).unwrap_or(self.master),
        }
    }
}

/// Servers and regions.
impl Cluster {
    /// The next live server after this one.
    pub(crate) fn next_server_after(&self, server: ServerIndex) -> ServerIndex {
        let alive = self.region_servers.alive();
        let next = alive.iter().find(|other| **other > server).or_else(|| alive.first());
        next.copied().unwrap_or(server)
    }

    /// The location of a region, in service or not.
    pub(crate) fn place_of(&self, info: &RegionInfo) -> Place {
        self.assignments.place_of(info.encoded_name())
    }

    /// The apparent location of a replica: on the servers that follow the region's, one after
    /// another. It is in service whenever the region is, which serves its reads.
    pub(crate) fn place_of_replica(&self, info: &RegionInfo, id: u16) -> Place {
        let place = self.place_of(info);
        self.replica_of_place(place, id)
    }

    fn replica_of_place(&self, place: Place, id: u16) -> Place {
        if id == 0 {
            return place;
        }
        let alive = self.region_servers.alive();
        let at = alive.iter().position(|server| *server == place.server).unwrap_or(0);
        let server = alive.get((at + usize::from(id)) % alive.len().max(1));
        Place { server: server.copied().unwrap_or(place.server), came_from: None, ..place }
    }

    /// Whether a region has a replica with that id; each has itself, 0.
    fn has_replica(&self, info: &RegionInfo, id: u16) -> bool {
        let catalog = self.engine.catalog();
        id == 0
            || catalog.descriptor(info.table()).is_ok_and(|table| id < table.region_replication())
    }

    /// The region that a client of `role` names, if that server has it.
    ///
    /// # Errors
    /// `NotServingRegion`, `RegionMoved`.
    pub(crate) fn region(
        &self,
        role: Role,
        host: &str,
        specifier: &pb::RegionSpecifier,
    ) -> std::result::Result<RegionHandle, RemoteException> {
        // HBase's region servers ignore the type of the specifier too.
        let name = specifier.value.as_ref();
        let not_online = || {
            let server = self.identity(role).text(host);
            let message = format!("{} is not online on {server}", to_string_binary(name));
            RemoteException::new(class::NOT_SERVING_REGION, message)
        };
        let replica = RegionInfo::primary_of_replica(name);
        let (full, id) = replica.as_ref().map_or((name, 0), |(full, id)| (full.as_slice(), *id));
        let region = self.engine.region(full).filter(|region| self.has_replica(region.info(), id));
        let region = region.ok_or_else(not_online)?;
        let place = self.place_of_replica(region.info(), id);
        if role == Role::RegionServer(place.server) && !place.is_closed {
            return Ok(region);
        }
        if !place.is_closed && place.came_from.map(Role::RegionServer) == Some(role) {
            let to = self.identity(Role::RegionServer(place.server));
            let sequence_number = region.last_sequence_id();
            return Err(RemoteException::moved(host, to.port, to.start_code, sequence_number));
        }
        Err(not_online())
    }

    /// The region with this full or encoded name, or its replica, in service or not.
    pub(crate) fn find_region(&self, name: &[u8]) -> Result<Option<RegionInfo>> {
        if name == META_ENCODED_NAME.as_bytes() || name == b"hbase:meta,,1" {
            return Ok(Some(RegionInfo::meta()));
        }
        if let Some((primary, id)) = RegionInfo::primary_of_replica(name) {
            let primary = self.find_region(&primary)?.filter(|info| self.has_replica(info, id));
            return Ok(primary.map(|info| info.replica(id)));
        }
        for table in self.engine.catalog().list_tables(SystemTables::Include) {
            let regions = self.engine.catalog().region_infos(table.name());
            let is_it =
                |info: &RegionInfo| info.encoded_name().as_bytes() == name || info.is_named(name);
            let replicas = (1..table.region_replication())
                .flat_map(|id| regions.iter().map(move |info| info.replica(id)));
            if let Some(info) = replicas.chain(regions.iter().cloned()).find(is_it) {
                return Ok(Some(info));
            }
        }
        Ok(None)
    }

    /// Flushes a region if it has no files: its split point is computed from them.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn flush_for_split_point(&self, info: &RegionInfo) -> Result<()> {
        match self.engine.region(&info.region_name()) {
            Some(region) if region.split_point().is_none() => {
                self.engine.flush(FlushRequest::region(info.encoded_name()))
            }
            _ => Ok(()),
        }
    }

    /// Splits a region, in its middle if there is no key. The daughters stay on its server.
    ///
    /// # Errors
    /// Those of the store's split.
    pub(crate) fn split(&self, parent: &RegionInfo, key: Option<&[u8]>) -> Result<()> {
        let place = self.place_of(parent);
        if key.is_none() {
            self.flush_for_split_point(parent)?;
        }
        self.engine.procedures().split_region(parent.encoded_name(), key)?;
        for region in self.engine.catalog().region_infos(parent.table()) {
            let starts = region.start_key() == parent.start_key();
            let ends = region.end_key() == parent.end_key();
            if starts || ends {
                self.assignments.put_beside(region.encoded_name(), place);
            }
        }
        Ok(())
    }

    /// Encoded names of all regions, in service or not.
    fn region_names(&self) -> Result<HashSet<String>> {
        let mut names = HashSet::from([META_ENCODED_NAME.to_owned()]);
        for table in self.engine.catalog().list_tables(SystemTables::Include) {
            let regions = self.engine.catalog().region_infos(table.name());
            names.extend(regions.iter().map(|region| region.encoded_name().to_owned()));
        }
        Ok(names)
    }

    /// Forgets the locations of removed regions.
    pub(crate) fn tidy_assignments(&self) {
        self.assignments.tidy(|| self.region_names().ok());
    }

    /// Regions in service by server, those of `table` or all.
    pub(crate) fn regions_on(
        &self,
        server: ServerIndex,
        table: Option<&TableName>,
    ) -> Vec<RegionHandle> {
        let mut regions = self.engine.online_regions();
        regions.retain(|region| {
            let place = self.place_of(region.info());
            place.server == server
                && !place.is_closed
                && table.is_none_or(|table| region.info().table() == table)
        });
        regions
    }

    /// The regions in service that clients see on a server: its own, and replicas.
    pub(crate) fn regions_seen_on(
        &self,
        server: ServerIndex,
        table: Option<&TableName>,
    ) -> Vec<(RegionInfo, RegionHandle)> {
        let here = self.regions_on(server, table).into_iter();
        let mut seen: Vec<_> = here.map(|region| (region.info().clone(), region)).collect();
        for table_of in self.engine.catalog().list_tables(SystemTables::Exclude) {
            let replicas = 1..table_of.region_replication();
            if replicas.is_empty() || table.is_some_and(|table| table != table_of.name()) {
                continue;
            }
            for info in self.engine.catalog().region_infos(table_of.name()) {
                let Some(region) = self.engine.region(&info.region_name()) else { continue };
                let place = self.place_of(&info);
                let is_here = |id: &u16| self.replica_of_place(place, *id).server == server;
                let ids = replicas.clone().filter(|_| !place.is_closed).filter(is_here);
                seen.extend(ids.map(|id| (info.replica(id), region.clone())));
            }
        }
        seen
    }
}
