//! Region replicas in hbase:meta, as HBase 2.6 writes them. A store has one copy of each region;
//! the replicas of a table with `REGION_REPLICATION` are further locations of that copy.
//!
//! ```text
//! row: region name   info:state_0001              "OPEN", "CLOSED"
//!                    info:server_0001             "host:port"
//!                    info:serverstartcode_0001    i64
//!                    info:sn_0001                 "host,port,start code"
//!                    info:seqnumDuringOpen_0001   i64
//! ```
//!
//! Invariant: once the store is open, the rows of an enabled table have columns for exactly the
//! replicas that its descriptor requests. A crash between the descriptor and the rows is repaired
//! by the next open.
//!
//! Threads: any; the catalog's procedures run one at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use hblite_model::{
    Delete, Mutation, Put, RegionInfo, Result, RowResult, SystemTables, TableDescriptor, TableName,
    TableState,
};

use super::Catalog;
use super::meta::{
    self, INFO, OPEN_SEQUENCE_NUMBER, RegionRow, SERVER, SERVER_NAME, SERVER_START_CODE, STATE,
    ServerName,
};
use super::table::TableEntry;

const QUALIFIERS: [&str; 5] = [OPEN_SEQUENCE_NUMBER, SERVER, SERVER_NAME, SERVER_START_CODE, STATE];

/// Replicas that rows of hbase:meta name, by row: id and server name.
pub(super) type Named = BTreeMap<Vec<u8>, BTreeMap<u16, Vec<u8>>>;

/// Adds the replicas that a row names.
pub(super) fn note(row: &RowResult, named: &mut Named) {
    let mut replicas = BTreeMap::new();
    for cell in row.cells().filter(|cell| cell.family() == INFO.as_bytes()) {
        let Some(id) = replica_id(cell.qualifier()) else { continue };
        let server: &mut Vec<u8> = replicas.entry(id).or_default();
        if cell.qualifier().starts_with(b"sn_") {
            *server = cell.value().to_vec();
        }
    }
    if !replicas.is_empty() {
        named.insert(row.row().to_vec(), replicas);
    }
}

/// The number at the end of a qualifier of a replica.
fn replica_id(qualifier: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(qualifier).ok()?;
    let (name, number) = text.split_once('_')?;
    let is_replica = QUALIFIERS.contains(&name) && number.len() == 4;
    is_replica.then(|| u16::from_str_radix(number, 16).ok()).flatten()
}

fn qualifier(name: &str, id: u16) -> String {
    format!("{name}_{id:04X}")
}

/// Puts the replicas `ids` of a region in service.
pub(super) fn put_open(
    row: &RegionRow,
    ids: Range<u16>,
    server: &ServerName,
    timestamp: i64,
) -> Option<Mutation> {
    let number = row.open_sequence_number.to_be_bytes();
    let add = |put: Put, id| {
        put.add(INFO, qualifier(STATE, id), "OPEN")
            .add(INFO, qualifier(SERVER, id), format!("{}:{}", server.host, server.port))
            .add(INFO, qualifier(SERVER_START_CODE, id), server.start_code.to_be_bytes())
            .add(INFO, qualifier(SERVER_NAME, id), server.to_string())
            .add(INFO, qualifier(OPEN_SEQUENCE_NUMBER, id), number)
    };
    let put = Put::new(row.info.region_name()).with_timestamp(timestamp);
    (!ids.is_empty()).then(|| ids.fold(put, add).into())
}

/// Puts regions in service, with their replicas.
pub(super) fn put_regions_open<'r>(
    rows: impl IntoIterator<Item = &'r RegionRow>,
    table: &TableDescriptor,
    server: &ServerName,
    timestamp: i64,
) -> impl Iterator<Item = Mutation> {
    let replicas = 1..table.region_replication();
    rows.into_iter().flat_map(move |row| {
        let put = meta::put_open_region(&row.info, server, row.open_sequence_number, timestamp);
        [put].into_iter().chain(put_open(row, replicas.clone(), server, timestamp))
    })
}

/// Takes the replicas `ids` of a region out of service.
pub(super) fn put_closed(info: &RegionInfo, ids: Range<u16>, timestamp: i64) -> Option<Mutation> {
    let put = Put::new(info.region_name()).with_timestamp(timestamp);
    let add = |put: Put, id| put.add(INFO, qualifier(STATE, id), "CLOSED");
    (!ids.is_empty()).then(|| ids.fold(put, add).into())
}

/// Removes the replicas `ids` of a region.
fn delete(row: &[u8], ids: impl ExactSizeIterator<Item = u16>, timestamp: i64) -> Option<Mutation> {
    let delete = Delete::new(row).with_timestamp(timestamp);
    let forget = |delete: Delete, id| {
        let columns = QUALIFIERS.into_iter();
        columns.fold(delete, |delete, name| delete.columns(INFO, qualifier(name, id)))
    };
    (ids.len() > 0).then(|| ids.fold(delete, forget).into())
}

impl Catalog {
    /// Adds or removes replicas of a table whose number of replicas was changed.
    pub(super) fn change_replicas(
        &self,
        entry: &TableEntry,
        before: u16,
        after: u16,
    ) -> Result<()> {
        let is_enabled = entry.state == TableState::Enabled;
        if before == after || (before < after && !is_enabled) {
            return Ok(());
        }
        let timestamp = self.meta.next_timestamp()?;
        let mutations: Vec<_> = entry
            .live_rows()
            .filter_map(|row| match before < after {
                true => put_open(row, before..after, &self.server, timestamp),
                false => delete(&row.info.region_name(), after..before, timestamp),
            })
            .collect();
        self.meta.write(&mutations)
    }

    /// Makes the rows of hbase:meta name the replicas that the descriptors request, on the store's
    /// server. Needed if HBase had the directory, or if a change was interrupted.
    pub(super) fn settle_replicas(&self, named: &Named) -> Result<()> {
        if self.context.options.is_read_only {
            return Ok(());
        }
        let mut mutations = Vec::new();
        for table in self.list_tables(SystemTables::Exclude) {
            self.settle_table(table.name(), named, &mut mutations)?;
        }
        if mutations.is_empty() { Ok(()) } else { self.meta.write(&mutations) }
    }

    fn settle_table(
        &self,
        table: &TableName,
        named: &Named,
        mutations: &mut Vec<Mutation>,
    ) -> Result<()> {
        let entry = self.entry(table)?;
        let wanted = 1..entry.descriptor.region_replication();
        let server = self.server.to_string();
        for row in entry.live_rows() {
            let name = row.info.region_name();
            let Some(found) = named.get(&name) else {
                if entry.state == TableState::Enabled && !wanted.is_empty() {
                    let timestamp = self.meta.next_timestamp()?;
                    mutations.extend(put_open(row, wanted.clone(), &self.server, timestamp));
                }
                continue;
            };
            let timestamp = self.meta.next_timestamp()?;
            let surplus: BTreeSet<u16> =
                found.keys().copied().filter(|id| !wanted.contains(id)).collect();
            mutations.extend(delete(&name, surplus.into_iter(), timestamp));
            let is_right = |id: u16| found.get(&id).is_some_and(|at| at == server.as_bytes());
            if entry.state == TableState::Enabled && !wanted.clone().all(is_right) {
                mutations.extend(put_open(row, wanted.clone(), &self.server, timestamp));
            }
        }
        Ok(())
    }
}
