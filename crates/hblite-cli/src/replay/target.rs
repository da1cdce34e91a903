//! The cluster that a recording is replayed on: its servers, and its regions that correspond to the
//! recorded ones.
//!
//! Threads: one.

use std::collections::HashMap;
use std::io;

use bytes::Bytes;
use hblite::{Error, Result, TableName};
use hblite_client::{Client, ServerAddress};
use hblite_wire::client_frame::Reply;
use hblite_wire::pb;
use tokio::runtime::Runtime;

use super::link::Link;

/// The identity of a region on every cluster: table, first row, and number of the replica.
pub(super) type RegionKey = (Vec<u8>, Vec<u8>, u16);

/// A cluster that answers.
pub(super) struct Target {
    runtime: Runtime,
    client: Client,
    master: Option<ServerAddress>,
    /// Names of regions, of the tables that were looked up.
    names: HashMap<Vec<u8>, HashMap<RegionKey, Bytes>>,
    servers: HashMap<RegionKey, ServerAddress>,
    links: HashMap<(u64, ServerAddress), Link>,
}

impl Target {
    /// Connects to the cluster at this URL.
    ///
    /// # Errors
    /// As `Client::connect`.
    pub(super) fn connect(url: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::io_of("cannot start threads", error))?;
        let settings = [("hbase.client.retries.number", "2"), ("hbase.rpc.timeout", "20000")];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let client = runtime.block_on(Client::connect_with(url, &settings))?;
        let (names, servers, links) = (HashMap::new(), HashMap::new(), HashMap::new());
        Ok(Self { runtime, client, master: None, names, servers, links })
    }

    /// Regions may have changed: they are looked up again.
    pub(super) fn forget_regions(&mut self) {
        for table in self.names.keys() {
            if let Ok(table) = table_name(table) {
                self.client.forget_locations(&table);
            }
        }
        self.names.clear();
        self.servers.clear();
    }

    /// The name that the region has here; `None` if there is no such region.
    pub(super) fn region_name(&mut self, key: &RegionKey) -> Option<Bytes> {
        let (table, _, _) = key;
        if !self.names.contains_key(table) {
            let name = table_name(table).ok()?;
            let found = self.runtime.block_on(self.client.admin().regions(&name));
            let regions = found.unwrap_or_default();
            let of = |region: &hblite::RegionInfo| {
                let key = (table.clone(), region.start_key().to_vec(), region.replica_id());
                (key, Bytes::from(region.region_name()))
            };
            self.names.insert(table.clone(), regions.iter().map(of).collect());
        }
        self.names.get(table)?.get(key).cloned()
    }

    /// The server of a region; that of hbase:meta if the region is nowhere.
    ///
    /// # Errors
    /// As `Client::connect` if the cluster does not answer.
    pub(super) fn server_of(&mut self, key: Option<&RegionKey>) -> Result<ServerAddress> {
        if let Some(server) = key.and_then(|key| self.servers.get(key)) {
            return Ok(server.clone());
        }
        let here = match key {
            Some(key) => self.region_name(key).is_some(),
            None => false,
        };
        if let Some(key) = key.filter(|_| here) {
            let table = table_name(&key.0)?;
            if let Ok(server) = self.locate(&table, &key.1) {
                self.servers.insert(key.clone(), server.clone());
                return Ok(server);
            }
        }
        self.locate(&TableName::meta(), b"")
    }

    fn locate(&self, table: &TableName, row: &[u8]) -> Result<ServerAddress> {
        let admin = self.client.admin();
        let location = self.runtime.block_on(admin.locate_region(table, row))?;
        ServerAddress::parse(&location.server, None)
    }

    /// The active master.
    ///
    /// # Errors
    /// As `Client::master`.
    pub(super) fn master(&mut self) -> Result<ServerAddress> {
        if self.master.is_none() {
            self.master = Some(self.runtime.block_on(self.client.master())?);
        }
        self.master.clone().ok_or_else(|| Error::do_not_retry("the cluster has no master"))
    }

    /// Sends a call of a recorded connection to a server.
    ///
    /// # Errors
    /// Those of the socket.
    pub(super) fn call(
        &mut self,
        (number, header): (u64, &pb::ConnectionHeader),
        server: &ServerAddress,
        (method, message, cells): (&str, &[u8], &[u8]),
    ) -> io::Result<Reply> {
        let key = (number, server.clone());
        let mut link = match self.links.remove(&key) {
            Some(link) => link,
            None => Link::open(server, header)?,
        };
        // One that failed is not used again.
        let reply = link.call(method, message, cells)?;
        self.links.insert(key, link);
        Ok(reply)
    }
}

fn table_name(bytes: &[u8]) -> Result<TableName> {
    String::from_utf8_lossy(bytes).parse()
}
