//! The regions that the client knows, by table and row range.
//!
//! Invariant: the ranges of a table do not overlap; newer entries replace those that they overlap.
//!
//! Threads: any.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use hblite_model::{RegionInfo, TableName};
use parking_lot::RwLock;

use crate::url::ServerAddress;

/// A region, and the server that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) region: RegionInfo,
    /// The full name of the region, which calls use.
    pub(crate) region_name: Vec<u8>,
    pub(crate) server: ServerAddress,
    /// The replicas of the region, if this is the region itself.
    pub(crate) replicas: Vec<Arc<Location>>,
}

impl Location {
    pub(crate) fn new(region: RegionInfo, server: ServerAddress) -> Self {
        Self { region_name: region.region_name(), region, server, replicas: Vec::new() }
    }

    /// Adds a replica of the region.
    pub(crate) fn with_replica(mut self, id: u16, server: ServerAddress) -> Self {
        self.replicas.push(Arc::new(Self::new(self.region.replica(id), server)));
        self
    }

    /// The replica with this id; 0 is the region itself.
    pub(crate) fn replica(self: &Arc<Self>, id: u16) -> Option<&Arc<Self>> {
        if id == 0 {
            return Some(self);
        }
        self.replicas.iter().find(|replica| replica.region.replica_id() == id)
    }
}

/// Which region to look for, relative to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum LocateKind {
    /// The one that has the row.
    Current,
    /// The one that has the last row before it; before the empty row, the last one of the table.
    Before,
}

impl LocateKind {
    /// Whether the region is the requested one.
    pub(crate) fn is_met_by(self, region: &RegionInfo, row: &[u8]) -> bool {
        let end = region.end_key();
        match self {
            Self::Current => region.contains_row(row),
            Self::Before if row.is_empty() => end.is_empty(),
            Self::Before => region.start_key() < row && (end.is_empty() || end >= row),
        }
    }
}

type Ranges = BTreeMap<Vec<u8>, Arc<Location>>;

/// The known locations of all tables.
#[derive(Debug, Default)]
pub(super) struct LocationCache {
    tables: RwLock<HashMap<TableName, Ranges>>,
}

impl LocationCache {
    /// The known location, if any.
    pub(super) fn find(
        &self,
        table: &TableName,
        row: &[u8],
        kind: LocateKind,
    ) -> Option<Arc<Location>> {
        let tables = self.tables.read();
        let ranges = tables.get(table)?;
        let last = match kind {
            LocateKind::Current => Bound::Included(row),
            LocateKind::Before if row.is_empty() => Bound::Unbounded,
            LocateKind::Before => Bound::Excluded(row),
        };
        let (_, found) = ranges.range::<[u8], _>((Bound::Unbounded, last)).next_back()?;
        kind.is_met_by(&found.region, row).then(|| Arc::clone(found))
    }

    /// Adds a location.
    pub(super) fn insert(&self, location: Arc<Location>) {
        let mut tables = self.tables.write();
        let region = &location.region;
        let ranges = tables.entry(region.table().clone()).or_default();
        remove_overlapping(ranges, region);
        ranges.insert(region.start_key().to_vec(), location);
        debug_assert!(are_disjoint(ranges), "ranges overlap: {ranges:?}");
    }

    /// Removes a location, unless a newer one has replaced it.
    pub(super) fn remove(&self, location: &Location) {
        let mut tables = self.tables.write();
        let Some(ranges) = tables.get_mut(location.region.table()) else { return };
        let start = location.region.start_key();
        if ranges.get(start).is_some_and(|known| **known == *location) {
            ranges.remove(start);
        }
    }

    /// Sets the server of a replica if the location was known, or with `None` removes the region
    /// with its replicas.
    pub(super) fn update_replica(&self, replica: &Arc<Location>, server: Option<ServerAddress>) {
        let mut tables = self.tables.write();
        let Some(ranges) = tables.get_mut(replica.region.table()) else { return };
        let start = replica.region.start_key();
        let Some(known) = ranges.get_mut(start) else { return };
        let Some(at) = known.replicas.iter().position(|one| one == replica) else { return };
        match server {
            Some(server) => {
                let mut changed = Location::clone(known);
                changed.replicas[at] = Arc::new(Location { server, ..Location::clone(replica) });
                *known = Arc::new(changed);
            }
            None => drop(ranges.remove(start)),
        }
    }

    /// Removes a table.
    pub(super) fn remove_table(&self, table: &TableName) {
        self.tables.write().remove(table);
    }
}

fn remove_overlapping(ranges: &mut Ranges, region: &RegionInfo) {
    let (start, end) = (region.start_key(), region.end_key());
    let until = if end.is_empty() { Bound::Unbounded } else { Bound::Excluded(end) };
    let overlaps = |known: &RegionInfo| known.end_key().is_empty() || known.end_key() > start;
    let candidates = ranges.range::<[u8], _>((Bound::Unbounded, until)).rev();
    let overlapping: Vec<Vec<u8>> = candidates
        .take_while(|(_, known)| overlaps(&known.region))
        .map(|(start, _)| start.clone())
        .collect();
    for start in overlapping {
        ranges.remove(&start);
    }
}

fn are_disjoint(ranges: &Ranges) -> bool {
    let regions = || ranges.values().map(|location| &location.region);
    regions()
        .zip(regions().skip(1))
        .all(|(region, next)| !region.end_key().is_empty() && region.end_key() <= next.start_key())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(start: &str, end: &str, port: u16) -> Arc<Location> {
        let table: TableName = "t".parse().unwrap();
        let region = RegionInfo::new(table, start.as_bytes(), end.as_bytes(), u64::from(port));
        Arc::new(Location::new(region, ServerAddress { host: "h".to_owned(), port }))
    }

    fn ports(cache: &LocationCache, rows: &[&str], kind: LocateKind) -> Vec<Option<u16>> {
        let table: TableName = "t".parse().unwrap();
        let port = |row: &&str| Some(cache.find(&table, row.as_bytes(), kind)?.server.port);
        rows.iter().map(port).collect()
    }

    #[test]
    fn a_row_is_in_its_region_and_a_boundary_in_two() {
        let cache = LocationCache::default();
        for known in [location("", "g", 1), location("g", "m", 2), location("t", "", 4)] {
            cache.insert(known);
        }
        let rows = ["", "a", "g", "l", "m", "t", "z"];
        let current = [Some(1), Some(1), Some(2), Some(2), None, Some(4), Some(4)];
        assert_eq!(ports(&cache, &rows, LocateKind::Current), current);
        let before = [Some(4), Some(1), Some(1), Some(2), Some(2), None, Some(4)];
        assert_eq!(ports(&cache, &rows, LocateKind::Before), before);
    }

    #[test]
    fn what_is_learned_later_replaces_what_it_overlaps() {
        let cache = LocationCache::default();
        for known in [location("", "m", 1), location("m", "", 2), location("g", "p", 3)] {
            cache.insert(known);
        }
        let rows = ["a", "g", "m", "z"];
        assert_eq!(ports(&cache, &rows, LocateKind::Current), [None, Some(3), Some(3), None]);
        cache.remove(&location("g", "p", 9));
        assert_eq!(ports(&cache, &["g"], LocateKind::Current), [Some(3)], "another one is known");
        cache.remove(&location("g", "p", 3));
        assert_eq!(ports(&cache, &["g"], LocateKind::Current), [None]);
    }
}
