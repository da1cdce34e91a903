//! Snapshots: the request for one, and the description of one.

use std::time::Duration;

use crate::descriptor::whole_seconds;
use crate::name::TableName;
use crate::setters;

/// How a snapshot was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SnapshotKind {
    /// The table was disabled.
    Disabled,
    /// Memory was flushed first.
    #[default]
    Flush,
    /// Memory was not flushed: the snapshot has only what was in files.
    SkipFlush,
}

impl SnapshotKind {
    /// All kinds, each at the index that is its number in HBase.
    pub const ALL: [Self; 3] = [Self::Disabled, Self::Flush, Self::SkipFlush];

    /// HBase's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disabled => "DISABLED",
            Self::Flush => "FLUSH",
            Self::SkipFlush => "SKIPFLUSH",
        }
    }
}

/// Settings of a new snapshot.
///
/// ```
/// # use hblite_model as hblite;
/// use std::time::Duration;
/// let day = Duration::from_secs(24 * 60 * 60);
/// let for_a_day = hblite::SnapshotOptions::default().with_time_to_live(day);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotOptions {
    /// Whether cells in memory are left out (SKIP_FLUSH).
    pub skip_flush: bool,
    /// The time after which the snapshot is removed (TTL), rounded up to seconds; `None` for never.
    pub time_to_live: Option<Duration>,
    /// The MAX_FILESIZE of tables that are made from it; `None` for the table's own.
    pub max_file_size_bytes: Option<u64>,
}

setters! { SnapshotOptions:
    with_skip_flush sets skip_flush: bool;
    with_time_to_live sets time_to_live: impl Into<Option<Duration>>;
    with_max_file_size_bytes sets max_file_size_bytes: impl Into<Option<u64>>;
}

impl SnapshotOptions {
    /// The time to live in seconds, rounded up; `None` for none, or one of 0, as in HBase.
    pub fn time_to_live_seconds(&self) -> Option<u64> {
        self.time_to_live.map(whole_seconds).filter(|seconds| *seconds > 0)
    }
}

/// A snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotDescription {
    /// Its name.
    pub name: String,
    /// The table.
    pub table: TableName,
    /// When it was taken, in milliseconds since 1970-01-01 UTC.
    pub created_at_ms: i64,
    /// How it was taken.
    pub kind: SnapshotKind,
    /// The time after which it is removed; `None` for never.
    pub time_to_live: Option<Duration>,
    /// The MAX_FILESIZE of tables that are made from it; `None` for the table's own.
    pub max_file_size_bytes: Option<u64>,
}

impl SnapshotDescription {
    /// Whether it has expired at `now_ms`, in milliseconds since 1970-01-01 UTC.
    pub fn has_expired(&self, now_ms: i64) -> bool {
        let lives = self.time_to_live.and_then(|time| i64::try_from(time.as_millis()).ok());
        lives.is_some_and(|lives| self.created_at_ms.saturating_add(lives) < now_ms)
    }
}
