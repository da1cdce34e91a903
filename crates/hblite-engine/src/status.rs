//! The result of a crash of regions, injected for a test.

/// The result of a crash of regions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CrashReport {
    /// Regions that crashed and are in service again.
    pub regions: usize,
    /// Entries of these regions in the log, including those whose cells are already in files.
    pub log_entries: u64,
}
