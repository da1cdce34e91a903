//! Which cells of a row a scan returns, and where to look next.
//!
//! A matcher sees the cells of one family in order, row by row, and returns a [`MatchCode`] for
//! each. The matchers are [`UserScanMatcher`] for reads (normal and raw), [`CompactionMatcher`] for
//! the cells that a flush or compaction writes. Both consist of
//!
//! - a column tracker: selected columns, versions, time to live ([`columns`]);
//! - a delete tracker: which cells the markers of the row mask ([`deletes`]), of which [`markers`]
//!   does the usual part for the paths without a matcher;
//! - or, for families with NEW_VERSION_BEHAVIOR, one tracker that does both
//!   ([`new_version_behavior`]).
//!
//! Surprising behavior is intentional: versions are counted after deletes and after the time
//! range, and filters run before the last count of versions, as in Apache HBase 2.6 (package
//! `org.apache.hadoop.hbase.regionserver.querymatcher`).
//!
//! Threads: a matcher belongs to one scanner.

mod columns;
mod compaction;
mod deletes;
mod markers;
mod new_version_behavior;
mod scan_info;
mod trackers;
mod user;

#[cfg(test)]
mod tests;

pub(crate) use compaction::{CompactionMatcher, CompactionSettings, ScanType};
pub(crate) use markers::{Hidden, Hides, Markers};
pub(crate) use scan_info::{OWN_COLUMNS, ScanInfo};
pub(crate) use user::{PlainRules, UserScanMatcher};

use hblite_model::cell::{CellRef, TagIter, TagType};

/// What to do with a cell and where to go from it (`ScanQueryMatcher.MatchCode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchCode {
    /// Include the cell.
    Include,
    /// Include the cell and go to the next column.
    IncludeAndSeekNextColumn,
    /// Include the cell and go to the next row.
    IncludeAndSeekNextRow,
    /// Skip the cell.
    Skip,
    /// Skip the cell and go to the next column.
    SeekNextColumn,
    /// Skip the cell and go to the next row.
    SeekNextRow,
    /// Skip the cell and go where the filter says.
    SeekNextUsingHint,
}

/// Whether the cell's own time to live has passed.
#[inline]
fn is_cell_expired(cell: &CellRef<'_>, now: i64) -> bool {
    !cell.tags().is_empty() && is_tag_expired(cell, now)
}

/// [`is_cell_expired`] for a cell with tags. The first TTL tag counts.
#[cold]
fn is_tag_expired(cell: &CellRef<'_>, now: i64) -> bool {
    TagIter::new(cell.tags())
        .find(|tag| tag.tag_type == TagType::TTL)
        .and_then(|tag| tag.value.try_into().ok())
        .is_some_and(|ttl| cell.timestamp().wrapping_add(i64::from_be_bytes(ttl)) < now)
}
