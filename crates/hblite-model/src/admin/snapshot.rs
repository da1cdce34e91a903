//! Snapshots: the request for one, and the description of one.

use crate::name::TableName;
use crate::setters;

/// Milliseconds in a second, the unit of a time to live.
const SECOND_MS: i64 = 1_000;

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
/// let for_a_day = hblite::SnapshotOptions::default().with_time_to_live_s(24 * 60 * 60);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotOptions {
    /// Whether cells in memory are left out (SKIP_FLUSH).
    pub skip_flush: bool,
    /// Seconds after which the snapshot is removed (TTL), at least 1; `None` for never.
    pub time_to_live_s: Option<u64>,
    /// The MAX_FILESIZE of tables that are made from it; `None` for the table's own.
    pub max_file_size: Option<u64>,
}

setters! { SnapshotOptions:
    with_skip_flush sets skip_flush: bool;
    with_time_to_live_s sets time_to_live_s: impl Into<Option<u64>>;
    with_max_file_size sets max_file_size: impl Into<Option<u64>>;
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
    /// Seconds after which it is removed; `None` for never.
    pub time_to_live_s: Option<u64>,
    /// The MAX_FILESIZE of tables that are made from it; `None` for the table's own.
    pub max_file_size: Option<u64>,
}

impl SnapshotDescription {
    /// Whether it has expired at `now_ms`, in milliseconds since 1970-01-01 UTC.
    pub fn has_expired(&self, now_ms: i64) -> bool {
        let seconds = self.time_to_live_s.and_then(|seconds| i64::try_from(seconds).ok());
        let lives = seconds.and_then(|seconds| seconds.checked_mul(SECOND_MS));
        lives.is_some_and(|lives| self.created_at_ms.saturating_add(lives) < now_ms)
    }
}
