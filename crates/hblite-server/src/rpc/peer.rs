//! The client of a connection and the requested service, as its header describes them.

use hblite_wire::callers::CountedClient;
use hblite_wire::cell_block::{Codec, Compressor};

use crate::cluster::Role;
use crate::recorder::RecordedConnection;

/// The services that hblite has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    Client,
    Admin,
    Master,
    ClientMeta,
    BootstrapNode,
    Lock,
    Hbck,
}

impl Service {
    /// The service with this name, if servers of this role have it.
    pub(crate) fn of_name(name: &str, role: Role) -> Option<Self> {
        let is_master = role == Role::Master;
        match name {
            "ClientService" => Some(Self::Client),
            "AdminService" => Some(Self::Admin),
            "ClientMetaService" => Some(Self::ClientMeta),
            "BootstrapNodeService" => Some(Self::BootstrapNode),
            "MasterService" if is_master => Some(Self::Master),
            "LockService" if is_master => Some(Self::Lock),
            "HbckService" if is_master => Some(Self::Hbck),
            _ => None,
        }
    }
}

/// The client of a connection, as its header describes it.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) role: Role,
    pub(crate) service: Service,
    pub(crate) codec: Option<Codec>,
    pub(crate) compressor: Option<Compressor>,
    /// Major and minor version of a Java client.
    pub(crate) version: Option<(u32, u32)>,
    /// The host name of servers for this client.
    pub(crate) host: String,
    /// The name of the server that it talks to.
    pub(crate) server: String,
    /// Counts its requests.
    pub(crate) counted: CountedClient,
    /// If its calls are recorded.
    pub(crate) recorded: Option<RecordedConnection>,
}

impl Client {
    pub(crate) fn has_version(&self, major: u32, minor: u32) -> bool {
        self.version.is_some_and(|version| version >= (major, minor))
    }
}
