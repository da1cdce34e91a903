//! What ends a server at a client's request.

use std::fmt;
use std::sync::Arc;

/// Called when a client ends the server (`Shutdown`, `StopMaster`, `StopServer`), once it has the
/// answer. A server cannot end what runs it.
#[derive(Clone)]
pub struct StopHandler(Arc<dyn Fn() + Send + Sync>);

impl StopHandler {
    /// `stop` must be fast, and not wait for the server: it is called by one of its threads, and
    /// may be called again.
    pub fn new(stop: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(stop))
    }

    pub(crate) fn stop(&self) {
        (self.0)();
    }
}

impl fmt::Debug for StopHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StopHandler")
    }
}
