//! Which cells of a row a scan returns, and where to look next.
//!
//! A matcher sees the cells of one family, row by row and in their order, and answers each with a
//! [`MatchCode`]. There are three: [`UserScanMatcher`] for reads (normal and raw),
//! [`CompactionMatcher`] for what a flush or compaction writes. Both are made of
//!
//! - a column tracker: wanted columns, versions, time to live ([`columns`]);
//! - a delete tracker: which cells the markers of the row mask ([`deletes`]);
//! - or, for families with NEW_VERSION_BEHAVIOR, one tracker that is both
//!   ([`new_version_behavior`]).
//!
//! What is not obvious here is on purpose: versions are counted after deletes and after the time
//! range, filters are asked before the last count of versions, as Apache HBase 2.6 does it
//! (package `org.apache.hadoop.hbase.regionserver.querymatcher`).
//!
//! Threads: a matcher belongs to one scanner.

mod columns;
mod compaction;
mod deletes;
mod new_version_behavior;
mod scan_info;
mod trackers;
mod user;

#[cfg(test)]
mod tests;

pub(crate) use compaction::{CompactionMatcher, CompactionSettings, ScanType};
pub(crate) use scan_info::ScanInfo;
pub(crate) use user::{PlainRules, UserScanMatcher};

use hblite_model::cell::{CellRef, TagIter, TagType};

/// What to do with a cell and where to go from it (`ScanQueryMatcher.MatchCode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchCode {
    /// Take the cell.
    Include,
    /// Take the cell and go to the next column.
    IncludeAndSeekNextColumn,
    /// Take the cell and go to the next row.
    IncludeAndSeekNextRow,
    /// Leave out the cell.
    Skip,
    /// Leave out the cell and go to the next column.
    SeekNextColumn,
    /// Leave out the cell and go to the next row.
    SeekNextRow,
    /// Leave out the cell and go where the filter says.
    SeekNextUsingHint,
}

/// Whether a time to live that the cell itself carries is over.
#[inline]
fn is_cell_expired(cell: &CellRef<'_>, now: i64) -> bool {
    !cell.tags().is_empty() && is_tag_expired(cell, now)
}

/// The first TTL tag counts.
#[cold]
fn is_tag_expired(cell: &CellRef<'_>, now: i64) -> bool {
    TagIter::new(cell.tags())
        .find(|tag| tag.tag_type == TagType::TTL)
        .and_then(|tag| tag.value.try_into().ok())
        .is_some_and(|ttl| cell.timestamp().wrapping_add(i64::from_be_bytes(ttl)) < now)
}
