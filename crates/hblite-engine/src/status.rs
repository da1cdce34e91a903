//! What a crash of regions, made for a test, came to.

/// What a crash of regions came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CrashReport {
    /// Regions that were lost and are in service again.
    pub regions: usize,
    /// Entries that the log had of them, including those that are in files as well.
    pub log_entries: u64,
}
