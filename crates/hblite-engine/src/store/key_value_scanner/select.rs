//! Selects the sources that a scan needs.
//!
//! A segment or file is left out when its timestamps, its first and last row or its Bloom filter
//! show that it has nothing for the scan, so that it is never searched. HBase does the same in
//! `StoreScanner.selectScannersFrom`. Of a sorted run, only the files around the scan's rows are
//! looked at: for one row, one file.

use std::ops::Range;
use std::sync::Arc;

use hblite_hfile::{BlockUse, HFileReader, KeyHash, RowProbe};
use hblite_model::cell::key;
use hblite_model::{BloomType, CellComparator, Direction, Qualifiers, Result, Scan, TimeRange};

use super::SourceScanner;
use crate::memstore::SegmentScanner;
use crate::prefetch::prefetch;
use crate::store::file_list::{FileList, row_range};
use crate::store::matcher::ScanInfo;
use crate::store::store_file::StoreFile;

/// The sources of a scan at `now`, the newest first, from the segments (the newest first) and the
/// files of a store.
///
/// # Errors
/// `Corrupt` if a Bloom filter cannot be read.
pub(crate) fn select_sources(
    segments: Vec<SegmentScanner>,
    files: &Arc<FileList>,
    info: &ScanInfo,
    scan: &Scan,
    read_point: u64,
    now: i64,
) -> Result<Vec<SourceScanner>> {
    let needs = Needs::new(scan, info, now);
    let mut sources = Vec::with_capacity(segments.len() + files.run_count());
    for segment in segments {
        if segment.timestamps().is_some_and(|range| needs.may_want(range)) {
            sources.push(segment.into());
        }
    }
    let block_use = block_use(scan, info);
    let mut wanted = needs.wanted(files);
    while let Some(places) = wanted.next(|_| true)? {
        let timestamps = Some(needs.timestamps);
        sources.push(SourceScanner::of_run(files, places, read_point, block_use, timestamps));
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

/// The timestamps that a scan selects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timestamps {
    pub(super) range: TimeRange,
    /// If all timestamps of a file are lower, it has only expired cells.
    pub(super) oldest_unexpired: i64,
}

impl Timestamps {
    /// Whether a source with timestamps from `min` to `max` may have something for the scan.
    pub(crate) fn overlap(&self, (min, max): (i64, i64)) -> bool {
        min < self.range.max() && max >= self.range.min() && max >= self.oldest_unexpired
    }
}

/// What a scan selects from a family.
pub(crate) struct Needs<'a> {
    scan: &'a Scan,
    comparator: CellComparator,
    timestamps: Timestamps,
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
            timestamps: Timestamps { range: scan.time_range_of(&info.family), oldest_unexpired },
            single_column,
        }
    }

    /// Whether a source with timestamps from `.0` to `.1` may have something for the scan.
    pub(crate) fn may_want(&self, timestamps: (i64, i64)) -> bool {
        self.timestamps.overlap(timestamps)
    }

    /// Those of a store's files that may have something for the scan: of each run one file or
    /// several, the newest run first.
    pub(crate) fn wanted<'f>(&'f self, files: &'f FileList) -> Wanted<'f> {
        let is_single = files.len() == 1;
        let runs_left = files.run_count();
        Wanted { needs: self, files, runs_left, is_single, hash: KeyHash::default(), next: None }
    }

    /// Those files of a run whose rows are around those of the scan, as places in
    /// [`FileList::by_row`]. For one row there is one at most.
    fn of_run(&self, files: &FileList, run: usize) -> Range<usize> {
        let range = files.range(run);
        if range.len() < 2 {
            // Its rows are compared when it is probed.
            return range;
        }
        let (smallest, greatest) = self.rows();
        let start = match smallest {
            [] => range.start,
            row => files.place_of(range.clone(), row),
        };
        if greatest.is_empty() {
            return start..range.end;
        }
        let last = match smallest == greatest {
            true => start,
            false => files.place_of(start..range.end, greatest),
        };
        let begins_after = |file: &Arc<StoreFile>| {
            let first = row_range(file).map(|(first, _)| first);
            first.is_some_and(|first| self.comparator.compare_rows(first, greatest).is_gt())
        };
        let has_last = last < range.end && !begins_after(&files.by_row()[last]);
        start..last + usize::from(has_last)
    }

    /// The smallest and the greatest row of the scan; an empty one for the end of the table.
    fn rows(&self) -> (&'a [u8], &'a [u8]) {
        match self.scan.direction() {
            Direction::Forward => (self.scan.start_row(), self.scan.stop_row()),
            Direction::Reverse => (self.scan.stop_row(), self.scan.start_row()),
        }
    }

    /// Whether the file may have something for the scan, but for the bits of its Bloom filter.
    fn probe<'f>(&self, file: &'f StoreFile, hash: &mut KeyHash) -> Result<RowProbe<'f>> {
        let reader = file.reader();
        if self.may_want(reader.time_range()) && self.may_want_rows(reader) {
            self.probe_bloom(reader, hash)
        } else {
            Ok(RowProbe::decided(false))
        }
    }

    /// Whether the row range of the file overlaps that of the scan.
    fn may_want_rows(&self, reader: &HFileReader) -> bool {
        let (Some(first), Some(last)) = (reader.first_key(), reader.last_key()) else {
            return false;
        };
        let (smallest, greatest) = self.rows();
        let compare = |left, right| self.comparator.compare_rows(left, right);
        let is_after = !greatest.is_empty() && compare(key::row(first), greatest).is_gt();
        !is_after && (smallest.is_empty() || compare(key::row(last), smallest).is_ge())
    }

    fn probe_bloom<'f>(&self, reader: &'f HFileReader, hash: &mut KeyHash) -> Result<RowProbe<'f>> {
        match reader.bloom_type() {
            BloomType::Row if is_get(self.scan) => reader.probe_row(self.scan.start_row(), hash),
            BloomType::RowPrefixFixedLength => match self.common_prefix(reader) {
                Some(row) => reader.probe_row(row, hash),
                None => Ok(RowProbe::decided(true)),
            },
            BloomType::RowCol if is_get(self.scan) => match self.single_column {
                Some(qualifier) => reader
                    .may_contain_column(self.scan.start_row(), qualifier)
                    .map(RowProbe::decided),
                None => Ok(RowProbe::decided(true)),
            },
            BloomType::None | BloomType::Row | BloomType::RowCol => Ok(RowProbe::decided(true)),
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

/// Files that a scan may want: see [`Needs::wanted`].
pub(crate) struct Wanted<'f> {
    needs: &'f Needs<'f>,
    files: &'f FileList,
    /// Those that were not probed yet.
    runs_left: usize,
    /// Then there is nothing to do while its memory is on the way.
    is_single: bool,
    hash: KeyHash,
    /// Probed, and its memory is on the way.
    next: Option<Probed<'f>>,
}

/// Files of a run, and what the filter of a single one says.
struct Probed<'f> {
    /// Their places in [`FileList::by_row`].
    places: Range<usize>,
    probe: RowProbe<'f>,
}

impl<'f> Wanted<'f> {
    /// The next files of a run that the scan may want, as places in [`FileList::by_row`]. A single
    /// one is worth opening.
    ///
    /// # Errors
    /// `Corrupt` if a Bloom filter cannot be read.
    #[inline]
    pub(crate) fn next(
        &mut self,
        is_worthwhile: impl Fn(&StoreFile) -> bool,
    ) -> Result<Option<Range<usize>>> {
        loop {
            let current = match self.next.take() {
                Some(current) => Some(current),
                None => self.probe_next(&is_worthwhile)?,
            };
            let Some(Probed { places, probe }) = current else { return Ok(None) };
            self.next = self.probe_next(&is_worthwhile)?;
            let may_have = match &self.files.by_row()[places.clone()] {
                [file] => is_worthwhile(file) && probe.may_contain(),
                _ => true,
            };
            if may_have {
                return Ok(Some(places));
            }
        }
    }

    /// Probes the next file, and asks for the memory of its filter.
    #[inline]
    fn probe_next(
        &mut self,
        is_worthwhile: impl Fn(&StoreFile) -> bool,
    ) -> Result<Option<Probed<'f>>> {
        while let Some(run) = self.runs_left.checked_sub(1) {
            self.runs_left = run;
            let places = self.needs.of_run(self.files, run);
            match &self.files.by_row()[places.clone()] {
                [] => {}
                [file] if !is_worthwhile(file) => {}
                [file] => {
                    let probe = self.needs.probe(file, &mut self.hash)?;
                    if !self.is_single
                        && let Some(byte) = probe.first_byte()
                    {
                        prefetch(byte);
                    }
                    return Ok(Some(Probed { places, probe }));
                }
                _ => return Ok(Some(Probed { places, probe: RowProbe::decided(true) })),
            }
        }
        Ok(None)
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
