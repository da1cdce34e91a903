//! The guarantee of an acknowledged write.

/// When a write is acknowledged (`org.apache.hadoop.hbase.client.Durability`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Durability {
    /// The table's setting; [`Durability::SyncWal`] if it has none.
    #[default]
    UseDefault,
    /// The write is only in memory until the next flush, so a kill loses it. If it is made while a
    /// flush writes the files of several families, a crash may leave the cells of some of them.
    SkipWal,
    /// The log is written shortly after the acknowledgment.
    AsyncWal,
    /// The log has been passed to the operating system: survives a kill of the process.
    SyncWal,
    /// The log has been forced to the disk: survives a power cut.
    FsyncWal,
}

impl Durability {
    /// The names of all values.
    pub(crate) const NAMES: &'static [&'static str] =
        &["USE_DEFAULT", "SKIP_WAL", "ASYNC_WAL", "SYNC_WAL", "FSYNC_WAL"];

    /// HBase's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::UseDefault => "USE_DEFAULT",
            Self::SkipWal => "SKIP_WAL",
            Self::AsyncWal => "ASYNC_WAL",
            Self::SyncWal => "SYNC_WAL",
            Self::FsyncWal => "FSYNC_WAL",
        }
    }

    /// The value with this name, in upper or lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::UseDefault, Self::SkipWal, Self::AsyncWal, Self::SyncWal, Self::FsyncWal]
            .into_iter()
            .find(|durability| durability.name().eq_ignore_ascii_case(name))
    }
}
