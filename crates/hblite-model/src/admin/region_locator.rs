//! How a gateway learns which server a region is on. Threads: any.

use std::fmt;
use std::sync::Arc;

use crate::RegionInfo;

/// Returns the server of a region, instead of the one that the store itself reports.
///
/// A gateway that runs in the process of a server uses it to name the servers that the clients of
/// that server see.
#[derive(Clone)]
pub struct RegionLocator(Arc<Locate>);

type Locate = dyn Fn(&RegionInfo) -> (String, u16) + Send + Sync;

impl RegionLocator {
    /// A locator that calls this function, which returns host and port.
    pub fn new(locate: impl Fn(&RegionInfo) -> (String, u16) + Send + Sync + 'static) -> Self {
        Self(Arc::new(locate))
    }

    /// Host and port of the region's server.
    pub fn server_of(&self, region: &RegionInfo) -> (String, u16) {
        (self.0)(region)
    }
}

impl fmt::Debug for RegionLocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RegionLocator")
    }
}
