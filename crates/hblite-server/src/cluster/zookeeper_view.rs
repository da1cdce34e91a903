//! The cluster as ZooKeeper's clients see it.

use hblite_model::{Switch, SystemTables};
use std::net::SocketAddr;

use tokio::sync::watch;

use super::{CurrentCluster, Role, ServerIdentity};
use crate::zookeeper::{self, ClusterState, ServerName, TableState};

/// Shows a cluster to the shim.
#[derive(Debug)]
pub(crate) struct ZooKeeperView(pub(crate) CurrentCluster);

impl zookeeper::Cluster for ZooKeeperView {
    fn state(&self, reached: SocketAddr) -> ClusterState {
        let cluster = self.0.get();
        let host = cluster.host_for(reached);
        let name = |identity: ServerIdentity| ServerName {
            host: host.clone(),
            port: identity.port,
            start_code: identity.start_code,
        };
        let meta = cluster.place_of(&hblite_model::RegionInfo::meta());
        // An entry that cannot be listed now is listed the next time.
        let tables = cluster.engine.catalog().list_tables(SystemTables::Include);
        let state = |table: &hblite_model::TableName| {
            let state = cluster.engine.catalog().table_state(table).ok()?;
            Some((table.to_string(), state_of(state)))
        };
        let namespaces = cluster.engine.catalog().namespaces();
        let is_on = |switch| cluster.engine.switches().is_on(switch);
        ClusterState {
            cluster_id: cluster.id.clone(),
            start_date: cluster.started_at_ms.to_string(),
            master: Some(name(cluster.master)),
            meta: Some(name(cluster.identity(Role::RegionServer(meta.server)))),
            region_servers: cluster.region_servers.identities().into_iter().map(name).collect(),
            namespaces: namespaces.into_iter().map(|namespace| namespace.name).collect(),
            tables: tables.iter().filter_map(|table| state(table.name())).collect(),
            switches: zookeeper::Switches {
                balancer: is_on(Switch::Balancer),
                normalizer: is_on(Switch::Normalizer),
                split: is_on(Switch::Split),
                merge: is_on(Switch::Merge),
                snapshot_cleanup: is_on(Switch::SnapshotCleanup),
            },
        }
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.0.shared().changes.subscribe()
    }
}

fn state_of(state: hblite_model::TableState) -> TableState {
    use hblite_model::TableState as Stored;
    match state {
        Stored::Enabled => TableState::Enabled,
        Stored::Disabled => TableState::Disabled,
        Stored::Disabling => TableState::Disabling,
        Stored::Enabling => TableState::Enabling,
    }
}
