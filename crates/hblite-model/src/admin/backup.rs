//! What a backup did.

use std::time::Duration;

/// The files of a backup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackupReport {
    /// Files added as hard links.
    pub files_linked: u64,
    /// Files that could not be linked and were copied.
    pub files_copied: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// How long the backup took.
    pub duration: Duration,
}
