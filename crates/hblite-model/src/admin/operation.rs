//! Servers, and the work that the master and they do on request.

use crate::filter::{RegexEngine, RegexFlags, RegexString};
use crate::{CompactionKind, Error, Exception, Result, TableName};

/// The servers of a cluster by name: `host,port,start code`. A store of this process counts as one
/// master and one region server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusterServers {
    /// The release of HBase that they run, or whose answers a store gives.
    pub hbase_version: String,
    /// The active master.
    pub master: String,
    /// Masters that wait to become active.
    pub backup_masters: Vec<String>,
    /// Regions in service on all of them.
    pub region_count: u64,
    /// Region servers at work.
    pub live: Vec<String>,
    /// Region servers that are gone and were not forgotten.
    pub dead: Vec<String>,
    /// Region servers that get no regions.
    pub decommissioned: Vec<String>,
    /// Region servers that hold regions, and that the master knows neither as live nor as dead.
    pub unknown: Vec<String>,
}

/// What ZooKeeper knows of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZooKeeperReport {
    /// The path below which HBase keeps everything.
    pub root: String,
    /// The servers of ZooKeeper, `host:port`, and what each says of itself. A store has none.
    pub quorum: Vec<(String, String)>,
}

/// Work of the master that can be requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MasterWork {
    /// Splits large regions and merges small ones, of tables that match everything given.
    Normalize {
        /// The names of the tables; empty for any.
        tables: Vec<TableName>,
        /// A regular expression over names.
        pattern: Option<String>,
        /// The namespace.
        namespace: Option<String>,
    },
    /// Removes files that are no longer needed.
    CleanerChore,
    /// Looks for inconsistencies between regions, servers and files.
    HbckChore,
    /// Puts a region, named by its full or encoded name, in service.
    Assign(String),
    /// Takes a region out of service.
    Unassign(String),
    /// Moves a region to a server, or to any other one.
    Move {
        /// The encoded name of the region.
        region: String,
        /// The server's name.
        server: Option<String>,
    },
    /// Gives servers no more regions.
    Decommission {
        /// The names of the servers.
        servers: Vec<String>,
        /// Whether their regions go to other servers.
        offload: bool,
    },
    /// Gives a server regions again.
    Recommission {
        /// The name of the server.
        server: String,
        /// The encoded names of regions that it gets at once.
        regions: Vec<String>,
    },
    /// Writes what the master keeps for itself in memory to files.
    FlushStore,
    /// Ends the master.
    Stop,
}

/// What region servers do on request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerWork {
    /// Switches compactions on or off. The result is whether they were on.
    SwitchCompaction(bool),
    /// Compacts every region.
    Compact(CompactionKind),
    /// Begins a new log file.
    RollWal,
    /// Empties these queues of compactions, `short` or `long`.
    ClearCompactionQueues(Vec<String>),
    /// Reads the configuration again.
    UpdateConfiguration,
    /// Forgets slow calls. The result is whether it did.
    ClearSlowLog,
    /// Ends the server, for this reason.
    Stop(String),
}

/// What was removed from the block caches of servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheEviction {
    /// Blocks that were removed.
    pub evicted_blocks: u64,
    /// The size of all caches, in bytes.
    pub size_max_bytes: u64,
    /// Regions whose blocks could not be removed.
    pub failed_regions: u64,
}

/// Refuses a pattern for names that is not a regular expression, in the words of Java.
///
/// # Errors
/// `Io`, as HBase's master.
pub fn check_pattern(pattern: &str) -> Result<()> {
    let compiled = RegexString::new(pattern, RegexFlags::default(), RegexEngine::Java);
    compiled.map(drop).map_err(|error| Error::new(Exception::Io, error.message()))
}

/// What the master says about itself and about regions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MasterReport {
    /// Whether only hbase:meta is in service.
    pub is_in_maintenance_mode: bool,
    /// The names of the security features that are on, as HBase's client has them.
    pub security_capabilities: Vec<String>,
    /// The names of the classes that extend the master.
    pub coprocessors: Vec<String>,
    /// Regions between two servers or states.
    pub regions_in_transition: Vec<RegionInTransition>,
    /// What it is doing; empty for a store.
    pub tasks: Vec<super::ServerTask>,
}

/// A region between two servers or states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionInTransition {
    /// Its full name.
    pub region: String,
    /// HBase's name of its state.
    pub state: String,
    /// When it came into that state, in milliseconds.
    pub since_ms: i64,
}

/// Whether files of a table are being merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompactionState {
    /// They are not.
    #[default]
    None,
    /// Some files of a store.
    Minor,
    /// All files of a store.
    Major,
    /// Both, in different regions.
    MajorAndMinor,
}

impl CompactionState {
    /// HBase's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Minor => "MINOR",
            Self::Major => "MAJOR",
            Self::MajorAndMinor => "MAJOR_AND_MINOR",
        }
    }

    /// The state of both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self.min(other), self.max(other)) {
            (Self::Minor, Self::Major) => Self::MajorAndMinor,
            (_, max) => max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CompactionState::{Major, MajorAndMinor, Minor, None};

    #[test]
    fn states_of_regions_add_up() {
        assert_eq!([None.and(None), None.and(Minor), Major.and(None)], [None, Minor, Major]);
        assert_eq!([Major.and(Minor), Minor.and(Major)], [MajorAndMinor, MajorAndMinor]);
        assert_eq!(MajorAndMinor.and(Minor), MajorAndMinor);
    }
}
