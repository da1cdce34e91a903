//! Finds the server of a row, in hbase:meta and a cache of it.
//!
//! - Callers that look for the same row share one lookup, and the number of concurrent lookups in
//!   a table is limited. Each lookup also reads and caches some regions before the requested one.
//! - A location is removed when a server contradicts it, or replaced if the server sends the new
//!   one.
//!
//! Threads: any.

mod cache;
pub(crate) mod meta_row;

use std::collections::HashMap;
use std::sync::Arc;

use hblite_model::{Error, Exception, Get, RegionInfo, RowResult, Scan, TableName, TableState};
use hblite_wire::cell_block::CellReader;
use hblite_wire::{convert, pb};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

pub(crate) use self::cache::{LocateKind, Location};

use self::cache::LocationCache;
use crate::Compiled;
use crate::error::CallError;
use crate::registry::{Registry, Wanted};
use crate::rpc::{Answer, Limit, Method, Rpc, Service};
use crate::settings::ClientSettings;

const SCAN: Method = Method::new(Service::Client, "Scan").of_meta();
const GET: Method = Method::new(Service::Client, "Get").of_meta();

/// The key of a lookup; equal ones are shared.
type Lookup = (TableName, Vec<u8>, LocateKind);

/// Finds regions.
#[derive(Debug)]
pub(crate) struct Locator {
    settings: Arc<ClientSettings>,
    rpc: Arc<Rpc>,
    registry: Arc<Registry>,
    cache: LocationCache,
    /// The region of hbase:meta, if it is known.
    meta: tokio::sync::Mutex<Option<Arc<Location>>>,
    /// The lookups in progress; whoever holds the lock reads hbase:meta.
    under_way: Mutex<HashMap<Lookup, Arc<tokio::sync::Mutex<()>>>>,
    /// The permits for concurrent lookups in each table.
    free: Mutex<HashMap<TableName, Arc<Semaphore>>>,
}

impl Locator {
    pub(crate) fn new(
        settings: Arc<ClientSettings>,
        rpc: Arc<Rpc>,
        registry: Arc<Registry>,
    ) -> Self {
        Self {
            settings,
            rpc,
            registry,
            cache: LocationCache::default(),
            meta: tokio::sync::Mutex::default(),
            under_way: Mutex::default(),
            free: Mutex::default(),
        }
    }

    /// The location of a row.
    pub(crate) async fn locate(
        &self,
        table: &TableName,
        row: &[u8],
        kind: LocateKind,
        deadline: Instant,
    ) -> Result<Arc<Location>, CallError> {
        if table.is_meta() {
            return self.meta(deadline).await;
        }
        if let Some(found) = self.cache.find(table, row, kind) {
            self.count_hit();
            return Ok(found);
        }
        self.rpc.counters().location_misses.increment();
        let late = |_| CallError::Nowhere(format!("hbase:meta was not read in time for {table}"));
        timeout_at(deadline, self.look_up(table, row, kind, deadline)).await.map_err(late)?
    }

    /// Counts a row for which the caller knows the location.
    pub(crate) fn count_hit(&self) {
        self.rpc.counters().location_hits.increment();
    }

    /// The location of a replica of the region that has a row; replica 0 is the region itself.
    pub(crate) async fn locate_replica(
        &self,
        table: &TableName,
        row: &[u8],
        kind: LocateKind,
        replica: u16,
        deadline: Instant,
    ) -> Result<Arc<Location>, CallError> {
        let mut found = self.locate(table, row, kind, deadline).await?;
        if found.replica(replica).is_none() {
            // It may be newer than the cached location.
            self.cache.remove(&found);
            found = self.locate(table, row, kind, deadline).await?;
        }
        found.replica(replica).cloned().ok_or_else(|| {
            let region = found.region.encoded_name();
            Error::do_not_retry(format!("region {region} has no replica {replica}")).into()
        })
    }

    fn look_up<'l>(
        &'l self,
        table: &'l TableName,
        row: &'l [u8],
        kind: LocateKind,
        deadline: Instant,
    ) -> Compiled<'l, Result<Arc<Location>, CallError>> {
        Box::pin(self.in_turn(table, row, kind, deadline))
    }

    /// Looks a row up once for all callers that want it at the same time.
    async fn in_turn(
        &self,
        table: &TableName,
        row: &[u8],
        kind: LocateKind,
        deadline: Instant,
    ) -> Result<Arc<Location>, CallError> {
        let wanted: Lookup = (table.clone(), row.to_vec(), kind);
        let turn = Arc::clone(self.under_way.lock().entry(wanted.clone()).or_default());
        let turn = Turn { locator: self, wanted, turn };
        let _mine = turn.turn.lock().await;
        let free = {
            let mut free = self.free.lock();
            let new = || Arc::new(Semaphore::new(self.settings.locates_max.max(1)));
            Arc::clone(free.entry(table.clone()).or_insert_with(new))
        };
        let _permit = free.acquire().await;
        // Another lookup may have cached the location while this one waited.
        if let Some(found) = self.cache.find(table, row, kind) {
            return Ok(found);
        }
        self.read_meta(table, row, kind, deadline).await
    }

    async fn read_meta(
        &self,
        table: &TableName,
        row: &[u8],
        kind: LocateKind,
        deadline: Instant,
    ) -> Result<Arc<Location>, CallError> {
        let scan = meta_row::lookup(table, row, kind);
        let rows = self.scan_meta(&scan, self.settings.locate_prefetch, deadline).await?;
        let is_of_table = |region: &RegionInfo| region.table() == table && !region.is_split;
        let mut rows =
            rows.iter().filter(|row| meta_row::region(row).as_ref().is_some_and(is_of_table));
        let Some(first) = rows.next() else {
            return Err(Error::new(Exception::TableNotFound, table.to_string()).into());
        };
        let found = Arc::new(meta_row::location(first)?);
        if !kind.is_met_by(&found.region, row) {
            let row = hblite_model::bytes::to_string_binary(row);
            let message = format!("hbase:meta has no region of {table} for the row {row:?}");
            return Err(CallError::Nowhere(message));
        }
        for prefetched in rows.filter_map(|row| meta_row::location(row).ok()) {
            let (region, start) = (&prefetched.region, prefetched.region.start_key());
            if self.cache.find(region.table(), start, LocateKind::Current).is_none() {
                self.cache.insert(Arc::new(prefetched));
            }
        }
        self.cache.insert(Arc::clone(&found));
        Ok(found)
    }

    /// The state of a table; `None` if there is no such table.
    pub(crate) async fn table_state(
        &self,
        table: &TableName,
        deadline: Instant,
    ) -> Result<Option<TableState>, CallError> {
        if table.is_meta() {
            return Ok(Some(TableState::Enabled));
        }
        let get = Get::new(table.to_string()).with_family("table");
        let meta = self.meta(deadline).await?;
        let request = pb::GetRequest {
            region: convert::region_specifier(&meta.region_name),
            get: convert::get_message(&get)?,
        };
        let answer: Answer<pb::GetResponse> =
            self.call_meta(&meta, GET, &request, deadline).await?;
        let result = answer.message.result.unwrap_or_default();
        let row = convert::result_from(&result, &mut CellReader::new(&answer.cells))?;
        Ok(meta_row::table_state(&row))
    }

    async fn scan_meta(
        &self,
        scan: &Scan,
        rows: u32,
        deadline: Instant,
    ) -> Result<Vec<RowResult>, CallError> {
        let meta = self.meta(deadline).await?;
        let request = pb::ScanRequest {
            region: Some(convert::region_specifier(&meta.region_name)),
            scan: Some(convert::scan_message(scan)?),
            number_of_rows: Some(rows),
            close_scanner: Some(true),
            ..pb::ScanRequest::default()
        };
        let answer: Answer<pb::ScanResponse> =
            self.call_meta(&meta, SCAN, &request, deadline).await?;
        Ok(convert::rows_from(&answer.message, &answer.cells)?)
    }

    async fn call_meta<M: prost::Message + Default>(
        &self,
        meta: &Arc<Location>,
        method: Method,
        request: &impl prost::Message,
        deadline: Instant,
    ) -> Result<Answer<M>, CallError> {
        let limit = Limit { rpc: self.settings.rpc_timeout, deadline, server: None };
        let answer = self.rpc.call(&meta.server, method, request, b"", limit).await;
        if let Err(error) = &answer {
            self.learn(meta, error).await;
        }
        answer
    }

    /// The location of hbase:meta.
    async fn meta(&self, deadline: Instant) -> Result<Arc<Location>, CallError> {
        let late = |_| CallError::NotRegistered {
            exception: Exception::Io,
            why: format!("{} did not answer in time", self.registry),
        };
        let mut meta = timeout_at(deadline, self.meta.lock()).await.map_err(late)?;
        if let Some(known) = &*meta {
            return Ok(Arc::clone(known));
        }
        let server = self.registry.find(Wanted::Meta, deadline).await?;
        let found = Arc::new(Location::new(RegionInfo::meta(), server));
        *meta = Some(Arc::clone(&found));
        Ok(found)
    }

    /// Updates the cache after an error from the server in `location`.
    pub(crate) async fn learn(&self, location: &Arc<Location>, error: &CallError) {
        if location.region.table().is_meta() {
            let mut meta = self.meta.lock().await;
            if error.clears_location() && meta.as_ref() == Some(location) {
                *meta = None;
            }
        } else if location.region.replica_id() > 0 {
            if error.moved_to().is_some() || error.clears_location() {
                self.rpc.counters().locations_cleared.increment();
                self.cache.update_replica(location, error.moved_to().cloned());
            }
        } else if let Some(server) = error.moved_to() {
            let moved = Location { server: server.clone(), ..Location::clone(location) };
            self.rpc.counters().locations_cleared.increment();
            tracing::debug!(region = location.region.encoded_name(), to = %server, "region moved");
            self.cache.remove(location);
            self.cache.insert(Arc::new(moved));
        } else if error.clears_location() {
            self.rpc.counters().locations_cleared.increment();
            tracing::debug!(region = location.region.encoded_name(), %error, "location cleared");
            self.cache.remove(location);
        }
    }

    /// Removes the locations of a table.
    pub(crate) fn forget(&self, table: &TableName) {
        self.cache.remove_table(table);
    }

    /// Returns an error if the table is disabled or does not exist: further attempts would be
    /// useless. Called when no server serves a region.
    pub(crate) async fn check_in_service(
        &self,
        table: &TableName,
        deadline: Instant,
    ) -> Result<(), Error> {
        if table.is_meta() {
            return Ok(());
        }
        // If this read fails, the next attempt fails in the same way and reports it.
        match self.table_state(table, deadline).await {
            Ok(None) => Err(Error::new(Exception::TableNotFound, table.to_string())),
            Ok(Some(TableState::Disabled)) => {
                self.forget(table);
                Err(Error::new(Exception::TableNotEnabled, format!("{table} is disabled.")))
            }
            _ => Ok(()),
        }
    }
}

/// A participant in a shared lookup.
struct Turn<'l> {
    locator: &'l Locator,
    wanted: Lookup,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut under_way = self.locator.under_way.lock();
        // Only the map and this participant hold a reference: no other caller waits.
        if Arc::strong_count(&self.turn) == 2 {
            under_way.remove(&self.wanted);
        }
    }
}
