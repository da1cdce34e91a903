//! How a gateway learns which server a region is on. Every thread may ask.

use std::fmt;
use std::sync::Arc;

use crate::RegionInfo;

/// Gives the server of a region, in place of what the store itself says.
///
/// A gateway in the process of a server names the servers that the server's clients see.
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
