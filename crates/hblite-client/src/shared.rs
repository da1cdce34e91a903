//! State that the tables and the admin of a client share.

use std::sync::Arc;

use hblite_model::{Nonce, Result};

use crate::locator::Locator;
use crate::pushback::Pushback;
use crate::registry::Registry;
use crate::rpc::Rpc;
use crate::settings::ClientSettings;
use crate::url::ClusterAddress;

/// State that all parts of a client share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: Arc<ClientSettings>,
    pub(crate) rpc: Arc<Rpc>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) locator: Locator,
    pub(crate) pushback: Pushback,
    /// Identifies this client in nonces.
    pub(crate) nonce_group: u64,
}

impl Shared {
    /// Of a client that has not opened a connection yet.
    pub(crate) fn new(address: ClusterAddress, settings: ClientSettings) -> Self {
        let settings = Arc::new(settings);
        let rpc = Arc::new(Rpc::new(Arc::clone(&settings)));
        let registry = Arc::new(Registry::new(address, Arc::clone(&rpc)));
        let locator = Locator::new(Arc::clone(&settings), Arc::clone(&rpc), Arc::clone(&registry));
        let (pushback, nonce_group) =
            (Pushback::new(settings.pushback.clone()), fastrand::u64(1..));
        Self { settings, rpc, registry, locator, pushback, nonce_group }
    }

    /// Counts an operation on rows if it failed.
    pub(crate) fn counted<T>(&self, result: Result<T>) -> Result<T> {
        result.inspect_err(|_| self.rpc.counters().operations_failed.increment())
    }

    /// A unique nonce for a write.
    pub(crate) fn new_nonce(&self) -> Nonce {
        // 0 means no nonce.
        Nonce { group: self.nonce_group, number: fastrand::u64(1..) }
    }
}
