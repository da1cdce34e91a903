//! Choices of administrative calls that would otherwise be bare booleans.

/// Whether a truncated table keeps its regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SplitPoints {
    /// The table keeps its regions, each of them empty.
    Preserve,
    /// The table starts again with one region.
    Discard,
}

/// Which regions a merge accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MergeKind {
    /// Only regions that are neighbors.
    Adjacent,
    /// Regions that are not neighbors as well, with everything between them (`forcible`).
    Forced,
}

/// Whether a listing includes hbase:meta and the other tables that the store itself keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SystemTables {
    /// System tables are listed.
    Include,
    /// Only user tables are listed.
    Exclude,
}

/// Who may use a table that a snapshot restores or creates. A store has no rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SnapshotRights {
    /// Also those who could when the snapshot was taken.
    Restore,
    /// The rights are as they are; those to a new table are its creator's.
    Ignore,
}

/// Whether restoring a snapshot first takes one of the table as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailSafeSnapshot {
    /// Takes `hbase-failsafe-<name>-<time>`, and deletes it when the table is restored.
    Take,
    /// Takes none.
    Skip,
}
