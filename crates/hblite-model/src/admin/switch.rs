//! Switches of a cluster's background work.

/// What can be switched on and off while a cluster runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Switch {
    /// Moving regions to servers with fewer of them.
    Balancer,
    /// Splitting large regions and merging small ones.
    Normalizer,
    /// Splits of regions, also requested ones.
    Split,
    /// Merges of regions, also requested ones.
    Merge,
    /// Removing what splits and merges leave in hbase:meta.
    CatalogJanitor,
    /// Removing files that are no longer needed.
    CleanerChore,
    /// Removing expired snapshots.
    SnapshotCleanup,
    /// Compactions, also requested ones, on every region server.
    Compaction,
    /// Throttling requests, where quotas are in use.
    RpcThrottle,
    /// Letting requests use more than their quota while a server has capacity to spare.
    ExceedThrottleQuota,
    /// Changes of replication peers.
    PeerModification,
}

impl Switch {
    /// All switches, in the order of their declaration.
    pub const ALL: [Self; 11] = [
        Self::Balancer,
        Self::Normalizer,
        Self::Split,
        Self::Merge,
        Self::CatalogJanitor,
        Self::CleanerChore,
        Self::SnapshotCleanup,
        Self::Compaction,
        Self::RpcThrottle,
        Self::ExceedThrottleQuota,
        Self::PeerModification,
    ];
}
