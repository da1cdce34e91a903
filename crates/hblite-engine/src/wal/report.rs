//! How to replay a log, and what a replay found at its end and had to skip.

use std::path::PathBuf;

use hblite_model::setters;

use crate::layout::StoreId;

/// How to replay.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ReplayOptions {
    /// The store whose log this must be; any if it is [`StoreId::NIL`].
    pub store: StoreId,
    /// Skips damaged records and lists them in the report, instead of failing at the first.
    ///
    /// Flush all regions after a salvage: the damage stays in its file until the file is removed.
    /// Files that are not part of the log are set aside by [`super::Wal::open`].
    pub salvage: bool,
}

setters! { ReplayOptions:
    with_store sets store: StoreId;
    with_salvage sets salvage: bool;
}

/// The incomplete end of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    /// The file in which the log ends.
    pub file: PathBuf,
    /// Where it ends.
    pub offset: u64,
    /// How many bytes after that are not part of the log, in this and later files.
    pub bytes_lost: u64,
}

/// The end of a log that was not closed: the process was killed, or the power was cut.
///
/// A kill loses nothing that was written. A power cut may have cost records after
/// `synced_offset`, none of which was promised to survive one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnclosedLog {
    /// The newest log file.
    pub file: PathBuf,
    /// Where it ends.
    pub offset: u64,
    /// Up to here, at least, the log was synced.
    pub synced_offset: u64,
}

/// Damage that a salvage skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    /// The damaged file.
    pub file: PathBuf,
    /// Where the damage starts.
    pub offset: u64,
    /// Its length; 0 if the whole file is missing.
    pub bytes_lost: u64,
    /// What is wrong.
    pub what: String,
}
