//! A client of one cluster: its address, and access to its tables and its admin.

use std::sync::Arc;

use hblite_model::{Error, Result, TableName};
use tokio::time::Instant;

use crate::admin::Admin;
use crate::locator::LocateKind;
use crate::metrics::ClientMetrics;
use crate::registry::Wanted;
use crate::retry::Retries;
use crate::settings::ClientSettings;
use crate::shared::Shared;
use crate::site_xml;
use crate::table::Table;
use crate::url::{
    ClusterAddress, ClusterUrl, ServerAddress, ZNODE_PARENT, ZOOKEEPER_PORT, servers,
};

/// A client of a cluster. Cheap to clone; tasks and threads may share it.
///
/// It opens connections when they are needed, and closes idle ones.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

impl Client {
    /// Connects to the cluster at `url`: returns once the location of hbase:meta is known.
    ///
    /// The URL is `hbase://zookeeper-host:2181/hbase` or `hbase+rpc://host:16000`, either with a
    /// list of hosts, and with settings under HBase's names in the query:
    /// `?hbase.rpc.timeout=5000`. `hbase://` alone takes the address from `hbase-site.xml`. If
    /// `HBASE_CONF_DIR` is set, the settings of the `hbase-site.xml` there apply as well.
    ///
    /// # Errors
    /// `IllegalArgument` for an invalid URL or setting; `Io` if the cluster does not answer before
    /// `hbase.rpc.timeout`, with what was tried.
    pub async fn connect(url: &str) -> Result<Self> {
        Self::connect_with(url, &[]).await
    }

    /// Like [`Client::connect`], with these settings under HBase's names. They take precedence
    /// over `hbase-site.xml`, and the URL's query takes precedence over them.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn connect_with(url: &str, settings: &[(String, String)]) -> Result<Self> {
        let (address, settings) = configure(url, settings)?;
        let client = Self::new(address, settings);
        client.ping().await?;
        Ok(client)
    }

    /// A client that has not opened a connection yet. Call it within a tokio runtime.
    pub fn new(address: ClusterAddress, settings: ClientSettings) -> Self {
        Self { shared: Arc::new(Shared::new(address, settings)) }
    }

    /// Looks up the location of hbase:meta.
    ///
    /// # Errors
    /// `Io` if the cluster does not answer before `hbase.rpc.timeout`, with what was tried.
    pub async fn ping(&self) -> Result<()> {
        let shared = &self.shared;
        let mut retries = Retries::within(&shared.rpc, shared.settings.rpc_timeout);
        loop {
            let (meta, deadline) = (TableName::meta(), retries.deadline());
            let found = shared.locator.locate(&meta, b"", LocateKind::Current, deadline).await;
            let Err(error) = found else { return Ok(()) };
            retries.after(error).await.map_err(|error| {
                let message = format!("{}: {}", shared.registry, error.message());
                Error::new(hblite_model::Exception::Io, message).with_source(error)
            })?;
        }
    }

    /// A table. It is looked up on each use, not here.
    pub fn table(&self, name: TableName) -> Table {
        Table::new(Arc::clone(&self.shared), name)
    }

    /// Changes tables, regions, namespaces and snapshots.
    pub fn admin(&self) -> Admin {
        Admin::new(Arc::clone(&self.shared))
    }

    /// Looks up the address of the active master.
    ///
    /// # Errors
    /// `MasterNotRunning` if there is none, `Io` if no server answers before `hbase.rpc.timeout`;
    /// both with what was tried.
    pub async fn master(&self) -> Result<ServerAddress> {
        let Shared { settings, registry, .. } = &*self.shared;
        let deadline = Instant::now() + settings.rpc_timeout;
        Ok(registry.find(Wanted::Master, deadline).await?)
    }

    /// Removes the cached locations of a table's regions: the next call looks them up again.
    pub fn forget_locations(&self, table: &TableName) {
        self.shared.locator.forget(table);
    }

    /// What this client and its clones have done so far.
    ///
    /// ```no_run
    /// # async fn example(client: hblite_client::Client) {
    /// let metrics = client.metrics();
    /// for (name, calls) in metrics.by_method() {
    ///     let p99 = calls.latencies.quantile(0.99);
    ///     println!("{name}: {} calls, 99 % within {p99:?}", calls.ended());
    /// }
    /// println!("{} retries, {} bytes sent", metrics.retries, metrics.bytes_sent);
    /// # }
    /// ```
    pub fn metrics(&self) -> ClientMetrics {
        self.shared.rpc.counters().snapshot()
    }

    /// The settings.
    pub fn settings(&self) -> &ClientSettings {
        &self.shared.settings
    }

    /// Closes all connections. Calls in progress fail; later ones open new connections.
    pub fn close(&self) {
        self.shared.rpc.close();
    }
}

/// The address and the settings from `hbase-site.xml`, the caller and the URL, in this order.
fn configure(url: &str, given: &[(String, String)]) -> Result<(ClusterAddress, ClientSettings)> {
    let url = ClusterUrl::parse(url)?;
    let site = site_xml::of_environment()?;
    let mut settings = ClientSettings::new();
    for (name, value) in &site {
        settings.set(name, value)?;
    }
    for (name, value) in given.iter().chain(&url.settings) {
        if !settings.set(name, value)? {
            let message =
                format!("{name:?} is not a setting of the client; docs/cluster.md lists them");
            return Err(Error::illegal_argument(message));
        }
    }
    let address = match url.address {
        Some(address) => address,
        None => configured_address(&|name: &str| site.get(name).map(String::as_str))?,
    };
    Ok((address, settings))
}

/// The address of the cluster in the configuration.
fn configured_address<'c>(value: &impl Fn(&str) -> Option<&'c str>) -> Result<ClusterAddress> {
    let registry = value("hbase.client.registry.impl").unwrap_or_default();
    let of_servers = if registry.ends_with(".MasterRegistry") {
        value("hbase.masters")
    } else if registry.ends_with(".RpcConnectionRegistry") {
        value("hbase.client.bootstrap.servers").or_else(|| value("hbase.masters"))
    } else {
        None
    };
    if let Some(list) = of_servers {
        return Ok(ClusterAddress::Rpc { servers: servers(list, Some(16_000))? });
    }
    let Some(quorum) = value("hbase.zookeeper.quorum") else {
        return Err(Error::illegal_argument(
            "hbase:// without a host needs hbase.zookeeper.quorum, or hbase.client.registry.impl \
             with its servers, in the hbase-site.xml of HBASE_CONF_DIR",
        ));
    };
    let port = match value("hbase.zookeeper.property.clientPort") {
        Some(port) => port.trim().parse().map_err(|_| {
            Error::illegal_argument("hbase.zookeeper.property.clientPort is not a port")
        })?,
        None => ZOOKEEPER_PORT,
    };
    let parent = value("zookeeper.znode.parent").unwrap_or(ZNODE_PARENT).to_owned();
    Ok(ClusterAddress::ZooKeeper { quorum: servers(quorum, Some(port))?, parent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hbase_site_says_where_the_cluster_is() {
        let of = |pairs: &'static [(&str, &str)]| {
            configured_address(&|name: &str| pairs.iter().find(|pair| pair.0 == name).map(|p| p.1))
        };
        let found = of(&[
            ("hbase.zookeeper.quorum", "a,b"),
            ("hbase.zookeeper.property.clientPort", "2182"),
            ("zookeeper.znode.parent", "/h"),
        ]);
        let expected = ClusterUrl::parse("hbase://a:2182,b:2182/h").unwrap().address;
        assert_eq!(Some(found.unwrap()), expected);
        let found = of(&[
            ("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.MasterRegistry"),
            ("hbase.masters", "m1:16001,m2:16001"),
        ]);
        let expected = ClusterUrl::parse("hbase+rpc://m1:16001,m2:16001").unwrap().address;
        assert_eq!(Some(found.unwrap()), expected);
        assert!(of(&[]).unwrap_err().message().contains("HBASE_CONF_DIR"));
    }

    #[test]
    fn a_setting_that_does_not_exist_is_an_error_of_the_url() {
        let error = configure("hbase+rpc://a:1?hbase.rpc.timeouts=5", &[]);
        assert!(error.unwrap_err().message().contains("hbase.rpc.timeouts"));
        let given = [("hbase.rpc.timeout", "7"), ("hbase.client.pause", "8")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (_, settings) = configure("hbase+rpc://a:1?hbase.rpc.timeout=5", &given).unwrap();
        assert_eq!((settings.rpc_timeout.as_millis(), settings.pause.as_millis()), (5, 8));
    }
}
