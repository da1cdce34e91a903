//! A temporary table on a cluster, with its regions on the servers on which the simulation has
//! them: the servers take one region after the other, in turn.
//!
//! The balancer of the cluster may move them. So their places are looked at again afterwards.

use std::time::{Duration, Instant};

use hblite::{
    ColumnFamilyDescriptor, Connection, Get, MasterWork, RegionInfo, Table, TableDescriptor,
    TableName,
};
use hblite_casestudies::TemporaryTables;

use crate::run::RunError;

/// The family of all cells.
pub(super) const FAMILY: &[u8] = b"d";
/// The column of all cells.
pub(super) const VALUE: &[u8] = b"v";
/// How long a region may take to move.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// The table, which is dropped at the end, also after an error.
pub(super) struct PlacedTable<'c> {
    connection: &'c Connection,
    temporary: TemporaryTables,
    name: TableName,
    table: Table,
    /// Each region, and the `host:port` of its server.
    places: Vec<(RegionInfo, String)>,
}

/// The names of the region servers at work, in order.
pub(super) fn servers(connection: &Connection) -> Result<Vec<String>, RunError> {
    let mut live = connection.admin().servers()?.live;
    live.sort();
    if live.is_empty() {
        return Err(RunError::Settings("the cluster has no region servers at work".to_owned()));
    }
    Ok(live)
}

impl<'c> PlacedTable<'c> {
    /// Creates the table and moves its regions to these servers.
    ///
    /// # Errors
    /// [`RunError::Design`] if it exists, and those of the cluster.
    pub(super) fn create(
        connection: &'c Connection,
        name: &str,
        splits: &[Vec<u8>],
        servers: &[String],
    ) -> Result<Self, RunError> {
        let name: TableName = name.parse()?;
        let descriptor =
            TableDescriptor::new(name.clone()).with_family(ColumnFamilyDescriptor::new(FAMILY));
        let mut temporary = TemporaryTables::claim(connection, std::slice::from_ref(&descriptor))?;
        connection.admin().create_table_with_splits(&descriptor, splits)?;
        temporary.add(name.clone());
        let table = connection.table(name.clone())?;
        let regions = connection.admin().regions(name.clone())?;
        let places = regions.into_iter().enumerate().map(|(index, region)| {
            let server = &servers[index % servers.len()];
            (region, server)
        });
        let mut placed = Self { connection, temporary, name, table, places: Vec::new() };
        for (region, server) in places {
            placed.places.push((region.clone(), address(server)));
            placed.move_to(&region, server)?;
        }
        Ok(placed)
    }

    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    fn move_to(&self, region: &RegionInfo, server: &str) -> Result<(), RunError> {
        let (began, wanted) = (Instant::now(), address(server));
        if self.place_of(region)? == wanted {
            return Ok(());
        }
        self.connection.admin().run_on_master(&MasterWork::Move {
            region: region.encoded_name().to_owned(),
            server: Some(server.to_owned()),
        })?;
        while self.place_of(region)? != wanted {
            if began.elapsed() > PATIENCE {
                return Err(RunError::Settings(format!(
                    "the cluster does not move a region to {server}: look at its master's log"
                )));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// The `host:port` of a region's server. A client remembers where a region was until a call
    /// finds it gone, so it makes one.
    fn place_of(&self, region: &RegionInfo) -> Result<String, RunError> {
        self.table.get(&Get::new([region.start_key(), &[0]].concat()))?;
        let admin = self.connection.admin();
        Ok(admin.locate_region(self.name.clone(), region.start_key())?.server)
    }

    /// Drops the table, if its regions are still where they were put.
    ///
    /// # Errors
    /// [`RunError::Settings`] if one has moved, and those of the cluster.
    pub(super) fn remove(self) -> Result<(), RunError> {
        for (region, place) in &self.places {
            if self.place_of(region)? != *place {
                return Err(RunError::Settings(
                    "the cluster's balancer moved a region during the measurement: measure again, \
                     with the balancer off"
                        .to_owned(),
                ));
            }
        }
        Ok(self.temporary.remove()?)
    }
}

/// The `host:port` of a server's name `host,port,start`.
fn address(server: &str) -> String {
    let mut parts = server.split(',');
    let (host, port) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{host}:{port}")
}
