//! Selects the sources that a scan needs.
//!
//! A segment or file is left out when its timestamps, its first and last row or its Bloom filter
//! show that it has nothing for the scan, so that it is never searched. HBase does the same in
//! `StoreScanner.selectScannersFrom`.

use std::sync::Arc;

use hblite_hfile::{BlockUse, HFileReader};
use hblite_model::cell::key;
use hblite_model::{BloomType, CellComparator, Direction, Qualifiers, Result, Scan, TimeRange};

use super::{SourceScanner, StoreFileScanner};
use crate::memstore::SegmentScanner;
use crate::store::matcher::ScanInfo;
use crate::store::store_file::StoreFile;

/// The sources of a scan at `now`, the newest first, from the segments (the newest first) and the
/// files (the oldest first) of a store.
///
/// # Errors
/// `Corrupt` if a Bloom filter cannot be read.
pub(crate) fn select_sources(
    segments: Vec<SegmentScanner>,
    files: &[Arc<StoreFile>],
    info: &ScanInfo,
    scan: &Scan,
    read_point: u64,
    now: i64,
) -> Result<Vec<SourceScanner>> {
    let needs = Needs::new(scan, info, now);
    let mut sources = Vec::with_capacity(segments.len() + files.len());
    for segment in segments {
        if segment.timestamps().is_some_and(|range| needs.may_want_timestamps(range)) {
            sources.push(segment.into());
        }
    }
    for file in files.iter().rev() {
        if needs.may_want_file(file)? {
            let scanner = StoreFileScanner::new(file, read_point);
            let scanner = scanner.with_block_use(block_use(scan, info));
            sources.push(scanner.into());
        }
    }
    Ok(sources)
}

/// What becomes of the blocks that a scan of a family reads.
fn block_use(scan: &Scan, info: &ScanInfo) -> BlockUse {
    if !scan.caches_blocks() {
        return BlockUse::Verify;
    }
    match (info.is_block_cache_enabled, is_get(scan)) {
        (true, _) => BlockUse::Keep,
        (false, true) => BlockUse::KeepIndex,
        (false, false) => BlockUse::Pass,
    }
}

/// What a scan selects from a family.
pub(crate) struct Needs<'a> {
    scan: &'a Scan,
    comparator: CellComparator,
    time_range: TimeRange,
    /// Files whose timestamps are all lower have only expired cells.
    oldest_unexpired: i64,
    /// The column, if one is named.
    single_column: Option<&'a [u8]>,
}

impl<'a> Needs<'a> {
    /// What `scan` selects at `now`.
    pub(crate) fn new(scan: &'a Scan, info: &ScanInfo, now: i64) -> Self {
        let oldest_unexpired = match (info.versions_min, scan.is_raw()) {
            (0, false) => info.oldest_unexpired(now),
            (0, true) => 0,
            _ => i64::MIN,
        };
        let single_column = match scan.columns().get(&info.family) {
            Some(Qualifiers::Some(qualifiers)) if qualifiers.len() == 1 => {
                qualifiers.first().map(Vec::as_slice)
            }
            _ => None,
        };
        Self {
            scan,
            comparator: info.comparator,
            time_range: scan.time_range_of(&info.family),
            oldest_unexpired,
            single_column,
        }
    }

    fn may_want_timestamps(&self, (min, max): (i64, i64)) -> bool {
        min < self.time_range.max() && max >= self.time_range.min() && max >= self.oldest_unexpired
    }

    /// Whether the file may have something for the scan.
    ///
    /// # Errors
    /// `Corrupt` if a Bloom filter cannot be read.
    pub(crate) fn may_want_file(&self, file: &StoreFile) -> Result<bool> {
        let reader = file.reader();
        let may_want = self.may_want_timestamps(reader.time_range()) && self.may_want_rows(reader);
        Ok(may_want && self.may_find_in_bloom(reader)?)
    }

    /// Whether the row range of the file overlaps that of the scan.
    fn may_want_rows(&self, reader: &HFileReader) -> bool {
        let (Some(first), Some(last)) = (reader.first_key(), reader.last_key()) else {
            return false;
        };
        let (smallest, greatest) = match self.scan.direction() {
            Direction::Forward => (self.scan.start_row(), self.scan.stop_row()),
            Direction::Reverse => (self.scan.stop_row(), self.scan.start_row()),
        };
        let compare = |left, right| self.comparator.compare_rows(left, right);
        let is_after = !greatest.is_empty() && compare(key::row(first), greatest).is_gt();
        !is_after && (smallest.is_empty() || compare(key::row(last), smallest).is_ge())
    }

    fn may_find_in_bloom(&self, reader: &HFileReader) -> Result<bool> {
        match reader.bloom_type() {
            BloomType::None => Ok(true),
            BloomType::Row if is_get(self.scan) => reader.may_contain_row(self.scan.start_row()),
            BloomType::RowCol if is_get(self.scan) => match self.single_column {
                Some(qualifier) => reader.may_contain_column(self.scan.start_row(), qualifier),
                None => Ok(true),
            },
            BloomType::RowPrefixFixedLength => match self.common_prefix(reader) {
                Some(row) => reader.may_contain_row(row),
                None => Ok(true),
            },
            BloomType::Row | BloomType::RowCol => Ok(true),
        }
    }

    /// A row with the common prefix of all rows of the scan, if that is as long as the prefixes in
    /// the filter.
    fn common_prefix(&self, reader: &HFileReader) -> Option<&'a [u8]> {
        let (start, stop) = (self.scan.start_row(), self.scan.stop_row());
        let length = reader.bloom_prefix_length();
        if is_get(self.scan) {
            return Some(start);
        }
        let prefixes = (start.get(..length)?, stop.get(..length)?);
        (prefixes.0 == prefixes.1).then_some(start)
    }
}

/// Whether the scan is for one row: a get, or a scan that HBase treats as one (`Scan.isGetScan`).
pub(crate) fn is_get(scan: &Scan) -> bool {
    scan.is_get()
        || (scan.is_start_inclusive()
            && scan.is_stop_inclusive()
            && !scan.start_row().is_empty()
            && scan.start_row() == scan.stop_row())
}
