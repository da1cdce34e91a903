//! The connections of a client: a few for each server and service.
//!
//! Connections are opened when they are needed, by one caller while the others wait, and replaced
//! when they have ended.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hblite_wire::pb;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout_at};

use super::connection::Connection;
use super::transport::Hello;
use crate::error::CallError;
use crate::metrics::Counters;
use crate::settings::ClientSettings;
use crate::url::ServerAddress;

const CODEC: &str = "org.apache.hadoop.hbase.codec.KeyValueCodec";
/// The version of the client that this one imitates. It determines how servers answer.
const VERSION: (&str, u32, u32) = ("2.6.1", 2, 6);

/// A service of HBase; a connection has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    /// Reads and writes of regions.
    Client,
    /// Flushes, compactions and states of regions.
    Admin,
    /// Tables, namespaces, snapshots.
    Master,
    /// Repairs, which the master makes.
    Hbck,
    /// Locations of hbase:meta and the master.
    Registry,
}

impl Service {
    fn name(self) -> &'static str {
        match self {
            Self::Client => "ClientService",
            Self::Admin => "AdminService",
            Self::Master => "MasterService",
            Self::Hbck => "HbckService",
            Self::Registry => "ClientMetaService",
        }
    }
}

type Slot = tokio::sync::Mutex<Option<Arc<Connection>>>;
type Slots = HashMap<(ServerAddress, Service), Arc<Vec<Slot>>>;

/// All connections of a client.
pub(super) struct Pool {
    settings: Arc<ClientSettings>,
    counters: Arc<Counters>,
    slots: Mutex<Slots>,
    round: AtomicUsize,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({} servers and services)", self.slots.lock().len())
    }
}

impl Pool {
    pub(super) fn new(settings: Arc<ClientSettings>, counters: Arc<Counters>) -> Self {
        Self { settings, counters, slots: Mutex::default(), round: AtomicUsize::new(0) }
    }

    /// An open connection.
    pub(super) async fn connection(
        &self,
        server: &ServerAddress,
        service: Service,
        deadline: Instant,
    ) -> Result<Arc<Connection>, CallError> {
        let slots = {
            let mut all = self.slots.lock();
            // The key is copied only for a new server.
            let key = (server.clone(), service);
            Arc::clone(all.entry(key).or_insert_with(|| {
                let count = self.settings.connections_per_server.max(1);
                Arc::new((0..count).map(|_| Slot::default()).collect())
            }))
        };
        let slot = &slots[self.round.fetch_add(1, Ordering::Relaxed) % slots.len()];
        let late = |_| CallError::Unreachable {
            server: server.clone(),
            why: "no connection within the time limit".to_owned(),
        };
        let mut slot = timeout_at(deadline, slot.lock()).await.map_err(late)?;
        if let Some(connection) = slot.as_ref().filter(|connection| connection.is_open()) {
            return Ok(Arc::clone(connection));
        }
        let hello = Hello { service, header: self.header(service) };
        let counters = Arc::clone(&self.counters);
        let opened = Connection::open(server, hello, &self.settings, counters, deadline).await;
        match &opened {
            Ok(_) => {
                self.counters.connections_opened.increment();
                tracing::debug!(%server, service = service.name(), "connection opened");
            }
            Err(error) => {
                self.counters.connections_failed.increment();
                tracing::debug!(%server, service = service.name(), %error, "connection failed");
            }
        }
        let opened = Arc::new(opened?);
        *slot = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// Closes all connections; calls that wait for them fail.
    pub(super) fn close(&self) {
        self.slots.lock().clear();
    }

    fn header(&self, service: Service) -> pb::ConnectionHeader {
        let (version, major, minor) = VERSION;
        let unknown = || Some("unknown".to_owned());
        let effective_user = self.settings.user.clone();
        pb::ConnectionHeader {
            user_info: Some(pb::UserInformation { effective_user, real_user: None }),
            service_name: Some(service.name().to_owned()),
            cell_block_codec_class: Some(CODEC.to_owned()),
            cell_block_compressor_class: self.settings.compressor.clone(),
            version_info: Some(pb::VersionInfo {
                version: Some(version.to_owned()),
                url: unknown(),
                revision: unknown(),
                user: unknown(),
                date: unknown(),
                src_checksum: unknown(),
                version_major: Some(major),
                version_minor: Some(minor),
            }),
            ..pb::ConnectionHeader::default()
        }
    }
}
