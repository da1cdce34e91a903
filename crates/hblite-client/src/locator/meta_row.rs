//! Rows of hbase:meta, and the keys for looking up regions there.
//!
//! ```text
//! row <region name>   info:regioninfo   RegionInfo        info:server   host:port
//!                     info:server_0001  host:port of replica 1, and so on
//! row <table name>    table:state       TableState
//! ```

use hblite_model::{RegionInfo, RowResult, Scan, TableName, TableState};
use hblite_wire::pb;
use prost::Message;

use super::cache::{LocateKind, Location};
use crate::error::CallError;
use crate::url::ServerAddress;

/// Sorts after, or before, the ids of all regions with the same start key.
const LAST_ID: &str = "99999999999999";
const FIRST_ID: &str = "00000000000000";

/// The scan of hbase:meta whose first row is the requested region; earlier regions follow.
pub(super) fn lookup(table: &TableName, row: &[u8], kind: LocateKind) -> Scan {
    let start = match kind {
        LocateKind::Current => key(table, row, LAST_ID),
        LocateKind::Before if row.is_empty() => [table.to_string().as_bytes(), b"\0"].concat(),
        LocateKind::Before => key(table, row, FIRST_ID),
    };
    let scan = Scan::new().with_reversed(true).with_family("info");
    scan.with_start_row(start).with_stop_row_inclusive(key(table, b"", ""))
}

/// The scan of hbase:meta for all regions of a table, in order.
pub(crate) fn regions_of(table: &TableName) -> Scan {
    let start = key(table, b"", "");
    let stop = format!("{table} ,,");
    Scan::new().with_family("info").with_start_row(start).with_stop_row(stop)
}

fn key(table: &TableName, row: &[u8], id: &str) -> Vec<u8> {
    [table.to_string().as_bytes(), b",", row, b",", id.as_bytes()].concat()
}

/// The region in a row; `None` if the row is not that of a region.
pub(crate) fn region(row: &RowResult) -> Option<RegionInfo> {
    RegionInfo::from_bytes(row.value("info", "regioninfo")?)
}

/// The location of the region in a row.
pub(crate) fn location(row: &RowResult) -> Result<Location, CallError> {
    let nowhere = |what: &str| {
        let name = hblite_model::bytes::to_string_binary(row.row());
        CallError::Nowhere(format!("region {name} {what}"))
    };
    let region = region(row).ok_or_else(|| nowhere("has no description in hbase:meta"))?;
    if region.is_offline {
        return Err(nowhere("is offline"));
    }
    let server = server_of(row.value("info", "server").unwrap_or_default());
    let location = Location::new(region, server.ok_or_else(|| nowhere("is on no server"))?);
    let replicas = row.cells().filter_map(|cell| {
        let id = replica_of_column(cell.qualifier()).filter(|_| cell.family() == b"info")?;
        Some((id, server_of(cell.value())?))
    });
    Ok(replicas.fold(location, |location, (id, server)| location.with_replica(id, server)))
}

/// The server in a cell.
fn server_of(value: &[u8]) -> Option<ServerAddress> {
    ServerAddress::parse(std::str::from_utf8(value).ok()?, None).ok()
}

/// The replica whose server is in this column.
fn replica_of_column(qualifier: &[u8]) -> Option<u16> {
    let id = std::str::from_utf8(qualifier.strip_prefix(b"server_")?).ok()?;
    u16::from_str_radix(id, 16).ok().filter(|id| *id > 0)
}

/// The state in the row of a table; `None` if there is no such table.
pub(super) fn table_state(row: &RowResult) -> Option<TableState> {
    let state = pb::TableState::decode(row.value("table", "state")?).ok()?;
    TableState::from_code(u64::try_from(state.state).ok()?)
}
