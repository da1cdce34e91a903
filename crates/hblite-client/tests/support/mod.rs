//! A cluster in this process, and clients of it.

#![allow(dead_code, reason = "each test uses a part of it")]

use hblite_client::{Client, ClientSettings, ClusterAddress, ServerAddress, Table};
use hblite_model::{ColumnFamilyDescriptor, Scan, TableDescriptor};
use hblite_server::{ServerOptions, TestServer};

/// A cluster of some region servers.
pub(crate) struct Cluster {
    pub(crate) server: TestServer,
}

impl Cluster {
    pub(crate) fn start(region_servers: usize) -> Self {
        let options = ServerOptions::on_free_ports().with_region_servers(region_servers);
        let server = TestServer::start_with(hblite::Options::new(), options).expect("a server");
        Self { server }
    }

    /// The URL of the cluster, with its master as the registry.
    pub(crate) fn url(&self) -> String {
        format!("hbase+rpc://127.0.0.1:{}", self.server.ports().master)
    }

    pub(crate) fn region_server_url(&self) -> String {
        format!("hbase+rpc://127.0.0.1:{}", self.server.ports().region_servers[0])
    }

    pub(crate) fn zookeeper_url(&self) -> String {
        format!("hbase://127.0.0.1:{}/hbase", self.server.ports().zookeeper.expect("a ZooKeeper"))
    }

    /// A client with short pauses.
    pub(crate) fn client(&self) -> Client {
        let mut settings = ClientSettings::new();
        for (name, value) in [
            ("hbase.client.pause", "2"),
            ("hbase.client.pause.server.overloaded", "2"),
            ("hbase.rpc.timeout", "20000"),
        ] {
            assert!(settings.set(name, value).expect("a value"), "{name}");
        }
        let port = self.server.ports().master;
        let servers = vec![ServerAddress { host: "127.0.0.1".to_owned(), port }];
        Client::new(ClusterAddress::Rpc { servers }, settings)
    }

    /// Creates a table with the family `f`, split at these keys.
    pub(crate) async fn table(&self, name: &str, splits: &[&str]) -> Table {
        let client = self.client();
        let descriptor = TableDescriptor::new(name.parse().expect("a name"))
            .with_family(ColumnFamilyDescriptor::new("f"));
        let splits: Vec<Vec<u8>> = splits.iter().map(|key| key.as_bytes().to_vec()).collect();
        client.admin().create_table(&descriptor, &splits).await.expect("created");
        client.table(descriptor.name().clone())
    }

    /// The table in the store, without the network.
    pub(crate) fn direct(&self, name: &str) -> hblite::Table {
        self.server.connection().table(name).expect("a name")
    }
}

/// The rows of the results of a scan.
pub(crate) async fn rows_of(table: &Table, scan: &Scan) -> Vec<String> {
    let mut scanner = table.scan(scan).await.expect("a scan");
    let mut rows = Vec::new();
    while let Some(row) = scanner.next_row().await.expect("rows") {
        rows.push(String::from_utf8_lossy(row.row()).into_owned());
    }
    rows
}
