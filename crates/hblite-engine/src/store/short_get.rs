//! The fast path to one column of one row, or to a whole row of one family.
//!
//! Most gets are for either, and need the newest version of a column. A source's first cell of a
//! column is its newest. If that is a put in every source, no marker of the column can hide the
//! newest of them, because a marker sorts before what it hides. So each source is searched once,
//! and nothing is merged but the cells that were found.
//!
//! For one column, each source is searched for the column itself. In a source that may have
//! markers, the versions newer than the get's time range are passed one by one; in others, they are
//! not looked at. For a whole row, see `row`. [`ShortGet::read`] gives up wherever the result is
//! not certain, and the caller then uses a scanner:
//!
//! - a source may have a marker of the whole family in this row, or a column of the result begins
//!   with one of its own;
//! - a cell has tags (a time to live of its own) or has outlived the family's;
//! - several versions of a column are requested, and they are in several sources;
//! - a source that may have markers has many versions newer than the time range;
//! - a whole row has many cells, or is requested with several versions or a time range;
//! - the result is larger than the caller allows.
//!
//! Threads: a read belongs to one thread and sees one read point.

mod row;

use std::borrow::Cow;
use std::cell::Cell;

use hblite_env::Clock;
use hblite_hfile::BlockUse;
use hblite_model::cell::{CellComparator, CellRef, CellType, key};
use hblite_model::{CellBuffer, Direction, Qualifiers, Result, Scan, TimeRange};

use self::row::FoundRow;
use super::Store;
use super::file_list::FileList;
use super::key_value_scanner::{Needs, is_get};
use super::store_file::StoreFile;
use crate::invariants::ARE_CHECKED;
use crate::memstore::SegmentScanner;

/// Versions of a source that are passed because they are newer than the time range. Beyond them, a
/// scanner's seek costs less.
const NEWER_MAX: usize = 32;

thread_local! {
    /// Where seek keys are built.
    static KEY: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A get of one column or row.
pub(crate) struct ShortGet<'a> {
    store: &'a Store,
    scan: &'a Scan,
    /// `None` for the whole row.
    qualifier: Option<&'a [u8]>,
    versions: i32,
    size_max_bytes: usize,
}

/// How [`ShortGet::read`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShortRead {
    /// The result is complete; this many cells were examined.
    Done {
        /// Cells that were examined.
        cells_examined: u64,
    },
    /// Only a scanner can decide.
    Unclear,
    /// A file was committed after the read point was taken; a later one is needed.
    Outdated,
}

/// What limits a cell of the result.
struct Limits {
    /// What the result may grow by.
    bytes_left: usize,
    oldest_unexpired: i64,
    read_point: u64,
}

impl Limits {
    /// Whether the scanners would return this cell, if it is the newest of its column: a put of the
    /// family's lifetime that is not too large.
    fn allow(&self, cell: &CellRef<'_>) -> bool {
        cell.type_code() == CellType::Put.code()
            && cell.timestamp() >= self.oldest_unexpired
            && cell.tags().is_empty()
            && cell.serialized_size() <= self.bytes_left
    }
}

/// Whether `cell` is newer than `known`, a cell of the same column from an earlier source.
fn is_newer(cell: &CellRef<'_>, known: &CellRef<'_>) -> bool {
    (cell.timestamp(), cell.sequence_id()) > (known.timestamp(), known.sequence_id())
}

/// What was found so far. `'k` is the life of the key from which sources are searched.
trait Found<'k> {
    /// Whether a source whose greatest timestamp is `timestamp_max` matters.
    fn may_be_changed_by(&self, timestamp_max: i64) -> bool;

    /// The following cells are from another source, a segment of the memstore. Returns the key
    /// before its first cell that matters.
    fn enter_segment(&mut self, segment: &SegmentScanner) -> Cow<'k, [u8]>;

    /// The same for a file.
    ///
    /// # Errors
    /// `Corrupt` if a Bloom filter cannot be read.
    fn enter_file(&mut self, file: &StoreFile) -> Result<Cow<'k, [u8]>>;

    /// Examines the next cell of a source; false if the rest of the source does not matter.
    fn look(&mut self, cell: &CellRef<'_>) -> bool;

    /// The source was searched.
    fn leave(&mut self);

    /// Whether only a scanner can decide.
    fn is_unclear(&self) -> bool;
}

impl<'a> ShortGet<'a> {
    /// What `scan` reads from `store`, if it is a get that may take the fast path, and selects no
    /// other store. The serialized cells have at most `size_max_bytes`.
    pub(crate) fn of(store: &'a Store, scan: &'a Scan, size_max_bytes: usize) -> Option<Self> {
        let info = store.scan_info();
        let family_max = i32::try_from(info.versions_max).unwrap_or(i32::MAX);
        let versions = scan.versions().min(family_max as u32) as i32;
        let qualifier = match scan.columns().get(&info.family)? {
            Qualifiers::All if versions > 1 || !scan.time_range_of(&info.family).is_all() => {
                return None;
            }
            Qualifiers::All => None,
            Qualifiers::Some(qualifiers) => Some(qualifiers.first().filter(|first| {
                // Markers of the family are stored under the empty qualifier.
                qualifiers.len() == 1 && !first.is_empty()
            })?),
        };
        let has_plain_settings =
            info.comparator == CellComparator::Default && !info.new_version_behavior;
        let is_plain = is_get(scan)
            && scan.filter().is_none()
            && !scan.is_raw()
            && scan.direction() == Direction::Forward
            && scan.batch().is_none()
            && scan.family_limit().is_none()
            && scan.family_offset() == 0
            && !scan.allows_partial_results()
            && scan.caches_blocks();
        (has_plain_settings && is_plain && versions > 0).then_some(Self {
            store,
            scan,
            qualifier: qualifier.map(Vec::as_slice),
            versions,
            size_max_bytes,
        })
    }

    /// Pushes the cells visible at `read_point` to `cells`, which is empty, and stays empty unless
    /// the read succeeds.
    ///
    /// # Errors
    /// Those of the files.
    pub(crate) fn read(
        &self,
        read_point: u64,
        clock: &dyn Clock,
        cells: &mut CellBuffer,
    ) -> Result<ShortRead> {
        let view = self.store.view();
        let segments = view.segments.scanners_of_row(read_point, self.scan.start_row());
        if view.files.last().is_some_and(|newest| newest.sequence_id_max() > read_point) {
            return Ok(ShortRead::Outdated);
        }
        let info = self.store.scan_info();
        // Nothing expires in most families, and the clock takes as long as a memory access.
        let now = if info.time_to_live_ms == i64::MAX { 0 } else { clock.now_millis() };
        let limits = Limits {
            bytes_left: self.size_max_bytes,
            oldest_unexpired: info.oldest_unexpired(now),
            read_point,
        };
        let range = self.scan.time_range_of(&info.family);
        let newest = if range.is_all() { i64::MAX } else { range.max() - 1 };
        let (row, qualifier) = (self.scan.start_row(), self.qualifier.unwrap_or_default());
        let mut key = KEY.take();
        key.clear();
        key::write(&mut key, row, &info.family, qualifier, newest, CellType::MAXIMUM);
        let outcome = match self.qualifier {
            Some(_) => {
                let mut found = FoundColumn::new(&key, range, self.versions, limits, cells);
                let outcome = self.search(segments, &view.files, now, &mut found);
                outcome.map(|()| found.end())
            }
            None => {
                let mut found = FoundRow::new(&key, limits, cells);
                let outcome = self.search(segments, &view.files, now, &mut found);
                outcome.map(|()| found.end())
            }
        };
        KEY.set(key);
        let read = outcome?;
        if read == ShortRead::Unclear {
            cells.clear();
        }
        Ok(read)
    }

    /// Searches the sources, the newest first.
    fn search<'k>(
        &self,
        segments: Vec<SegmentScanner>,
        files: &FileList,
        now: i64,
        found: &mut impl Found<'k>,
    ) -> Result<()> {
        let info = self.store.scan_info();
        let needs = Needs::new(self.scan, info, now);
        for mut segment in segments {
            let is_worthwhile =
                |range: &(i64, i64)| needs.may_want(*range) && found.may_be_changed_by(range.1);
            if segment.timestamps().as_ref().is_some_and(is_worthwhile) {
                let from = found.enter_segment(&segment);
                let mut is_at_cell = segment.seek(&from)?;
                while is_at_cell && segment.current().is_some_and(|cell| found.look(&cell)) {
                    is_at_cell = segment.next()?;
                }
                found.leave();
            }
        }
        let block_use = match info.is_block_cache_enabled {
            true => BlockUse::Keep,
            false => BlockUse::KeepIndex,
        };
        let mut wanted = needs.wanted(files);
        while !found.is_unclear() {
            let is_worthwhile =
                |file: &StoreFile| found.may_be_changed_by(file.reader().time_range().1);
            let Some(places) = wanted.next(is_worthwhile)? else { break };
            if ARE_CHECKED {
                assert_eq!(places.len(), 1, "one file of a run has the row");
            }
            let file = &files.by_row()[places.start];
            let (reader, from) = (file.reader(), found.enter_file(file)?);
            match file.loaded_id() {
                None => reader.visit_from(&from, block_use, |cell| found.look(cell))?,
                Some(id) => reader
                    .visit_from(&from, block_use, |cell| found.look(&cell.with_sequence_id(id)))?,
            }
            found.leave();
        }
        Ok(())
    }
}

/// The versions of the column that were found so far.
struct FoundColumn<'k> {
    /// The key that sorts before all cells of the column that are not too new.
    key: &'k [u8],
    versions: i32,
    /// The timestamps that are requested.
    range: TimeRange,
    limits: Limits,
    /// Cells of the source that are newer.
    newer: usize,
    cells: &'k mut CellBuffer,
    /// How many of the cells are from earlier sources.
    from_earlier: usize,
    cells_examined: u64,
    is_unclear: bool,
}

impl<'k> FoundColumn<'k> {
    /// Nothing so far; `key` sorts before all cells of the column up to the end of `range`.
    fn new(
        key: &'k [u8],
        range: TimeRange,
        versions: i32,
        limits: Limits,
        cells: &'k mut CellBuffer,
    ) -> Self {
        Self {
            key,
            versions,
            range,
            limits,
            newer: 0,
            cells,
            from_earlier: 0,
            cells_examined: 0,
            is_unclear: false,
        }
    }

    /// The result, after all sources.
    fn end(self) -> ShortRead {
        match self.is_unclear {
            true => ShortRead::Unclear,
            false => ShortRead::Done { cells_examined: self.cells_examined },
        }
    }

    fn enter_source(&mut self) {
        self.from_earlier = self.cells.len();
        self.newer = 0;
    }

    /// The key before the first cell of a source that matters: newer markers do.
    #[inline]
    fn first_key(&self, may_have_markers: impl FnOnce() -> bool) -> Cow<'k, [u8]> {
        if self.range.is_all() || !may_have_markers() {
            return Cow::Borrowed(self.key);
        }
        let mut key = self.key.to_vec();
        key::set_timestamp(&mut key, i64::MAX);
        Cow::Owned(key)
    }

    /// Passes a put outside of the time range; false if no older one is in it, or too many were
    /// passed.
    #[cold]
    fn pass(&mut self, timestamp: i64) -> bool {
        self.newer += 1;
        self.is_unclear |= self.newer > NEWER_MAX;
        timestamp >= self.range.max() && !self.is_unclear
    }

    /// Examines one of several versions; all must be in one source.
    fn look_at_version(&mut self, cell: &CellRef<'_>) -> bool {
        if self.from_earlier > 0 {
            self.is_unclear = true;
            return false;
        }
        let is_repeated =
            self.cells.last().is_some_and(|last| last.timestamp() == cell.timestamp());
        if !is_repeated {
            self.limits.bytes_left -= cell.serialized_size();
            self.cells.push(cell);
        }
        self.cells.len() < self.versions as usize
    }
}

impl<'k> Found<'k> for FoundColumn<'k> {
    /// Older versions do not matter if only the newest is requested, and markers hide nothing
    /// newer.
    fn may_be_changed_by(&self, timestamp_max: i64) -> bool {
        let newest = self.cells.get(0).filter(|_| self.versions == 1);
        newest.is_none_or(|newest| timestamp_max >= newest.timestamp())
    }

    fn enter_segment(&mut self, segment: &SegmentScanner) -> Cow<'k, [u8]> {
        self.enter_source();
        self.is_unclear |= segment.markers().of_families;
        self.first_key(|| segment.markers().any)
    }

    fn enter_file(&mut self, file: &StoreFile) -> Result<Cow<'k, [u8]>> {
        self.enter_source();
        let reader = file.reader();
        self.is_unclear = file.is_reference()
            || (reader.delete_family_count() != Some(0)
                && reader.may_contain_delete_family(key::row(self.key))?);
        Ok(self.first_key(|| !file.has_only_puts()))
    }

    #[inline]
    fn look(&mut self, cell: &CellRef<'_>) -> bool {
        if self.is_unclear || key::without_version(cell.key()) != key::without_version(self.key) {
            return false;
        }
        self.cells_examined += 1;
        if cell.sequence_id() > self.limits.read_point {
            return true;
        }
        let timestamp = cell.timestamp();
        let is_put = cell.type_code() == CellType::Put.code();
        if is_put && !self.range.contains(timestamp) {
            return self.pass(timestamp);
        }
        if !self.limits.allow(cell) {
            self.is_unclear = true;
            return false;
        }
        if self.versions > 1 {
            return self.look_at_version(cell);
        }
        if self.cells.get(0).is_none_or(|known| is_newer(cell, &known)) {
            self.cells.clear();
            self.cells.push(cell);
        }
        false
    }

    fn leave(&mut self) {}

    fn is_unclear(&self) -> bool {
        self.is_unclear
    }
}
