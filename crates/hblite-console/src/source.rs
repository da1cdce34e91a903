//! The store, the server or the cluster that the console shows: its regions with their counters,
//! and which server each is on.
//!
//! Threads: any.

use std::collections::HashMap;

use hblite::{Connection, RegionInfo, RegionStatus, Result, RowCounts, StoreStatus};
use hblite_server::ServerView;
use parking_lot::Mutex;

/// Regions of a cluster that are located again in one round of the recorder.
const LOCATED_PER_ROUND: usize = 40;

/// The source of a console's data.
#[derive(Debug, Clone)]
pub enum Target {
    /// A store that this process has open and does not serve; with the name of its directory.
    Store(String),
    /// A store that this process serves.
    Server(ServerView),
    /// A cluster; with its URL.
    Cluster(String),
}

/// The connection, and what else is known about it.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) connection: Connection,
    pub(crate) target: Target,
    located: Mutex<Located>,
    /// Where the next counts of rows begin; `None` if the source does not count them.
    rows_after: Mutex<Option<u64>>,
}

/// Where the regions of a cluster are.
#[derive(Debug, Default)]
struct Located {
    servers: Vec<String>,
    /// Server of each region, by encoded name, and the round in which the region was located.
    regions: HashMap<String, (usize, u64)>,
    round: u64,
}

/// A server in lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerName {
    pub(crate) name: String,
    pub(crate) is_alive: bool,
}

impl Source {
    pub(crate) fn new(connection: Connection, target: Target) -> Self {
        let (located, rows_after) = (Mutex::default(), Mutex::new(Some(u64::MAX)));
        Self { connection, target, located, rows_after }
    }

    /// The kind of the source, for the page.
    pub(crate) fn mode(&self) -> &'static str {
        match self.target {
            Target::Store(_) => "store",
            Target::Server(_) => "server",
            Target::Cluster(_) => "cluster",
        }
    }

    /// Whether other processes serve it.
    pub(crate) fn is_cluster(&self) -> bool {
        matches!(self.target, Target::Cluster(_))
    }

    /// Its name on the page.
    pub(crate) fn name(&self) -> String {
        match &self.target {
            Target::Store(name) | Target::Cluster(name) => name.clone(),
            Target::Server(_) => {
                self.connection.dir().map_or_else(String::new, |dir| dir.display().to_string())
            }
        }
    }

    /// Every region in service with its counters.
    pub(crate) fn status(&self) -> Result<StoreStatus> {
        self.connection.admin().status()
    }

    /// Of which requests rows are known, for the page.
    pub(crate) fn sampled(&self) -> &'static str {
        if self.counts_rows() { "requests" } else { "writes" }
    }

    /// Whether the source counts rows, as hblite does and HBase does not.
    pub(crate) fn counts_rows(&self) -> bool {
        self.rows_after.lock().is_some()
    }

    /// The rows of the requests since the last call; none at the first one.
    pub(crate) fn row_counts(&self) -> Option<RowCounts> {
        let mut after = self.rows_after.lock();
        // If the call fails, the next one gets the counts of both times.
        let counts = match &self.target {
            Target::Server(view) => Some(view.row_counts((*after)?)),
            _ => self.connection.admin().row_counts((*after)?).ok()?,
        };
        *after = counts.as_ref().map(|counts| counts.until);
        counts
    }

    /// The servers.
    pub(crate) fn servers(&self) -> Vec<ServerName> {
        let named = |name: String, is_alive| ServerName { name, is_alive };
        match &self.target {
            Target::Store(_) => vec![named("this process".to_owned(), true)],
            Target::Server(view) => {
                let servers = view.servers().into_iter();
                let name = |state: hblite_server::RegionServerState| format!("port {}", state.port);
                servers.map(|state| named(name(state.clone()), state.is_alive)).collect()
            }
            Target::Cluster(_) => {
                let servers = self.located.lock().servers.clone();
                servers.into_iter().map(|name| named(name, true)).collect()
            }
        }
    }

    /// The index in [`Source::servers`] of the server of a region; `None` if that is not known.
    pub(crate) fn server_of(&self, region: &RegionInfo) -> Option<usize> {
        match &self.target {
            Target::Store(_) => Some(0),
            Target::Server(view) => Some(view.server_of(region.encoded_name())),
            Target::Cluster(_) => {
                let located = self.located.lock();
                located.regions.get(region.encoded_name()).map(|(server, _)| *server)
            }
        }
    }

    /// Locates some of the regions of a cluster: new ones first, then those that were located the
    /// longest time ago.
    pub(crate) fn locate(&self, regions: &[RegionStatus]) {
        if !matches!(self.target, Target::Cluster(_)) {
            return;
        }
        let mut due: Vec<(u64, &RegionInfo)> = {
            let mut located = self.located.lock();
            located.round += 1;
            let asked = |region: &RegionInfo| {
                located.regions.get(region.encoded_name()).map_or(0, |(_, round)| *round)
            };
            regions.iter().map(|status| (asked(&status.region), &status.region)).collect()
        };
        due.sort_by_key(|(round, _)| *round);
        let admin = self.connection.admin();
        for (_, region) in due.into_iter().take(LOCATED_PER_ROUND) {
            // A region in transition has no location; the next round locates it again.
            let Ok(location) = admin.locate_region(region.table(), region.start_key()) else {
                continue;
            };
            let mut located = self.located.lock();
            let known = located.servers.iter().position(|name| *name == location.server);
            let server = known.unwrap_or_else(|| {
                located.servers.push(location.server.clone());
                located.servers.len() - 1
            });
            let round = located.round;
            let name = location.region.encoded_name().to_owned();
            located.regions.insert(name, (server, round));
        }
        let mut located = self.located.lock();
        if located.regions.len() > 2 * regions.len() + LOCATED_PER_ROUND {
            let live: std::collections::HashSet<&str> =
                regions.iter().map(|status| status.region.encoded_name()).collect();
            located.regions.retain(|name, _| live.contains(name.as_str()));
        }
    }
}
