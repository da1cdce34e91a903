//! The messages in HBase's znodes, as ZooKeeper.proto and HBase.proto number them.

use prost::Message;

use super::state::ServerName;

/// The name of a server (`ServerName`).
#[derive(Clone, PartialEq, Message)]
pub(super) struct ServerNameMessage {
    #[prost(string, required, tag = "1")]
    host_name: String,
    #[prost(uint32, optional, tag = "2")]
    port: Option<u32>,
    #[prost(uint64, optional, tag = "3")]
    start_code: Option<u64>,
}

impl From<&ServerName> for ServerNameMessage {
    fn from(name: &ServerName) -> Self {
        Self {
            host_name: name.host.clone(),
            port: Some(u32::from(name.port)),
            start_code: Some(name.start_code),
        }
    }
}

/// The location of hbase:meta (`MetaRegionServer`).
#[derive(Clone, PartialEq, Message)]
pub(super) struct MetaRegionServer {
    #[prost(message, required, tag = "1")]
    pub(super) server: ServerNameMessage,
    #[prost(uint32, optional, tag = "2")]
    pub(super) rpc_version: Option<u32>,
    /// `RegionState.State`.
    #[prost(int32, optional, tag = "3")]
    pub(super) state: Option<i32>,
}

/// The active master (`Master`).
#[derive(Clone, PartialEq, Message)]
pub(super) struct Master {
    #[prost(message, required, tag = "1")]
    pub(super) master: ServerNameMessage,
    #[prost(uint32, optional, tag = "2")]
    pub(super) rpc_version: Option<u32>,
    #[prost(uint32, optional, tag = "3")]
    pub(super) info_port: Option<u32>,
}

/// Messages of one text or of bytes: `ClusterId`, `ClusterUp`, `NamespaceDescriptor`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OneText {
    #[prost(string, required, tag = "1")]
    pub(super) text: String,
}

/// Messages with one boolean: `SwitchState`, `LoadBalancerState`, `RegionNormalizerState` and
/// `SnapshotCleanupState`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OneSwitch {
    #[prost(bool, optional, tag = "1")]
    pub(super) is_on: Option<bool>,
}

/// The state of a table for clients of HBase 1 (`DeprecatedTableState`).
#[derive(Clone, PartialEq, Message)]
pub(super) struct OneState {
    #[prost(int32, required, tag = "1")]
    pub(super) state: i32,
}

/// The description of a region server (`RegionServerInfo`).
#[derive(Clone, PartialEq, Message)]
pub(super) struct RegionServerInfo {
    #[prost(int32, optional, tag = "1")]
    pub(super) info_port: Option<i32>,
}
