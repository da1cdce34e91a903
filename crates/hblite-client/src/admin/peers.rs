//! Replication peers.

use std::collections::BTreeSet;
use std::sync::Arc;

use hblite_model::{
    Error, PeerConfig, PeerTables, PeerWork, ReplicationPeer, Result, TableDescriptor, TableName,
};
use hblite_wire::{convert, pb};

use super::Admin;
use crate::shared::Shared;
use crate::url::ClusterUrl;

/// `ReplicationState.State`.
const ENABLED: i32 = 0;
const DISABLED: i32 = 1;

impl Admin {
    /// The replication peers.
    pub async fn list_peers(&self) -> Result<Vec<ReplicationPeer>> {
        let request = pb::ListReplicationPeersRequest::default();
        let answer: pb::ListReplicationPeersResponse =
            self.call("ListReplicationPeers", &request).await?;
        let peer = |one: pb::ReplicationPeerDescription| {
            let config = config_from(&one.config)?;
            Ok(ReplicationPeer { id: one.id, is_enabled: one.state.state == ENABLED, config })
        };
        answer.peer_desc.into_iter().map(peer).collect()
    }

    /// What a peer gets, and where it is.
    ///
    /// # Errors
    /// `ReplicationPeerNotFound`.
    pub async fn peer_config(&self, id: &str) -> Result<PeerConfig> {
        let request = pb::ReplicationPeerRequest { peer_id: id.to_owned() };
        let answer: pb::GetReplicationPeerConfigResponse =
            self.call("GetReplicationPeerConfig", &request).await?;
        config_from(&answer.peer_config)
    }

    /// Replicates a table to the peers: creates it there if it does not exist, and then sets the
    /// scope of its families.
    ///
    /// # Errors
    /// `IllegalArgument` without a peer, or if the table of a peer has other settings;
    /// `TableNotFound`; `Io` if a peer does not answer.
    pub async fn enable_table_replication(&self, table: &TableName) -> Result<()> {
        let mut descriptor = self.describe_table(table).await?;
        let regions = self.regions(table).await?;
        let starts = regions.iter().map(|region| region.start_key().to_vec());
        let split_keys: Vec<Vec<u8>> = starts.filter(|key| !key.is_empty()).collect();
        let peers = self.list_peers().await?;
        if peers.is_empty() {
            return Err(Error::illegal_argument("Found no peer cluster for replication."));
        }
        for peer in peers.iter().filter(|peer| peer.config.sends(table)) {
            // A class of its own knows where it sends to.
            if let Some(key) = &peer.config.cluster_key {
                self.prepare_peer(&peer.id, key, &descriptor, &split_keys).await?;
            }
        }
        let replicated = with_scope(&descriptor, "1")?;
        if replicated != descriptor {
            descriptor = replicated;
            self.modify_table(&descriptor).await?;
        }
        Ok(())
    }

    /// Makes sure that the cluster of a peer has a table with the same settings.
    async fn prepare_peer(
        &self,
        id: &str,
        cluster_key: &str,
        table: &TableDescriptor,
        split_keys: &[Vec<u8>],
    ) -> Result<()> {
        let invalid = || Error::illegal_argument(format!("Invalid cluster key: {cluster_key}"));
        let (quorum, parent) = cluster_key.rsplit_once(':').ok_or_else(invalid)?;
        let url = ClusterUrl::parse(&format!("hbase://{quorum}{parent}"))?;
        let address = url.address.ok_or_else(invalid)?;
        let settings = (*self.shared.settings).clone();
        let admin = Self::new(Arc::new(Shared::new(address, settings)));
        let name = table.name();
        if !admin.table_exists(name).await? {
            return admin.create_table(table, split_keys).await;
        }
        let theirs = admin.describe_table(name).await?;
        match with_scope(&theirs, "0")? == with_scope(table, "0")? {
            true => Ok(()),
            false => Err(Error::illegal_argument(format!(
                "Table {name} exists in peer cluster {id}, but the table descriptors are not same \
                 when compared with source cluster. Thus can not enable the table's replication \
                 switch."
            ))),
        }
    }

    /// Adds, changes or forgets a peer.
    pub async fn change_peer(&self, work: &PeerWork) -> Result<()> {
        let (name, id) = match work {
            PeerWork::Add(peer) => {
                let state = if peer.is_enabled { ENABLED } else { DISABLED };
                let mut peer_config = config(&peer.config);
                if peer_config.clusterkey.is_none() {
                    // A class of its own that sends elsewhere.
                    peer_config.clusterkey = self.shared.registry.cluster_key();
                }
                let request = pb::AddReplicationPeerRequest {
                    peer_id: peer.id.clone(),
                    peer_config,
                    peer_state: pb::ReplicationState { state },
                };
                return self.change("AddReplicationPeer", &request).await;
            }
            PeerWork::Update(id, new) => {
                let request = pb::UpdateReplicationPeerConfigRequest {
                    peer_id: id.clone(),
                    peer_config: config(new),
                };
                return self.change("UpdateReplicationPeerConfig", &request).await;
            }
            PeerWork::Remove(id) => ("RemoveReplicationPeer", id),
            PeerWork::Enable(id) => ("EnableReplicationPeer", id),
            PeerWork::Disable(id) => ("DisableReplicationPeer", id),
        };
        let request = pb::ReplicationPeerRequest { peer_id: id.clone() };
        self.change(name, &request).await
    }
}

/// The table with this replication scope of all families.
fn with_scope(table: &TableDescriptor, scope: &str) -> Result<TableDescriptor> {
    let mut changed = table.clone();
    for family in table.families() {
        let mut family = family.clone();
        family.set_attribute("REPLICATION_SCOPE", scope)?;
        changed.set_family(family);
    }
    Ok(changed)
}

fn config(config: &PeerConfig) -> pb::ReplicationPeer {
    let pair = |(first, second): &(Vec<u8>, Vec<u8>)| pb::BytesBytesPair {
        first: first.clone().into(),
        second: second.clone().into(),
    };
    let setting = |(name, value): (&String, &String)| pb::NameStringPair {
        name: name.clone(),
        value: value.clone(),
    };
    pb::ReplicationPeer {
        clusterkey: config.cluster_key.clone(),
        replication_endpoint_impl: config.endpoint.clone(),
        data: config.data.iter().map(pair).collect(),
        configuration: config.configuration.iter().map(setting).collect(),
        table_cfs: tables(config.tables.as_ref()),
        namespaces: names(config.namespaces.as_ref()),
        bandwidth: Some(config.bandwidth),
        replicate_all: Some(config.sends_all),
        exclude_table_cfs: tables(config.excluded_tables.as_ref()),
        exclude_namespaces: names(config.excluded_namespaces.as_ref()),
        serial: Some(config.is_serial),
    }
}

fn tables(tables: Option<&PeerTables>) -> Vec<pb::TableCf> {
    let one = |(table, families): (_, &BTreeSet<String>)| pb::TableCf {
        table_name: Some(convert::table_name(table)),
        families: families.iter().map(|family| family.clone().into()).collect(),
    };
    tables.into_iter().flatten().map(one).collect()
}

fn names(names: Option<&BTreeSet<String>>) -> Vec<bytes::Bytes> {
    names.into_iter().flatten().map(|name| name.clone().into()).collect()
}

fn config_from(message: &pb::ReplicationPeer) -> Result<PeerConfig> {
    let pair = |pair: &pb::BytesBytesPair| (pair.first.to_vec(), pair.second.to_vec());
    let setting = |pair: &pb::NameStringPair| (pair.name.clone(), pair.value.clone());
    Ok(PeerConfig {
        cluster_key: message.clusterkey.clone(),
        endpoint: message.replication_endpoint_impl.clone(),
        data: message.data.iter().map(pair).collect(),
        configuration: message.configuration.iter().map(setting).collect(),
        // Peers of older releases named what they send, or sent everything.
        sends_all: message.replicate_all.unwrap_or(message.table_cfs.is_empty()),
        tables: tables_from(&message.table_cfs)?,
        namespaces: names_from(&message.namespaces),
        excluded_tables: tables_from(&message.exclude_table_cfs)?,
        excluded_namespaces: names_from(&message.exclude_namespaces),
        bandwidth: message.bandwidth.unwrap_or(0),
        is_serial: message.serial.unwrap_or(false),
    })
}

fn tables_from(tables: &[pb::TableCf]) -> Result<Option<PeerTables>> {
    let mut all = PeerTables::new();
    for one in tables {
        let Some(name) = &one.table_name else { continue };
        let families = one.families.iter().map(|family| text(family)).collect();
        all.insert(convert::table_name_from(name)?, families);
    }
    Ok((!all.is_empty()).then_some(all))
}

fn names_from(names: &[bytes::Bytes]) -> Option<BTreeSet<String>> {
    (!names.is_empty()).then(|| names.iter().map(|name| text(name)).collect())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
