//! hbase:meta as a client sees it: the store's rows, with this cluster's servers in them.
//!
//! The store writes the same placeholder for every region. A client reads the region's location,
//! with the host name by which this client reached the server.

use hblite_model::cell::key;
use hblite_model::{CellRef, TableName};

use super::{Cluster, Place, Role};

const INFO: &[u8] = b"info";
/// The store's placeholder for the server of every region.
const PLACEHOLDER: &[u8] = b"localhost:16020";

/// Shows rows of hbase:meta to one client.
#[derive(Debug)]
pub(crate) struct MetaView<'c> {
    cluster: &'c Cluster,
    host: &'c str,
    /// The last row and the location of its region; `None` for a row that is not a region of the
    /// store.
    row: Vec<u8>,
    place: Option<Place>,
}

impl<'c> MetaView<'c> {
    pub(crate) fn new(cluster: &'c Cluster, host: &'c str) -> Self {
        Self { cluster, host, row: Vec::new(), place: None }
    }

    /// Passes the cell, or its replacement, to `give`.
    pub(crate) fn show(&mut self, cell: &CellRef<'_>, give: impl FnOnce(&CellRef<'_>)) {
        match self.value_for(cell) {
            None => give(cell),
            Some(value) => {
                let (row, family) = (cell.row(), cell.family());
                let (qualifier, time) = (cell.qualifier(), cell.timestamp());
                let key = key::build(row, family, qualifier, time, cell.type_code());
                give(&CellRef::new(&key, &value, cell.tags(), cell.sequence_id()));
            }
        }
    }

    fn value_for(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        if cell.family() != INFO || cell.is_delete() {
            return None;
        }
        let (qualifier, replica) = without_replica(cell.qualifier());
        if !matches!(qualifier, b"server" | b"sn" | b"serverstartcode" | b"seqnumDuringOpen") {
            return None;
        }
        if self.row != cell.row() {
            self.row = cell.row().to_vec();
            self.place = self.find_place();
        }
        let place = self.cluster.replica_of_place(self.place?, replica);
        let server = self.cluster.identity(Role::RegionServer(place.server));
        match qualifier {
            // A value that a client wrote there is not replaced.
            b"server" if cell.value() != PLACEHOLDER => None,
            b"server" => Some(host_and_port(self.host, server.port).into_bytes()),
            b"sn" => Some(server.text(self.host).into_bytes()),
            b"serverstartcode" => Some(server.start_code.to_be_bytes().to_vec()),
            _ => {
                let number = u64::from_be_bytes(cell.value().try_into().ok()?);
                Some(number.saturating_add(place.moves).to_be_bytes().to_vec())
            }
        }
    }

    fn find_place(&self) -> Option<Place> {
        let comma = self.row.iter().position(|byte| *byte == b',')?;
        let table: TableName = std::str::from_utf8(&self.row[..comma]).ok()?.parse().ok()?;
        if !self.cluster.engine.catalog().table_exists(&table) {
            return None;
        }
        let encoded = self.row.strip_suffix(b".")?.rsplit(|byte| *byte == b'.').next()?;
        Some(self.cluster.assignments.place_of(std::str::from_utf8(encoded).ok()?))
    }
}

/// The name of a column, and the replica that it belongs to: `server_0001` is `server` of 1.
fn without_replica(qualifier: &[u8]) -> (&[u8], u16) {
    let replica = qualifier.len().checked_sub("_0001".len()).and_then(|at| {
        let (name, replica) = qualifier.split_at(at);
        let id = std::str::from_utf8(replica.strip_prefix(b"_")?).ok()?;
        Some((name, u16::from_str_radix(id, 16).ok()?))
    });
    replica.unwrap_or((qualifier, 0))
}

/// As hbase:meta has it; an IPv6 address in brackets.
pub(crate) fn host_and_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
