//! What a master does on request, by a store of this process: one server, whose regions stay on it.

use hblite_engine::Engine;
use hblite_model::{
    CacheEviction, ClusterServers, Error, Exception, HBASE_VERSION, MasterReport, MasterWork,
    PeerWork, RegionInfo, ReplicationLoad, ReplicationPeer, Result, ServerStatus, Switch,
    SystemTables, TableName, TableState, check_pattern, unreachable_peer,
};

/// Does some work. Returns whether it was done.
pub(crate) fn run(engine: &Engine, work: &MasterWork) -> Result<bool> {
    // Files that are no longer needed are removed at once, and regions and files are compared when
    // the store is opened.
    Ok(match work {
        MasterWork::Normalize { pattern, .. } => {
            pattern.as_deref().map_or(Ok(()), check_pattern)?;
            engine.switches().is_on(Switch::Normalizer)
        }
        MasterWork::CleanerChore | MasterWork::HbckChore => true,
        MasterWork::Assign(name) => {
            let region = region_named(engine, name)?;
            let node = region_node(engine, &region)?;
            if engine.catalog().table_state(region.table())? != TableState::Enabled {
                let message = format!("{} is disabled for {node}", region.table());
                return Err(Error::do_not_retry(message));
            }
            if engine.catalog().is_in_service(&region) {
                return Err(unexpected_state(&node));
            }
            engine.procedures().assign(&region).map(|()| true)?
        }
        MasterWork::Unassign(name) => {
            let region = region_named(engine, name)?;
            if !engine.catalog().is_in_service(&region) {
                return Err(unexpected_state(&region_node(engine, &region)?));
            }
            engine.procedures().unassign(&region).map(|()| true)?
        }
        // There is no other server to move to.
        MasterWork::Move { region, .. } => {
            let region = region_with(engine, region, |known| known.encoded_name() == region)?;
            if !engine.catalog().is_in_service(&region) {
                return Err(unexpected_state(&region_node(engine, &region)?));
            }
            true
        }
        MasterWork::Decommission { servers, offload } => {
            // HBase's master notes any name.
            let own = engine.server_name()?;
            if !servers.contains(&own) {
                return Ok(true);
            }
            engine.switches().set_decommissioned(true);
            if *offload {
                let meta = RegionInfo::meta();
                let message = format!("Unable to determine a plan to move {meta}");
                return Err(Error::new(Exception::HBaseIo, message));
            }
            true
        }
        MasterWork::Recommission { server, .. } => {
            if *server == engine.server_name()? {
                engine.switches().set_decommissioned(false);
            }
            true
        }
        // What a master keeps for itself is in hbase:meta here, and needs no flush.
        MasterWork::FlushStore => true,
        // The caller closes the store.
        MasterWork::Stop => true,
    })
}

/// The error for a change of a peer: there is none, and a new one would get nothing.
pub(crate) fn no_peer(engine: &Engine, work: &PeerWork) -> Error {
    if !engine.switches().is_on(Switch::PeerModification) {
        return Error::do_not_retry("Replication peer modification disabled");
    }
    match work {
        PeerWork::Add(ReplicationPeer { id, config, .. }) => {
            unreachable_peer(id, config.cluster_key.as_deref(), config.endpoint.as_deref())
        }
        PeerWork::Remove(id)
        | PeerWork::Enable(id)
        | PeerWork::Disable(id)
        | PeerWork::Update(id, _) => Error::new(Exception::ReplicationPeerNotFound, id.as_str()),
    }
}

/// The store as the one server of a cluster.
pub(crate) fn servers(engine: &Engine) -> Result<ClusterServers> {
    let mut servers = ClusterServers::default();
    let name = engine.server_name()?;
    if engine.switches().is_decommissioned() {
        servers.decommissioned.push(name.clone());
    }
    HBASE_VERSION.clone_into(&mut servers.hbase_version);
    servers.region_count = engine.online_regions().len() as u64;
    servers.live.push(name.clone());
    servers.master = name;
    Ok(servers)
}

/// The store as a region server.
pub(crate) fn server_status(engine: &Engine) -> Result<ServerStatus> {
    let mut status = engine.status()?;
    status.regions.sort_by_cached_key(|region| region.region.region_name());
    let mut server = ServerStatus::default();
    server.name = engine.server_name()?;
    server.memory_used_bytes = status.memstore_size_bytes;
    server.memory_max_bytes = status.memory_max_bytes;
    server.regions = status.regions;
    server.last_error = status.last_error;
    let mut replication = ReplicationLoad::default();
    (replication.started_ms, replication.applied_ms) = (status.opened_at_ms, status.opened_at_ms);
    server.replication = Some(replication);
    Ok(server)
}

/// What is to be said about a store as a master.
pub(crate) fn report() -> MasterReport {
    let mut report = MasterReport::default();
    report.security_capabilities.push("SIMPLE_AUTHENTICATION".to_owned());
    report
}

/// Removes a table's blocks from the block cache.
pub(crate) fn clear_block_cache(engine: &Engine, table: &TableName) -> Result<CacheEviction> {
    engine.catalog().descriptor(table)?;
    let regions = engine.online_regions();
    let of_table = regions.iter().filter(|region| region.info().table() == table);
    let mut eviction = CacheEviction::default();
    eviction.evicted_blocks = of_table.map(|region| region.evict_blocks()).sum();
    eviction.size_max_bytes = engine.options().block_cache_size_bytes as u64;
    Ok(eviction)
}

fn region_named(engine: &Engine, name: &str) -> Result<RegionInfo> {
    region_with(engine, name, |known| {
        known.encoded_name() == name || known.region_name_as_string() == name
    })
}

fn region_with(
    engine: &Engine,
    name: &str,
    is_it: impl Fn(&RegionInfo) -> bool,
) -> Result<RegionInfo> {
    let catalog = engine.catalog();
    let tables = catalog.list_tables(SystemTables::Include);
    let names = tables.iter().map(|table| table.name());
    let mut regions = names.flat_map(|table| catalog.region_infos(table));
    let meta = Some(RegionInfo::meta()).filter(|meta| is_it(meta));
    meta.or_else(|| regions.find(is_it))
        .ok_or_else(|| Error::new(Exception::UnknownRegion, name.to_owned()))
}

/// A region as HBase's master writes it in errors.
fn region_node(engine: &Engine, region: &RegionInfo) -> Result<String> {
    let (table, encoded) = (region.table(), region.encoded_name());
    let (state, location) = match engine.catalog().is_in_service(region) {
        true => ("OPEN", engine.server_name()?),
        false => ("CLOSED", "null".to_owned()),
    };
    Ok(format!("state={state}, location={location}, table={table}, region={encoded}"))
}

/// The error for a region that is already what it is to become.
fn unexpected_state(node: &str) -> Error {
    Error::new(Exception::DoNotRetryRegion, format!("Unexpected state for {node}"))
}

/// Refuses names of servers that the store is not.
pub(crate) fn check_servers(engine: &Engine, servers: &[impl AsRef<str>]) -> Result<()> {
    let name = engine.server_name()?;
    match servers.iter().map(AsRef::as_ref).find(|server| *server != name) {
        None => Ok(()),
        Some(other) => {
            let place = other.rsplit_once(',').map_or(other, |(place, _)| place);
            let message = format!("{} could not be resolved", place.replace(',', ":"));
            Err(Error::new(Exception::Io, message))
        }
    }
}
